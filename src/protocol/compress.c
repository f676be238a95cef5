// SPDX-License-Identifier: Apache-2.0
// Compression in one shot, with the framing that Kafka's producers and broker write: gzip members, xerial blocks of
// snappy, lz4 frames of independent 64 KiB blocks, zstd frames.
#include "protocol/compress.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/compress_frames.h"
#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

const char *codec_name(enum codec codec) {
    static const char *const names[CODEC_COUNT] = {"none", "gzip", "snappy", "lz4", "zstd"};
    ASSERT(codec < CODEC_COUNT);
    return names[codec];
}

static const LZ4F_preferences_t *lz4_preferences(LZ4F_preferences_t *p, int level) {
    *p = (LZ4F_preferences_t)LZ4F_INIT_PREFERENCES;
    p->frameInfo.blockSizeID = LZ4F_max64KB;
    p->frameInfo.blockMode = LZ4F_blockIndependent; // Java readers know no other
    p->compressionLevel = level;
    return p;
}

size_t codec_compress_bound(enum codec codec, size_t size_bytes) {
    LZ4F_preferences_t preferences;
    switch (codec) {
    case CODEC_NONE: return size_bytes;
    case CODEC_GZIP: return compressBound(size_bytes) + 32;
    case CODEC_SNAPPY: {
        size_t blocks = size_bytes / XERIAL_BLOCK_BYTES + 1;
        return XERIAL_HEADER_BYTES + blocks * (4 + snappy_max_compressed_length(XERIAL_BLOCK_BYTES));
    }
    case CODEC_LZ4: return LZ4F_compressFrameBound(size_bytes, lz4_preferences(&preferences, 0));
    case CODEC_ZSTD: return ZSTD_compressBound(size_bytes);
    default: UNREACHABLE();
    }
}

static size_t compress_gzip(int level, struct bytes in, void *out, size_t out_bytes) {
    z_stream z = {0};
    ASSERT(in.size <= UINT32_MAX && out_bytes <= UINT32_MAX);
    if (deflateInit2(&z, level ? level : Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    z.next_in = (Bytef *)in.data;
    z.avail_in = (uInt)in.size;
    z.next_out = out;
    z.avail_out = (uInt)out_bytes;
    int rc = deflate(&z, Z_FINISH);
    size_t size = out_bytes - z.avail_out;
    deflateEnd(&z);
    return rc == Z_STREAM_END ? size : 0;
}

static size_t compress_snappy(struct bytes in, uint8_t *out, size_t out_bytes) {
    if (out_bytes < XERIAL_HEADER_BYTES) return 0;
    memcpy(out, XERIAL_MAGIC, XERIAL_MAGIC_BYTES);
    store_be32(out + 8, 1);
    store_be32(out + 12, 1);
    size_t used = XERIAL_HEADER_BYTES;
    for (size_t at = 0; at < in.size; at += XERIAL_BLOCK_BYTES) {
        size_t n = min_size(XERIAL_BLOCK_BYTES, in.size - at);
        if (out_bytes - used < 4) return 0;
        size_t block = out_bytes - used - 4;
        if (snappy_compress((const char *)in.data + at, n, (char *)out + used + 4, &block) != SNAPPY_OK) return 0;
        store_be32(out + used, (uint32_t)block);
        used += 4 + block;
    }
    return used;
}

size_t codec_compress(enum codec codec, int level, struct bytes in, void *out, size_t out_bytes) {
    LZ4F_preferences_t preferences;
    size_t size;
    switch (codec) {
    case CODEC_NONE:
        if (out_bytes < in.size) return 0;
        if (in.size > 0) memcpy(out, in.data, in.size);
        return in.size;
    case CODEC_GZIP: return compress_gzip(level, in, out, out_bytes);
    case CODEC_SNAPPY: return compress_snappy(in, out, out_bytes);
    case CODEC_LZ4:
        size = LZ4F_compressFrame(out, out_bytes, in.data, in.size, lz4_preferences(&preferences, level));
        return LZ4F_isError(size) ? 0 : size;
    case CODEC_ZSTD:
        size = ZSTD_compress(out, out_bytes, in.data, in.size, level ? level : 3);
        return ZSTD_isError(size) ? 0 : size;
    default: UNREACHABLE();
    }
}
