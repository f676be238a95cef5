// SPDX-License-Identifier: Apache-2.0
// Records of __consumer_offsets: the bytes of Kafka 3.9.1 (read with its own classes), and what is read back.
#include "group/java_text.h"
#include "group/records.h"
#include "protocol/record.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdio.h>

static struct bytes hex(const char *text, uint8_t *memory) {
    size_t n = 0;
    for (; text[0] && text[1]; text += 2, n++)
        cr_assert_eq(sscanf(text, "%2hhx", &memory[n]), 1);
    return (struct bytes){memory, n};
}

static void expect_bytes(struct bytes got, const char *text) {
    uint8_t memory[512];
    struct bytes want = hex(text, memory);
    cr_assert_eq(got.size, want.size, "%zu bytes, not %zu", got.size, want.size);
    cr_assert_eq(memcmp(got.data, want.data, want.size), 0);
}

// The only record of the batch; valid until the batch is freed.
static struct record only_record(struct bytes bytes, int32_t base_sequence, struct record_reader *reader) {
    struct batch batch;
    struct record record;
    cr_assert_eq(batch_load(bytes, &batch), BATCH_OK);
    cr_assert(batch_crc_is_valid(&batch));
    cr_assert_eq(batch.count, 1);
    cr_assert_eq(batch.producer_id, -1);
    cr_assert_eq(batch.base_sequence, base_sequence);
    cr_assert_eq(batch.base_timestamp, 1700000000000);
    record_open(reader, &batch, 1 << 20, RECORD_CONTENT);
    cr_assert_eq(record_next(reader, &record), RECORD_OK);
    return record;
}

Test(records, an_offset_with_and_without_an_expiry_of_its_own) {
    struct offset_value value = {
        .offset = 5, .leader_epoch = 7, .commit_time_ms = 1700000000000, .expire_time_ms = -1, .metadata = str_of("m")};
    struct record_reader reader;
    struct record_batch batch;
    record_batch_begin(&batch, 1700000000000);
    record_batch_add_offset(&batch, str_of("g"), str_of("t"), 3, &value);
    struct bytes bytes = record_batch_end(&batch, CODEC_NONE);
    struct record record = only_record(bytes, 0, &reader);
    expect_bytes(record.key, "0001"
                             "000167"
                             "000174"
                             "00000003");
    expect_bytes(record.value, "0003"
                               "0000000000000005"
                               "00000007"
                               "00016d"
                               "0000018bcfe56800");
    struct offset_value back;
    cr_assert(record_offset_read(record.value, &back));
    cr_assert(back.offset == 5 && back.leader_epoch == 7 && back.expire_time_ms == -1);
    record_close(&reader);
    free((void *)bytes.data);

    value.expire_time_ms = 1700000000001;
    record_batch_begin(&batch, 1700000000000);
    record_batch_add_offset(&batch, str_of("g"), str_of("t"), 3, &value);
    bytes = record_batch_end(&batch, CODEC_NONE);
    record = only_record(bytes, 0, &reader);
    expect_bytes(record.value, "0001"
                               "0000000000000005"
                               "00016d"
                               "0000018bcfe56800"
                               "0000018bcfe56801");
    cr_assert(record_offset_read(record.value, &back));
    cr_assert(back.leader_epoch == -1 && back.expire_time_ms == 1700000000001);
    record_close(&reader);
    free((void *)bytes.data);
}

static void no_join(struct group_output *output, struct group *group, void *request,
                    const struct group_join_answer *answer) {
    (void)output, (void)group, (void)request, (void)answer;
}
static void no_sync(struct group_output *output, struct group *group, void *request,
                    const struct group_sync_answer *answer) {
    (void)output, (void)group, (void)request, (void)answer;
}
static void no_store(struct group_output *output, struct group *group, uint64_t store_id) {
    (void)output, (void)group, (void)store_id;
}
static void no_change(struct group_output *output, struct group *group, enum group_state before, const char *why,
                      struct str member_id) {
    (void)output, (void)group, (void)before, (void)why, (void)member_id;
}

Test(records, a_group_and_its_members_and_what_is_loaded_from_it) {
    struct group_memory memory = {0, 1 << 20};
    struct offset_topics topics;
    struct group_limits limits = {6000, 1800000, INT32_MAX, 0};
    struct group_output output = {no_join, no_sync, no_store, no_change};
    offset_topics_init(&topics, 1, &memory);
    struct group *g = group_create(str_of("g"), 1700000000000, &limits, &memory, &topics, 1);
    const struct group_load load = {.generation = 2,
                                    .protocol_type = str_of("consumer"),
                                    .protocol_name = str_of("range"),
                                    .leader_id = str_of("m"),
                                    .state_time_ms = 1700000000000};
    group_load(g, &load);
    struct group_member *m = member_create(&memory, str_of("m"), (struct str){0}, str_of("c"), str_of("/h"));
    const struct group_protocol protocol = {str_of("range"), {(const uint8_t *)"s", 1}};
    member_set_protocols(m, &protocol, 1);
    member_set_assignment(m, (struct bytes){(const uint8_t *)"a", 1});
    m->rebalance_timeout_ms = 30000;
    m->session_timeout_ms = 10000;
    cr_assert(group_load_member(g, m));
    cr_assert_eq(g->state, GROUP_STABLE);

    struct record_batch batch;
    struct record_reader reader;
    record_batch_begin(&batch, 1700000000000);
    cr_assert(record_batch_add_group(&batch, g, false));
    struct bytes bytes = record_batch_end(&batch, CODEC_NONE);
    struct record record = only_record(bytes, -1, &reader);
    expect_bytes(record.key, "0002"
                             "000167");
    expect_bytes(record.value, "0003"
                               "0008636f6e73756d6572"
                               "00000002"
                               "000572616e6765"
                               "00016d"
                               "0000018bcfe56800"
                               "00000001"
                               "00016d"
                               "ffff"
                               "000163"
                               "00022f68"
                               "00007530"
                               "00002710"
                               "0000000173"
                               "0000000161");
    struct arena arena;
    struct group_metadata_value value;
    int16_t version;
    arena_init(&arena, 1 << 16);
    cr_assert(record_group_read(record.value, &arena, &value, &version));
    cr_assert(version == 3 && value.members_count == 1 && value.generation == 2);
    cr_assert_not(
        record_group_read((struct bytes){record.value.data, record.value.size - 1}, &arena, &value, &version));
    arena_drop(&arena);
    record_close(&reader);
    free((void *)bytes.data);

    // A tombstone takes everything back; a member twice is not taken.
    struct group_member *twin = member_create(&memory, str_of("m"), (struct str){0}, str_of("c"), str_of("/h"));
    cr_assert_not(group_load_member(g, twin));
    member_free(twin);
    group_load(g, &(struct group_load){.state_time_ms = -1});
    cr_assert(g->state == GROUP_EMPTY && g->generation == 0 && g->member_count == 0);
    group_kill(g, KAFKA_ERROR_NOT_COORDINATOR, (struct group_time){1, 1}, &output);
    group_free(g);
    offset_topics_free(&topics);
    cr_assert_eq(memory.used_bytes, 0);
}

