// SPDX-License-Identifier: Apache-2.0
// The life of a Fetch request, on the core that owns the connection.
//
// plan: each partition to the share of the core that owns it -> read: the shares go out and come back with ranges of
// segments; they wait there until there is enough, and the first one that has something recalls the others -> decide:
// enough for the whole request, or another round? -> respond: headers from memory, records from the page cache. The
// ranges are held by the shares until everything has been sent.
//
// Versions 0 to 3 would need records of an older format: UNSUPPORTED_VERSION on every partition that there is (trap
// 71). Rows that were refused before reading do not end a wait if another partition is fine (trap 70).
#include "api/endpoints.h"
#include "api/facts.h"
#include "api/fetch_rows.h"
#include "api/handlers.h"
#include "api/state.h"
#include "metadata/publish.h"
#include "protocol/fetch_codec.h"
#include "protocol/header.h"

#define FETCH_STEPS(STEP)                                                                                              \
    STEP(fetch, plan) STEP(fetch, read) STEP(fetch, decide) STEP(fetch, respond) STEP(fetch, release)
FLOW_DEFINE_COUNTED(fetch, FETCH_STEPS, FLOW_STATS_FETCH)

enum {
    FRAME_LENGTH_BYTES = 4,
    FETCH_VERSION_OF_FORMAT_2 = 4,
    FETCH_VERSION_OF_ZSTD = 10,
    FETCH_VERSION_OF_TOPIC_IDS = 13,
    FETCH_VERSION_OF_LEADERS = 16
};

struct fetch {
    struct flow flow;
    struct api_call *call;
    struct fetch_request request;
    struct fetch_session_use use;
    struct fetch_row *rows; // in the order of the request, or of the session
    uint32_t row_count;
    struct fetch_share *shares[CORES_MAX]; // by owner core, NULL: none
    uint32_t share_count, pending;
    bool came_back; // a share has returned in this round
    uint64_t min_bytes;
    int64_t max_bytes;
    uint64_t deadline_ns;
};

static struct fetch *self(struct flow *flow) {
    return container_of(flow, struct fetch, flow);
}

void handle_fetch(struct api_call *call) {
    struct fetch *f = call_alloc(call, sizeof *f);
    if (!f) return;
    f->call = call;
    struct message_error error;
    if (!fetch_request_decode(call->version, call->body_bytes, NULL, &f->request, &call->request->arena, &error)) {
        return respond_close(call, error.reason);
    }
    call->request->flow = &f->flow;
    flow_start(&f->flow, &fetch_flow, call->core);
}

static const struct image_topic *topic_of(const struct fetch *f, const struct image *image,
                                          const struct fetch_row *row) {
    const struct image_topic *topic = f->call->version >= FETCH_VERSION_OF_TOPIC_IDS
                                          ? image_topic_by_id(image, row->topic_id)
                                          : image_topic_by_name(image, row->topic);
    return topic && !topic->deleting ? topic : NULL;
}

static int32_t replica_of(const struct fetch_request *request, int16_t version) {
    return version < 15 ? request->replica_id : request->replica_state.replica_id;
}

// A session remembers the name that an id had: the topic is gone, or it is another one now (trap 17).
static int16_t unknown_id(const struct fetch *f, const struct fetch_row *row) {
    if (!row->cached || str_is_null(row->cached->known_name)) return KAFKA_ERROR_UNKNOWN_TOPIC_ID;
    const struct image_topic *topic = image_topic_by_name(image_of(f->call->core), row->cached->known_name);
    bool is_another = topic && !topic->deleting && image_partition(topic, row->asked->partition);
    return is_another ? KAFKA_ERROR_INCONSISTENT_TOPIC_ID : KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
}

