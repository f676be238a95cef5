// SPDX-License-Identifier: Apache-2.0
// Base64url by hand, six bits at a time: 22 characters hold 132 bits, the last four must be zero.
#include "protocol/uuid.h"
#include "base/assert.h"

static const char UUID_ALPHABET[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void uuid_print(struct uuid id, char text[static UUID_TEXT_SIZE + 1]) {
    uint32_t pending = 0, bits = 0, n = 0;
    for (size_t i = 0; i < sizeof id.bytes; i++) {
        pending = pending << 8 | id.bytes[i];
        bits += 8;
        for (; bits >= 6; bits -= 6)
            text[n++] = UUID_ALPHABET[pending >> (bits - 6) & 63];
    }
    text[n++] = UUID_ALPHABET[pending << (6 - bits) & 63];
    ASSERT(n == UUID_TEXT_SIZE);
    text[n] = '\0';
}

bool uuid_parse(struct str text, struct uuid *id) {
    if (text.size != UUID_TEXT_SIZE) return false;
    struct uuid parsed;
    uint32_t pending = 0, bits = 0;
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char *place = text.data[i] ? strchr(UUID_ALPHABET, text.data[i]) : NULL;
        if (!place) return false;
        pending = pending << 6 | (uint32_t)(place - UUID_ALPHABET);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            parsed.bytes[n++] = (uint8_t)(pending >> bits);
        }
    }
    ASSERT(n == sizeof parsed.bytes && bits == 4);
    if (pending & 15) return false;
    *id = parsed;
    return true;
}