Test(records, tombstones_have_null_values_and_batches_grow) {
    struct record_batch batch;
    record_batch_begin(&batch, 1700000000000);
    for (int32_t i = 0; i < 1000; i++)
        record_batch_add_offset(&batch, str_of("group"), str_of("topic"), i, NULL);
    record_batch_add_group_tombstone(&batch, str_of("group"));
    cr_assert_eq(record_batch_count(&batch), 1001);
    for (enum codec codec = CODEC_NONE; codec < CODEC_COUNT; codec++) {
        if (codec != CODEC_NONE) { // again, for this codec
            record_batch_begin(&batch, 1700000000000);
            for (int32_t i = 0; i < 1000; i++)
                record_batch_add_offset(&batch, str_of("group"), str_of("topic"), i, NULL);
            record_batch_add_group_tombstone(&batch, str_of("group"));
        }
        struct bytes bytes = record_batch_end(&batch, codec);
        struct batch loaded;
        struct record_reader reader;
        struct record record;
        cr_assert_eq(batch_load(bytes, &loaded), BATCH_OK);
        cr_assert_eq(batch_codec(&loaded), (int)codec);
        cr_assert_eq(loaded.base_sequence, -1);
        record_open(&reader, &loaded, 1 << 20, RECORD_CONTENT);
        for (int32_t i = 0; i < 1001; i++) {
            struct record_key key;
            cr_assert_eq(record_next(&reader, &record), RECORD_OK);
            cr_assert_null(record.value.data);
            cr_assert_eq(record_key_read(record.key, &key), i < 1000 ? RECORD_OF_OFFSET : RECORD_OF_GROUP);
            cr_assert(str_is(key.group, "group"));
            if (i < 1000) cr_assert_eq(key.partition, i);
        }
        cr_assert_eq(record_next(&reader, &record), RECORD_END);
        record_close(&reader);
        free((void *)bytes.data);
    }
}

Test(records, keys_that_are_none) {
    static const struct {
        const char *hex;
        enum record_kind kind;
    } rows[] = {
        {"", RECORD_IS_BAD},
        {"00", RECORD_IS_BAD},
        {"ffff", RECORD_IS_BAD},
        {"0002", RECORD_IS_BAD},
        {"0002ffff", RECORD_IS_BAD},
        {"00020001", RECORD_IS_BAD},
        {"0002000167", RECORD_OF_GROUP},
        {"0000000167000174000000", RECORD_IS_BAD},
        {"000000016700017400000001", RECORD_OF_OFFSET},
        {"0001000167ffff00000001", RECORD_IS_BAD},
        {"0003000167", RECORD_OF_UNKNOWN_KIND},
        {"000b", RECORD_OF_UNKNOWN_KIND},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t memory[64];
        struct record_key key;
        cr_assert_eq(record_key_read(hex(rows[i].hex, memory), &key), rows[i].kind, "%s", rows[i].hex);
    }
    struct offset_value value;
    uint8_t memory[64];
    cr_assert_not(record_offset_read(hex("0005", memory), &value));
    cr_assert_not(record_offset_read(hex("00030000", memory), &value));
}

Test(java_text, hash_and_length_are_those_of_java) {
    cr_assert_eq(java_hash(str_of("my-group")), -1906497762);
    cr_assert_eq(java_partition(str_of("my-group"), 50), 12);
    cr_assert_eq(java_hash(str_of("")), 0);
    cr_assert_eq(java_hash(str_of("w\xc3\xb6rter")), -657401266);
    cr_assert_eq(java_hash(str_of("\xf0\x9f\x98\x80")), 1772899); // two UTF-16 units
    cr_assert_eq(java_hash(str_of("polygenelubricants")), INT32_MIN);
    cr_assert_eq(java_partition(str_of("polygenelubricants"), 50), 0);
    cr_assert_eq(java_length(str_of("w\xc3\xb6rter")), 6);
    cr_assert_eq(java_length(str_of("\xf0\x9f\x98\x80")), 2);
    cr_assert_eq(java_length(str_of("\xff\xc3")), 2);              // no UTF-8: a replacement each
    cr_assert_eq(java_length((struct str){"\xf0\x9f\x98", 3}), 3); // cut short
}
