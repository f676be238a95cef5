// SPDX-License-Identifier: Apache-2.0
// What refuses a whole Produce request, and the words for refused records.
#include "api/produce_errors.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>

struct world {
    struct arena arena;
    struct produce_response_partition answer;
    struct record_error errors[4];
    struct append_check check;
};

static void world_begin(struct world *w, int16_t error, int32_t count) {
    *w = (struct world){.answer = {.index = 3}};
    arena_init(&w->arena, 1 << 16);
    w->check = (struct append_check){.error = error,
                                     .time_min_ms = 100,
                                     .time_max_ms = 200,
                                     .record_errors = w->errors,
                                     .record_error_count = count};
    for (int32_t i = 0; i < 4; i++)
        w->errors[i] = (struct record_error){.batch_index = i, .offset_delta = i, .key_bytes = -1, .timestamp = 50};
}

static void expect_text(struct str text, const char *expected) {
    cr_assert(str_is(text, expected), "%.*s", (int)text.size, text.data);
}

Test(produce_errors, missing_keys_are_told_three_times) {
    struct world w;
    world_begin(&w, KAFKA_ERROR_INVALID_RECORD, 4);
    produce_record_errors(&w.check, str_of("orders"), TOPIC_COMPRESSION_PRODUCER, &w.arena, &w.answer);
    expect_text(w.answer.error_message,
                "One or more records have been rejected due to 4 record errors in total, and only showing the first "
                "three errors at most: [RecordError(batchIndex=0, message='Compacted topic cannot accept message "
                "without key in topic partition orders-3'), RecordError(batchIndex=1, message='Compacted topic cannot "
                "accept message without key in topic partition orders-3'), RecordError(batchIndex=2, "
                "message='Compacted topic cannot accept message without key in topic partition orders-3')]");
    cr_assert_eq(w.answer.record_errors_count, 4);
    cr_assert_eq(w.answer.record_errors[3].batch_index, 3);
    arena_drop(&w.arena);
}

Test(produce_errors, timestamps_are_told_with_their_bounds) {
    struct world w;
    world_begin(&w, KAFKA_ERROR_INVALID_TIMESTAMP, 2);
    w.errors[0].fault = RECORD_OUT_OF_TIME;
    w.errors[1].fault = RECORD_WITH_BROKER_TIME;
    w.check.batch.attributes = CODEC_GZIP;
    produce_record_errors(&w.check, str_of("orders"), TOPIC_COMPRESSION_LZ4, &w.arena, &w.answer);
    expect_text(w.answer.error_message, "One or more records have been rejected due to invalid timestamp");
    expect_text(w.answer.record_errors[0].batch_index_error_message,
                "Timestamp 50 of message with offset 0 is out of range. The timestamp should be within [100, 200]");
    expect_text(w.answer.record_errors[1].batch_index_error_message,
                "Invalid timestamp type in message DefaultRecord(offset=1, timestamp=50, key=0 bytes, value=0 bytes). "
                "Producer should not set timestamp type to LogAppendTime.");
    // Written as it came: Kafka has looked at lengths only.
    produce_record_errors(&w.check, str_of("orders"), TOPIC_COMPRESSION_GZIP, &w.arena, &w.answer);
    expect_text(w.answer.record_errors[1].batch_index_error_message,
                "Invalid timestamp type in message PartialDefaultRecord(offset=1, timestamp=50, key=-1 bytes, value=0 "
                "bytes). Producer should not set timestamp type to LogAppendTime.");
    arena_drop(&w.arena);
}

Test(produce_errors, without_memory_the_answer_is_short) {
    struct world w;
    world_begin(&w, KAFKA_ERROR_INVALID_RECORD, 4);
    arena_drop(&w.arena);
    arena_init(&w.arena, 16);
    produce_record_errors(&w.check, str_of("orders"), TOPIC_COMPRESSION_PRODUCER, &w.arena, &w.answer);
    cr_assert_eq(w.answer.record_errors_count, 0);
    arena_drop(&w.arena);
}

// A request with these records for two partitions.
static int16_t refused(struct bytes first, struct bytes second, struct str *message, struct arena *arena) {
    struct produce_request_partition partitions[] = {{.index = 0, .records = first}, {.index = 1, .records = second}};
    struct produce_request_topic topic = {.partition_data = partitions, .partition_data_count = 2};
    struct produce_request request = {.topic_data = &topic, .topic_data_count = 1};
    return produce_refused_whole(&request, arena, message);
}

Test(produce_errors, the_whole_request_is_refused_for_one_batch) {
    struct arena arena;
    arena_init(&arena, 1 << 16);
    struct str message;
    uint8_t good[61] = {[BATCH_LENGTH + 3] = 49, [BATCH_MAGIC] = 2}, bad[61];
    struct bytes none = {NULL, 0}, one = {good, sizeof good}, other = {bad, sizeof bad};
    cr_assert_eq(refused(none, one, &message, &arena), KAFKA_ERROR_NONE);
    memcpy(bad, good, sizeof bad);
    bad[BATCH_LENGTH + 3] = 13;
    cr_assert_eq(refused(one, other, &message, &arena), KAFKA_ERROR_CORRUPT_MESSAGE);
    expect_text(message, "Record size 13 is less than the minimum record overhead (14)");
    bad[BATCH_LENGTH + 3] = 50; // cut: not there
    cr_assert_eq(refused(one, other, &message, &arena), KAFKA_ERROR_NONE);
    bad[BATCH_MAGIC] = 0xff; // that is seen first
    cr_assert_eq(refused(other, one, &message, &arena), KAFKA_ERROR_CORRUPT_MESSAGE);
    expect_text(message, "Invalid magic found in record: -1");
    for (size_t size = 0; size < BATCH_MAGIC_END; size++) {
        other.size = size;
        cr_assert_eq(refused(one, other, &message, &arena), KAFKA_ERROR_NONE, "%zu bytes", size);
    }
    memcpy(bad, good, sizeof bad);
    bad[BATCH_ATTRIBUTES + 1] = BATCH_TRANSACTIONAL;
    cr_assert_eq(refused(one, (struct bytes){bad, sizeof bad}, &message, &arena),
                 KAFKA_ERROR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
    cr_assert(str_is_null(message));
    arena_drop(&arena);
}
