// SPDX-License-Identifier: Apache-2.0
// A buffer of one chunk slides over the file. Headers are read from it; a checksum runs over the chunks, so a batch
// that claims two gigabytes costs no memory.
//
// What is damage: a length that no batch has, or that goes beyond the end (a torn write, a tail of zeros), an unknown
// magic, a checksum that does not match, offsets that do not rise or do not fit.
#include "log/walk.h"
#include "base/assert.h"
#include "base/bits.h"
#include "base/crc32c.h"
#include "base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    OLD_CRC = 12, // of messages of magic 0 and 1: zlib's CRC-32 of everything behind it
    OLD_CRC_BEGIN = 16,
    OLD_ATTRIBUTES = 17,
    OLD_TIMESTAMP = 18,
    OLD_MIN_BYTES = 26,
};

__attribute__((format(printf, 2, 3))) static enum walk_status damaged(struct walk *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char what[120];
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    struct text t = TEXT_IN(w->reason);
    text_addf(&t, "byte %" PRIu64 ": %s", w->position, what);
    return WALK_DAMAGED;
}

static enum walk_status failed(struct walk *w, int64_t error) {
    w->error = (int)error;
    return WALK_FAILED;
}

// Makes the buffer hold [position, position + size), of a file that has them. WALK_BATCH: it does.
static enum walk_status fill(struct walk *w, uint64_t position, size_t size) {
    ASSERT(position + size <= w->end_position);
    if (position >= w->buffer_position && position + size <= w->buffer_position + w->buffer_bytes) return WALK_BATCH;
    size_t chunk = w->check_crc ? WALK_CHUNK_BYTES : WALK_HEADER_CHUNK_BYTES;
    size_t wanted = (size_t)min_i64((int64_t)max_size(size, chunk), (int64_t)(w->end_position - position));
    if (wanted > w->capacity_bytes) {
        free(w->buffer);
        w->buffer = malloc(wanted);
        ASSERT(w->buffer != NULL);
        w->capacity_bytes = wanted;
    }
    w->buffer_bytes = 0;
    int64_t got = os_pread(w->host, w->file, w->buffer, wanted, position);
    if (got < 0) return failed(w, got);
    w->buffer_position = position;
    w->buffer_bytes = (size_t)got;
    return (size_t)got >= size ? WALK_BATCH : damaged(w, "the file has become shorter");
}

static const uint8_t *at(const struct walk *w, uint64_t position) {
    return w->buffer + (position - w->buffer_position);
}

// Runs a checksum over [from, end) of the batch at w->position.
static enum walk_status checksum(struct walk *w, uint64_t from, uint64_t end, bool castagnoli, uint32_t *crc) {
    *crc = 0;
    while (from < end) {
        size_t part = (size_t)min_i64(WALK_CHUNK_BYTES, (int64_t)(end - from));
        enum walk_status status = fill(w, from, part);
        if (status != WALK_BATCH) return status;
        *crc = castagnoli ? crc32c(*crc, at(w, from), part) : (uint32_t)crc32(*crc, at(w, from), (uInt)part);
        from += part;
    }
    return WALK_BATCH;
}

static void load_header(struct walk *w, const uint8_t *p) {
    w->batch = (struct batch){
        .base_offset = (int64_t)load_be64(p + BATCH_BASE_OFFSET),
        .base_timestamp = (int64_t)load_be64(p + BATCH_BASE_TIMESTAMP),
        .max_timestamp = (int64_t)load_be64(p + BATCH_MAX_TIMESTAMP),
        .producer_id = (int64_t)load_be64(p + BATCH_PRODUCER_ID),
        .partition_leader_epoch = (int32_t)load_be32(p + BATCH_LEADER_EPOCH),
        .last_offset_delta = (int32_t)load_be32(p + BATCH_LAST_OFFSET_DELTA),
        .base_sequence = (int32_t)load_be32(p + BATCH_BASE_SEQUENCE),
        .count = (int32_t)load_be32(p + BATCH_COUNT),
        .crc = load_be32(p + BATCH_CRC),
        .producer_epoch = (int16_t)load_be16(p + BATCH_PRODUCER_EPOCH),
        .attributes = (int16_t)load_be16(p + BATCH_ATTRIBUTES),
    };
}

// A message of magic 0 or 1: its offset is that of the last record in it.
static void load_old_header(struct walk *w, const uint8_t *p) {
    bool has_timestamp = w->magic == 1;
    w->batch = (struct batch){
        .base_offset = (int64_t)load_be64(p + BATCH_BASE_OFFSET),
        .base_timestamp = has_timestamp ? (int64_t)load_be64(p + OLD_TIMESTAMP) : -1,
        .max_timestamp = has_timestamp ? (int64_t)load_be64(p + OLD_TIMESTAMP) : -1,
        .producer_id = -1,
        .partition_leader_epoch = -1,
        .base_sequence = -1,
        .count = 1,
        .crc = load_be32(p + OLD_CRC),
        .producer_epoch = -1,
        .attributes = (int16_t)(p[OLD_ATTRIBUTES] & (BATCH_CODEC_MASK | BATCH_LOG_APPEND_TIME)),
    };
}

