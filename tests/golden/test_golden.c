// SPDX-License-Identifier: Apache-2.0
// Our codecs on bytes that Kafka 3.9.1's own classes wrote (data/, made by generate/run): what we decode prints as
// Kafka's JSON, and encodes to Kafka's bytes.
#include "base/text.h"
#include "protocol/batch_validate.h"
#include "protocol/batch_writer.h"
#include "protocol/fetch_codec.h"
#include "protocol/message.h"
#include "protocol/messages.h"
#include "protocol/produce_codec.h"
#include "protocol/record.h"
#include "tailrace/error.h"
#include "tailrace/record.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_NESTED(S)
#define SCHEMA_POINTER(S, ...) &S##_schema,
static const struct schema *const all[] = {PROTOCOL_STRUCTS(NO_NESTED, SCHEMA_POINTER)};
enum { ALL_COUNT = sizeof all / sizeof all[0], LINE_BYTES = 1 << 16, ARENA_BYTES = 1 << 22 };

static size_t from_hex(const char *hex, uint8_t *out) {
    size_t n = 0;
    for (unsigned byte; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
        out[n] = (uint8_t)byte;
    return n;
}

static FILE *open_data(const char *name) {
    FILE *file = fopen(name, "r");
    cr_assert_not_null(file, "%s", name);
    return file;
}

static const struct schema *find_schema(const char *name) {
    for (size_t i = 0; i < ALL_COUNT; i++) {
        if (strcmp(all[i]->name, name) == 0) return all[i];
    }
    return NULL;
}

static void check_message(const struct schema *s, int16_t version, struct bytes in, const char *json) {
    static char printed[LINE_BYTES];
    struct text text = TEXT_IN(printed);
    struct arena arena;
    struct message_error error = {0};
    size_t consumed, size;
    arena_init(&arena, ARENA_BYTES);
    void *message = calloc(1, s->size_bytes);
    cr_assert(message_decode(s, version, in, &consumed, message, &arena, &error), "%s v%d: %s %s", s->name, version,
              error.field, error.reason);
    cr_assert_eq(consumed, in.size, "%s v%d", s->name, version);
    message_print(s, version, message, &text);
    cr_assert_str_eq(printed, json, "%s v%d", s->name, version);
    cr_assert(message_size(s, version, message, &size, &error), "%s v%d: %s", s->name, version, error.reason);
    cr_assert_eq(size, in.size);
    uint8_t *out = malloc(size + 1);
    message_encode(s, version, message, out, size);
    cr_assert_eq(memcmp(out, in.data, size), 0, "%s v%d", s->name, version);
    free(out);
    free(message);
    arena_drop(&arena);
}

Test(golden, every_version_of_every_message_as_kafka_writes_it) {
    FILE *file = open_data(GOLDEN_DATA "/messages.txt");
    static char line[LINE_BYTES], name[64], hex[LINE_BYTES], json[LINE_BYTES];
    static uint8_t bytes[LINE_BYTES];
    bool seen[ALL_COUNT][INT8_MAX] = {{false}};
    while (fgets(line, sizeof line, file)) {
        int version;
        cr_assert_eq(sscanf(line, "%63s %d %65535s %65535[^\n]", name, &version, hex, json), 4, "%s", line);
        const struct schema *s = find_schema(name);
        cr_assert_not_null(s, "%s", name);
        cr_assert(schema_has_version(s, (int16_t)version));
        size_t size = hex[0] == '-' ? 0 : from_hex(hex, bytes);
        check_message(s, (int16_t)version, (struct bytes){bytes, size}, json);
        for (size_t i = 0; i < ALL_COUNT; i++) {
            if (all[i] == s) seen[i][version] = true;
        }
    }
    fclose(file);
    for (size_t i = 0; i < ALL_COUNT; i++) {
        for (int v = all[i]->min_version; v <= all[i]->max_version; v++)
            cr_assert(seen[i][v], "no golden bytes of %s v%d", all[i]->name, v);
    }
}

// What Batches.java put into record i.
struct expected {
    int64_t timestamp;
    struct bytes key, value;
    int headers;
    char key_text[32];
    char value_text[512];
};

static void expect(struct expected *e, int i, int magic) {
    memset(e, 0, sizeof *e);
    e->timestamp = magic == 0 ? -1 : i % 2 == 0 ? 1000000 + 10 * i : 999000 - i;
    int n = snprintf(e->key_text, sizeof e->key_text, "key-%d", i);
    if (i % 3 != 2) e->key = (struct bytes){(uint8_t *)e->key_text, (size_t)n};
    struct text value = TEXT_IN(e->value_text);
    for (int j = 0; j <= i; j++)
        text_addf(&value, "value-%d ", i);
    if (i % 4 != 3) e->value = (struct bytes){(uint8_t *)e->value_text, value.size};
    e->headers = magic == 2 ? i % 3 : 0;
}

static bool same(struct bytes a, struct bytes b) {
    return a.size == b.size && (a.data == NULL) == (b.data == NULL) &&
           (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static void check_records(const struct batch *b, int magic, int count) {
    struct record_reader reader;
    struct record record;
    struct expected e;
    cr_assert_eq(b->count, count);
    record_open(&reader, b, 1 << 20, RECORD_CONTENT);
    for (int i = 0; i < count; i++) {
        cr_assert_eq(record_next(&reader, &record), RECORD_OK);
        expect(&e, i, magic);
        cr_assert_eq(b->base_timestamp + record.timestamp_delta, e.timestamp);
        cr_assert_eq(record.offset_delta, i);
        cr_assert(same(record.key, e.key));
        cr_assert(same(record.value, e.value));
        cr_assert_eq(record.header_count, e.headers);
        struct record_header header;
        for (int h = 0; h < e.headers; h++) {
            cr_assert(record_header_next(&record.headers, &header));
            cr_assert(str_is(header.key, h == 0 ? "h0" : "h1"));
            cr_assert(same(header.value, h == 0 ? (struct bytes){(const uint8_t *)"v", 1} : (struct bytes){NULL, 0}));
        }
    }
    cr_assert_eq(record_next(&reader, &record), RECORD_END);
    record_close(&reader);
}

// Our writer makes the same bytes of the same records.
static void check_writer(const struct batch *b, int count) {
    static uint8_t memory[1 << 16];
    struct batch_options options = {.base_offset = b->base_offset,
                                    .partition_leader_epoch = b->partition_leader_epoch,
                                    .producer_id = b->producer_id,
                                    .producer_epoch = b->producer_epoch,
                                    .base_sequence = b->base_sequence,
                                    .is_transactional = batch_is_transactional(b),
                                    .log_append_time = batch_is_log_append_time(b),
                                    .log_append_time_ms = b->max_timestamp};
    const struct record_header headers[] = {{str_of("h0"), {(const uint8_t *)"v", 1}}, {str_of("h1"), {NULL, 0}}};
    struct batch_writer w;
    batch_writer_begin(&w, memory, sizeof memory, options);
    for (int i = 0; i < count; i++) {
        struct expected e;
        expect(&e, i, 2);
        cr_assert(batch_writer_add(&w, e.timestamp, e.key, e.value, headers, e.headers));
    }
    cr_assert_eq(batch_writer_end(&w), b->bytes.size);
    cr_assert_eq(memcmp(memory, b->bytes.data, b->bytes.size), 0);
}

static struct bytes plain_bytes(struct tailrace_bytes b) {
    return (struct bytes){b.data, b.size};
}

// The public reader shows the same records, whatever the format; `count` records, from offset 0 on.
static void check_public_reader(int magic, int codec, int count, struct bytes in) {
    struct tailrace_reader *reader = tailrace_reader_open(in.data, in.size);
    struct tailrace_batch batch;
    struct tailrace_record record;
    enum tailrace_status status;
    int i = 0;
    while ((status = tailrace_next_batch(reader, &batch)) == TAILRACE_OK) {
        cr_assert_eq(batch.magic, magic);
        cr_assert_eq(batch.codec, codec);
        cr_assert(batch.checksum_is_valid);
        while ((status = tailrace_next_record(reader, &record)) == TAILRACE_OK) {
            struct expected e;
            expect(&e, i, magic);
            cr_assert_eq(record.offset, i);
            cr_assert_eq(record.timestamp, batch.is_log_append_time ? batch.max_timestamp : e.timestamp);
            cr_assert(same(plain_bytes(record.key), e.key));
            cr_assert(same(plain_bytes(record.value), e.value));
            cr_assert_eq(record.header_count, e.headers);
            struct tailrace_bytes key, value;
            int headers = 0;
            while (tailrace_next_header(&record, &key, &value))
                headers++;
            cr_assert_eq(headers, e.headers);
            i++;
        }
        cr_assert_eq(status, TAILRACE_END, "%s", tailrace_reader_reason(reader));
        cr_assert_eq(batch.last_offset, i - 1);
    }
    cr_assert_eq(status, TAILRACE_END);
    cr_assert_eq(i, count);
    tailrace_reader_close(reader);
}

static void check_batch(const char *label, int magic, int codec, int count, struct bytes in) {
    struct append_rules rules = {.now_ms = 2000000,
                                 .timestamp_before_max_ms = INT64_MAX,
                                 .timestamp_after_max_ms = INT64_MAX,
                                 .max_batch_bytes = 1 << 20,
                                 .produce_version = magic == 2 ? 11 : 2,
                                 .decompressed_max_bytes = 1 << 20};
    struct arena arena;
    struct append_check check;
    arena_init(&arena, ARENA_BYTES);
    struct batch b;
    enum batch_status status = batch_load(in, &b);
    cr_assert_eq(status, magic == 2 ? BATCH_OK : BATCH_OLD_FORMAT);
    if (magic == 2) {
        cr_assert(batch_crc_is_valid(&b));
        cr_assert_eq(batch_codec(&b), codec);
        cr_assert_eq(batch_is_control(&b), strcmp(label, "marker") == 0);
        if (batch_is_control(&b)) return;
        check_records(&b, magic, count);
        if (codec == CODEC_NONE) check_writer(&b, count);
        if (b.producer_id >= 0) cr_assert_eq(batch_last_sequence(&b), 2); // 2^31 - 2 and four more
    }
    check_public_reader(magic, codec, count, in);
    append_validate(in, &rules, &arena, &check);
    cr_assert_eq(check.error, KAFKA_ERROR_NONE, "%s %d %d: %s", label, magic, codec, check.reason);
    cr_assert_eq(batch_codec(&check.batch), codec);
    check_records(&check.batch, magic, count);
    arena_drop(&arena);
}

Test(golden, record_batches_of_every_codec_and_magic_as_kafka_writes_them) {
    FILE *file = open_data(GOLDEN_DATA "/batches.txt");
    static char line[LINE_BYTES], label[64], hex[LINE_BYTES];
    static uint8_t bytes[LINE_BYTES];
    int lines = 0, magic, codec, count;
    while (fgets(line, sizeof line, file)) {
        cr_assert_eq(sscanf(line, "%63s %d %d %d %65535s", label, &magic, &codec, &count, hex), 5);
        check_batch(label, magic, codec, count, (struct bytes){bytes, from_hex(hex, bytes)});
        lines++;
    }
    fclose(file);
    cr_assert_eq(lines, 42);
}
