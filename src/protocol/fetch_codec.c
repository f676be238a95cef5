// SPDX-License-Identifier: Apache-2.0
// See fetch_codec.h. Sizing and writing walk the same fields in the same order; the writer asserts that they agree.
#include "protocol/fetch_codec.h"
#include "protocol/wire_array.h"

enum { FETCH_FIRST_FLEXIBLE = 12, FETCH_FIRST_TOPIC_ID = 13 };

// After a known tagged field was read from its own bytes.
static void finish_tag(struct reader *r, struct reader *value) {
    if (!value->error && reader_left(value) != 0) reader_fail(value, "tagged field is shorter than its length says");
    if (value->error) reader_fail(r, value->error);
}

static void decode_partition_tags(struct reader *r, int16_t version, struct fetch_request_partition *p) {
    struct tag_reader tags = read_tags(r);
    struct reader value;
    uint32_t tag;
    while (read_tag(&tags, &tag, &value)) {
        if (tag != 0 || version < 17) continue;
        p->replica_directory_id = read_uuid(&value);
        finish_tag(r, &value);
    }
}

static void decode_partition(struct reader *r, int16_t version, struct fetch_request_partition *p) {
    p->partition = read_int32(r);
    p->current_leader_epoch = version >= 9 ? read_int32(r) : -1;
    p->fetch_offset = read_int64(r);
    p->last_fetched_epoch = version >= 12 ? read_int32(r) : -1;
    p->log_start_offset = version >= 5 ? read_int64(r) : -1;
    p->partition_max_bytes = read_int32(r);
    if (version >= FETCH_FIRST_FLEXIBLE) decode_partition_tags(r, version, p);
}

static size_t partition_min_bytes(int16_t version) {
    return 16 + (version >= 9 ? 4u : 0) + (version >= 12 ? 4u : 0) + (version >= 5 ? 8u : 0) +
           (version >= FETCH_FIRST_FLEXIBLE ? 1u : 0);
}

// Name up to version 12, id from 13.
static void decode_topic_key(struct reader *r, int16_t version, struct str *topic, struct uuid *topic_id) {
    *topic = (struct str){"", 0};
    if (version >= FETCH_FIRST_TOPIC_ID) {
        *topic_id = read_uuid(r);
    } else {
        *topic = read_string(r, version >= FETCH_FIRST_FLEXIBLE);
        if (str_is_null(*topic)) reader_fail(r, "null where a value is needed");
    }
}

static size_t topic_min_bytes(int16_t version) {
    return version >= FETCH_FIRST_TOPIC_ID ? 16 + 1 + 1 : version >= FETCH_FIRST_FLEXIBLE ? 3 : 6;
}

static void decode_topics(struct reader *r, int16_t version, struct fetch_request *out, struct arena *arena) {
    bool flexible = version >= FETCH_FIRST_FLEXIBLE;
    out->topics = read_array(r, flexible, topic_min_bytes(version), sizeof *out->topics, &out->topics_count, arena);
    for (int32_t i = 0; i < out->topics_count && !r->error; i++) {
        struct fetch_request_topic *t = &out->topics[i];
        decode_topic_key(r, version, &t->topic, &t->topic_id);
        t->partitions =
            read_array(r, flexible, partition_min_bytes(version), sizeof *t->partitions, &t->partitions_count, arena);
        for (int32_t j = 0; j < t->partitions_count && !r->error; j++)
            decode_partition(r, version, &t->partitions[j]);
        if (flexible) skip_tags(r);
    }
}

static void decode_forgotten(struct reader *r, int16_t version, struct fetch_request *out, struct arena *arena) {
    bool flexible = version >= FETCH_FIRST_FLEXIBLE;
    out->forgotten_topics_data = read_array(r, flexible, topic_min_bytes(version), sizeof *out->forgotten_topics_data,
                                            &out->forgotten_topics_data_count, arena);
    for (int32_t i = 0; i < out->forgotten_topics_data_count && !r->error; i++) {
        struct fetch_request_forgotten_topic *t = &out->forgotten_topics_data[i];
        decode_topic_key(r, version, &t->topic, &t->topic_id);
        t->partitions = read_array(r, flexible, 4, sizeof *t->partitions, &t->partitions_count, arena);
        for (int32_t j = 0; j < t->partitions_count; j++)
            t->partitions[j] = read_int32(r);
        if (flexible) skip_tags(r);
    }
}

static void decode_request_tags(struct reader *r, int16_t version, struct fetch_request *out) {
    struct tag_reader tags = read_tags(r);
    struct reader value;
    uint32_t tag;
    while (read_tag(&tags, &tag, &value)) {
        if (tag == 0) {
            out->cluster_id = read_string(&value, true);
        } else if (tag == 1 && version >= 15) {
            out->replica_state.replica_id = read_int32(&value);
            out->replica_state.replica_epoch = read_int64(&value);
            skip_tags(&value);
        } else {
            continue;
        }
        finish_tag(r, &value);
    }
}

