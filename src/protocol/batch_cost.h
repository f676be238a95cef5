// SPDX-License-Identifier: Apache-2.0
// What it costs to check a batch, roughly, in nanoseconds of a core. What a batch unfolds to is not known before; so
// the guess from its header keeps most long ones out, and the cap on the output, made from what may be spent, the
// others. Measured on one machine (docs/decisions/0008); a factor of two is nothing here. Not for others than
// validation.
#pragma once

#include "protocol/batch.h"
#include "protocol/compress.h"

enum {
    COST_RECORD_NS = 16,
    COST_BYTES_PER_NS = 8, // checksum and first touch
    COST_RATIO_GUESS = 4,
    COST_UNFOLDED_MIN_BYTES = 4096,
};

// Of one byte that comes out of a codec, in tenths of a nanosecond.
static inline uint64_t cost_unfolded_tenths(int codec) {
    static const uint8_t tenths[CODEC_COUNT] = {
        [CODEC_NONE] = 0, [CODEC_GZIP] = 40, [CODEC_SNAPPY] = 10, [CODEC_LZ4] = 10, [CODEC_ZSTD] = 10};
    return codec >= 0 && codec < CODEC_COUNT ? tenths[codec] : 0;
}
// The same of a byte of old messages, which are unfolded, copied, and compressed again.
static inline uint64_t cost_converted_tenths(int codec) {
    static const uint16_t tenths[CODEC_COUNT] = {
        [CODEC_NONE] = 40, [CODEC_GZIP] = 400, [CODEC_SNAPPY] = 60, [CODEC_LZ4] = 60, [CODEC_ZSTD] = 60};
    return codec >= 0 && codec < CODEC_COUNT ? tenths[codec] : 0;
}

static inline uint64_t cost_of_bytes(uint64_t size_bytes, uint64_t tenths) {
    return size_bytes * tenths / 10;
}
// What may come out of a codec for so many nanoseconds: never more than `cap`, and a little always.
static inline uint64_t cost_unfolded_max_bytes(uint64_t ns, uint64_t tenths, uint64_t cap) {
    uint64_t bytes = tenths == 0 ? cap : ns * 10 / tenths;
    if (bytes < COST_UNFOLDED_MIN_BYTES) bytes = COST_UNFOLDED_MIN_BYTES;
    return bytes < cap ? bytes : cap;
}
// Of everything but unfolding, by the header.
static inline uint64_t cost_of_header(const struct batch *b) {
    uint64_t records = b->count > 0 ? (uint64_t)b->count : 0;
    return b->bytes.size / COST_BYTES_PER_NS + records * COST_RECORD_NS;
}
