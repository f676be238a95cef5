// SPDX-License-Identifier: Apache-2.0
// The rules for single records, shared by the validation of batches and the conversion of old messages. Not for others.
#pragma once

#include "protocol/batch_validate.h"

// Collects an error of this record in `check`, if there is one. False if there is no memory for it.
// `record` is an error without a fault yet.
bool record_rules_check(const struct append_rules *rules, bool batch_log_append_time, const struct record_error *record,
                        struct arena *arena, struct append_check *check);
// What is said about the batch when at least one error was collected.
const char *record_errors_reason(const struct append_check *check);