bool fetch_request_decode(int16_t version, struct bytes in, size_t *consumed, struct fetch_request *out,
                          struct arena *arena, struct message_error *error) {
    ASSERT(schema_has_version(&fetch_request_schema, version));
    struct reader reader = reader_of(in), *r = &reader;
    *out = (struct fetch_request){.replica_id = -1, .replica_state = {-1, -1}};
    if (version <= 14) out->replica_id = read_int32(r);
    out->max_wait_ms = read_int32(r);
    out->min_bytes = read_int32(r);
    out->max_bytes = version >= 3 ? read_int32(r) : INT32_MAX;
    if (version >= 4) out->isolation_level = read_int8(r);
    if (version >= 7) out->session_id = read_int32(r);
    out->session_epoch = version >= 7 ? read_int32(r) : -1;
    decode_topics(r, version, out, arena);
    if (version >= 7) decode_forgotten(r, version, out, arena);
    out->rack_id = version >= 11 ? read_string(r, version >= FETCH_FIRST_FLEXIBLE) : (struct str){"", 0};
    if (str_is_null(out->rack_id)) reader_fail(r, "null where a value is needed");
    if (version >= FETCH_FIRST_FLEXIBLE) decode_request_tags(r, version, out);
    if (r->error) {
        if (error) *error = (struct message_error){r->error, NULL};
        return false;
    }
    if (consumed) *consumed = in.size - reader_left(r);
    return true;
}

// The tagged fields of a partition, which most answers do not have.
struct partition_tags {
    bool diverging, leader, snapshot;
};
enum { DIVERGING_BYTES = 4 + 8 + 1, LEADER_BYTES = 4 + 4 + 1, SNAPSHOT_BYTES = 8 + 4 + 1 };

static struct partition_tags tags_of(const struct fetch_response_partition *p) {
    return (struct partition_tags){
        .diverging = p->diverging_epoch.epoch != -1 || p->diverging_epoch.end_offset != -1,
        .leader = p->current_leader.leader_id != -1 || p->current_leader.leader_epoch != -1,
        .snapshot = p->snapshot_id.end_offset != -1 || p->snapshot_id.epoch != -1,
    };
}

static int64_t records_length(const struct fetch_response_partition *p) {
    return p->records.size == 0 && !p->records.data ? -1 : (int64_t)p->records.size;
}

static size_t partition_size(int16_t version, bool flexible, const struct fetch_response_partition *p) {
    size_t size = 4 + 2 + 8 + (version >= 4 ? 8 : 0) + (version >= 5 ? 8 : 0) + (version >= 11 ? 4 : 0);
    if (version >= 4) {
        size += length32_size(flexible, p->aborted_transactions_count);
        if (p->aborted_transactions_count > 0) size += (size_t)p->aborted_transactions_count * (flexible ? 17 : 16);
    }
    size += length32_size(flexible, records_length(p));
    if (flexible) {
        struct partition_tags tags = tags_of(p);
        size += 1 + (tags.diverging ? 2 + DIVERGING_BYTES : 0) + (tags.leader ? 2 + LEADER_BYTES : 0) +
                (tags.snapshot ? 2 + SNAPSHOT_BYTES : 0);
    }
    return size;
}

static size_t endpoints_size(const struct fetch_response *response) {
    size_t size = uvarint_size((uint32_t)response->node_endpoints_count + 1);
    for (int32_t i = 0; i < response->node_endpoints_count; i++) {
        const struct fetch_response_node_endpoint *e = &response->node_endpoints[i];
        size += 4 + string_size(true, e->host) + 4 + string_size(true, e->rack) + 1;
    }
    return size;
}

struct fetch_response_size fetch_response_size(int16_t version, const struct fetch_response *response) {
    ASSERT(schema_has_version(&fetch_response_schema, version));
    bool flexible = version >= FETCH_FIRST_FLEXIBLE;
    size_t size = (version >= 1 ? 4 : 0) + (version >= 7 ? 6 : 0) + length32_size(flexible, response->responses_count);
    size_t records = 0, splits = 0;
    for (int32_t i = 0; i < response->responses_count; i++) {
        const struct fetch_response_topic *topic = &response->responses[i];
        size += version >= FETCH_FIRST_TOPIC_ID ? sizeof topic->topic_id : string_size(flexible, topic->topic);
        size += length32_size(flexible, topic->partitions_count) + (flexible ? 1 : 0);
        for (int32_t j = 0; j < topic->partitions_count; j++) {
            size += partition_size(version, flexible, &topic->partitions[j]);
            records += topic->partitions[j].records.size;
            splits += topic->partitions[j].records.size > 0;
        }
    }
    if (flexible) size += 1;
    if (version >= 16 && response->node_endpoints_count > 0) {
        size_t endpoints = endpoints_size(response);
        size += 1 + uvarint_size((uint32_t)endpoints) + endpoints;
    }
    return (struct fetch_response_size){size + records, size, splits};
}

