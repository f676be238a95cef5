// SPDX-License-Identifier: Apache-2.0
// See produce_codec.h. Reads straight through; reader errors are looked at before each allocation and at the end.
#include "protocol/produce_codec.h"
#include "protocol/wire_array.h"

enum { PRODUCE_FIRST_FLEXIBLE = 9 };

static bool finish(const struct reader *r, struct bytes in, size_t *consumed, struct message_error *error) {
    if (r->error) {
        if (error) *error = (struct message_error){r->error, NULL};
        return false;
    }
    if (consumed) *consumed = in.size - reader_left(r);
    return true;
}

static void decode_topic(struct reader *r, bool flexible, struct produce_request_topic *topic, struct arena *arena) {
    topic->name = read_string(r, flexible);
    if (str_is_null(topic->name)) reader_fail(r, "null where a value is needed");
    topic->partition_data =
        read_array(r, flexible, flexible ? 6 : 8, sizeof *topic->partition_data, &topic->partition_data_count, arena);
    for (int32_t i = 0; i < topic->partition_data_count && !r->error; i++) {
        topic->partition_data[i].index = read_int32(r);
        topic->partition_data[i].records = read_bytes(r, flexible);
        if (flexible) skip_tags(r);
    }
    if (flexible) skip_tags(r);
}

bool produce_request_decode(int16_t version, struct bytes in, size_t *consumed, struct produce_request *out,
                            struct arena *arena, struct message_error *error) {
    ASSERT(schema_has_version(&produce_request_schema, version));
    bool flexible = version >= PRODUCE_FIRST_FLEXIBLE;
    struct reader reader = reader_of(in), *r = &reader;
    *out = (struct produce_request){0};
    if (version >= 3) out->transactional_id = read_string(r, flexible);
    out->acks = read_int16(r);
    out->timeout_ms = read_int32(r);
    out->topic_data = read_array(r, flexible, flexible ? 3 : 6, sizeof *out->topic_data, &out->topic_data_count, arena);
    for (int32_t i = 0; i < out->topic_data_count && !r->error; i++)
        decode_topic(r, flexible, &out->topic_data[i], arena);
    if (flexible) skip_tags(r);
    return finish(r, in, consumed, error);
}

static bool leader_is_default(const struct produce_response_current_leader *leader) {
    return leader->leader_id == -1 && leader->leader_epoch == -1;
}
enum { LEADER_TAG_BYTES = 2 + 4 + 4 + 1 }; // tag, length, two numbers, no tags inside

static size_t partition_size(int16_t version, bool flexible, const struct produce_response_partition *p) {
    size_t size = 4 + 2 + 8 + (version >= 2 ? 8 : 0) + (version >= 5 ? 8 : 0);
    if (version >= 8) {
        size += length32_size(flexible, p->record_errors_count) + string_size(flexible, p->error_message);
        for (int32_t i = 0; i < p->record_errors_count; i++)
            size += 4 + string_size(flexible, p->record_errors[i].batch_index_error_message) + (flexible ? 1 : 0);
    }
    if (flexible) size += 1 + (version >= 10 && !leader_is_default(&p->current_leader) ? LEADER_TAG_BYTES : 0);
    return size;
}

static size_t endpoints_size(const struct produce_response *response) {
    size_t size = uvarint_size((uint32_t)response->node_endpoints_count + 1);
    for (int32_t i = 0; i < response->node_endpoints_count; i++) {
        const struct produce_response_node_endpoint *e = &response->node_endpoints[i];
        size += 4 + string_size(true, e->host) + 4 + string_size(true, e->rack) + 1;
    }
    return size;
}

size_t produce_response_size(int16_t version, const struct produce_response *response) {
    ASSERT(schema_has_version(&produce_response_schema, version));
    bool flexible = version >= PRODUCE_FIRST_FLEXIBLE;
    size_t size = length32_size(flexible, response->responses_count) + (version >= 1 ? 4 : 0);
    for (int32_t i = 0; i < response->responses_count; i++) {
        const struct produce_response_topic *topic = &response->responses[i];
        size += string_size(flexible, topic->name) + length32_size(flexible, topic->partition_responses_count) +
                (flexible ? 1 : 0);
        for (int32_t j = 0; j < topic->partition_responses_count; j++)
            size += partition_size(version, flexible, &topic->partition_responses[j]);
    }
    if (flexible) size += 1;
    if (version >= 10 && response->node_endpoints_count > 0) {
        size_t endpoints = endpoints_size(response);
        size += 1 + uvarint_size((uint32_t)endpoints) + endpoints;
    }
    return size;
}

static void encode_partition(struct writer *w, int16_t version, bool flexible,
                             const struct produce_response_partition *p) {
    write_int32(w, p->index);
    write_int16(w, p->error_code);
    write_int64(w, p->base_offset);
    if (version >= 2) write_int64(w, p->log_append_time_ms);
    if (version >= 5) write_int64(w, p->log_start_offset);
    if (version >= 8) {
        write_length32(w, flexible, p->record_errors_count);
        for (int32_t i = 0; i < p->record_errors_count; i++) {
            write_int32(w, p->record_errors[i].batch_index);
            write_string(w, flexible, p->record_errors[i].batch_index_error_message);
            if (flexible) write_uvarint(w, 0);
        }
        write_string(w, flexible, p->error_message);
    }
    if (!flexible) return;
    if (version < 10 || leader_is_default(&p->current_leader)) {
        write_uvarint(w, 0);
        return;
    }
    write_uvarint(w, 1);
    write_uvarint(w, 0); // tag
    write_uvarint(w, 4 + 4 + 1);
    write_int32(w, p->current_leader.leader_id);
    write_int32(w, p->current_leader.leader_epoch);
    write_uvarint(w, 0);
}

static void encode_endpoints(struct writer *w, const struct produce_response *response) {
    write_uvarint(w, 0); // tag
    write_uvarint(w, (uint32_t)endpoints_size(response));
    write_uvarint(w, (uint32_t)response->node_endpoints_count + 1);
    for (int32_t i = 0; i < response->node_endpoints_count; i++) {
        const struct produce_response_node_endpoint *e = &response->node_endpoints[i];
        write_int32(w, e->node_id);
        write_string(w, true, e->host);
        write_int32(w, e->port);
        write_string(w, true, e->rack);
        write_uvarint(w, 0);
    }
}

void produce_response_encode(int16_t version, const struct produce_response *response, void *memory,
                             size_t size_bytes) {
    ASSERT(schema_has_version(&produce_response_schema, version));
    bool flexible = version >= PRODUCE_FIRST_FLEXIBLE;
    struct writer writer = writer_of(memory, size_bytes), *w = &writer;
    write_length32(w, flexible, response->responses_count);
    for (int32_t i = 0; i < response->responses_count; i++) {
        const struct produce_response_topic *topic = &response->responses[i];
        write_string(w, flexible, topic->name);
        write_length32(w, flexible, topic->partition_responses_count);
        for (int32_t j = 0; j < topic->partition_responses_count; j++)
            encode_partition(w, version, flexible, &topic->partition_responses[j]);
        if (flexible) write_uvarint(w, 0);
    }
    if (version >= 1) write_int32(w, response->throttle_time_ms);
    if (flexible) {
        bool has_endpoints = version >= 10 && response->node_endpoints_count > 0;
        write_uvarint(w, has_endpoints ? 1 : 0);
        if (has_endpoints) encode_endpoints(w, response);
    }
    ASSERT(w->at == w->end);
}
