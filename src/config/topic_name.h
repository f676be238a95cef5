// SPDX-License-Identifier: Apache-2.0
// What a topic may be called.
#pragma once

#include "base/text.h"

enum { TOPIC_NAME_MAX = 249 };
// 1 to 249 of [a-zA-Z0-9._-], neither "." nor "..". Null is not legal.
bool topic_name_is_legal(struct str name);
// Why it is not legal, in Kafka's words; nothing if it is.
enum { TOPIC_NAME_PROBLEM_MAX = TOPIC_NAME_MAX * 4 + 200 };
void topic_name_problem(struct str name, struct text *problem);
// The topics that the broker itself writes: __consumer_offsets and __transaction_state.
bool topic_name_is_internal(struct str name);
