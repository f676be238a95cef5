// SPDX-License-Identifier: Apache-2.0
// The codecs written by hand agree with the interpreter on random messages of every version, and on damaged ones.
#include "protocol/fetch_codec.h"
#include "protocol/produce_codec.h"
#include "random_message.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { ROUNDS = 60, ARENA_BYTES = 1 << 22 };

typedef bool decode_function(int16_t version, struct bytes in, size_t *consumed, void *out, struct arena *arena,
                             struct message_error *error);

static bool decode_produce(int16_t version, struct bytes in, size_t *consumed, void *out, struct arena *arena,
                           struct message_error *error) {
    return produce_request_decode(version, in, consumed, out, arena, error);
}
static bool decode_fetch(int16_t version, struct bytes in, size_t *consumed, void *out, struct arena *arena,
                         struct message_error *error) {
    return fetch_request_decode(version, in, consumed, out, arena, error);
}

static void compare_decoders(const struct schema *s, decode_function *decode, int16_t version, struct bytes in) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    void *a = calloc(1, s->size_bytes), *b = calloc(1, s->size_bytes);
    size_t used_a = 0, used_b = 0;
    struct message_error ea = {0}, eb = {0};
    uint8_t *exact = malloc(in.size + 1);
    memcpy(exact, in.data, in.size);
    in.data = exact;
    bool ok_a = message_decode(s, version, in, &used_a, a, &arena, &ea);
    bool ok_b = decode(version, in, &used_b, b, &arena, &eb);
    cr_assert_eq(ok_a, ok_b, "v%d: %s; %s", version, ea.reason, eb.reason);
    cr_assert_eq(used_a, used_b);
    if (ok_a) {
        cr_assert(message_equal(s, version, a, b));
        // Fields that the version lacks have their defaults in both.
        cr_assert(message_equal(s, s->max_version, a, b), "v%d", version);
    }
    free(a);
    free(b);
    free(exact);
    arena_drop(&arena);
}

static void check_decoder(const struct schema *s, decode_function *decode) {
    struct random r = {2024};
    for (int16_t version = s->min_version; version <= s->max_version; version++) {
        for (int round = 0; round < ROUNDS; round++) {
            struct arena arena;
            arena_init(&arena, ARENA_BYTES);
            void *message = calloc(1, s->size_bytes);
            random_message(&r, s, version, message, &arena);
            size_t size;
            cr_assert(message_size(s, version, message, &size, NULL));
            uint8_t *bytes = malloc(size + 1);
            message_encode(s, version, message, bytes, size);
            compare_decoders(s, decode, version, (struct bytes){bytes, size});
            compare_decoders(s, decode, version, (struct bytes){bytes, random_below(&r, size + 1)});
            for (int i = 0; i < 6 && size > 0; i++) {
                size_t at = random_below(&r, size);
                uint8_t old = bytes[at];
                bytes[at] = (uint8_t)(random_below(&r, 2) ? random_next(&r) : random_below(&r, 4));
                compare_decoders(s, decode, version, (struct bytes){bytes, size});
                if (i % 2) bytes[at] = old;
            }
            free(bytes);
            free(message);
            arena_drop(&arena);
        }
    }
}

Test(produce_codec, decodes_requests_as_the_interpreter_does) {
    check_decoder(&produce_request_schema, decode_produce);
}

Test(fetch_codec, decodes_requests_as_the_interpreter_does) {
    check_decoder(&fetch_request_schema, decode_fetch);
}

Test(produce_codec, encodes_responses_as_the_interpreter_does) {
    struct random r = {7};
    const struct schema *s = &produce_response_schema;
    for (int16_t version = 0; version <= s->max_version; version++) {
        for (int round = 0; round < ROUNDS; round++) {
            struct arena arena;
            arena_init(&arena, ARENA_BYTES);
            struct produce_response m;
            random_message(&r, s, version, &m, &arena);
            size_t size;
            cr_assert(message_size(s, version, &m, &size, NULL));
            cr_assert_eq(produce_response_size(version, &m), size, "v%d", version);
            uint8_t *a = malloc(size), *b = malloc(size);
            message_encode(s, version, &m, a, size);
            produce_response_encode(version, &m, b, size);
            cr_assert_eq(memcmp(a, b, size), 0, "v%d", version);
            free(a);
            free(b);
            arena_drop(&arena);
        }
    }
}

Test(fetch_codec, encodes_responses_around_the_records) {
    struct random r = {8};
    const struct schema *s = &fetch_response_schema;
    for (int16_t version = 0; version <= s->max_version; version++) {
        for (int round = 0; round < ROUNDS; round++) {
            struct arena arena;
            arena_init(&arena, ARENA_BYTES);
            struct fetch_response m;
            random_message(&r, s, version, &m, &arena);
            size_t size;
            cr_assert(message_size(s, version, &m, &size, NULL));
            struct fetch_response_size f = fetch_response_size(version, &m);
            cr_assert_eq(f.message_bytes, size, "v%d", version);
            uint8_t *a = malloc(size), *memory = malloc(f.memory_bytes), *b = malloc(size), *p = b;
            struct fetch_split *splits = calloc(f.split_count + 1, sizeof *splits);
            message_encode(s, version, &m, a, size);
            fetch_response_encode(version, &m, memory, f.memory_bytes, splits, f.split_count);
            size_t at = 0;
            for (size_t i = 0; i < f.split_count; i++) {
                struct bytes records = splits[i].partition->records;
                p = (uint8_t *)memcpy(p, memory + at, splits[i].offset - at) + (splits[i].offset - at);
                p = (uint8_t *)memcpy(p, records.data, records.size) + records.size;
                at = splits[i].offset;
            }
            p = (uint8_t *)memcpy(p, memory + at, f.memory_bytes - at) + (f.memory_bytes - at);
            cr_assert_eq((size_t)(p - b), size);
            cr_assert_eq(memcmp(a, b, size), 0, "v%d", version);
            free(a);
            free(b);
            free(memory);
            free(splits);
            arena_drop(&arena);
        }
    }
}
