// SPDX-License-Identifier: Apache-2.0
// The interpreter on every message and version: random round trips, and hostile input.
#include "protocol/apis.h"
#include "protocol/header.h"
#include "protocol/message.h"
#include "protocol/messages.h"
#include "protocol/uuid.h"
#include "random_message.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdlib.h>

#define NO_NESTED(S)
#define SCHEMA_POINTER(S, ...) &S##_schema,
static const struct schema *const all[] = {PROTOCOL_STRUCTS(NO_NESTED, SCHEMA_POINTER)};
enum { ALL_COUNT = sizeof all / sizeof all[0], ARENA_BYTES = 1 << 22 };

static void check_round_trip(const struct schema *s, int16_t version, uint64_t seed) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct random r = {seed};
    void *message = calloc(1, s->size_bytes), *copy = calloc(1, s->size_bytes);
    random_message(&r, s, version, message, &arena);
    size_t size, consumed;
    struct message_error error = {0};
    cr_assert(message_size(s, version, message, &size, &error), "%s v%d: %s %s", s->name, version, error.field,
              error.reason);
    uint8_t *bytes = malloc(size + 1);
    message_encode(s, version, message, bytes, size);
    bytes[size] = 0x55;
    cr_assert(message_decode(s, version, (struct bytes){bytes, size + 1}, &consumed, copy, &arena, &error),
              "%s v%d: %s %s", s->name, version, error.field, error.reason);
    cr_assert_eq(consumed, size);
    cr_assert(message_equal(s, version, message, copy), "%s v%d", s->name, version);
    size_t again;
    cr_assert(message_size(s, version, copy, &again, NULL));
    cr_assert_eq(again, size);
    uint8_t *second = malloc(size + 1);
    message_encode(s, version, copy, second, size);
    cr_assert_arr_eq(bytes, second, size, "%s v%d", s->name, version);
    // No shorter input is such a message; heap blocks of the exact length let the sanitizer see any overrun.
    for (size_t n = 0; n < size && size < 400; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, bytes, n);
        cr_assert_not(message_decode(s, version, (struct bytes){cut, n}, NULL, copy, &arena, &error));
        cr_assert_not_null(error.reason);
        free(cut);
    }
    free(message);
    free(copy);
    free(bytes);
    free(second);
    arena_drop(&arena);
}

Test(message, every_version_survives_a_round_trip_and_no_prefix_of_it_decodes) {
    for (size_t i = 0; i < ALL_COUNT; i++) {
        for (int16_t v = all[i]->min_version; v <= all[i]->max_version; v++) {
            for (uint64_t seed = 0; seed < 12; seed++)
                check_round_trip(all[i], v, seed * 1000 + i * 50 + (uint64_t)v);
        }
    }
}

Test(message, damaged_input_is_refused_or_decoded_but_never_harmful) {
    struct random r = {42};
    for (size_t i = 0; i < ALL_COUNT; i++) {
        const struct schema *s = all[i];
        for (int16_t v = s->min_version; v <= s->max_version; v++) {
            struct arena arena;
            arena_init(&arena, ARENA_BYTES);
            void *message = calloc(1, s->size_bytes);
            random_message(&r, s, v, message, &arena);
            size_t size;
            cr_assert(message_size(s, v, message, &size, NULL));
            uint8_t *bytes = malloc(size + 1);
            for (int round = 0; round < 20; round++) {
                struct arena decoded;
                arena_init(&decoded, ARENA_BYTES);
                random_message(&r, s, v, message, &decoded);
                cr_assert(message_size(s, v, message, &size, NULL));
                bytes = realloc(bytes, size + 1);
                message_encode(s, v, message, bytes, size);
                for (int flips = 0; flips < 3 && size > 0; flips++)
                    bytes[random_below(&r, size)] = (uint8_t)(random_below(&r, 2) ? 0xff : random_next(&r));
                message_decode(s, v, (struct bytes){bytes, size}, NULL, message, &decoded, NULL);
                arena_drop(&decoded);
            }
            free(bytes);
            free(message);
            arena_drop(&arena);
        }
    }
}