static void encode_partition_tags(struct writer *w, const struct fetch_response_partition *p) {
    struct partition_tags tags = tags_of(p);
    write_uvarint(w, (uint32_t)tags.diverging + tags.leader + tags.snapshot);
    if (tags.diverging) {
        write_uvarint(w, 0);
        write_uvarint(w, DIVERGING_BYTES);
        write_int32(w, p->diverging_epoch.epoch);
        write_int64(w, p->diverging_epoch.end_offset);
        write_uvarint(w, 0);
    }
    if (tags.leader) {
        write_uvarint(w, 1);
        write_uvarint(w, LEADER_BYTES);
        write_int32(w, p->current_leader.leader_id);
        write_int32(w, p->current_leader.leader_epoch);
        write_uvarint(w, 0);
    }
    if (tags.snapshot) {
        write_uvarint(w, 2);
        write_uvarint(w, SNAPSHOT_BYTES);
        write_int64(w, p->snapshot_id.end_offset);
        write_int32(w, p->snapshot_id.epoch);
        write_uvarint(w, 0);
    }
}

// Up to and with the length of the records.
static void encode_partition_head(struct writer *w, int16_t version, bool flexible,
                                  const struct fetch_response_partition *p) {
    write_int32(w, p->partition_index);
    write_int16(w, p->error_code);
    write_int64(w, p->high_watermark);
    if (version >= 4) write_int64(w, p->last_stable_offset);
    if (version >= 5) write_int64(w, p->log_start_offset);
    if (version >= 4) {
        write_length32(w, flexible, p->aborted_transactions_count);
        for (int32_t i = 0; i < p->aborted_transactions_count; i++) {
            write_int64(w, p->aborted_transactions[i].producer_id);
            write_int64(w, p->aborted_transactions[i].first_offset);
            if (flexible) write_uvarint(w, 0);
        }
    }
    if (version >= 11) write_int32(w, p->preferred_read_replica);
    write_length32(w, flexible, records_length(p));
}

static void encode_endpoints(struct writer *w, const struct fetch_response *response) {
    write_uvarint(w, 0); // tag
    write_uvarint(w, (uint32_t)endpoints_size(response));
    write_uvarint(w, (uint32_t)response->node_endpoints_count + 1);
    for (int32_t i = 0; i < response->node_endpoints_count; i++) {
        const struct fetch_response_node_endpoint *e = &response->node_endpoints[i];
        write_int32(w, e->node_id);
        write_string(w, true, e->host);
        write_int32(w, e->port);
        write_string(w, true, e->rack);
        write_uvarint(w, 0);
    }
}

void fetch_response_encode(int16_t version, const struct fetch_response *response, void *memory, size_t memory_bytes,
                           struct fetch_split *splits, size_t split_count) {
    ASSERT(schema_has_version(&fetch_response_schema, version));
    bool flexible = version >= FETCH_FIRST_FLEXIBLE;
    struct writer writer = writer_of(memory, memory_bytes), *w = &writer;
    size_t split = 0;
    if (version >= 1) write_int32(w, response->throttle_time_ms);
    if (version >= 7) {
        write_int16(w, response->error_code);
        write_int32(w, response->session_id);
    }
    write_length32(w, flexible, response->responses_count);
    for (int32_t i = 0; i < response->responses_count; i++) {
        const struct fetch_response_topic *topic = &response->responses[i];
        if (version >= FETCH_FIRST_TOPIC_ID) {
            write_uuid(w, topic->topic_id);
        } else {
            write_string(w, flexible, topic->topic);
        }
        write_length32(w, flexible, topic->partitions_count);
        for (int32_t j = 0; j < topic->partitions_count; j++) {
            const struct fetch_response_partition *p = &topic->partitions[j];
            encode_partition_head(w, version, flexible, p);
            if (p->records.size > 0) {
                ASSERT(split < split_count);
                splits[split++] = (struct fetch_split){(size_t)(w->at - (uint8_t *)memory), p};
            }
            if (flexible) encode_partition_tags(w, p);
        }
        if (flexible) write_uvarint(w, 0);
    }
    if (flexible) {
        bool has_endpoints = version >= 16 && response->node_endpoints_count > 0;
        write_uvarint(w, has_endpoints ? 1 : 0);
        if (has_endpoints) encode_endpoints(w, response);
    }
    ASSERT(w->at == w->end && split == split_count);
}
