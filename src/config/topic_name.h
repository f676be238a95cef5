// SPDX-License-Identifier: Apache-2.0
// What a topic may be called.
#pragma once

#include "base/slice.h"

enum { TOPIC_NAME_MAX = 249 };
// 1 to 249 of [a-zA-Z0-9._-], neither "." nor "..". Null is not legal.
bool topic_name_is_legal(struct str name);
// The topics that the broker itself writes: __consumer_offsets and __transaction_state.
bool topic_name_is_internal(struct str name);