static bool decode_hex(const struct schema *s, int16_t version, const void *bytes, size_t size, size_t limit_bytes,
                       struct message_error *error) {
    struct arena arena;
    arena_init(&arena, limit_bytes);
    void *out = calloc(1, s->size_bytes);
    bool ok = message_decode(s, version, (struct bytes){bytes, size}, NULL, out, &arena, error);
    cr_assert_leq(arena.total_bytes, limit_bytes);
    free(out);
    arena_drop(&arena);
    return ok;
}

Test(message, counts_and_lengths_beyond_the_input_are_refused_before_anything_is_allocated) {
    struct message_error e;
    // Metadata v1: 2^31 - 1 topics; v9: the same, compact.
    cr_assert_not(decode_hex(&metadata_request_schema, 1, "\x7f\xff\xff\xff\x00\x01t", 7, 0, &e));
    cr_assert_str_eq(e.field, "topics");
    cr_assert_not(decode_hex(&metadata_request_schema, 9, "\xff\xff\xff\xff\x07\x02t\x00", 8, 0, &e));
    // A varint of 33 bits and one that never ends.
    cr_assert_not(decode_hex(&metadata_request_schema, 9, "\xff\xff\xff\xff\x1f", 5, 0, &e));
    cr_assert_not(decode_hex(&metadata_request_schema, 9, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 0, &e));
    // A string longer than the input, and null where none may be.
    cr_assert_not(decode_hex(&metadata_request_schema, 1, "\x00\x00\x00\x01\x7f\xff", 6, 4096, &e));
    cr_assert_str_eq(e.field, "name");
    cr_assert_not(decode_hex(&metadata_request_schema, 1, "\x00\x00\x00\x01\xff\xff", 6, 4096, &e));
    cr_assert_str_eq(e.reason, "null where a value is needed");
    // A null array where it may be, and where it may not.
    cr_assert(decode_hex(&metadata_request_schema, 1, "\xff\xff\xff\xff", 4, 0, &e));
    cr_assert_not(decode_hex(&metadata_request_schema, 0, "\xff\xff\xff\xff", 4, 0, &e));
}

Test(message, an_array_costs_no_more_memory_than_its_own_bytes_call_for) {
    // 60,000 topics of Metadata v9, three bytes each, fit; the arena's limit is what says no.
    size_t count = 60000, size = 3 + 2 * count + 4;
    uint8_t *bytes = malloc(size), *p = bytes;
    for (uint32_t v = (uint32_t)count + 1; v; v >>= 7)
        *p++ = (uint8_t)(v >= 0x80 ? v | 0x80 : v);
    for (size_t i = 0; i < count; i++) { // name "" and no tags
        *p++ = 1;
        *p++ = 0;
    }
    memset(p, 0, 4);
    struct message_error e;
    cr_assert(decode_hex(&metadata_request_schema, 9, bytes, (size_t)(p + 4 - bytes), 60000 * 64, &e));
    cr_assert_not(decode_hex(&metadata_request_schema, 9, bytes, (size_t)(p + 4 - bytes), 4096, &e));
    cr_assert_str_eq(e.reason, "message needs more memory than it may use");
    free(bytes);
}