static int16_t row_refusal(const struct fetch *f, const struct fetch_row *row, const struct image_topic *topic,
                           const struct image_partition *partition) {
    if (!topic && f->call->version >= FETCH_VERSION_OF_TOPIC_IDS) return unknown_id(f, row);
    if (!partition) return KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
    if (partition->offline) return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    // Readers before v10 do not know zstd: refused where the topic is always written so.
    if (f->call->version < FETCH_VERSION_OF_ZSTD && topic->config.compression == TOPIC_COMPRESSION_ZSTD)
        return KAFKA_ERROR_UNSUPPORTED_COMPRESSION_TYPE;
    // Nothing is converted for consumers; a follower is refused anyway.
    if (f->call->version < FETCH_VERSION_OF_FORMAT_2 && replica_of(&f->request, f->call->version) < 0)
        return KAFKA_ERROR_UNSUPPORTED_VERSION;
    if (partition->owner_core < 0) return KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    return KAFKA_ERROR_NONE;
}

// Kafka meets these in reading, after it resolved the partition: such a row ends the wait of the others (trap 70), and
// names no aborted transactions, not even none (trap 30).
static bool is_read_error(int16_t error) {
    return error == KAFKA_ERROR_INCONSISTENT_TOPIC_ID || error == KAFKA_ERROR_KAFKA_STORAGE_ERROR ||
           error == KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
}

static bool any_read_error(const struct fetch *f) {
    for (uint32_t i = 0; i < f->row_count; i++)
        if (is_read_error(f->rows[i].error)) return true;
    return false;
}

static void row_into_share(struct fetch *f, struct fetch_row *row, const struct image_topic *topic, int owner) {
    struct fetch_share *share = f->shares[owner];
    struct fetch_part *part = &share->parts[share->part_count++];
    *part = (struct fetch_part){
        .topic_id = topic->id,
        .index = row->asked->partition,
        .offset = row->asked->fetch_offset,
        .max_bytes = (int32_t)min_i64(row->asked->partition_max_bytes, f->max_bytes),
        .current_leader_epoch = (int32_t)max_i64(row->asked->current_leader_epoch, -1), // negative: not checked
        .last_fetched_epoch = row->asked->last_fetched_epoch,
        .first_segment = -1,
    };
    row->part = part;
}

// The partitions that each core owns, to size the shares.
static void shares_create(struct fetch *f, const uint32_t *counts) {
    for (int core = 0; core < CORES_MAX; core++) {
        if (counts[core] == 0) continue;
        f->shares[core] = fetch_share_create(counts[core]);
        f->shares[core]->part_count = 0; // grows as rows are put in
        f->share_count++;
    }
}

// Each row to its core's share, or refused. Two passes: the shares are made in their exact size.
static void rows_route(struct fetch *f, const struct image *image) {
    uint32_t counts[CORES_MAX] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < f->row_count; i++) {
            struct fetch_row *row = &f->rows[i];
            const struct image_topic *topic = topic_of(f, image, row);
            const struct image_partition *partition = topic ? image_partition(topic, row->asked->partition) : NULL;
            row->error = row_refusal(f, row, topic, partition);
            if (topic && row->cached) fetch_session_know_name(row->cached, topic->name);
            if (row->error != KAFKA_ERROR_NONE) continue;
            if (pass == 0) {
                counts[partition->owner_core]++;
            } else {
                row_into_share(f, row, topic, partition->owner_core);
            }
        }
        if (pass == 0) shares_create(f, counts);
    }
}

static void share_done(struct fetch_share *share) {
    struct fetch *f = share->context;
    ASSERT(f->pending > 0);
    f->pending--;
    f->came_back = true;
    flow_wake(&f->flow);
}