// The size of the batch at the present position, and that all of it is there.
static enum walk_status check_extent(struct walk *w) {
    uint64_t left = w->end_position - w->position;
    if (left < BATCH_MAGIC_END) return damaged(w, "%" PRIu64 " bytes are no whole batch header", left);
    enum walk_status status = fill(w, w->position, BATCH_MAGIC_END);
    if (status != WALK_BATCH) return status;
    const uint8_t *p = at(w, w->position);
    int64_t total = batch_announced_bytes(p);
    w->magic = (int8_t)p[BATCH_MAGIC];
    if (total < 0) return damaged(w, "batch length %" PRId32, (int32_t)load_be32(p + BATCH_LENGTH));
    if (w->magic < 0 || w->magic > 2) return damaged(w, "magic %d, 0 to 2 are known", w->magic);
    int64_t least = w->magic == 2 ? BATCH_HEADER_BYTES : OLD_MIN_BYTES;
    if (total < least) return damaged(w, "a batch of %" PRId64 " bytes, the header alone has %" PRId64, total, least);
    if ((uint64_t)total > left)
        return damaged(w, "a batch of %" PRId64 " bytes, only %" PRIu64 " are there", total, left);
    w->batch_bytes = (uint64_t)total;
    status = fill(w, w->position, (size_t)least);
    if (status != WALK_BATCH) return status;
    if (w->magic == 2)
        load_header(w, at(w, w->position));
    else
        load_old_header(w, at(w, w->position));
    return WALK_BATCH;
}

static enum walk_status check_offsets(struct walk *w) {
    const struct batch *b = &w->batch;
    if (b->last_offset_delta < 0) return damaged(w, "last offset delta %" PRId32, b->last_offset_delta);
    if (b->base_offset < w->next_offset)
        return damaged(w, "base offset %" PRId64 ", expected %" PRId64 " or above", b->base_offset, w->next_offset);
    if (b->base_offset > INT64_MAX - 1 - b->last_offset_delta)
        return damaged(w, "base offset %" PRId64, b->base_offset);
    return WALK_BATCH;
}

static enum walk_status check_crc(struct walk *w) {
    uint64_t from = w->position + (w->magic == 2 ? BATCH_ATTRIBUTES : OLD_CRC_BEGIN);
    uint32_t computed;
    enum walk_status status = checksum(w, from, w->position + w->batch_bytes, w->magic == 2, &computed);
    if (status != WALK_BATCH || computed == w->batch.crc) return status;
    return damaged(w, "CRC 0x%08" PRIx32 ", the batch at offset %" PRId64 " has 0x%08" PRIx32, w->batch.crc,
                   w->batch.base_offset, computed);
}

enum walk_status walk_next(struct walk *w) {
    ASSERT(w->position <= w->end_position);
    w->reason[0] = '\0';
    if (w->position == w->end_position) return WALK_END;
    w->is_whole = false;
    enum walk_status status = check_extent(w);
    w->is_whole = status == WALK_BATCH;
    if (status == WALK_BATCH) status = check_offsets(w);
    if (status == WALK_BATCH && w->check_crc) status = check_crc(w);
    if (status != WALK_BATCH) return status;
    w->batch_position = w->position;
    w->position += w->batch_bytes;
    w->next_offset = walk_last_offset(w) + 1;
    return WALK_BATCH;
}

enum walk_status walk_load_batch(struct walk *w, uint64_t bytes_max) {
    if (w->batch_bytes > bytes_max) {
        struct text t = TEXT_IN(w->reason);
        text_addf(&t, "byte %" PRIu64 ": a batch of %" PRIu64 " bytes, at most %" PRIu64 " are read", w->batch_position,
                  w->batch_bytes, bytes_max);
        return WALK_DAMAGED;
    }
    enum walk_status status = fill(w, w->batch_position, (size_t)w->batch_bytes);
    if (status == WALK_BATCH) w->batch.bytes = (struct bytes){at(w, w->batch_position), (size_t)w->batch_bytes};
    return status;
}

void walk_skip(struct walk *w) {
    ASSERT(w->is_whole);
    w->batch_position = w->position;
    w->position += w->batch_bytes;
    bool has_end = w->batch.last_offset_delta >= 0 && w->batch.base_offset < INT64_MAX - INT32_MAX - 1;
    if (has_end) w->next_offset = max_i64(w->next_offset, walk_last_offset(w) + 1);
}

void walk_close(struct walk *w) {
    free(w->buffer);
    w->buffer = NULL;
    w->buffer_bytes = w->capacity_bytes = 0;
}
