// SPDX-License-Identifier: Apache-2.0
// Decompression in chunks. gzip and zstd stream through a 64 KiB buffer; snappy and lz4 go block by block, and a
// block's buffer is bounded by what its compressed bytes can unfold to, so a short input cannot claim much memory.
// zstd's window is at most 128 MiB of address space, touched only as far as there is output, and output is capped.
//
// Refused as corrupt: input that ends early, wrong checksums, lz4 frames with linked blocks or dictionaries (Java
// clients cannot read them), blocks longer than they may be.
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/compress.h"
#include "protocol/compress_frames.h"
#include <lz4.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { CHUNK_BYTES = 64 * 1024, ZSTD_WINDOW_LOG_MAX = 27, ZSTD_KEPT_MAX_BYTES = 512 * 1024 };

static void take(struct decompressor *d, size_t n) {
    ASSERT(n <= d->in.size);
    d->in.data += n;
    d->in.size -= n;
}

static uint32_t load_le32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void need_buffer(struct decompressor *d, size_t size_bytes) {
    if (d->buffer_bytes >= size_bytes) return;
    free(d->buffer);
    d->buffer = malloc(size_bytes);
    ASSERT(d->buffer != NULL);
    d->buffer_bytes = size_bytes;
}

static enum decompress_status yield(struct decompressor *d, const uint8_t *data, size_t size, struct bytes *chunk) {
    ASSERT(size > 0);
    if (size > d->output_left_bytes) return DECOMPRESS_TOO_LARGE;
    d->output_left_bytes -= size;
    *chunk = (struct bytes){data, size};
    return DECOMPRESS_CHUNK;
}

// Members may follow each other. At the end of the last one inflate() keeps saying Z_STREAM_END.
static enum decompress_status next_gzip(struct decompressor *d, struct bytes *chunk) {
    z_stream *z = d->state;
    z->next_out = d->buffer;
    z->avail_out = CHUNK_BYTES;
    while (z->avail_out > 0) {
        z->next_in = (Bytef *)d->in.data;
        z->avail_in = (uInt)min_size(d->in.size, UINT32_MAX);
        size_t given = z->avail_in;
        int rc = inflate(z, Z_NO_FLUSH);
        take(d, given - z->avail_in);
        if (rc != Z_OK && rc != Z_STREAM_END) return DECOMPRESS_CORRUPT;
        if (rc == Z_STREAM_END) {
            if (d->in.size == 0) break;
            if (inflateReset(z) != Z_OK) return DECOMPRESS_CORRUPT;
        } else if (d->in.size == 0 && z->avail_out > 0) {
            return DECOMPRESS_CORRUPT; // cut off inside a member
        }
    }
    size_t size = CHUNK_BYTES - z->avail_out;
    return size == 0 ? DECOMPRESS_END : yield(d, d->buffer, size, chunk);
}

static enum decompress_status next_zstd(struct decompressor *d, struct bytes *chunk) {
    ZSTD_outBuffer out = {d->buffer, CHUNK_BYTES, 0};
    while (out.pos == 0) {
        if (d->in.size == 0 && !d->framed) return DECOMPRESS_END;
        ZSTD_inBuffer in = {d->in.data, d->in.size, 0};
        size_t rc = ZSTD_decompressStream(d->state, &out, &in);
        take(d, in.pos);
        if (ZSTD_isError(rc)) {
            return ZSTD_getErrorCode(rc) == ZSTD_error_frameParameter_windowTooLarge ? DECOMPRESS_TOO_LARGE
                                                                                     : DECOMPRESS_CORRUPT;
        }
        d->framed = rc != 0; // inside a frame
        if (out.pos == 0 && in.pos == 0 && d->framed) return DECOMPRESS_CORRUPT;
    }
    return yield(d, d->buffer, out.pos, chunk);
}

// One raw snappy block, which says its own length; three bytes make at most 64.
static enum decompress_status snappy_block(struct decompressor *d, size_t block_bytes, struct bytes *chunk) {
    size_t size;
    const char *block = (const char *)d->in.data;
    if (snappy_uncompressed_length(block, block_bytes, &size) != SNAPPY_OK) return DECOMPRESS_CORRUPT;
    if (size / 22 > block_bytes) return DECOMPRESS_CORRUPT;
    if (size > d->output_left_bytes) return DECOMPRESS_TOO_LARGE;
    need_buffer(d, max_size(size, 1));
    size_t room = size;
    if (snappy_uncompress(block, block_bytes, (char *)d->buffer, &room) != SNAPPY_OK || room != size)
        return DECOMPRESS_CORRUPT;
    take(d, block_bytes);
    return size == 0 ? DECOMPRESS_END : yield(d, d->buffer, size, chunk);
}

