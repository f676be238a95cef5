// SPDX-License-Identifier: Apache-2.0
// See batch_validate.h. The checks run from the outside in: the request's rules on the blob, the header, the checksum,
// the header's own consistency, then the records.
#include "protocol/batch_validate.h"
#include "base/assert.h"
#include "protocol/batch_cost.h"
#include "protocol/legacy.h"
#include "protocol/record.h"
#include "protocol/record_rules.h"
#include "tailrace/error.h"

enum { RECORD_ERRORS_FIRST = 16 };

// The batch is refused as a whole: errors of single records do not count any more.
static bool refuse(struct append_check *check, int16_t error, const char *reason) {
    check->error = error;
    check->reason = reason;
    check->record_error_count = 0;
    return false;
}

static bool refuse_before_log(struct append_check *check, int16_t error, const char *reason) {
    check->before_log = true;
    return refuse(check, error, reason);
}

// Doubles, so that many errors cost no more than twice their memory.
static bool record_error_add(struct append_check *check, struct arena *arena, const struct record_error *record,
                             enum record_fault fault) {
    int32_t n = check->record_error_count;
    if ((n & (n - 1)) == 0 && (n == 0 || n >= RECORD_ERRORS_FIRST)) {
        size_t room = n == 0 ? RECORD_ERRORS_FIRST : (size_t)n * 2;
        struct record_error *grown = arena_alloc_array(arena, room, sizeof *grown);
        if (!grown)
            return refuse(check, KAFKA_ERROR_RECORD_LIST_TOO_LARGE, "more refused records than fit into memory");
        if (n > 0) memcpy(grown, check->record_errors, (size_t)n * sizeof *grown);
        check->record_errors = grown;
    }
    struct record_error *error = &check->record_errors[check->record_error_count++];
    *error = *record;
    error->fault = fault;
    return true;
}

bool record_rules_check(const struct append_rules *rules, bool batch_log_append_time, const struct record_error *record,
                        struct arena *arena, struct append_check *check) {
    if (rules->is_compacted && record->key_bytes < 0) {
        if (!check->error) check->error = KAFKA_ERROR_INVALID_RECORD;
        return record_error_add(check, arena, record, RECORD_WITHOUT_KEY);
    }
    bool is_wrong = batch_log_append_time;
    enum record_fault fault = RECORD_WITH_BROKER_TIME;
    if (!rules->log_append_time && record->timestamp != -1) {
        // As in Java the difference wraps, so that no timestamp is outside of unlimited bounds.
        int64_t age_ms = (int64_t)((uint64_t)rules->now_ms - (uint64_t)record->timestamp);
        int64_t ahead_ms = (int64_t)(0 - (uint64_t)age_ms);
        is_wrong = age_ms > rules->timestamp_before_max_ms || ahead_ms > rules->timestamp_after_max_ms;
        fault = RECORD_OUT_OF_TIME;
    }
    if (!is_wrong) return true;
    check->error = KAFKA_ERROR_INVALID_TIMESTAMP; // wins over missing keys
    return record_error_add(check, arena, record, fault);
}

const char *record_errors_reason(const struct append_check *check) {
    ASSERT(check->record_error_count > 0);
    return check->error == KAFKA_ERROR_INVALID_TIMESTAMP ? "records were refused because of their timestamps"
                                                         : "records were refused";
}

// The rules of the Produce version on the blob as a whole. What follows the last whole batch is cut off, as in Kafka.
static bool check_blob(struct bytes records, const struct append_rules *rules, struct append_check *check) {
    struct bytes rest = records;
    struct batch second;
    enum batch_status status = batch_next(&rest, &check->batch);
    if (status == BATCH_CORRUPT)
        return refuse_before_log(check, KAFKA_ERROR_CORRUPT_MESSAGE, "impossible batch length or magic");
    if (status != BATCH_OK && status != BATCH_OLD_FORMAT) {
        check->batch = (struct batch){0};
        if (rules->produce_version < 3 && records.data) return true; // asked of 3.9.1: nothing to do is no error
        return refuse_before_log(check, KAFKA_ERROR_INVALID_RECORD, "no whole record batch");
    }
    if (rules->produce_version < 3) return true;
    if (status == BATCH_OLD_FORMAT)
        return refuse_before_log(check, KAFKA_ERROR_INVALID_RECORD, "record batch of magic 0 or 1");
    if (batch_codec(&check->batch) == CODEC_ZSTD && rules->produce_version < 7) {
        return refuse_before_log(check, KAFKA_ERROR_UNSUPPORTED_COMPRESSION_TYPE, "zstd below version 7 of Produce");
    }
    enum batch_status next = batch_load(rest, &second);
    if (next == BATCH_CORRUPT)
        return refuse_before_log(check, KAFKA_ERROR_CORRUPT_MESSAGE, "impossible batch length or magic");
    if (next == BATCH_OK || next == BATCH_OLD_FORMAT) {
        return refuse_before_log(check, KAFKA_ERROR_INVALID_RECORD, "more than one record batch");
    }
    return true;
}

static bool check_header(const struct batch *b, const struct append_rules *rules, struct append_check *check) {
    check->cost_ns = b->bytes.size / COST_BYTES_PER_NS;
    if (b->base_offset != 0) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "base offset is not 0");
    if (b->bytes.size > rules->max_batch_bytes) {
        return refuse_before_log(check, KAFKA_ERROR_MESSAGE_TOO_LARGE, "batch is larger than max.message.bytes");
    }
    if (!batch_crc_is_valid(b))
        return refuse_before_log(check, KAFKA_ERROR_CORRUPT_MESSAGE, "checksum of the batch is wrong");
    if (b->last_offset_delta < 0) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "last offset is before the first");
    if (b->count <= 0) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "batch without records");
    if ((int64_t)b->last_offset_delta + 1 != b->count) {
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "number of records does not match the offsets");
    }
    if (batch_is_control(b)) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "control batch from a client");
    if (b->producer_id >= 0 && b->base_sequence < 0) {
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "producer id without a sequence number");
    }
    if (batch_codec(b) >= CODEC_COUNT) return refuse(check, KAFKA_ERROR_UNSUPPORTED_COMPRESSION_TYPE, "unknown codec");
    return true;
}

