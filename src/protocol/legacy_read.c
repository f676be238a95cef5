// SPDX-License-Identifier: Apache-2.0
// See legacy_read.h. Each message has a checksum of its own (CRC-32, zlib's); a wrapper's value is unfolded as a whole,
// under the caller's cap and the arena's limit.
#include "protocol/legacy_read.h"
#include "base/bits.h"
#include "protocol/compress.h"
#include "tailrace/error.h"
#include <zlib.h>

enum legacy_layout {
    LEGACY_OFFSET = 0, // int64
    LEGACY_SIZE = 8,   // int32, of what follows it
    LEGACY_CRC = 12,   // uint32, CRC-32 of everything behind it
    LEGACY_MAGIC = 16,
    LEGACY_ATTRIBUTES = 17,
    LEGACY_BODY_0 = 18,    // key and value
    LEGACY_TIMESTAMP = 18, // int64, magic 1
    LEGACY_BODY_1 = 26,
};

static bool legacy_fail(struct legacy_failure *failure, int16_t error, const char *reason) {
    *failure = (struct legacy_failure){.error = error, .reason = reason};
    return false;
}

static bool take_field(const uint8_t **p, const uint8_t *end, struct bytes *field) {
    if (end - *p < 4) return false;
    int32_t n = (int32_t)load_be32(*p);
    *p += 4;
    if (n > end - *p) return false;
    *field = n < 0 ? (struct bytes){NULL, 0} : (struct bytes){*p, (size_t)n};
    *p += field->size;
    return true;
}

// The message that batch_next has found, whose length was checked.
static bool legacy_load(struct bytes in, struct legacy_message *m, struct legacy_failure *failure) {
    const uint8_t *end = in.data + in.size;
    *m = (struct legacy_message){.magic = (int8_t)in.data[LEGACY_MAGIC], .attributes = in.data[LEGACY_ATTRIBUTES]};
    m->bytes = in;
    m->offset = (int64_t)load_be64(in.data + LEGACY_OFFSET);
    m->timestamp = -1;
    if (crc32_z(0, in.data + LEGACY_MAGIC, in.size - LEGACY_MAGIC) != load_be32(in.data + LEGACY_CRC)) {
        return legacy_fail(failure, KAFKA_ERROR_CORRUPT_MESSAGE, "checksum of a message is wrong");
    }
    const uint8_t *p = in.data + LEGACY_BODY_0;
    if (m->magic == 1) {
        if (in.size < LEGACY_BODY_1) return legacy_fail(failure, KAFKA_ERROR_CORRUPT_MESSAGE, "message is too short");
        m->timestamp = (int64_t)load_be64(in.data + LEGACY_TIMESTAMP);
        p = in.data + LEGACY_BODY_1;
    }
    // What may follow the value is not looked at, as in Kafka.
    if (!take_field(&p, end, &m->key) || !take_field(&p, end, &m->value)) {
        return legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "key or value reaches beyond the message");
    }
    return true;
}

bool legacy_next(struct bytes *set, bool is_inner, struct legacy_message *m, struct legacy_failure *failure) {
    struct batch b;
    enum batch_status status = batch_next(set, &b);
    if (status == BATCH_OLD_FORMAT) return legacy_load(b.bytes, m, failure);
    if (status == BATCH_OK) return legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "messages of different magic");
    if (status == BATCH_CORRUPT)
        return legacy_fail(failure, KAFKA_ERROR_CORRUPT_MESSAGE, "impossible message length or magic");
    // A cut message at the end of the outer set is left out, as in Kafka.
    if (status == BATCH_INCOMPLETE && is_inner)
        legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "inner message is cut off");
    return false;
}

bool legacy_unfold(const struct legacy_message *wrapper, uint64_t output_max_bytes, struct arena *arena,
                   struct bytes *set, struct legacy_failure *failure) {
    enum codec codec = wrapper->attributes & BATCH_CODEC_MASK;
    if (codec >= CODEC_ZSTD)
        return legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "codec that messages of this magic cannot have");
    if (!wrapper->value.data)
        return legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "compressed message without a value");
    struct decompressor d;
    struct bytes chunk;
    enum decompress_status status;
    uint8_t *memory = NULL;
    size_t used = 0, room = 0;
    decompress_open(&d, codec, wrapper->value, output_max_bytes, wrapper->magic == 0 ? DECOMPRESS_LZ4_MAGIC_0 : 0,
                    NULL);
    while ((status = decompress_next(&d, &chunk)) == DECOMPRESS_CHUNK) {
        if (chunk.size > room - used) {
            room = max_size(room * 2, used + chunk.size);
            uint8_t *grown = arena_alloc(arena, room);
            if (!grown) {
                status = DECOMPRESS_TOO_LARGE;
                break;
            }
            if (used > 0) memcpy(grown, memory, used);
            memory = grown;
        }
        memcpy(memory + used, chunk.data, chunk.size);
        used += chunk.size;
    }
    decompress_close(&d);
    if (status == DECOMPRESS_TOO_LARGE) {
        legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "message unfolds to more than it may");
        failure->is_too_large = true;
        return false;
    }
    if (status == DECOMPRESS_CORRUPT)
        return legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "compressed message is malformed");
    if (used == 0) return legacy_fail(failure, KAFKA_ERROR_INVALID_RECORD, "compressed message without messages");
    *set = (struct bytes){memory, used};
    return true;
}
