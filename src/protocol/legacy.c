// SPDX-License-Identifier: Apache-2.0
// A message set is either plain messages one after the other, or one wrapper whose value is a compressed set of plain
// ones. The messages are walked twice: to check and size them, then to write the new batch. A wrapper is unfolded into
// the arena before, under the rules' cap and the arena's limit.
//
// Refused: checksum errors (CORRUPT_MESSAGE); messages of another magic than the first, a second message beside a
// wrapper, wrappers inside wrappers, zstd (INVALID_RECORD); messages over max.message.bytes.
#include "protocol/legacy.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/batch_writer.h"
#include "protocol/record_rules.h"
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

struct legacy_message {
    int8_t magic;
    uint8_t attributes;
    int64_t timestamp; // -1 in magic 0
    struct bytes key, value;
    struct bytes bytes;
};

static bool refuse(struct append_check *check, int16_t error, const char *reason) {
    check->error = error;
    check->reason = reason;
    check->record_error_count = 0;
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
static bool legacy_load(struct bytes in, struct legacy_message *m, struct append_check *check) {
    const uint8_t *end = in.data + in.size;
    *m = (struct legacy_message){.magic = (int8_t)in.data[LEGACY_MAGIC], .attributes = in.data[LEGACY_ATTRIBUTES]};
    m->bytes = in;
    m->timestamp = -1;
    if (crc32_z(0, in.data + LEGACY_MAGIC, in.size - LEGACY_MAGIC) != load_be32(in.data + LEGACY_CRC)) {
        return refuse(check, KAFKA_ERROR_CORRUPT_MESSAGE, "checksum of a message is wrong");
    }
    const uint8_t *p = in.data + LEGACY_BODY_0;
    if (m->magic == 1) {
        if (in.size < LEGACY_BODY_1) return refuse(check, KAFKA_ERROR_CORRUPT_MESSAGE, "message is too short");
        m->timestamp = (int64_t)load_be64(in.data + LEGACY_TIMESTAMP);
        p = in.data + LEGACY_BODY_1;
    }
    if (!take_field(&p, end, &m->key) || !take_field(&p, end, &m->value) || p != end) {
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "key and value do not fill the message");
    }
    return true;
}

// The next message of a set; false at its end (*status is BATCH_END) and on anything wrong (check->error is set).
static bool legacy_next(struct bytes *set, bool is_inner, struct legacy_message *m, struct append_check *check) {
    struct batch b;
    enum batch_status status = batch_next(set, &b);
    if (status == BATCH_OLD_FORMAT) return legacy_load(b.bytes, m, check);
    if (status == BATCH_OK) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "messages of different magic");
    if (status == BATCH_CORRUPT)
        return refuse(check, KAFKA_ERROR_CORRUPT_MESSAGE, "impossible message length or magic");
    // A cut message at the end of the outer set is left out, as in Kafka.
    if (status == BATCH_INCOMPLETE && is_inner) refuse(check, KAFKA_ERROR_INVALID_RECORD, "inner message is cut off");
    return false;
}

// The unfolded set of a wrapper, in memory of the arena.
static bool legacy_unfold(const struct legacy_message *wrapper, const struct append_rules *rules, struct arena *arena,
                          struct bytes *set, struct append_check *check) {
    enum codec codec = wrapper->attributes & BATCH_CODEC_MASK;
    if (codec >= CODEC_ZSTD)
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "codec that messages of this magic cannot have");
    if (!wrapper->value.data) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "compressed message without a value");
    struct decompressor d;
    struct bytes chunk;
    enum decompress_status status;
    uint8_t *memory = NULL;
    size_t used = 0, room = 0;
    decompress_open(&d, codec, wrapper->value, rules->decompressed_max_bytes,
                    wrapper->magic == 0 ? DECOMPRESS_LZ4_MAGIC_0 : 0);
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
    if (status == DECOMPRESS_TOO_LARGE)
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "message unfolds to more than it may");
    if (status == DECOMPRESS_CORRUPT)
        return refuse(check, KAFKA_ERROR_INVALID_RECORD, "compressed message is malformed");
    if (used == 0) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "compressed message without messages");
    *set = (struct bytes){memory, used};
    return true;
}

struct legacy_set {
    struct bytes bytes;
    bool is_inner;
    int8_t magic;
    enum codec codec;          // of the wrapper
    bool log_append_time;      // the wrapper's timestamp counts for all
    int64_t wrapper_timestamp; // if so
    size_t batch_max_bytes;    // of the new batch
};

static int64_t message_timestamp(const struct legacy_set *set, const struct legacy_message *m) {
    return set->log_append_time && set->is_inner ? set->wrapper_timestamp : m->timestamp;
}

