// SPDX-License-Identifier: Apache-2.0
// What a produced batch must be like: Kafka's codes, corrected headers, and the conversion of old messages.
#include "base/bits.h"
#include "base/crc32c.h"
#include "protocol/batch_validate.h"
#include "protocol/batch_writer.h"
#include "protocol/record.h"
#include "random_message.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <zlib.h>

enum { ROOM = 1 << 18 };

static const struct append_rules plain_rules = {.now_ms = 1000000,
                                                .timestamp_before_max_ms = INT64_MAX,
                                                .timestamp_after_max_ms = INT64_MAX,
                                                .max_batch_bytes = 1 << 20,
                                                .produce_version = 11,
                                                .decompressed_max_bytes = 1 << 24};

struct fixture {
    struct arena arena;
    struct append_rules rules;
    struct append_check check;
    uint8_t *memory;
    size_t size;
};

static struct bytes text_bytes(const char *text) {
    return (struct bytes){(const uint8_t *)text, text ? strlen(text) : 0};
}

static void setup(struct fixture *f, int count, const int64_t *timestamps, const char *const *keys) {
    struct batch_writer w;
    *f = (struct fixture){.rules = plain_rules, .memory = malloc(ROOM)};
    arena_init(&f->arena, 1 << 20);
    batch_writer_begin(&w, f->memory, ROOM, BATCH_OPTIONS_PLAIN);
    for (int i = 0; i < count; i++)
        cr_assert(batch_writer_add(&w, timestamps[i], text_bytes(keys[i]), text_bytes("value"), NULL, 0));
    f->size = batch_writer_end(&w);
}

static void reseal(struct fixture *f) {
    store_be32(f->memory + BATCH_CRC, crc32c(0, f->memory + BATCH_ATTRIBUTES, f->size - BATCH_ATTRIBUTES));
}

// With little time to spend: either the same is said, or nothing is said and nothing is changed.
static void check_postponing(const struct fixture *f, uint64_t cost_max_ns, const struct append_check *whole) {
    struct arena arena;
    struct append_check check;
    struct append_rules rules = f->rules;
    uint8_t *copy = malloc(f->size + 1);
    arena_init(&arena, 1 << 20);
    memcpy(copy, f->memory, f->size);
    rules.cost_max_ns = cost_max_ns;
    append_validate((struct bytes){copy, f->size}, &rules, &arena, &check);
    if (check.postponed) {
        cr_assert_arr_eq(copy, f->memory, f->size);
    } else {
        cr_assert_eq(check.error, whole->error);
        cr_assert_eq(check.reason, whole->reason);
        cr_assert_eq(check.max_timestamp, whole->max_timestamp);
        cr_assert_eq(check.record_error_count, whole->record_error_count);
        cr_assert_eq(check.before_log, whole->before_log);
    }
    free(copy);
    arena_drop(&arena);
}

static int16_t validate(struct fixture *f) {
    struct fixture before = *f;
    before.memory = malloc(f->size + 1);
    memcpy(before.memory, f->memory, f->size);
    append_validate((struct bytes){f->memory, f->size}, &f->rules, &f->arena, &f->check);
    cr_assert(f->check.error == 0 || f->check.reason != NULL);
    cr_assert_not(f->check.postponed);
    check_postponing(&before, 1, &f->check);
    check_postponing(&before, 1000000, &f->check);
    free(before.memory);
    return f->check.error;
}

static void teardown(struct fixture *f) {
    arena_drop(&f->arena);
    free(f->memory);
}

static const int64_t times[] = {500, 900, 700};
static const char *const keys[] = {"a", NULL, "c"};