// min_bytes and max_bytes as Kafka limits them: by fetch.max.bytes.
static flow_next fetch_step_plan(struct flow *flow) {
    struct fetch *f = self(flow);
    const struct image *image = image_of(flow->core);
    uint32_t sessions_max = (uint32_t)(config_i64(image->config, CONFIG_MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS) /
                                       facts_of(flow->core)->data_cores);
    f->use = fetch_session_begin(&flow->core->api->fetch_sessions, &f->request, f->call->version, sessions_max);
    if (f->use.error != KAFKA_ERROR_NONE) return FLOW_GOTO(fetch, respond);
    bool has_rows = f->use.session ? fetch_rows_from_session(f->call, f->use.session, &f->rows, &f->row_count)
                                   : fetch_rows_from_request(f->call, &f->request, &f->rows, &f->row_count);
    if (!has_rows) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    f->max_bytes = min_i64(f->request.max_bytes, config_i64(image->config, CONFIG_FETCH_MAX_BYTES));
    rows_route(f, image);
    f->min_bytes = any_read_error(f) ? 0 : (uint64_t)max_i64(min_i64(f->request.min_bytes, f->max_bytes), 0);
    f->deadline_ns = os_now_ns(flow->core->os) + (uint64_t)max_i64(f->request.max_wait_ms, 0) * 1000000;
    for (int core = 0; core < CORES_MAX; core++) {
        struct fetch_share *share = f->shares[core];
        if (!share) continue;
        share->read_committed = f->request.isolation_level == 1;
        share->replica_id = replica_of(&f->request, f->call->version);
        share->deadline_ns = f->min_bytes == 0 ? 0 : f->deadline_ns;
        share->min_bytes = f->share_count == 1 ? f->min_bytes : min_size(f->min_bytes, 1);
        share->done = share_done;
        share->context = f;
        share->away = false;
        f->pending++;
        fetch_share_send(flow->core, core, share);
    }
    return FLOW_NEXT;
}

static flow_next fetch_step_read(struct flow *flow) {
    struct fetch *f = self(flow);
    if (f->pending == 0) return FLOW_NEXT;
    if (f->came_back || flow->stop) {
        for (int core = 0; core < CORES_MAX; core++) {
            if (f->shares[core]) fetch_share_stop(flow->core, f->shares[core]);
        }
    }
    return FLOW_WAIT;
}

static flow_next fetch_step_decide(struct flow *flow) {
    struct fetch *f = self(flow);
    uint64_t bytes = 0;
    bool must_answer = f->share_count == 0 || flow->stop || os_now_ns(flow->core->os) >= f->deadline_ns;
    for (int core = 0; core < CORES_MAX; core++) {
        if (!f->shares[core]) continue;
        bytes += f->shares[core]->bytes;
        must_answer |= f->shares[core]->must_answer;
    }
    if (must_answer || bytes >= f->min_bytes) return FLOW_NEXT;
    // Several cores have something, but not enough together: wait until one of them has more.
    f->came_back = false;
    for (int core = 0; core < CORES_MAX; core++) {
        struct fetch_share *share = f->shares[core];
        if (!share) continue;
        share->min_bytes = share->bytes + 1;
        f->pending++;
        fetch_share_send(flow->core, core, share);
    }
    return FLOW_GOTO(fetch, read);
}

// ---- the response
// -----------------------------------------------------------------------------------------------------------------------

static int16_t error_in_version(int16_t error, int16_t version) {
    return error == KAFKA_ERROR_KAFKA_STORAGE_ERROR && version <= 5 ? (int16_t)KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER
                                                                    : error;
}

static void answer_refused(const struct fetch *f, const struct fetch_row *row,
                           struct fetch_response_partition *answer) {
    answer->error_code = error_in_version(row->error, f->call->version);
    bool old_format =
        row->error == KAFKA_ERROR_UNSUPPORTED_VERSION || row->error == KAFKA_ERROR_UNSUPPORTED_COMPRESSION_TYPE;
    answer->records = old_format ? (struct bytes){NULL, 0} : (struct bytes){(const uint8_t *)"", 0};
    answer->aborted_transactions_count = is_read_error(row->error) ? -1 : 0;
}

// A partition that went away while the request waited: with its topic, or to another broker.
static int16_t part_error(const struct fetch *f, const struct fetch_part *part) {
    if (part->error != KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER) return part->error;
    const struct image_topic *topic = image_topic_by_id(image_of(f->call->core), part->topic_id);
    return topic && !topic->deleting ? part->error : KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
}

// What a consumer of committed records leaves out. False: no memory, the connection is being closed.
static bool answer_aborted(const struct fetch *f, const struct fetch_part *part,
                           struct fetch_response_partition *answer) {
    const struct txn_index *aborted = &part->read.aborted;
    if (aborted->count == 0) return true;
    ASSERT(aborted->count < INT32_MAX); // a marker each
    struct fetch_response_aborted_transaction *rows = call_alloc_array(f->call, (int32_t)aborted->count, sizeof *rows);
    if (!rows) return false;
    for (size_t i = 0; i < aborted->count; i++)
        rows[i] = (struct fetch_response_aborted_transaction){aborted->entries[i].producer_id,
                                                              aborted->entries[i].first_offset};
    answer->aborted_transactions = rows;
    answer->aborted_transactions_count = (int32_t)aborted->count;
    return true;
}

