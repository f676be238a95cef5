// SPDX-License-Identifier: Apache-2.0
// See batch.h.
#include "protocol/batch.h"
#include "base/assert.h"
#include "base/bits.h"
#include "base/crc32c.h"

enum {
    LEGACY_MESSAGE_MIN_BYTES = 26, // magic 0: overhead, crc, magic, attributes and two lengths
    BATCH_CRC_REUSE_MIN_BYTES = 128 * 1024,
};

int64_t batch_announced_bytes(const uint8_t first[static BATCH_OVERHEAD_BYTES]) {
    int32_t length = (int32_t)load_be32(first + BATCH_LENGTH);
    int64_t total = (int64_t)length + BATCH_OVERHEAD_BYTES;
    return length < 0 || total < LEGACY_MESSAGE_MIN_BYTES ? -1 : total;
}

static void batch_load_header(const uint8_t *p, struct batch *b) {
    b->base_offset = (int64_t)load_be64(p + BATCH_BASE_OFFSET);
    b->partition_leader_epoch = (int32_t)load_be32(p + BATCH_LEADER_EPOCH);
    b->crc = load_be32(p + BATCH_CRC);
    b->attributes = (int16_t)load_be16(p + BATCH_ATTRIBUTES);
    b->last_offset_delta = (int32_t)load_be32(p + BATCH_LAST_OFFSET_DELTA);
    b->base_timestamp = (int64_t)load_be64(p + BATCH_BASE_TIMESTAMP);
    b->max_timestamp = (int64_t)load_be64(p + BATCH_MAX_TIMESTAMP);
    b->producer_id = (int64_t)load_be64(p + BATCH_PRODUCER_ID);
    b->producer_epoch = (int16_t)load_be16(p + BATCH_PRODUCER_EPOCH);
    b->base_sequence = (int32_t)load_be32(p + BATCH_BASE_SEQUENCE);
    b->count = (int32_t)load_be32(p + BATCH_COUNT);
}

enum batch_status batch_load(struct bytes in, struct batch *b) {
    if (in.size == 0) return BATCH_END;
    if (in.size < BATCH_OVERHEAD_BYTES) return BATCH_INCOMPLETE;
    int64_t total = batch_announced_bytes(in.data);
    if (total < 0) return BATCH_CORRUPT;
    if (in.size < BATCH_MAGIC_END) return BATCH_INCOMPLETE;
    int8_t magic = (int8_t)in.data[BATCH_MAGIC];
    if (magic < 0 || magic > 2) return BATCH_CORRUPT;
    if (magic == 2 && total < BATCH_HEADER_BYTES) return BATCH_CORRUPT;
    if ((uint64_t)total > in.size) return BATCH_INCOMPLETE;
    *b = (struct batch){.bytes = {in.data, (size_t)total}};
    if (magic < 2) return BATCH_OLD_FORMAT;
    batch_load_header(in.data, b);
    return BATCH_OK;
}

enum batch_status batch_next(struct bytes *in, struct batch *b) {
    enum batch_status status = batch_load(*in, b);
    if (status == BATCH_OK || status == BATCH_OLD_FORMAT) {
        in->data += b->bytes.size;
        in->size -= b->bytes.size;
    }
    return status;
}

bool batch_crc_is_valid(const struct batch *b) {
    ASSERT(b->bytes.size >= BATCH_HEADER_BYTES);
    return crc32c(0, b->bytes.data + BATCH_ATTRIBUTES, b->bytes.size - BATCH_ATTRIBUTES) == b->crc;
}

void batch_set_base_offset(uint8_t *batch, int64_t base_offset) {
    ASSERT(base_offset >= 0);
    store_be64(batch + BATCH_BASE_OFFSET, (uint64_t)base_offset);
}

void batch_set_leader_epoch(uint8_t *batch, int32_t leader_epoch) {
    store_be32(batch + BATCH_LEADER_EPOCH, (uint32_t)leader_epoch);
}

void batch_set_max_timestamp(uint8_t *batch, size_t size_bytes, bool log_append_time, int64_t max_timestamp) {
    ASSERT(size_bytes >= BATCH_HEADER_BYTES && batch[BATCH_MAGIC] == 2);
    int16_t attributes = (int16_t)load_be16(batch + BATCH_ATTRIBUTES);
    bool has_type = ((attributes & BATCH_LOG_APPEND_TIME) != 0) == log_append_time;
    if (has_type && (int64_t)load_be64(batch + BATCH_MAX_TIMESTAMP) == max_timestamp) return;
    enum { FIXED_BYTES = BATCH_RECORDS - BATCH_ATTRIBUTES };
    uint32_t before = crc32c(0, batch + BATCH_ATTRIBUTES, FIXED_BYTES);
    // Only the bits that have a meaning survive, as in Kafka.
    attributes &= BATCH_CODEC_MASK | BATCH_TRANSACTIONAL | BATCH_CONTROL | BATCH_DELETE_HORIZON;
    if (log_append_time) attributes |= BATCH_LOG_APPEND_TIME;
    store_be16(batch + BATCH_ATTRIBUTES, (uint16_t)attributes);
    store_be64(batch + BATCH_MAX_TIMESTAMP, (uint64_t)max_timestamp);
    uint32_t after = crc32c(0, batch + BATCH_ATTRIBUTES, FIXED_BYTES);
    uint32_t crc;
    if (size_bytes < BATCH_CRC_REUSE_MIN_BYTES) { // cheaper than the arithmetic below
        crc = crc32c(after, batch + BATCH_RECORDS, size_bytes - BATCH_RECORDS);
    } else {
        // The checksum is linear: the difference of the two headers, shifted over the records, is that of the whole.
        crc = crc32c_combine(before ^ after, load_be32(batch + BATCH_CRC), size_bytes - BATCH_RECORDS);
    }
    store_be32(batch + BATCH_CRC, crc);
}