static enum decompress_status next_snappy(struct decompressor *d, struct bytes *chunk) {
    while (d->in.size > 0) {
        // A stream may be followed by another one, with its own header.
        if (d->in.size >= XERIAL_HEADER_BYTES && memcmp(d->in.data, XERIAL_MAGIC, XERIAL_MAGIC_BYTES) == 0) {
            d->framed = true;
            take(d, XERIAL_HEADER_BYTES);
            continue;
        }
        if (!d->framed) { // one raw block, which is all
            d->framed = true;
            return snappy_block(d, d->in.size, chunk);
        }
        if (d->in.size < 4) return DECOMPRESS_CORRUPT;
        uint32_t block_bytes = load_be32(d->in.data);
        take(d, 4);
        if (block_bytes > d->in.size) return DECOMPRESS_CORRUPT;
        enum decompress_status status = snappy_block(d, block_bytes, chunk);
        if (status != DECOMPRESS_END) return status; // END: an empty block
    }
    return d->framed ? DECOMPRESS_END : DECOMPRESS_CORRUPT;
}

static enum decompress_status lz4_header(struct decompressor *d) {
    if (d->in.size < 7 || load_le32(d->in.data) != LZ4_FRAME_MAGIC) return DECOMPRESS_CORRUPT;
    uint8_t flags = d->in.data[4], block = d->in.data[5];
    bool is_version_1 = flags >> 6 == 1, independent = flags & 0x20, has_content_size = flags & 0x08;
    if (!is_version_1 || !independent || flags & 0x03) return DECOMPRESS_CORRUPT; // 0x01: dictionary, 0x02: reserved
    if (block & 0x8f || block >> 4 < 4) return DECOMPRESS_CORRUPT;
    size_t descriptor_bytes = has_content_size ? 10 : 2;
    if (d->in.size < 4 + descriptor_bytes + 1) return DECOMPRESS_CORRUPT;
    uint8_t checksum = (uint8_t)(XXH32(d->in.data + 4, descriptor_bytes, 0) >> 8);
    if (!d->lz4_ignore_header_checksum && d->in.data[4 + descriptor_bytes] != checksum) return DECOMPRESS_CORRUPT;
    d->lz4_block_checksum = flags & 0x10;
    d->lz4_content_checksum = flags & 0x04;
    d->lz4_block_max_bytes = (size_t)1 << (8 + 2 * (block >> 4)); // 64 KiB to 4 MiB
    take(d, 4 + descriptor_bytes + 1);
    return DECOMPRESS_CHUNK;
}

static enum decompress_status next_lz4(struct decompressor *d, struct bytes *chunk) {
    if (!d->framed) {
        enum decompress_status status = lz4_header(d);
        if (status != DECOMPRESS_CHUNK) return status;
        d->framed = true;
    }
    for (;;) {
        if (d->in.size < 4) return DECOMPRESS_CORRUPT;
        uint32_t word = load_le32(d->in.data);
        size_t block_bytes = word & 0x7fffffff;
        bool stored = word >> 31;
        take(d, 4);
        if (block_bytes == 0) { // what follows the end mark is not looked at, as in Kafka
            return d->lz4_content_checksum && d->in.size < 4 ? DECOMPRESS_CORRUPT : DECOMPRESS_END;
        }
        size_t checksum_bytes = d->lz4_block_checksum ? 4 : 0;
        if (block_bytes > d->lz4_block_max_bytes || d->in.size < block_bytes + checksum_bytes)
            return DECOMPRESS_CORRUPT;
        const uint8_t *block = d->in.data;
        if (d->lz4_block_checksum && load_le32(block + block_bytes) != XXH32(block, block_bytes, 0))
            return DECOMPRESS_CORRUPT;
        take(d, block_bytes + checksum_bytes);
        if (stored) return yield(d, block, block_bytes, chunk);
        size_t room = min_size(d->lz4_block_max_bytes, block_bytes * 255 + 64); // lz4's best ratio
        need_buffer(d, room);
        int size = LZ4_decompress_safe((const char *)block, (char *)d->buffer, (int)block_bytes, (int)room);
        if (size < 0) return DECOMPRESS_CORRUPT;
        if (size > 0) return yield(d, d->buffer, (size_t)size, chunk);
    }
}

