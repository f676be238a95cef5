// SPDX-License-Identifier: Apache-2.0
// The public reader of tailrace/record.h, on top of batch.h, record.h and legacy_read.h. A plain message of magic 0 or
// 1 is shown as a batch of one record, a wrapper as a batch of what it holds.
//
// Unfolding is bounded: a batch may not give more than 1 GiB, which is what a batch of that size could hold plainly.
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/legacy_read.h"
#include "protocol/record.h"
#include "tailrace/record.h"
#include <stdlib.h>

enum { OUTPUT_MAX_BYTES = 1 << 30 };

enum reader_state { STATE_NONE, STATE_RECORDS, STATE_MESSAGE, STATE_WRAPPER };

struct tailrace_reader {
    const uint8_t *begin;
    struct bytes rest;
    enum reader_state state;
    const char *reason;
    struct batch batch;           // STATE_RECORDS
    struct record_reader records; // STATE_RECORDS
    struct legacy_message outer;  // STATE_MESSAGE, STATE_WRAPPER
    struct bytes inner;           // STATE_WRAPPER: what is left of it
    int64_t inner_base_offset;
    struct arena arena; // what the wrapper unfolded to
};

struct tailrace_reader *tailrace_reader_open(const void *data, size_t size_bytes) {
    struct tailrace_reader *r = calloc(1, sizeof *r);
    ASSERT(r != NULL);
    r->begin = data;
    r->rest = (struct bytes){data, size_bytes};
    arena_init(&r->arena, 2 * (size_t)OUTPUT_MAX_BYTES);
    return r;
}

static void leave_batch(struct tailrace_reader *r) {
    if (r->state == STATE_RECORDS) record_close(&r->records);
    arena_drop(&r->arena);
    r->state = STATE_NONE;
}

void tailrace_reader_close(struct tailrace_reader *r) {
    leave_batch(r);
    free(r);
}

const char *tailrace_reader_reason(const struct tailrace_reader *r) {
    return r->reason ? r->reason : "";
}

static enum tailrace_status corrupt(struct tailrace_reader *r, const char *reason) {
    r->reason = reason;
    return TAILRACE_CORRUPT;
}

static enum tailrace_status enter_batch(struct tailrace_reader *r, struct tailrace_batch *out) {
    const struct batch *b = &r->batch;
    *out = (struct tailrace_batch){
        .size_bytes = b->bytes.size,
        .base_offset = b->base_offset,
        .last_offset = batch_last_offset(b),
        .base_timestamp = b->base_timestamp,
        .max_timestamp = b->max_timestamp,
        .producer_id = b->producer_id,
        .base_sequence = b->base_sequence,
        .partition_leader_epoch = b->partition_leader_epoch,
        .count = b->count,
        .producer_epoch = b->producer_epoch,
        .magic = 2,
        .codec = (int8_t)batch_codec(b),
        .is_log_append_time = batch_is_log_append_time(b),
        .is_transactional = batch_is_transactional(b),
        .is_control = batch_is_control(b),
        .has_delete_horizon = b->attributes & BATCH_DELETE_HORIZON,
        .checksum_is_valid = batch_crc_is_valid(b),
    };
    if (batch_codec(b) >= CODEC_COUNT) return TAILRACE_OK; // its records are what is corrupt
    record_open(&r->records, b, OUTPUT_MAX_BYTES, RECORD_CONTENT);
    r->state = STATE_RECORDS;
    return TAILRACE_OK;
}

// Finds the last inner message, from which those of magic 1 count backwards. A wrapper offset of 0 comes from clients
// that left it to the broker.
static bool find_inner_base(struct tailrace_reader *r, struct legacy_failure *failure) {
    struct bytes set = r->inner;
    struct legacy_message m = {0};
    while (legacy_next(&set, true, &m, failure)) {
    }
    if (failure->reason) return false;
    bool relative = r->outer.magic == 1 && r->outer.offset != 0;
    r->inner_base_offset = relative ? (int64_t)((uint64_t)r->outer.offset - (uint64_t)m.offset) : 0;
    return true;
}

