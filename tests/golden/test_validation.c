// SPDX-License-Identifier: Apache-2.0
// append_validate against Kafka's LogValidator on made-up and damaged record sets (data/validation.txt, made by
// Validation.java): the same code, refused records, maximum timestamp and checksum. The differences that
// batch_validate.h decides on are allowed here by name, and nothing else.
#include "base/text.h"
#include "protocol/batch_validate.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_BYTES = 1 << 14 };

struct judgement {
    struct append_rules rules;
    int code;
    bool rebuilt;
    int64_t max_timestamp;
    uint32_t crc;
    char indexes[256];
    char hex[LINE_BYTES];
};

static bool parse(const char *line, struct judgement *j) {
    int version, append_time, compacted;
    long long before, after, max;
    unsigned long crc;
    char rebuilt[16];
    int n = sscanf(line, "%d %d %d %lld %lld %d %15s %lld %lu %255s %16383s", &version, &append_time, &compacted,
                   &before, &after, &j->code, rebuilt, &max, &crc, j->indexes, j->hex);
    j->rules = (struct append_rules){.now_ms = 1000000,
                                     .log_append_time = append_time,
                                     .is_compacted = compacted,
                                     .timestamp_before_max_ms = before,
                                     .timestamp_after_max_ms = after,
                                     .max_batch_bytes = 1 << 20,
                                     .produce_version = (int16_t)version,
                                     .decompressed_max_bytes = 1 << 20};
    j->rebuilt = strcmp(rebuilt, "rebuilt") == 0;
    j->max_timestamp = max;
    j->crc = (uint32_t)crc;
    return n == 11;
}

static bool is_allowed_difference(const struct judgement *j, const struct append_check *check, int magic) {
    // Kafka has no answer but UNKNOWN_SERVER_ERROR.
    if (j->code == KAFKA_ERROR_UNKNOWN_SERVER_ERROR) {
        return check->error == KAFKA_ERROR_INVALID_RECORD || check->error == KAFKA_ERROR_UNSUPPORTED_COMPRESSION_TYPE;
    }
    if (magic != 2 || check->error != KAFKA_ERROR_INVALID_RECORD) return false;
    // Kafka writes such a batch as it is, or rebuilds it.
    if (strcmp(check->reason, "offset deltas are not dense") == 0) return j->code == KAFKA_ERROR_NONE;
    // Kafka does not look at the lengths of compressed records, which its own consumers then stumble over.
    bool read_on = j->code == KAFKA_ERROR_NONE || strcmp(j->indexes, "-") != 0;
    return strcmp(check->reason, "records of the batch are malformed") == 0 &&
           batch_codec(&check->batch) != CODEC_NONE && read_on;
}

static void compare_accepted(const struct judgement *j, const struct append_check *check, int magic, int line) {
    cr_assert_eq(check->max_timestamp, j->max_timestamp, "line %d", line);
    cr_assert_eq(check->batch.max_timestamp, j->max_timestamp, "line %d", line);
    if (magic < 2) return;
    cr_assert_not(j->rebuilt, "line %d", line);
    cr_assert_eq(check->batch.crc, j->crc, "line %d", line);
}

static void compare_indexes(const struct judgement *j, const struct append_check *check, int line) {
    char indexes[256] = "-";
    struct text t = TEXT_IN(indexes);
    for (int32_t i = 0; i < check->record_error_count; i++)
        text_addf(&t, i > 0 ? ",%d" : "%d", check->record_errors[i].batch_index);
    const char *ours = check->record_error_count > 0 ? indexes : "-";
    cr_assert_str_eq(ours, j->indexes, "line %d: %s: %s, Kafka has %s", line, check->reason, ours, j->indexes);
}

// With no time to spend: either the same is said, or nothing is said and nothing is changed.
static void compare_postponed(const struct judgement *j, const uint8_t *bytes, size_t size, int line) {
    struct append_rules rules = j->rules;
    struct append_check hasty, check;
    struct arena arena;
    uint8_t *copy = malloc(size + 1), *again = malloc(size + 1);
    memcpy(copy, bytes, size);
    memcpy(again, bytes, size);
    arena_init(&arena, 1 << 22);
    rules.cost_max_ns = 1;
    append_validate((struct bytes){copy, size}, &rules, &arena, &hasty);
    append_validate((struct bytes){again, size}, &j->rules, &arena, &check);
    cr_assert_not(check.postponed);
    cr_assert_arr_eq(copy, hasty.postponed ? bytes : again, size, "line %d", line);
    cr_assert(hasty.postponed || hasty.error == check.error, "line %d", line);
    free(copy);
    free(again);
    arena_drop(&arena);
}

Test(golden, validation_says_what_kafka_says) {
    FILE *file = fopen(GOLDEN_DATA "/validation.txt", "r");
    cr_assert_not_null(file);
    static char line[2 * LINE_BYTES];
    static struct judgement j;
    int number = 0, allowed = 0;
    while (fgets(line, sizeof line, file)) {
        number++;
        cr_assert(parse(line, &j), "line %d", number);
        size_t size = strlen(j.hex) / 2;
        uint8_t *bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            sscanf(j.hex + 2 * i, "%2hhx", &bytes[i]);
        int magic = bytes[BATCH_MAGIC];
        struct arena arena;
        struct append_check check;
        compare_postponed(&j, bytes, size, number);
        arena_init(&arena, 1 << 22);
        append_validate((struct bytes){bytes, size}, &j.rules, &arena, &check);
        if (is_allowed_difference(&j, &check, magic)) {
            allowed++;
        } else {
            cr_expect_eq(check.error, j.code, "line %d: %s, Kafka says %s: %s", number, kafka_error_name(check.error),
                         kafka_error_name((int16_t)j.code), check.reason);
            if (check.error == j.code && check.error == KAFKA_ERROR_NONE) compare_accepted(&j, &check, magic, number);
            if (check.error == j.code) compare_indexes(&j, &check, number);
        }
        arena_drop(&arena);
        free(bytes);
    }
    fclose(file);
    cr_assert_gt(number, 900);
    cr_assert_lt(allowed, number / 10);
}