// Moves a pointer out of the cache, or gives NULL.
static void *cache_take(void **slot) {
    void *object = *slot;
    *slot = NULL;
    return object;
}

static z_stream *gzip_open(struct decompress_cache *cache) {
    z_stream *z = cache ? cache_take(&cache->gzip) : NULL;
    if (z) {
        int rc = inflateReset(z);
        ASSERT(rc == Z_OK);
        return z;
    }
    z = calloc(1, sizeof *z);
    ASSERT(z != NULL);
    int rc = inflateInit2(z, 15 + 16);
    ASSERT(rc == Z_OK);
    return z;
}

static ZSTD_DStream *zstd_open(struct decompress_cache *cache) {
    ZSTD_DStream *z = cache ? cache_take(&cache->zstd) : NULL;
    if (!z) z = ZSTD_createDStream();
    ASSERT(z != NULL);
    size_t reset = ZSTD_DCtx_reset(z, ZSTD_reset_session_only);
    size_t limit = ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
    ASSERT(!ZSTD_isError(reset) && !ZSTD_isError(limit));
    return z;
}

static void gzip_free(z_stream *z) {
    if (z) inflateEnd(z);
    free(z);
}

void decompress_open(struct decompressor *d, enum codec codec, struct bytes in, uint64_t output_max_bytes, int flags,
                     struct decompress_cache *cache) {
    ASSERT(codec > CODEC_NONE && codec < CODEC_COUNT);
    *d = (struct decompressor){.codec = codec, .cache = cache, .in = in, .output_left_bytes = output_max_bytes};
    d->lz4_ignore_header_checksum = flags & DECOMPRESS_LZ4_MAGIC_0;
    if (cache && cache->buffer) {
        d->buffer = cache->buffer;
        d->buffer_bytes = cache->buffer_bytes;
        cache->buffer = NULL;
    }
    if (codec == CODEC_GZIP) d->state = gzip_open(cache);
    if (codec == CODEC_ZSTD) d->state = zstd_open(cache);
    if (d->state) need_buffer(d, CHUNK_BYTES);
}

enum decompress_status decompress_next(struct decompressor *d, struct bytes *chunk) {
    if (d->status != DECOMPRESS_CHUNK) return d->status;
    switch (d->codec) {
    case CODEC_GZIP: d->status = next_gzip(d, chunk); break;
    case CODEC_SNAPPY: d->status = next_snappy(d, chunk); break;
    case CODEC_LZ4: d->status = next_lz4(d, chunk); break;
    case CODEC_ZSTD: d->status = next_zstd(d, chunk); break;
    default: UNREACHABLE();
    }
    return d->status;
}

// Large buffers are not kept, and neither is a zstd context that has grown by a large window.
static void give_back(struct decompressor *d) {
    struct decompress_cache *cache = d->cache;
    if (!cache->buffer && d->buffer_bytes <= CHUNK_BYTES) {
        cache->buffer = d->buffer;
        cache->buffer_bytes = d->buffer_bytes;
        d->buffer = NULL;
    }
    if (d->codec == CODEC_GZIP && !cache->gzip) {
        cache->gzip = d->state;
        d->state = NULL;
    }
    if (d->codec == CODEC_ZSTD && !cache->zstd && ZSTD_sizeof_DStream(d->state) <= ZSTD_KEPT_MAX_BYTES) {
        cache->zstd = d->state;
        d->state = NULL;
    }
}

void decompress_close(struct decompressor *d) {
    if (d->cache) give_back(d);
    if (d->codec == CODEC_GZIP) gzip_free(d->state);
    if (d->codec == CODEC_ZSTD) ZSTD_freeDStream(d->state);
    free(d->buffer);
    *d = (struct decompressor){.status = DECOMPRESS_END};
}

void decompress_cache_free(struct decompress_cache *cache) {
    gzip_free(cache->gzip);
    ZSTD_freeDStream(cache->zstd);
    free(cache->buffer);
    *cache = (struct decompress_cache){0};
}
