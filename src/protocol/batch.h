// SPDX-License-Identifier: Apache-2.0
// Record batches of magic 2, on the wire and on disk: the 61-byte header, iteration over the batches of a blob, and the
// checksum. Bytes are hostile: whatever is read is checked against the bytes that are there.
#pragma once

#include "base/slice.h"
#include "protocol/compress.h"

enum batch_layout {
    BATCH_BASE_OFFSET = 0,        // int64
    BATCH_LENGTH = 8,             // int32, of what follows it
    BATCH_LEADER_EPOCH = 12,      // int32, not covered by the checksum
    BATCH_MAGIC = 16,             // int8
    BATCH_CRC = 17,               // uint32, CRC-32C of everything behind it
    BATCH_ATTRIBUTES = 21,        // int16
    BATCH_LAST_OFFSET_DELTA = 23, // int32
    BATCH_BASE_TIMESTAMP = 27,    // int64
    BATCH_MAX_TIMESTAMP = 35,     // int64
    BATCH_PRODUCER_ID = 43,       // int64
    BATCH_PRODUCER_EPOCH = 51,    // int16
    BATCH_BASE_SEQUENCE = 53,     // int32
    BATCH_COUNT = 57,             // int32
    BATCH_RECORDS = 61,
    BATCH_HEADER_BYTES = 61,
    BATCH_OVERHEAD_BYTES = 12, // base offset and length, which the length does not count
    BATCH_MAGIC_END = 17,      // the bytes that are needed to know the format
};
enum batch_attributes {
    BATCH_CODEC_MASK = 7,
    BATCH_LOG_APPEND_TIME = 1 << 3,
    BATCH_TRANSACTIONAL = 1 << 4,
    BATCH_CONTROL = 1 << 5,
    BATCH_DELETE_HORIZON = 1 << 6,
};

// The header's values, and the whole batch.
struct batch {
    int64_t base_offset;
    int64_t base_timestamp;
    int64_t max_timestamp;
    int64_t producer_id; // -1 if none
    int32_t partition_leader_epoch;
    int32_t last_offset_delta;
    int32_t base_sequence; // -1 if none
    int32_t count;
    uint32_t crc;
    int16_t producer_epoch;
    int16_t attributes;
    struct bytes bytes; // header and records
};

static inline int64_t batch_last_offset(const struct batch *b) {
    return (int64_t)((uint64_t)b->base_offset + (uint64_t)(int64_t)b->last_offset_delta);
}
static inline int batch_codec(const struct batch *b) { // 5 to 7 are no codec
    return b->attributes & BATCH_CODEC_MASK;
}
static inline bool batch_is_control(const struct batch *b) {
    return b->attributes & BATCH_CONTROL;
}
static inline bool batch_is_transactional(const struct batch *b) {
    return b->attributes & BATCH_TRANSACTIONAL;
}
static inline bool batch_is_log_append_time(const struct batch *b) {
    return b->attributes & BATCH_LOG_APPEND_TIME;
}
// Sequences wrap from 2^31 - 1 to 0.
static inline int32_t sequence_add(int32_t sequence, int32_t n) {
    return (int32_t)(((uint32_t)sequence + (uint32_t)n) & INT32_MAX);
}
static inline int32_t batch_last_sequence(const struct batch *b) {
    return b->base_sequence < 0 ? -1 : sequence_add(b->base_sequence, b->last_offset_delta);
}

enum batch_status {
    BATCH_OK,
    BATCH_END,        // nothing left
    BATCH_INCOMPLETE, // the rest is shorter than the batch that begins there
    BATCH_CORRUPT,    // no format has such a length or magic
    BATCH_OLD_FORMAT, // a message of magic 0 or 1: legacy.h
};

// The batch at the beginning of `in`. On BATCH_OLD_FORMAT only b->bytes is set, to that one message.
enum batch_status batch_load(struct bytes in, struct batch *b);
// The same, and moves *in behind it (on BATCH_OK and BATCH_OLD_FORMAT).
enum batch_status batch_next(struct bytes *in, struct batch *b);
// The total size that the first 12 bytes announce, or -1 if no batch has it. For readers of files and sockets.
int64_t batch_announced_bytes(const uint8_t first[static BATCH_OVERHEAD_BYTES]);

bool batch_crc_is_valid(const struct batch *b);

// Patching in place what the checksum does not cover.
void batch_set_base_offset(uint8_t *batch, int64_t base_offset);
void batch_set_leader_epoch(uint8_t *batch, int32_t leader_epoch);
// Sets timestamp type and maximum, and corrects the checksum, which must have been right, without reading the records
// again if they are many.
void batch_set_max_timestamp(uint8_t *batch, size_t size_bytes, bool log_append_time, int64_t max_timestamp);
