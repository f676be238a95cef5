// SPDX-License-Identifier: Apache-2.0
// See batch_writer.h.
#include "protocol/batch_writer.h"
#include "base/assert.h"
#include "base/bits.h"
#include "base/crc32c.h"
#include "protocol/varint.h"

void batch_writer_begin(struct batch_writer *w, void *memory, size_t capacity_bytes, struct batch_options options) {
    ASSERT(capacity_bytes >= BATCH_HEADER_BYTES);
    *w = (struct batch_writer){.memory = memory, .size_bytes = BATCH_HEADER_BYTES, .capacity_bytes = capacity_bytes};
    w->options = options;
    w->max_timestamp = -1;
}

static size_t field_size(const void *data, size_t size) {
    return data ? varlong_size((int64_t)size) + size : 1;
}

static uint8_t *field_store(uint8_t *p, const void *data, size_t size) {
    p = varlong_store(p, data ? (int64_t)size : -1);
    if (size > 0) memcpy(p, data, size);
    return p + size;
}

bool batch_writer_add(struct batch_writer *w, int64_t timestamp, struct bytes key, struct bytes value,
                      const struct record_header *headers, int32_t header_count) {
    if (w->count == 0) w->base_timestamp = timestamp;
    int64_t timestamp_delta = (int64_t)((uint64_t)timestamp - (uint64_t)w->base_timestamp);
    size_t body = 1 + varlong_size(timestamp_delta) + varlong_size(w->count) + field_size(key.data, key.size) +
                  field_size(value.data, value.size) + varlong_size(header_count);
    for (int32_t i = 0; i < header_count; i++) {
        ASSERT(headers[i].key.data);
        body += field_size(headers[i].key.data, headers[i].key.size) +
                field_size(headers[i].value.data, headers[i].value.size);
    }
    size_t room = w->capacity_bytes - w->size_bytes;
    if (body > INT32_MAX || varlong_size((int64_t)body) + body > room || w->count == INT32_MAX) return false;
    uint8_t *p = varlong_store(w->memory + w->size_bytes, (int64_t)body);
    const uint8_t *begin = p;
    *p++ = 0; // attributes
    p = varlong_store(p, timestamp_delta);
    p = varlong_store(p, w->count);
    p = field_store(p, key.data, key.size);
    p = field_store(p, value.data, value.size);
    p = varlong_store(p, header_count);
    for (int32_t i = 0; i < header_count; i++) {
        p = field_store(p, headers[i].key.data, headers[i].key.size);
        p = field_store(p, headers[i].value.data, headers[i].value.size);
    }
    ASSERT((size_t)(p - begin) == body);
    w->size_bytes = (size_t)(p - w->memory);
    w->max_timestamp = max_i64(w->max_timestamp, timestamp);
    w->count++;
    return true;
}

static void seal(uint8_t *batch, size_t size_bytes) {
    ASSERT(size_bytes >= BATCH_HEADER_BYTES && size_bytes <= INT32_MAX);
    store_be32(batch + BATCH_LENGTH, (uint32_t)(size_bytes - BATCH_OVERHEAD_BYTES));
    store_be32(batch + BATCH_CRC, crc32c(0, batch + BATCH_ATTRIBUTES, size_bytes - BATCH_ATTRIBUTES));
}

size_t batch_writer_end(struct batch_writer *w) {
    ASSERT(w->count > 0);
    const struct batch_options *o = &w->options;
    uint8_t *p = w->memory;
    int attributes = (o->log_append_time ? BATCH_LOG_APPEND_TIME : 0) |
                     (o->is_transactional ? BATCH_TRANSACTIONAL : 0) | (o->is_control ? BATCH_CONTROL : 0);
    store_be64(p + BATCH_BASE_OFFSET, (uint64_t)o->base_offset);
    store_be32(p + BATCH_LEADER_EPOCH, (uint32_t)o->partition_leader_epoch);
    p[BATCH_MAGIC] = 2;
    store_be16(p + BATCH_ATTRIBUTES, (uint16_t)attributes);
    store_be32(p + BATCH_LAST_OFFSET_DELTA, (uint32_t)w->count - 1);
    store_be64(p + BATCH_BASE_TIMESTAMP, (uint64_t)w->base_timestamp);
    store_be64(p + BATCH_MAX_TIMESTAMP, (uint64_t)(o->log_append_time ? o->log_append_time_ms : w->max_timestamp));
    store_be64(p + BATCH_PRODUCER_ID, (uint64_t)o->producer_id);
    store_be16(p + BATCH_PRODUCER_EPOCH, (uint16_t)o->producer_epoch);
    store_be32(p + BATCH_BASE_SEQUENCE, (uint32_t)o->base_sequence);
    store_be32(p + BATCH_COUNT, (uint32_t)w->count);
    seal(p, w->size_bytes);
    return w->size_bytes;
}

size_t batch_compress(struct bytes batch, enum codec codec, int level, void *out, size_t out_bytes) {
    ASSERT(batch.size >= BATCH_HEADER_BYTES && (batch.data[BATCH_ATTRIBUTES + 1] & BATCH_CODEC_MASK) == 0);
    if (out_bytes < BATCH_HEADER_BYTES) return 0;
    struct bytes records = {batch.data + BATCH_RECORDS, batch.size - BATCH_RECORDS};
    uint8_t *p = out;
    size_t size = codec_compress(codec, level, records, p + BATCH_RECORDS, out_bytes - BATCH_RECORDS);
    if (size == 0) return 0;
    memcpy(p, batch.data, BATCH_HEADER_BYTES);
    p[BATCH_ATTRIBUTES + 1] |= (uint8_t)codec;
    seal(p, BATCH_HEADER_BYTES + size);
    return BATCH_HEADER_BYTES + size;
}
