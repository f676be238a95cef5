// SPDX-License-Identifier: Apache-2.0
// Kafka's compression codecs. Decompression is a stream of chunks, so that a batch can be walked in little memory and a
// bomb costs no more than the cap allows; what clients of Kafka could not read back is refused here too.
#pragma once

#include "base/slice.h"

enum codec { CODEC_NONE, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD, CODEC_COUNT };
// Kafka's configuration names: none, gzip, snappy, lz4, zstd.
const char *codec_name(enum codec codec);

enum decompress_status {
    DECOMPRESS_CHUNK,     // here is more
    DECOMPRESS_END,       // everything was well-formed
    DECOMPRESS_CORRUPT,   // not what the codec writes, or cut off
    DECOMPRESS_TOO_LARGE, // the output would pass the cap, or the codec's window its limit
};

// What is dear to make anew for each batch: a zstd context costs 17 us where CPUID traps, as in virtual machines. One
// for each core, all zero at first; used by one decompressor at a time, others make their own.
struct decompress_cache {
    void *gzip, *zstd;
    uint8_t *buffer;
    size_t buffer_bytes;
};
void decompress_cache_free(struct decompress_cache *cache);

struct decompressor {
    enum codec codec;
    struct decompress_cache *cache; // may be NULL
    enum decompress_status status;  // once it is not CHUNK it stays
    struct bytes in;                // what is not consumed yet
    uint64_t output_left_bytes;     // of the cap
    uint8_t *buffer;                // for the current chunk
    size_t buffer_bytes;
    void *state; // of gzip and zstd
    bool framed; // snappy: xerial framing; lz4: header was read
    bool lz4_block_checksum, lz4_content_checksum, lz4_ignore_header_checksum;
    size_t lz4_block_max_bytes;
};

// Some clients wrote a wrong lz4 header checksum into messages of magic 0; Kafka tolerates it there only.
enum { DECOMPRESS_LZ4_MAGIC_0 = 1 };

// Always followed by decompress_close. Nothing is copied: `in` must stay. codec is not CODEC_NONE; cache may be NULL.
void decompress_open(struct decompressor *d, enum codec codec, struct bytes in, uint64_t output_max_bytes, int flags,
                     struct decompress_cache *cache);
// On DECOMPRESS_CHUNK, *chunk (never empty) is valid until the next call.
enum decompress_status decompress_next(struct decompressor *d, struct bytes *chunk);
void decompress_close(struct decompressor *d);

// The most memory that codec_compress() can need.
size_t codec_compress_bound(enum codec codec, size_t size_bytes);
// One shot, in the framing that Kafka writes (snappy: xerial). level 0 is the codec's default. The size, 0 if `out` is
// too small.
size_t codec_compress(enum codec codec, int level, struct bytes in, void *out, size_t out_bytes);
