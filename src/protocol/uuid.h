// SPDX-License-Identifier: Apache-2.0
// Kafka's 128-bit ids (topics, directories, clusters) and their text: 22 characters of base64url without padding.
#pragma once

#include "base/slice.h"

struct uuid {
    uint8_t bytes[16];
};

enum { UUID_TEXT_SIZE = 22 };

static inline bool uuid_is_zero(struct uuid id) {
    static const struct uuid zero = {{0}};
    return memcmp(&id, &zero, sizeof id) == 0;
}
static inline bool uuid_equal(struct uuid a, struct uuid b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

// Writes 22 characters and a NUL.
void uuid_print(struct uuid id, char text[static UUID_TEXT_SIZE + 1]);
// False leaves *id alone: wrong length, a foreign character, or bits set beyond the 128th.
bool uuid_parse(struct str text, struct uuid *id);
