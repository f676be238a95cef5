// SPDX-License-Identifier: Apache-2.0
#include "group/records.h"
#include "protocol/message.h"
#include "protocol/wire.h"
#include <stdlib.h>

enum {
    OFFSET_KEY_VERSION = 1,
    GROUP_KEY_VERSION = 2,
    OFFSET_VALUE_VERSION = 3,
    OFFSET_VALUE_VERSION_WITH_EXPIRY = 1,
    GROUP_VALUE_VERSION = 3,
    VERSION_BYTES = 2,
    BATCH_BYTES_MIN = 512,
    COMMIT_BASE_SEQUENCE = 0, // so Kafka, though without a producer id; all other batches have -1
};

// ---- writing
// --------------------------------------------------------------------------------------------------------

void record_batch_begin(struct record_batch *batch, int64_t timestamp_ms) {
    *batch = (struct record_batch){.timestamp_ms = timestamp_ms};
}

static void batch_reserve(struct record_batch *batch, size_t record_bytes) {
    size_t needed = RECORD_OVERHEAD_MAX_BYTES + record_bytes;
    if (!batch->memory) {
        size_t capacity = BATCH_HEADER_BYTES + max_size(needed, BATCH_BYTES_MIN);
        batch->memory = malloc(capacity);
        ASSERT(batch->memory != NULL);
        struct batch_options options = BATCH_OPTIONS_PLAIN;
        batch_writer_begin(&batch->writer, batch->memory, capacity, options);
    }
    struct batch_writer *w = &batch->writer;
    if (w->capacity_bytes - w->size_bytes >= needed) return;
    size_t capacity = max_size(w->capacity_bytes * 2, w->size_bytes + needed);
    batch->memory = realloc(batch->memory, capacity);
    ASSERT(batch->memory != NULL);
    w->memory = batch->memory;
    w->capacity_bytes = capacity;
}

static uint8_t *scratch(struct record_batch *batch, size_t size) {
    if (batch->scratch_bytes < size) {
        free(batch->scratch);
        batch->scratch = malloc(size);
        ASSERT(batch->scratch != NULL);
        batch->scratch_bytes = size;
    }
    return batch->scratch;
}

static void add(struct record_batch *batch, struct bytes key, struct bytes value) {
    batch_reserve(batch, key.size + value.size);
    bool added = batch_writer_add(&batch->writer, batch->timestamp_ms, key, value, NULL, 0);
    ASSERT(added);
}

void record_batch_add_offset(struct record_batch *batch, struct str group, struct str topic, int32_t partition,
                             const struct offset_value *value) {
    size_t key_size = VERSION_BYTES + string_size(false, group) + string_size(false, topic) + 4;
    size_t value_size = value ? VERSION_BYTES + 8 + 4 + string_size(false, value->metadata) + 8 + 8 : 0;
    uint8_t *memory = scratch(batch, key_size + value_size);
    struct writer w = writer_of(memory, key_size + value_size);
    write_int16(&w, OFFSET_KEY_VERSION);
    write_string(&w, false, group);
    write_string(&w, false, topic);
    write_int32(&w, partition);
    ASSERT(w.at == memory + key_size);
    struct bytes encoded = {0};
    if (value) {
        bool expires = value->expire_time_ms >= 0;
        write_int16(&w, expires ? OFFSET_VALUE_VERSION_WITH_EXPIRY : OFFSET_VALUE_VERSION);
        write_int64(&w, value->offset);
        if (!expires) write_int32(&w, value->leader_epoch);
        write_string(&w, false, value->metadata);
        write_int64(&w, value->commit_time_ms);
        if (expires) write_int64(&w, value->expire_time_ms);
        encoded = (struct bytes){memory + key_size, (size_t)(w.at - memory) - key_size};
    }
    add(batch, (struct bytes){memory, key_size}, encoded);
    if (value) batch->writer.options.base_sequence = COMMIT_BASE_SEQUENCE;
}

static size_t group_key_size(struct str group) {
    return VERSION_BYTES + string_size(false, group);
}
static void group_key_write(struct writer *w, struct str group) {
    write_int16(w, GROUP_KEY_VERSION);
    write_string(w, false, group);
}

static struct str not_null(struct str s) {
    return str_is_null(s) ? str_of("") : s;
}
static struct bytes bytes_not_null(struct bytes b) {
    return b.data ? b : (struct bytes){(const uint8_t *)"", 0};
}

static struct group_metadata_value_member_metadata member_row(const struct group *g, const struct group_member *m,
                                                              bool use_next) {
    const struct group_protocol *protocol = str_is_null(g->protocol_name) ? NULL : member_protocol(m, g->protocol_name);
    return (struct group_metadata_value_member_metadata){
        .member_id = m->id,
        .group_instance_id = m->instance_id,
        .client_id = not_null(m->client_id),
        .client_host = not_null(m->client_host),
        .rebalance_timeout = m->rebalance_timeout_ms,
        .session_timeout = m->session_timeout_ms,
        .subscription = bytes_not_null(protocol ? protocol->metadata : (struct bytes){0}),
        .assignment = bytes_not_null(use_next ? m->next_assignment : m->assignment),
    };
}