static bool legacy_check_set(struct legacy_set *set, const struct append_rules *rules, struct arena *arena,
                             struct append_check *check) {
    struct bytes rest = set->bytes;
    struct legacy_message m;
    int32_t index = 0;
    set->batch_max_bytes = BATCH_HEADER_BYTES;
    check->max_timestamp = -1;
    while (legacy_next(&rest, set->is_inner, &m, check)) {
        if (m.magic != set->magic) return refuse(check, KAFKA_ERROR_INVALID_RECORD, "messages of different magic");
        if (m.attributes & BATCH_CODEC_MASK) {
            return refuse(check, KAFKA_ERROR_INVALID_RECORD, "compressed message among or inside others");
        }
        if (!set->is_inner && m.bytes.size > rules->max_batch_bytes) {
            check->before_log = true;
            return refuse(check, KAFKA_ERROR_MESSAGE_TOO_LARGE, "message is larger than max.message.bytes");
        }
        bool append_type = set->is_inner ? set->log_append_time : m.magic == 1 && m.attributes & BATCH_LOG_APPEND_TIME;
        int64_t timestamp = message_timestamp(set, &m);
        if (!record_rules_check(rules, append_type, timestamp, m.key.data != NULL, index++, arena, check)) return false;
        check->max_timestamp = max_i64(check->max_timestamp, timestamp);
        set->batch_max_bytes += RECORD_OVERHEAD_MAX_BYTES + m.key.size + m.value.size;
    }
    if (check->record_error_count > 0) check->reason = record_errors_reason(check);
    return check->error == KAFKA_ERROR_NONE;
}

static bool legacy_write(const struct legacy_set *set, const struct append_rules *rules, struct arena *arena,
                         struct append_check *check) {
    uint8_t *memory = arena_alloc(arena, set->batch_max_bytes);
    if (!memory) return refuse(check, KAFKA_ERROR_RECORD_LIST_TOO_LARGE, "no memory to convert the messages");
    struct batch_options options = BATCH_OPTIONS_PLAIN;
    options.log_append_time = rules->log_append_time;
    options.log_append_time_ms = rules->now_ms;
    struct batch_writer w;
    batch_writer_begin(&w, memory, set->batch_max_bytes, options);
    struct bytes rest = set->bytes;
    struct legacy_message m;
    while (legacy_next(&rest, set->is_inner, &m, check)) {
        bool added = batch_writer_add(&w, message_timestamp(set, &m), m.key, m.value, NULL, 0);
        ASSERT(added);
    }
    ASSERT(check->error == KAFKA_ERROR_NONE);
    struct bytes batch = {memory, batch_writer_end(&w)};
    if (set->codec != CODEC_NONE) {
        size_t room = BATCH_HEADER_BYTES + codec_compress_bound(set->codec, batch.size - BATCH_RECORDS);
        uint8_t *compressed = arena_alloc(arena, room);
        if (!compressed) return refuse(check, KAFKA_ERROR_RECORD_LIST_TOO_LARGE, "no memory to convert the messages");
        size_t size = batch_compress(batch, set->codec, 0, compressed, room);
        ASSERT(size > 0);
        batch = (struct bytes){compressed, size};
    }
    enum batch_status status = batch_load(batch, &check->batch);
    ASSERT(status == BATCH_OK);
    if (batch.size > rules->max_batch_bytes) {
        check->before_log = true;
        return refuse(check, KAFKA_ERROR_MESSAGE_TOO_LARGE, "converted batch is larger than max.message.bytes");
    }
    check->converted = true;
    return true;
}

bool legacy_convert(struct bytes records, const struct append_rules *rules, struct arena *arena,
                    struct append_check *check) {
    struct bytes rest = records;
    struct legacy_message first, second;
    if (!legacy_next(&rest, false, &first, check)) {
        check->before_log = true;
        return false;
    }
    struct legacy_set set = {.bytes = records, .magic = first.magic, .codec = first.attributes & BATCH_CODEC_MASK};
    if (set.codec != CODEC_NONE) {
        if (first.bytes.size > rules->max_batch_bytes) {
            check->before_log = true;
            return refuse(check, KAFKA_ERROR_MESSAGE_TOO_LARGE, "message is larger than max.message.bytes");
        }
        if (legacy_next(&rest, false, &second, check)) {
            return refuse(check, KAFKA_ERROR_INVALID_RECORD, "second message beside a compressed one");
        }
        if (check->error) return false;
        set.is_inner = true;
        set.log_append_time = first.magic == 1 && first.attributes & BATCH_LOG_APPEND_TIME;
        set.wrapper_timestamp = first.timestamp;
        if (!legacy_unfold(&first, rules, arena, &set.bytes, check)) return false;
    }
    return legacy_check_set(&set, rules, arena, check) && legacy_write(&set, rules, arena, check);
}