static enum tailrace_status enter_message(struct tailrace_reader *r, struct bytes bytes, struct tailrace_batch *out) {
    struct legacy_failure failure = {0};
    if (!legacy_next(&bytes, false, &r->outer, &failure)) return corrupt(r, failure.reason);
    const struct legacy_message *m = &r->outer;
    *out = (struct tailrace_batch){
        .size_bytes = m->bytes.size,
        .base_offset = m->offset,
        .last_offset = m->offset,
        .base_timestamp = m->timestamp,
        .max_timestamp = m->timestamp,
        .producer_id = -1,
        .base_sequence = -1,
        .partition_leader_epoch = -1,
        .count = -1,
        .producer_epoch = -1,
        .magic = m->magic,
        .codec = m->attributes & BATCH_CODEC_MASK,
        .is_log_append_time = m->magic == 1 && m->attributes & BATCH_LOG_APPEND_TIME,
        .checksum_is_valid = true, // legacy_next has looked
    };
    if (out->codec == CODEC_NONE) {
        r->state = STATE_MESSAGE;
        return TAILRACE_OK;
    }
    if (!legacy_unfold(m, OUTPUT_MAX_BYTES, &r->arena, &r->inner, &failure)) return corrupt(r, failure.reason);
    if (!find_inner_base(r, &failure)) return corrupt(r, failure.reason);
    r->state = STATE_WRAPPER;
    return TAILRACE_OK;
}

enum tailrace_status tailrace_next_batch(struct tailrace_reader *r, struct tailrace_batch *out) {
    leave_batch(r);
    size_t position = (size_t)(r->rest.data - r->begin);
    enum tailrace_status status;
    switch (batch_next(&r->rest, &r->batch)) {
    case BATCH_OK: status = enter_batch(r, out); break;
    case BATCH_OLD_FORMAT: status = enter_message(r, r->batch.bytes, out); break;
    case BATCH_END: return TAILRACE_END;
    case BATCH_INCOMPLETE: return TAILRACE_INCOMPLETE;
    case BATCH_CORRUPT: return corrupt(r, "no batch has such a length or magic");
    default: UNREACHABLE();
    }
    out->position = position;
    return status;
}

static struct tailrace_bytes public_bytes(struct bytes b) {
    return (struct tailrace_bytes){b.data, b.size};
}

static enum tailrace_status next_of_batch(struct tailrace_reader *r, struct tailrace_record *out) {
    struct record record;
    const struct batch *b = &r->batch;
    switch (record_next(&r->records, &record)) {
    case RECORD_OK: break;
    case RECORD_END: return TAILRACE_END;
    case RECORD_CORRUPT: return corrupt(r, "records are malformed, or not as many as the header says");
    case RECORD_TOO_LARGE: return corrupt(r, "batch unfolds to more than 1 GiB");
    }
    *out = (struct tailrace_record){
        .offset = (int64_t)((uint64_t)b->base_offset + (uint64_t)(int64_t)record.offset_delta),
        .timestamp = batch_is_log_append_time(b)
                         ? b->max_timestamp
                         : (int64_t)((uint64_t)b->base_timestamp + (uint64_t)record.timestamp_delta),
        .sequence = b->base_sequence < 0 ? -1 : sequence_add(b->base_sequence, record.offset_delta),
        .header_count = record.header_count,
        .key = public_bytes(record.key),
        .value = public_bytes(record.value),
        .headers = public_bytes(record.headers),
    };
    return TAILRACE_OK;
}

static enum tailrace_status next_of_message(struct tailrace_reader *r, struct tailrace_record *out) {
    struct legacy_message m = r->outer;
    if (r->state == STATE_MESSAGE) {
        r->state = STATE_NONE;
    } else {
        struct legacy_failure failure = {0};
        if (!legacy_next(&r->inner, true, &m, &failure))
            return failure.reason ? corrupt(r, failure.reason) : TAILRACE_END;
        m.offset = (int64_t)((uint64_t)m.offset + (uint64_t)r->inner_base_offset);
        if (r->outer.magic == 1 && r->outer.attributes & BATCH_LOG_APPEND_TIME) m.timestamp = r->outer.timestamp;
    }
    *out = (struct tailrace_record){
        .offset = m.offset,
        .timestamp = m.timestamp,
        .sequence = -1,
        .key = public_bytes(m.key),
        .value = public_bytes(m.value),
    };
    return TAILRACE_OK;
}

enum tailrace_status tailrace_next_record(struct tailrace_reader *r, struct tailrace_record *out) {
    switch (r->state) {
    case STATE_RECORDS: return next_of_batch(r, out);
    case STATE_MESSAGE:
    case STATE_WRAPPER: return next_of_message(r, out);
    case STATE_NONE: return batch_codec(&r->batch) >= CODEC_COUNT ? corrupt(r, "unknown codec") : TAILRACE_END;
    default: UNREACHABLE();
    }
}

bool tailrace_next_header(struct tailrace_record *record, struct tailrace_bytes *key, struct tailrace_bytes *value) {
    struct bytes headers = {record->headers.data, record->headers.size};
    struct record_header header;
    if (!record_header_next(&headers, &header)) return false;
    *key = (struct tailrace_bytes){(const uint8_t *)header.key.data, header.key.size};
    *value = public_bytes(header.value);
    record->headers = public_bytes(headers);
    return true;
}