Test(validate, accepts_a_good_batch_and_sets_the_maximum_timestamp) {
    struct fixture f;
    setup(&f, 3, times, keys);
    // Some clients leave the maximum unset.
    store_be64(f.memory + BATCH_MAX_TIMESTAMP, (uint64_t)-1);
    reseal(&f);
    cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);
    cr_assert_eq(f.check.max_timestamp, 900);
    cr_assert_eq(f.check.batch.max_timestamp, 900);
    cr_assert(batch_crc_is_valid(&f.check.batch));
    cr_assert_eq(f.check.batch.count, 3);
    // LogAppendTime: type, maximum and checksum change.
    f.rules.log_append_time = true;
    cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);
    cr_assert_eq(f.check.batch.max_timestamp, 1000000);
    cr_assert(batch_is_log_append_time(&f.check.batch));
    cr_assert(batch_crc_is_valid(&f.check.batch));
    // Now the batch has the bit: refused there, taken as CreateTime elsewhere.
    cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_TIMESTAMP);
    cr_assert_eq(f.check.record_error_count, 3);
    f.rules.log_append_time = false;
    cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);
    cr_assert_not(batch_is_log_append_time(&f.check.batch));
    cr_assert_eq(f.check.batch.max_timestamp, 1000000);
    // What follows the batch and is none is cut off.
    memcpy(f.memory + f.size, "trailing", 8);
    f.size += 8;
    cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);
    cr_assert_eq(f.check.batch.bytes.size, f.size - 8);
    teardown(&f);
}

// Kafka looks at acks, at the topic and at the leader after what the version lets a request bring, before the batch.
Test(validate, a_refusal_comes_after_the_blob_and_before_the_batch) {
    struct fixture f;
    setup(&f, 3, times, keys);
    f.rules.refusal = KAFKA_ERROR_INVALID_REQUIRED_ACKS;
    f.memory[BATCH_CRC] ^= 1;
    cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_REQUIRED_ACKS);
    cr_assert(f.check.before_log);
    f.size = 0;
    cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
    f.rules.produce_version = 2;
    cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_REQUIRED_ACKS);
    teardown(&f);
}

Test(validate, keys_and_timestamps_are_reported_record_by_record) {
    struct fixture f;
    setup(&f, 3, times, keys);
    f.rules.is_compacted = true;
    cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
    cr_assert_eq(f.check.record_error_count, 1);
    cr_assert_eq(f.check.record_errors[0].batch_index, 1);
    cr_assert_eq(f.check.record_errors[0].fault, RECORD_WITHOUT_KEY);
    f.rules.timestamp_before_max_ms = 1000000 - 800;
    cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_TIMESTAMP);
    cr_assert_eq(f.check.record_error_count, 3);
    cr_assert_eq(f.check.time_min_ms, 800);
    const struct record_error *last = &f.check.record_errors[2];
    cr_assert_eq(last->fault, RECORD_OUT_OF_TIME);
    cr_assert_eq(last->offset_delta, 2);
    cr_assert_eq(last->timestamp, 700);
    cr_assert_eq(last->key_bytes, 1);
    cr_assert_eq(last->value_bytes, 5);
    f.rules = plain_rules;
    f.rules.now_ms = 600;
    f.rules.timestamp_after_max_ms = 200;
    cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_TIMESTAMP);
    cr_assert_eq(f.check.record_error_count, 1);
    cr_assert_eq(f.check.record_errors[0].batch_index, 1);
    teardown(&f);
    // -1 is no timestamp and always passes; extremes pass without limits.
    const int64_t odd[] = {-1, INT64_MAX, INT64_MIN + 5};
    setup(&f, 3, odd, keys);
    cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);
    cr_assert_eq(f.check.max_timestamp, INT64_MAX);
    teardown(&f);
}