// False: no memory, the connection is being closed.
static bool answer_part(const struct fetch *f, struct fetch_part *part, struct fetch_response_partition *answer,
                        int64_t *room, bool *first, bool *moved) {
    bool read_committed = f->request.isolation_level == 1;
    answer->error_code = error_in_version(part_error(f, part), f->call->version);
    bool is_read = part->error == KAFKA_ERROR_NONE && part->diverging_epoch < 0;
    answer->aborted_transactions_count = read_committed && is_read ? 0 : -1;
    answer->records = (struct bytes){(const uint8_t *)"", 0};
    if (part->has_ends) {
        answer->high_watermark = part->high_watermark;
        answer->last_stable_offset = part->last_stable_offset;
        answer->log_start_offset = part->log_start_offset;
    }
    if (part->diverging_epoch >= 0) {
        answer->diverging_epoch = (struct fetch_response_diverging_epoch){part->diverging_epoch, part->diverging_end};
        return true;
    }
    bool leader_changed = answer->error_code == KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER ||
                          answer->error_code == KAFKA_ERROR_FENCED_LEADER_EPOCH;
    if (leader_changed && f->call->version >= FETCH_VERSION_OF_LEADERS) {
        answer->current_leader = (struct fetch_response_current_leader){part->leader, part->leader_epoch};
        *moved |= part->leader >= 0;
    }
    // The first partition that has data may pass both limits with its first batch; later ones that do not fit are
    // empty (trap 25).
    if (part->error != KAFKA_ERROR_NONE || part->read.size_bytes == 0) return true;
    int64_t limit = min_i64(*room, part->max_bytes);
    if (!*first && (int64_t)part->read.size_bytes > limit) {
        // A first batch that does not fit was not read, for Kafka; of no bytes at all it knows the transactions.
        if (limit > 0) answer->aborted_transactions_count = -1;
        return true;
    }
    if (!answer_aborted(f, part, answer)) return false;
    *first = false;
    *room -= part->read.size_bytes;
    answer->records = (struct bytes){(const uint8_t *)part,
                                     part->read.size_bytes}; // see responses_slices: the part stands for its range
    return true;
}

static void answer_endpoints(struct fetch *f, struct fetch_response *response) {
    const struct image *image = image_of(f->call->core);
    const struct image_endpoint *endpoint = call_own_endpoint(f->call);
    struct fetch_response_node_endpoint *row = arena_alloc(&f->call->request->arena, sizeof *row);
    if (!endpoint || !row) return;
    *row = (struct fetch_response_node_endpoint){image->broker_id, endpoint->host, endpoint->port,
                                                 image_broker_by_id(image, image->broker_id)->rack};
    response->node_endpoints = row;
    response->node_endpoints_count = 1;
}

static bool same_topic(const struct fetch_row *a, const struct fetch_row *b) {
    return uuid_equal(a->topic_id, b->topic_id) && str_equal(a->topic, b->topic);
}

static bool rows_answer(struct fetch *f, struct fetch_response *response) {
    struct fetch_response_topic *topics = call_alloc_array(f->call, (int32_t)f->row_count, sizeof *topics);
    struct fetch_response_partition *partitions =
        topics ? call_alloc_array(f->call, (int32_t)f->row_count, sizeof *partitions) : NULL;
    if (!partitions) return false;
    response->responses = topics;
    const struct fetch_row *before = NULL; // the last row that was answered
    int64_t room = f->max_bytes;
    bool first = true, moved = false;
    for (uint32_t i = 0; i < f->row_count; i++) {
        struct fetch_row *row = &f->rows[i];
        message_default(&fetch_response_partition_schema, partitions);
        partitions->partition_index = row->asked->partition;
        partitions->high_watermark = -1;
        if (row->part) {
            if (!answer_part(f, row->part, partitions, &room, &first, &moved)) return false;
        } else {
            answer_refused(f, row, partitions);
        }
        bool must = !row->cached || fetch_session_must_answer(row->cached, partitions) || !f->use.incremental;
        if (row->cached && partitions->records.size > 0) fetch_session_rotate(f->use.session, row->cached);
        if (!must) continue;
        if (!before || !same_topic(before, row)) {
            topics[response->responses_count++] =
                (struct fetch_response_topic){.topic = row->topic, .topic_id = row->topic_id, .partitions = partitions};
        }
        topics[response->responses_count - 1].partitions_count++;
        before = row;
        partitions++;
    }
    if (moved) answer_endpoints(f, response);
    return true;
}

