// SPDX-License-Identifier: Apache-2.0
// A message set is either plain messages one after the other, or one wrapper whose value is a compressed set of plain
// ones. The messages are walked twice: to check and size them, then to write the new batch. A wrapper is unfolded into
// the arena before, under the rules' cap and the arena's limit.
//
// Refused: checksum errors (CORRUPT_MESSAGE); messages of another magic than the first, a second message beside a
// wrapper, wrappers inside wrappers, zstd (INVALID_RECORD); messages over max.message.bytes.
#include "protocol/legacy.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/batch_cost.h"
#include "protocol/batch_writer.h"
#include "protocol/legacy_read.h"
#include "protocol/record_rules.h"
#include "tailrace/error.h"

static bool refuse(struct append_check *check, int16_t error, const char *reason) {
    check->error = error;
    check->reason = reason;
    check->record_error_count = 0;
    return false;
}

// The next message; false at the end, and if something is wrong, which check->error then says.
static bool take(struct bytes *set, bool is_inner, struct legacy_message *m, struct append_check *check) {
    struct legacy_failure failure = {.error = KAFKA_ERROR_NONE};
    if (legacy_next(set, is_inner, m, &failure)) return true;
    if (failure.error != KAFKA_ERROR_NONE) refuse(check, failure.error, failure.reason);
    return false;
}

struct legacy_set {
    struct bytes bytes;
    bool is_inner;
    int8_t magic;
    enum codec codec;          // of the wrapper
    bool log_append_time;      // the wrapper's timestamp counts for all
    int64_t wrapper_timestamp; // if so
    size_t batch_max_bytes;    // of the new batch
};

static int64_t message_timestamp(const struct legacy_set *set, const struct legacy_message *m) {
    return set->log_append_time && set->is_inner ? set->wrapper_timestamp : m->timestamp;
}

static bool legacy_check_set(struct legacy_set *set, const struct append_rules *rules, struct arena *arena,
                             struct append_check *check) {
    struct bytes rest = set->bytes;
    struct legacy_message m;
    int32_t index = 0;
    set->batch_max_bytes = BATCH_HEADER_BYTES;
    check->max_timestamp = -1;
    while (take(&rest, set->is_inner, &m, check)) {
        if (m.magic != set->magic) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "messages of different magic");
        if (m.attributes & BATCH_CODEC_MASK) {
            return refuse(check, KAFKA_ERROR_INVALID_RECORD, "compressed message among or inside others");
        }
        if (!set->is_inner && m.bytes.size > rules->max_batch_bytes) {
            check->before_log = true;
            return refuse(check, KAFKA_ERROR_MESSAGE_TOO_LARGE, "message is larger than max.message.bytes");
        }
        bool append_type = set->is_inner ? set->log_append_time : m.magic == 1 && m.attributes & BATCH_LOG_APPEND_TIME;
        int64_t timestamp = message_timestamp(set, &m);
        if (timestamp < -1) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "negative timestamp");
        struct record_error seen = {.batch_index = index,
                                    .key_bytes = m.key.data ? (int32_t)m.key.size : -1,
                                    .value_bytes = m.value.data ? (int32_t)m.value.size : -1,
                                    .timestamp = timestamp};
        if (!record_rules_check(rules, append_type, &seen, arena, check)) return false;
        // To Kafka a plain message is a batch of its own: it has index 0, and the first bad one ends it.
        if (!set->is_inner && check->record_error_count > 0) break;
        if (set->is_inner) index++;
        check->max_timestamp = max_i64(check->max_timestamp, timestamp);
        set->batch_max_bytes += RECORD_OVERHEAD_MAX_BYTES + m.key.size + m.value.size;
    }
    if (check->record_error_count > 0) check->reason = record_errors_reason(check);
    return check->error == KAFKA_ERROR_NONE;
}