Test(validate, refuses_what_clients_may_not_write) {
    struct fixture f;
    setup(&f, 3, times, keys);
#define REFUSED(code, change, undo)                                                                                    \
    do {                                                                                                               \
        change;                                                                                                        \
        reseal(&f);                                                                                                    \
        cr_assert_eq(validate(&f), code, "%s: %d %s", #change, f.check.error, f.check.reason);                         \
        undo;                                                                                                          \
        reseal(&f);                                                                                                    \
        cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);                                                                  \
    } while (0)
    REFUSED(KAFKA_ERROR_INVALID_RECORD, f.memory[7] = 1, f.memory[7] = 0);
    cr_assert_not(f.check.before_log);
    REFUSED(KAFKA_ERROR_INVALID_RECORD, store_be32(f.memory + BATCH_COUNT, 2), store_be32(f.memory + BATCH_COUNT, 3));
    REFUSED(KAFKA_ERROR_INVALID_RECORD, store_be32(f.memory + BATCH_COUNT, 0), store_be32(f.memory + BATCH_COUNT, 3));
    REFUSED(KAFKA_ERROR_INVALID_RECORD, store_be32(f.memory + BATCH_LAST_OFFSET_DELTA, (uint32_t)-1),
            store_be32(f.memory + BATCH_LAST_OFFSET_DELTA, 2));
    REFUSED(KAFKA_ERROR_INVALID_RECORD, f.memory[BATCH_ATTRIBUTES + 1] = BATCH_CONTROL,
            f.memory[BATCH_ATTRIBUTES + 1] = 0);
    REFUSED(KAFKA_ERROR_INVALID_RECORD, store_be64(f.memory + BATCH_PRODUCER_ID, 7),
            store_be64(f.memory + BATCH_PRODUCER_ID, (uint64_t)-1));
    for (uint8_t codec = 1; codec < 8; codec++) {
        REFUSED(codec < CODEC_COUNT ? KAFKA_ERROR_INVALID_RECORD : KAFKA_ERROR_UNSUPPORTED_COMPRESSION_TYPE,
                f.memory[BATCH_ATTRIBUTES + 1] = codec, f.memory[BATCH_ATTRIBUTES + 1] = 0);
    }
    REFUSED(KAFKA_ERROR_MESSAGE_TOO_LARGE, f.rules.max_batch_bytes = (uint32_t)f.size - 1,
            f.rules.max_batch_bytes = (uint32_t)f.size);
    REFUSED(KAFKA_ERROR_INVALID_RECORD, f.memory[BATCH_RECORDS + 3] += 2, f.memory[BATCH_RECORDS + 3] -= 2);
    REFUSED(KAFKA_ERROR_INVALID_RECORD, f.memory[BATCH_MAGIC] = 1, f.memory[BATCH_MAGIC] = 2);
    REFUSED(KAFKA_ERROR_CORRUPT_MESSAGE, f.memory[BATCH_MAGIC] = 3, f.memory[BATCH_MAGIC] = 2);
    REFUSED(KAFKA_ERROR_CORRUPT_MESSAGE, store_be32(f.memory + BATCH_LENGTH, 48),
            store_be32(f.memory + BATCH_LENGTH, (uint32_t)f.size - 12));
    f.memory[f.size - 1] ^= 1;
    cr_assert_eq(validate(&f), KAFKA_ERROR_CORRUPT_MESSAGE);
    cr_assert(f.check.before_log);
    f.memory[f.size - 1] ^= 1;
    // Two batches, none, half of one.
    size_t size = f.size;
    memcpy(f.memory + size, f.memory, size);
    f.size = 2 * size;
    for (f.rules.produce_version = 2; f.rules.produce_version < 4; f.rules.produce_version++)
        cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
    for (f.size = 0; f.size < size; f.size += size - 1) {
        f.rules.produce_version = 3;
        cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
        // The old versions take it for nothing to do; null is none of theirs either.
        f.rules.produce_version = 2;
        cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);
        cr_assert_eq(f.check.batch.bytes.size, 0);
    }
    append_validate((struct bytes){NULL, 0}, &f.rules, &f.arena, &f.check);
    cr_assert_eq(f.check.error, KAFKA_ERROR_INVALID_RECORD);
    teardown(&f);
}

Test(validate, compressed_batches_are_walked_and_zstd_needs_version_7) {
    for (int codec = CODEC_GZIP; codec < CODEC_COUNT; codec++) {
        struct fixture f;
        setup(&f, 3, times, keys);
        uint8_t *packed = malloc(ROOM);
        f.size = batch_compress((struct bytes){f.memory, f.size}, codec, 0, packed, ROOM);
        free(f.memory);
        f.memory = packed;
        cr_assert_eq(validate(&f), KAFKA_ERROR_NONE);
        cr_assert_eq(f.check.max_timestamp, 900);
        f.rules.produce_version = 6;
        cr_assert_eq(validate(&f), codec == CODEC_ZSTD ? KAFKA_ERROR_UNSUPPORTED_COMPRESSION_TYPE : KAFKA_ERROR_NONE);
        f.rules.produce_version = 7;
        f.rules.is_compacted = true;
        cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
        cr_assert_eq(f.check.record_error_count, 1);
        f.rules.is_compacted = false;
        f.rules.decompressed_max_bytes = 20;
        cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
        teardown(&f);
    }
}