bool record_batch_add_group(struct record_batch *batch, const struct group *g, bool use_next) {
    struct group_metadata_value value = {.protocol_type = not_null(g->protocol_type),
                                         .generation = g->generation,
                                         .protocol = g->protocol_name,
                                         .leader = g->leader_id,
                                         .current_state_timestamp = g->state_time_ms};
    value.members = calloc((size_t)g->member_count + 1, sizeof *value.members);
    ASSERT(value.members != NULL);
    LIST_FOREACH (link, (struct list *)&g->members) {
        value.members[value.members_count++] = member_row(g, container_of(link, struct group_member, link), use_next);
    }
    struct message_error error;
    size_t size, key_size = group_key_size(g->id);
    bool fits = message_size(&group_metadata_value_schema, GROUP_VALUE_VERSION, &value, &size, &error);
    if (fits) {
        size_t value_size = VERSION_BYTES + size;
        uint8_t *memory = scratch(batch, key_size + value_size);
        struct writer w = writer_of(memory, key_size + value_size);
        group_key_write(&w, g->id);
        write_int16(&w, GROUP_VALUE_VERSION);
        message_encode(&group_metadata_value_schema, GROUP_VALUE_VERSION, &value, w.at, size);
        add(batch, (struct bytes){memory, key_size}, (struct bytes){memory + key_size, value_size});
    }
    free(value.members);
    return fits;
}

void record_batch_add_group_tombstone(struct record_batch *batch, struct str group) {
    size_t key_size = group_key_size(group);
    uint8_t *memory = scratch(batch, key_size);
    struct writer w = writer_of(memory, key_size);
    group_key_write(&w, group);
    add(batch, (struct bytes){memory, key_size}, (struct bytes){0});
}

void record_batch_drop(struct record_batch *batch) {
    free(batch->memory);
    free(batch->scratch);
    *batch = (struct record_batch){0};
}

struct bytes record_batch_end(struct record_batch *batch, enum codec codec) {
    ASSERT(record_batch_count(batch) > 0);
    struct bytes plain = {batch->memory, batch_writer_end(&batch->writer)};
    free(batch->scratch);
    batch->scratch = NULL;
    if (codec == CODEC_NONE) return plain;
    size_t capacity = BATCH_HEADER_BYTES + codec_compress_bound(codec, plain.size);
    uint8_t *memory = malloc(capacity);
    ASSERT(memory != NULL);
    size_t size = batch_compress(plain, codec, 0, memory, capacity);
    ASSERT(size > 0);
    free(batch->memory);
    return (struct bytes){memory, size};
}

// ---- reading: bytes from a disk
// --------------------------------------------------------------------------------------

enum record_kind record_key_read(struct bytes key, struct record_key *out) {
    struct reader r = reader_of(key);
    *out = (struct record_key){.version = read_int16(&r)};
    if (r.error || out->version < 0) return RECORD_IS_BAD;
    if (out->version > GROUP_KEY_VERSION) return RECORD_OF_UNKNOWN_KIND;
    out->group = read_string(&r, false);
    if (out->version <= OFFSET_KEY_VERSION) {
        out->topic = read_string(&r, false);
        out->partition = read_int32(&r);
        if (str_is_null(out->topic)) return RECORD_IS_BAD;
    }
    if (r.error || str_is_null(out->group)) return RECORD_IS_BAD;
    return out->version <= OFFSET_KEY_VERSION ? RECORD_OF_OFFSET : RECORD_OF_GROUP;
}

static bool value_decode(const struct schema *schema, struct bytes value, struct arena *arena, void *out,
                         int16_t *version) {
    if (value.size < VERSION_BYTES) return false;
    *version = (int16_t)load_be16(value.data);
    if (!schema_has_version(schema, *version)) return false;
    struct bytes body = {value.data + VERSION_BYTES, value.size - VERSION_BYTES};
    return message_decode(schema, *version, body, NULL, out, arena, NULL);
}

bool record_offset_read(struct bytes value, struct offset_value *out) {
    struct offset_commit_value decoded;
    struct arena arena; // nothing in it needs one
    int16_t version;
    arena_init(&arena, 0);
    bool ok = value_decode(&offset_commit_value_schema, value, &arena, &decoded, &version);
    arena_drop(&arena);
    if (!ok) return false;
    *out = (struct offset_value){.offset = decoded.offset,
                                 .leader_epoch = decoded.leader_epoch,
                                 .commit_time_ms = decoded.commit_timestamp,
                                 .expire_time_ms = decoded.expire_timestamp,
                                 .metadata = not_null(decoded.metadata)};
    return true;
}

bool record_group_read(struct bytes value, struct arena *arena, struct group_metadata_value *out, int16_t *version) {
    return value_decode(&group_metadata_value_schema, value, arena, out, version);
}
