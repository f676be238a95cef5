// SPDX-License-Identifier: Apache-2.0
#include "group/java_text.h"
#include "base/assert.h"

enum { REPLACEMENT = 0xfffd };

// The code point at *at, which moves behind it.
static uint32_t next_code_point(struct str s, size_t *at) {
    const uint8_t *p = (const uint8_t *)s.data + *at;
    size_t left = s.size - *at;
    uint32_t first = p[0];
    size_t size = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (first >= 0xf5) size = 0;
    if (size == 1 || size == 0 || size > left) {
        *at += 1;
        return size == 1 ? first : REPLACEMENT;
    }
    uint32_t code = first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *at += 1;
            return REPLACEMENT;
        }
        code = code << 6 | (p[i] & 0x3f);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < smallest[size] || code > 0x10ffff || surrogate) {
        *at += 1;
        return REPLACEMENT;
    }
    *at += size;
    return code;
}

size_t java_length(struct str s) {
    size_t length = 0;
    for (size_t at = 0; at < s.size;)
        length += next_code_point(s, &at) >= 0x10000 ? 2 : 1;
    return length;
}

int32_t java_hash(struct str s) {
    uint32_t hash = 0;
    for (size_t at = 0; at < s.size;) {
        uint32_t code = next_code_point(s, &at);
        if (code >= 0x10000) {
            hash = 31 * hash + (0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + ((code - 0x10000) & 0x3ff);
        }
        hash = 31 * hash + code;
    }
    return (int32_t)hash;
}

int32_t java_partition(struct str id, int32_t partition_count) {
    ASSERT(partition_count > 0);
    int32_t hash = java_hash(id);
    return (hash == INT32_MIN ? 0 : hash < 0 ? -hash : hash) % partition_count;
}