// One message of magic 0 or 1; the new end.
static size_t old_message(uint8_t *memory, size_t at, int magic, int attributes, int64_t offset, int64_t timestamp,
                          const char *key, const void *value, size_t value_bytes) {
    uint8_t *p = memory + at, *q = p + 18;
    store_be64(p, (uint64_t)offset);
    p[16] = (uint8_t)magic;
    p[17] = (uint8_t)attributes;
    if (magic == 1) {
        store_be64(q, (uint64_t)timestamp);
        q += 8;
    }
    store_be32(q, key ? (uint32_t)strlen(key) : (uint32_t)-1);
    q += 4;
    if (key) q = (uint8_t *)memcpy(q, key, strlen(key)) + strlen(key);
    store_be32(q, value ? (uint32_t)value_bytes : (uint32_t)-1);
    q += 4;
    if (value) q = (uint8_t *)memcpy(q, value, value_bytes) + value_bytes;
    store_be32(p + 8, (uint32_t)(q - p - 12));
    store_be32(p + 12, (uint32_t)crc32(0, p + 16, (unsigned)(q - p - 16)));
    return (size_t)(q - memory);
}

static void check_converted(struct fixture *f, int count, int magic, int codec) {
    cr_assert_eq(validate(f), KAFKA_ERROR_NONE, "%s", f->check.reason);
    cr_assert(f->check.converted);
    cr_assert_eq(f->check.batch.count, count);
    cr_assert_eq(batch_codec(&f->check.batch), codec);
    cr_assert(batch_crc_is_valid(&f->check.batch));
    cr_assert_eq(f->check.max_timestamp, magic == 0 ? -1 : 100 + count - 1);
    struct record_reader reader;
    struct record record;
    record_open(&reader, &f->check.batch, 1 << 20, RECORD_CONTENT);
    for (int i = 0; i < count; i++) {
        cr_assert_eq(record_next(&reader, &record), RECORD_OK);
        cr_assert_eq(record.value.size, 3);
        cr_assert_eq(record.value.data[0], 'v');
        cr_assert_eq(record.offset_delta, i);
    }
    cr_assert_eq(record_next(&reader, &record), RECORD_END);
    record_close(&reader);
}

Test(validate, old_messages_become_one_batch) {
    for (int magic = 0; magic < 2; magic++) {
        struct fixture f;
        setup(&f, 1, times, keys);
        f.rules.produce_version = 2;
        f.size = 0;
        for (int i = 0; i < 5; i++)
            f.size = old_message(f.memory, f.size, magic, 0, i, 100 + i, i % 2 ? "k" : NULL, "val", 3);
        size_t plain_size = f.size;
        check_converted(&f, 5, magic, CODEC_NONE);
        f.rules.is_compacted = true;
        cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
        cr_assert_eq(f.check.record_error_count, 1);
        f.rules.is_compacted = false;
        f.memory[f.size - 1] ^= 1;
        cr_assert_eq(validate(&f), KAFKA_ERROR_CORRUPT_MESSAGE);
        f.memory[f.size - 1] ^= 1;
        f.rules.produce_version = 3;
        cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
        f.rules.produce_version = 1;
        uint8_t *inner = malloc(ROOM), packed[4096];
        memcpy(inner, f.memory, plain_size);
        for (int codec = CODEC_GZIP; codec <= CODEC_ZSTD; codec++) {
            size_t n = codec_compress(codec, 0, (struct bytes){inner, plain_size}, packed, sizeof packed);
            f.size = old_message(f.memory, 0, magic, codec, 4, 104, NULL, packed, n);
            if (codec == CODEC_ZSTD) {
                cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
                break;
            }
            check_converted(&f, 5, magic, codec);
            // A second message beside it, a wrapper in a wrapper, an empty one, a truncated one.
            size_t one = f.size;
            f.size = old_message(f.memory, one, magic, 0, 0, 0, NULL, "val", 3);
            cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
            f.size = one;
            size_t nested = codec_compress(codec, 0, (struct bytes){f.memory, one}, packed, sizeof packed);
            f.size = old_message(f.memory, 0, magic, codec, 4, 104, NULL, packed, nested);
            cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
            n = codec_compress(codec, 0, (struct bytes){inner, plain_size - 1}, packed, sizeof packed);
            f.size = old_message(f.memory, 0, magic, codec, 4, 104, NULL, packed, n);
            cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
            f.size = old_message(f.memory, 0, magic, codec, 4, 104, NULL, NULL, 0);
            cr_assert_eq(validate(&f), KAFKA_ERROR_INVALID_RECORD);
        }
        free(inner);
        teardown(&f);
    }
}

