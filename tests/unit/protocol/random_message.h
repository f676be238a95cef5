// SPDX-License-Identifier: Apache-2.0
// Random messages for the tests, from a seed.
#pragma once

#include "base/arena.h"
#include "protocol/schema.h"

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *r);
// 0..bound-1
uint64_t random_below(struct random *r, uint64_t bound);

// Fills a message with values of that version only (the others have their defaults): nulls, empties, extremes, arrays
// of 0 to 3 elements. Records are short random bytes.
void random_message(struct random *r, const struct schema *s, int16_t version, void *out, struct arena *arena);