// Versions 0 to 2 of Produce get here with any number of batches.
static bool check_alone(struct bytes records, struct append_check *check) {
    struct bytes rest = {records.data + check->batch.bytes.size, records.size - check->batch.bytes.size};
    struct batch second;
    enum batch_status next = batch_load(rest, &second);
    if (next == BATCH_CORRUPT) return refuse(check, KAFKA_ERROR_CORRUPT_MESSAGE, "impossible batch length or magic");
    if (next == BATCH_OK || next == BATCH_OLD_FORMAT) {
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "more than one record batch");
    }
    return true;
}

// By the header, before anything that takes long.
static bool is_long(const struct append_rules *rules, const struct batch *b) {
    uint64_t unfolded_bytes = b->bytes.size * COST_RATIO_GUESS;
    uint64_t cost_ns = cost_of_header(b) + cost_of_bytes(unfolded_bytes, cost_unfolded_tenths(batch_codec(b)));
    return rules->cost_max_ns > 0 && cost_ns > rules->cost_max_ns;
}

// False on anything that is wrong with the batch as a whole; errors of single records are collected.
static bool check_records(const struct append_rules *rules, struct arena *arena, struct append_check *check) {
    const struct batch *b = &check->batch;
    bool type_is_append = batch_is_log_append_time(b);
    struct record_reader reader;
    struct record record;
    enum record_status status = RECORD_END;
    bool ok = true, dense = true;
    int32_t index = 0;
    check->max_timestamp = -1;
    uint64_t tenths = cost_unfolded_tenths(batch_codec(b));
    uint64_t cap = rules->decompressed_max_bytes;
    if (rules->cost_max_ns > 0) cap = cost_unfolded_max_bytes(rules->cost_max_ns, tenths, cap);
    record_open_cached(&reader, b, cap, 0, rules->cache);
    while (ok && (status = record_next(&reader, &record)) == RECORD_OK) {
        int64_t timestamp = type_is_append ? b->max_timestamp
                                           : (int64_t)((uint64_t)b->base_timestamp + (uint64_t)record.timestamp_delta);
        if (timestamp > check->max_timestamp) check->max_timestamp = timestamp;
        dense &= record.offset_delta == index;
        struct record_error seen = {.batch_index = index,
                                    .offset_delta = record.offset_delta,
                                    .key_bytes = record.key_bytes,
                                    .value_bytes = record.value_bytes,
                                    .timestamp = timestamp};
        ok = record_rules_check(rules, type_is_append, &seen, arena, check);
        index++;
    }
    check->cost_ns += (uint64_t)index * COST_RECORD_NS;
    if (reader.is_compressed) check->cost_ns += cost_of_bytes(cap - reader.decompressor.output_left_bytes, tenths);
    record_close(&reader);
    if (!ok) return false;
    check->postponed = status == RECORD_TOO_LARGE && cap < rules->decompressed_max_bytes;
    if (check->postponed) return false;
    if (status == RECORD_TOO_LARGE) {
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "batch unfolds to more than a batch may");
    }
    if (status == RECORD_CORRUPT)
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "records of the batch are malformed");
    ASSERT(index == b->count);
    if (check->record_error_count > 0) {
        check->reason = record_errors_reason(check);
        return false;
    }
    return dense || refuse(check, KAFKA_ERROR_INVALID_RECORD, "offset deltas are not dense");
}

static void take_batch(const struct append_rules *rules, struct append_check *check) {
    uint8_t *header = (uint8_t *)check->batch.bytes.data; // the caller's receive buffer
    if (rules->log_append_time) check->max_timestamp = rules->now_ms;
    batch_set_max_timestamp(header, check->batch.bytes.size, rules->log_append_time, check->max_timestamp);
    enum batch_status status = batch_load(check->batch.bytes, &check->batch);
    ASSERT(status == BATCH_OK);
}

void append_validate(struct bytes records, const struct append_rules *rules, struct arena *arena,
                     struct append_check *check) {
    *check = (struct append_check){
        .error = KAFKA_ERROR_NONE,
        .max_timestamp = -1,
        .time_min_ms = (int64_t)((uint64_t)rules->now_ms - (uint64_t)rules->timestamp_before_max_ms),
        .time_max_ms = (int64_t)((uint64_t)rules->now_ms + (uint64_t)rules->timestamp_after_max_ms),
    };
    if (!check_blob(records, rules, check)) return;
    if (rules->refusal != KAFKA_ERROR_NONE) {
        refuse_before_log(check, rules->refusal, "refused whatever it is");
        return;
    }
    if (check->batch.bytes.size == 0) return;
    if (check->batch.bytes.data[BATCH_MAGIC] < 2) {
        if (!legacy_convert(records, rules, arena, check)) return;
    } else if (is_long(rules, &check->batch)) {
        check->postponed = true;
        return;
    } else if (!check_header(&check->batch, rules, check) || !check_alone(records, check) ||
               !check_records(rules, arena, check)) {
        return;
    }
    take_batch(rules, check);
    ASSERT(check->error == KAFKA_ERROR_NONE);
}
