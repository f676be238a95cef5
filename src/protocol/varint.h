// SPDX-License-Identifier: Apache-2.0
// Zig-zag variable-length integers, as in records.
#pragma once

#include "base/bits.h"
#include "base/slice.h"

enum { VARINT_MAX_BYTES = 5, VARLONG_MAX_BYTES = 10 };

static inline uint64_t zigzag_encode(int64_t v) {
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}
static inline int64_t zigzag_decode(uint64_t v) {
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}
static inline size_t varlong_size(int64_t value) {
    return 1 + (63 - (size_t)__builtin_clzll(zigzag_encode(value) | 1)) / 7;
}
static inline uint8_t *varlong_store(uint8_t *p, int64_t value) {
    uint64_t v = zigzag_encode(value);
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}
// For varlong_load; any length.
static inline const uint8_t *varlong_load_long(const uint8_t *p, const uint8_t *end, unsigned bits, int64_t *value) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < bits; shift += 7) {
        if (p == end) return NULL;
        uint8_t byte = *p++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if (bits - shift < 7 && byte >> (bits - shift) != 0) return NULL;
            *value = zigzag_decode(v);
            return p;
        }
    }
    return NULL;
}
// The byte after it, or NULL if it does not end before `end` or has more than `bits` (32 or 64) bits. Most are of one
// or two bytes.
static inline const uint8_t *varlong_load(const uint8_t *p, const uint8_t *end, unsigned bits, int64_t *value) {
    if (end - p >= 2) {
        if (p[0] < 0x80) {
            *value = zigzag_decode(p[0]);
            return p + 1;
        }
        if (p[1] < 0x80) {
            *value = zigzag_decode((p[0] & 0x7fu) | (uint64_t)p[1] << 7);
            return p + 2;
        }
    }
    return varlong_load_long(p, end, bits, value);
}
