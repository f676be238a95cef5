// SPDX-License-Identifier: Apache-2.0
// Reading messages of magic 0 and 1: from old producers, and in segments that old releases left.
#pragma once

#include "base/arena.h"
#include "protocol/batch.h"

struct legacy_message {
    int8_t magic;
    uint8_t attributes;      // codec and timestamp type, as in enum batch_attributes
    int64_t offset;          // inside a wrapper of magic 1: counted from the wrapper's first
    int64_t timestamp;       // -1 in magic 0
    struct bytes key, value; // data == NULL is null
    struct bytes bytes;      // the whole message
};
struct legacy_failure {
    int16_t error; // KAFKA_ERROR_NONE while all is well
    const char *reason;
    bool is_too_large; // it unfolds to more than the cap
};

// Takes the next message off the front of *set. False at its end, and with *failure on anything wrong; a message cut
// off at the end of the set is a failure only if the set is the inside of a wrapper.
bool legacy_next(struct bytes *set, bool is_inner, struct legacy_message *m, struct legacy_failure *failure);
// The set inside a wrapper (a message whose attributes have a codec), in memory of the arena.
bool legacy_unfold(const struct legacy_message *wrapper, uint64_t output_max_bytes, struct arena *arena,
                   struct bytes *set, struct legacy_failure *failure);