static bool legacy_write(const struct legacy_set *set, const struct append_rules *rules, struct arena *arena,
                         struct append_check *check) {
    uint8_t *memory = arena_alloc(arena, set->batch_max_bytes);
    if (!memory) return refuse(check, KAFKA_ERROR_RECORD_LIST_TOO_LARGE, "no memory to convert the messages");
    struct batch_options options = BATCH_OPTIONS_PLAIN;
    options.log_append_time = rules->log_append_time;
    options.log_append_time_ms = rules->now_ms;
    struct batch_writer w;
    batch_writer_begin(&w, memory, set->batch_max_bytes, options);
    struct bytes rest = set->bytes;
    struct legacy_message m;
    while (take(&rest, set->is_inner, &m, check)) {
        bool added = batch_writer_add(&w, message_timestamp(set, &m), m.key, m.value, NULL, 0);
        ASSERT(added);
    }
    ASSERT(check->error == KAFKA_ERROR_NONE);
    struct bytes batch = {memory, batch_writer_end(&w)};
    if (set->codec != CODEC_NONE) {
        size_t room = BATCH_HEADER_BYTES + codec_compress_bound(set->codec, batch.size - BATCH_RECORDS);
        uint8_t *compressed = arena_alloc(arena, room);
        if (!compressed) return refuse(check, KAFKA_ERROR_RECORD_LIST_TOO_LARGE, "no memory to convert the messages");
        size_t size = batch_compress(batch, set->codec, 0, compressed, room);
        ASSERT(size > 0);
        batch = (struct bytes){compressed, size};
    }
    enum batch_status status = batch_load(batch, &check->batch);
    ASSERT(status == BATCH_OK);
    if (batch.size > rules->max_batch_bytes) {
        check->before_log = true;
        return refuse(check, KAFKA_ERROR_MESSAGE_TOO_LARGE, "converted batch is larger than max.message.bytes");
    }
    check->converted = true;
    return true;
}

// False and nothing else: it is for later.
static bool postpone(struct append_check *check) {
    check->postponed = true;
    return false;
}

bool legacy_convert(struct bytes records, const struct append_rules *rules, struct arena *arena,
                    struct append_check *check) {
    struct bytes rest = records;
    struct legacy_message first, second;
    if (!take(&rest, false, &first, check)) {
        check->before_log = true;
        return false;
    }
    struct legacy_set set = {.bytes = records, .magic = first.magic, .codec = first.attributes & BATCH_CODEC_MASK};
    uint64_t tenths = cost_converted_tenths((int)set.codec);
    uint64_t cost_ns = cost_of_bytes(records.size, tenths);
    if (rules->cost_max_ns > 0 && cost_ns > rules->cost_max_ns) return postpone(check);
    check->cost_ns = cost_ns;
    if (set.codec != CODEC_NONE) {
        if (first.bytes.size > rules->max_batch_bytes) {
            check->before_log = true;
            return refuse(check, KAFKA_ERROR_MESSAGE_TOO_LARGE, "message is larger than max.message.bytes");
        }
        if (take(&rest, false, &second, check)) {
            return refuse(check, KAFKA_ERROR_INVALID_RECORD, "second message beside a compressed one");
        }
        if (check->error) return false;
        set.is_inner = true;
        set.log_append_time = first.magic == 1 && first.attributes & BATCH_LOG_APPEND_TIME;
        set.wrapper_timestamp = first.timestamp;
        struct legacy_failure failure = {.error = KAFKA_ERROR_NONE};
        uint64_t cap = rules->decompressed_max_bytes;
        if (rules->cost_max_ns > 0) cap = cost_unfolded_max_bytes(rules->cost_max_ns, tenths, cap);
        if (!legacy_unfold(&first, cap, arena, &set.bytes, &failure)) {
            if (failure.is_too_large && cap < rules->decompressed_max_bytes) return postpone(check);
            return refuse(check, failure.error, failure.reason);
        }
        check->cost_ns += cost_of_bytes(set.bytes.size, tenths);
    }
    return legacy_check_set(&set, rules, arena, check) && legacy_write(&set, rules, arena, check);
}