Test(message, tagged_fields_unknown_repeated_unordered_or_of_wrong_length) {
    struct message_error e;
    // ApiVersions v3: two empty strings, then the tags.
    cr_assert(decode_hex(&api_versions_request_schema, 3, "\x01\x01\x00", 3, 0, &e));
    cr_assert(decode_hex(&api_versions_request_schema, 3, "\x01\x01\x02\x05\x01x\x09\x00", 8, 0, &e));
    cr_assert_not(decode_hex(&api_versions_request_schema, 3, "\x01\x01\x02\x05\x00\x05\x00", 7, 0, &e));
    cr_assert_not(decode_hex(&api_versions_request_schema, 3, "\x01\x01\x02\x05\x00\x04\x00", 7, 0, &e));
    cr_assert_not(decode_hex(&api_versions_request_schema, 3, "\x01\x01\xff\xff\xff\xff\x0f", 7, 0, &e));
    cr_assert_not(decode_hex(&api_versions_request_schema, 3, "\x01\x01\x01\x05\xff\xff\xff\xff\x0f", 9, 0, &e));
    // Response v3 with tag 1 (int64) of 7 and of 9 bytes.
    cr_assert_not(decode_hex(&api_versions_response_schema, 3, "\0\0\x01\0\0\0\0\x01\x01\x07zzzzzzz", 17, 0, &e));
    cr_assert_not(decode_hex(&api_versions_response_schema, 3, "\0\0\x01\0\0\0\0\x01\x01\x09zzzzzzzzz", 19, 0, &e));
    cr_assert_str_eq(e.field, "finalized_features_epoch");
    cr_assert(decode_hex(&api_versions_response_schema, 3, "\0\0\x01\0\0\0\0\x01\x01\x08zzzzzzzz", 18, 0, &e));
}

Test(message, what_a_version_cannot_say_is_left_out_or_refused) {
    struct offset_commit_request m;
    message_default(&offset_commit_request_schema, &m);
    m.group_id = str_of("g");
    size_t size;
    struct message_error e;
    cr_assert_eq(m.generation_id_or_member_epoch, -1);
    cr_assert_eq(m.retention_time_ms, -1);
    m.generation_id_or_member_epoch = 7; // ignorable
    cr_assert(message_size(&offset_commit_request_schema, 0, &m, &size, &e));
    m.group_instance_id = str_of("i"); // not ignorable, only from version 7
    cr_assert(message_size(&offset_commit_request_schema, 7, &m, &size, &e) ||
              strcmp(e.field, "group_instance_id") == 0);
    m.member_id = (struct str){NULL, 0};
    cr_assert_not(message_size(&offset_commit_request_schema, 9, &m, &size, &e));
    cr_assert_str_eq(e.field, "member_id");
}

Test(message, prints_the_json_of_its_version) {
    struct arena arena;
    arena_init(&arena, 4096);
    struct metadata_request_topic topics[2];
    struct metadata_request m;
    message_default(&metadata_request_schema, &m);
    for (int i = 0; i < 2; i++)
        memset(&topics[i], 0, sizeof topics[i]);
    topics[0].name = str_of("a\"\\\n");
    m.topics = topics;
    m.topics_count = 2;
    char memory[512];
    struct text t = TEXT_IN(memory);
    message_print(&metadata_request_schema, 12, &m, &t);
    cr_assert_str_eq(t.data, "{\"topics\":[{\"topicId\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"name\":\"a\\\"\\\\\\n\"},"
                             "{\"topicId\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"name\":null}],"
                             "\"allowAutoTopicCreation\":true,\"includeTopicAuthorizedOperations\":false}");
    arena_drop(&arena);
}

Test(apis, table_agrees_with_the_schemas) {
    for (size_t i = 0; i < api_count(); i++) {
        const struct api_info *api = api_at(i);
        cr_assert(i == 0 || api_at(i - 1)->key < api->key);
        cr_assert_eq(api_by_key(api->key), api);
        const struct schema *two[] = {api->request, api->response};
        for (int j = 0; j < 2; j++) {
            cr_assert_eq(two[j]->api_key, api->key);
            cr_assert_eq(two[j]->min_version, api->min_version);
            cr_assert_eq(two[j]->max_version, api->max_version);
            cr_assert_eq(two[j]->first_flexible_version, api->first_flexible);
        }
        cr_assert_eq(strncmp(api->request->name, api->name, strlen(api->name)), 0);
    }
    cr_assert_null(api_by_key(4242));
}