// What it costs says the header, or how much has been unfolded: of a record of 200 kB of zeros only that.
Test(validate, what_takes_long_is_postponed) {
    enum { VALUE_BYTES = 200000 };
    char *value = calloc(1, VALUE_BYTES);
    for (int codec = CODEC_NONE; codec < CODEC_COUNT; codec++) {
        for (int magic = 1; magic <= 2; magic++) {
            if (magic == 1 && codec == CODEC_ZSTD) continue;
            struct fixture f;
            setup(&f, 1, times, keys);
            uint8_t *packed = malloc(ROOM);
            f.rules.produce_version = magic == 1 ? 2 : 7;
            if (magic == 2) {
                struct batch_writer w;
                batch_writer_begin(&w, f.memory, ROOM, BATCH_OPTIONS_PLAIN);
                cr_assert(batch_writer_add(&w, 500, (struct bytes){0}, (struct bytes){(uint8_t *)value, VALUE_BYTES},
                                           NULL, 0));
                f.size = batch_writer_end(&w);
                if (codec != CODEC_NONE)
                    f.size = batch_compress((struct bytes){f.memory, f.size}, codec, 0, packed, ROOM);
                if (codec != CODEC_NONE) memcpy(f.memory, packed, f.size);
            } else {
                f.size = old_message(f.memory, 0, 1, 0, 0, 500, NULL, value, VALUE_BYTES);
                size_t n = codec_compress(codec ? codec : CODEC_LZ4, 0, (struct bytes){f.memory, f.size}, packed, ROOM);
                if (codec != CODEC_NONE) f.size = old_message(f.memory, 0, 1, codec, 0, 500, NULL, packed, n);
            }
            f.rules.cost_max_ns = 20000;
            append_validate((struct bytes){f.memory, f.size}, &f.rules, &f.arena, &f.check);
            cr_assert(f.check.postponed, "codec %d magic %d", codec, magic);
            f.rules.cost_max_ns = 100000000;
            append_validate((struct bytes){f.memory, f.size}, &f.rules, &f.arena, &f.check);
            cr_assert_not(f.check.postponed);
            cr_assert_eq(f.check.error, KAFKA_ERROR_NONE, "%s", f.check.reason);
            cr_assert_gt(f.check.cost_ns, 20000, "codec %d magic %d", codec, magic);
            free(packed);
            teardown(&f);
        }
    }
    free(value);
}

Test(validate, random_damage_never_harms) {
    struct random r = {11};
    for (int round = 0; round < 600; round++) {
        struct fixture f;
        setup(&f, 3, times, keys);
        f.rules.produce_version = (int16_t)random_below(&r, 12);
        if (round % 3 == 0) {
            f.size =
                old_message(f.memory, 0, (int)random_below(&r, 2), (int)random_below(&r, 8), 0, 5, "k", "value", 5);
        }
        for (int i = 0; i < 3; i++)
            f.memory[random_below(&r, f.size)] = (uint8_t)random_next(&r);
        if (f.memory[BATCH_MAGIC] == 2 && f.size > BATCH_HEADER_BYTES) reseal(&f);
        f.size = round % 2 ? f.size : random_below(&r, f.size + 1);
        uint8_t *exact = malloc(f.size + 1);
        memcpy(exact, f.memory, f.size);
        free(f.memory);
        f.memory = exact;
        validate(&f);
        teardown(&f);
    }
}