static bool response_fill(struct fetch *f, struct fetch_response *response) {
    message_default(f->call->api->response, response);
    response->error_code = f->use.error;
    response->session_id = fetch_session_answer_id(&f->use);
    return f->use.error != KAFKA_ERROR_NONE || rows_answer(f, response);
}

static void shares_release(struct fetch *f) {
    for (int core = 0; core < CORES_MAX; core++) {
        if (f->shares[core]) fetch_share_release(f->call->core, f->shares[core]);
        f->shares[core] = NULL;
    }
}

static void fetch_sent(struct request *request) {
    shares_release(request->context);
}

// Header, message and ranges of files, in the order in which they are sent.
static bool response_slices(struct fetch *f, const struct fetch_response *response, struct os_slice **slices,
                            size_t *count) {
    struct request *request = f->call->request;
    int16_t version = f->call->version;
    struct fetch_response_size size = fetch_response_size(version, response);
    size_t header_size = response_header_size(f->call->api, version);
    size_t frame_size = header_size + size.message_bytes;
    uint8_t *memory = arena_alloc(&request->arena, FRAME_LENGTH_BYTES + header_size + size.memory_bytes);
    struct fetch_split *splits = arena_alloc_array(&request->arena, size.split_count, sizeof *splits);
    *slices = arena_alloc_array(&request->arena, 2 * size.split_count + 1, sizeof **slices);
    if (!memory || !splits || !*slices || frame_size > INT32_MAX) return false;
    store_be32(memory, (uint32_t)frame_size);
    response_header_encode(f->call->api, version, request->correlation_id, memory + FRAME_LENGTH_BYTES);
    uint8_t *body = memory + FRAME_LENGTH_BYTES + header_size;
    fetch_response_encode(version, response, body, size.memory_bytes, splits, size.split_count);
    const uint8_t *from = memory;
    size_t n = 0;
    for (size_t i = 0; i < size.split_count; i++) {
        const struct fetch_part *part = (const struct fetch_part *)(const void *)splits[i].partition->records.data;
        const uint8_t *to = body + splits[i].offset;
        (*slices)[n++] = (struct os_slice){.memory = from, .size = (size_t)(to - from)};
        (*slices)[n++] =
            (struct os_slice){.file = part->read.file, .position = part->read.position, .size = part->read.size_bytes};
        from = to;
    }
    const uint8_t *end = body + size.memory_bytes;
    if (end > from) (*slices)[n++] = (struct os_slice){.memory = from, .size = (size_t)(end - from)};
    *count = n;
    return true;
}

static flow_next fetch_step_respond(struct flow *flow) {
    struct fetch *f = self(flow);
    struct fetch_response response;
    struct os_slice *slices;
    size_t count;
    if (!response_fill(f, &response)) return FLOW_NEXT; // the connection is closing
    if (!response_slices(f, &response, &slices, &count)) {
        respond_close(f->call, "response needs too much memory");
        return FLOW_NEXT;
    }
    f->call->request->context = f;
    request_finish(f->call->request, slices, count, fetch_sent);
    return FLOW_NEXT;
}

static flow_next fetch_step_release(struct flow *flow) {
    struct fetch *f = self(flow);
    fetch_session_end(&flow->core->api->fetch_sessions, &f->use);
    // Without an answer nothing was sent and nothing will be: the ranges go back here.
    if (f->call->request->sent != fetch_sent) shares_release(f);
    return FLOW_END;
}