Test(header, layout_follows_api_and_version) {
    struct frame_header h;
    const char *reason = NULL;
    const char classic[] = "\x00\x03\x00\x01\x00\x00\x00\x07\x00\x02me!";
    cr_assert(request_header_decode((struct bytes){(const uint8_t *)classic, 13}, &h, &reason));
    cr_assert_eq(h.api->key, API_KEY_METADATA);
    cr_assert_eq(h.correlation_id, 7);
    cr_assert(str_is(h.client_id, "me"));
    cr_assert_eq(h.size_bytes, 12);
    const char flexible[] = "\x00\x12\x00\x63\x00\x00\x00\x07\xff\xff\x01\x09\x01z.";
    cr_assert(request_header_decode((struct bytes){(const uint8_t *)flexible, 15}, &h, &reason));
    cr_assert_eq(h.api_version, 99);
    cr_assert(str_is_null(h.client_id));
    cr_assert_eq(h.size_bytes, 14);
    cr_assert_not(api_has_version(h.api, h.api_version));
    for (size_t n = 0; n < 14; n++) {
        if (n == 10) continue;
        cr_assert_not(request_header_decode((struct bytes){(const uint8_t *)flexible, n}, &h, &reason), "%zu", n);
        cr_assert_not_null(reason);
    }
    const char unknown[] = "\x10\x12\x00\x63\x00\x00\x00\x07\xff\xff";
    cr_assert(request_header_decode((struct bytes){(const uint8_t *)unknown, 10}, &h, &reason));
    cr_assert_null(h.api);

    uint8_t memory[64];
    cr_assert_eq(response_header_size(api_by_key(18), 4), 4);
    cr_assert_eq(response_header_size(api_by_key(3), 9), 5);
    response_header_encode(api_by_key(3), 9, -2, memory);
    cr_assert_arr_eq(memory, "\xff\xff\xff\xfe\x00", 5);
    int32_t correlation_id;
    cr_assert_eq(response_header_decode(api_by_key(3), 9, (struct bytes){memory, 5}, &correlation_id, &reason), 5);
    cr_assert_eq(correlation_id, -2);
    size_t size = request_header_size(api_by_key(3), 9, str_of("me"));
    request_header_encode(api_by_key(3), 9, 5, str_of("me"), memory, size);
    cr_assert(request_header_decode((struct bytes){memory, size}, &h, &reason));
    cr_assert_eq(h.size_bytes, size);
}

Test(uuid, text_both_ways) {
    struct random r = {1};
    for (int round = 0; round < 100; round++) {
        struct uuid id, back;
        for (size_t i = 0; i < sizeof id; i++)
            id.bytes[i] = (uint8_t)random_next(&r);
        char text[UUID_TEXT_SIZE + 1];
        uuid_print(id, text);
        cr_assert(uuid_parse(str_of(text), &back));
        cr_assert(uuid_equal(id, back));
    }
    struct uuid id;
    cr_assert(uuid_parse(str_of("AAAAAAAAAAAAAAAAAAAAAQ"), &id)); // Kafka's __cluster_metadata id: 1
    cr_assert_eq(id.bytes[15], 1);
    cr_assert_not(uuid_parse(str_of("AAAAAAAAAAAAAAAAAAAAAR"), &id));
    cr_assert_not(uuid_parse(str_of("AAAAAAAAAAAAAAAAAAAAA="), &id));
    cr_assert_not(uuid_parse(str_of("AAAAAAAAAAAAAAAAAAAAA"), &id));
}

Test(error, names_and_texts) {
    cr_assert_str_eq(kafka_error_name(-1), "UNKNOWN_SERVER_ERROR");
    cr_assert_str_eq(kafka_error_name(KAFKA_ERROR_OFFSET_OUT_OF_RANGE), "OFFSET_OUT_OF_RANGE");
    cr_assert_str_eq(kafka_error_name(127), "VOTER_NOT_FOUND");
    cr_assert_str_eq(kafka_error_name(128), "UNKNOWN");
    cr_assert_str_eq(kafka_error_name(-2), "UNKNOWN");
    cr_assert(kafka_error_is_retriable(KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER));
    cr_assert_not(kafka_error_is_retriable(KAFKA_ERROR_NONE));
}
