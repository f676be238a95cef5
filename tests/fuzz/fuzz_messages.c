// SPDX-License-Identifier: Apache-2.0
// Every message decoder. Byte 0 chooses the API, byte 1 the version, bit 0 of byte 2 the response; the rest is the
// message. What decodes must encode, and decode to the same again; Produce and Fetch by hand must agree with the
// tables.
#include "base/assert.h"
#include "protocol/apis.h"
#include "protocol/fetch_codec.h"
#include "protocol/header.h"
#include "protocol/message.h"
#include "protocol/produce_codec.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 1 << 20 };

static void check_again(const struct schema *s, int16_t version, const void *message) {
    struct arena arena;
    size_t size, used;
    arena_init(&arena, 4 * ARENA_BYTES);
    void *again = calloc(1, s->size_bytes);
    ASSERT(message_size(s, version, message, &size, NULL));
    uint8_t *out = malloc(size + 1);
    message_encode(s, version, message, out, size);
    ASSERT(message_decode(s, version, (struct bytes){out, size}, &used, again, &arena, NULL));
    ASSERT(used == size && message_equal(s, version, message, again));
    char memory[4096];
    struct text text = TEXT_IN(memory);
    message_print(s, version, message, &text);
    free(out);
    free(again);
    arena_drop(&arena);
}

static void check_by_hand(const struct schema *s, int16_t version, struct bytes in, bool decoded, size_t used,
                          const void *message) {
    struct arena arena;
    size_t used_by_hand;
    arena_init(&arena, ARENA_BYTES);
    void *by_hand = calloc(1, s->size_bytes);
    bool ok = s == &produce_request_schema ? produce_request_decode(version, in, &used_by_hand, by_hand, &arena, NULL)
                                           : fetch_request_decode(version, in, &used_by_hand, by_hand, &arena, NULL);
    ASSERT(ok == decoded);
    ASSERT(!ok || (used == used_by_hand && message_equal(s, version, message, by_hand)));
    free(by_hand);
    arena_drop(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    const struct api_info *api = api_at(data[0] % api_count());
    int16_t version = (int16_t)(data[1] % (api->max_version + 1));
    const struct schema *s = data[2] & 1 ? api->response : api->request;
    uint8_t *exact = malloc(size - 3 + 1); // so that the sanitizer sees every byte beyond
    memcpy(exact, data + 3, size - 3);
    struct bytes in = {exact, size - 3};
    struct arena arena;
    size_t used = 0;
    arena_init(&arena, ARENA_BYTES);
    void *message = calloc(1, s->size_bytes);
    bool ok = message_decode(s, version, in, &used, message, &arena, NULL);
    if (ok) check_again(s, version, message);
    if (s == &produce_request_schema || s == &fetch_request_schema) check_by_hand(s, version, in, ok, used, message);
    struct frame_header header;
    const char *reason;
    request_header_decode(in, &header, &reason);
    free(message);
    free(exact);
    arena_drop(&arena);
    return 0;
}
