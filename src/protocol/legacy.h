// SPDX-License-Identifier: Apache-2.0
// Messages of magic 0 and 1, which producers before 0.11 (Produce 0 to 2) send: checked and converted to one batch of
// magic 2, which is the only format that the log takes.
#pragma once

#include "protocol/batch_validate.h"

// `records` begins with a message of magic 0 or 1. On success check->batch is the new batch in memory of the arena,
// with the producer's codec; false sets check->error and check->reason.
bool legacy_convert(struct bytes records, const struct append_rules *rules, struct arena *arena,
                    struct append_check *check);
