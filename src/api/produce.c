// SPDX-License-Identifier: Apache-2.0
// The life of a Produce request, on the core that owns the connection.
//
// order: until the earlier ones of the connection have been routed -> validate: every batch is checked and corrected
// here, where its bytes are hot, or on a thread if that takes long -> route: one append for each partition goes to its
// core, and the connection's next Produce may pass -> gather: all have answered -> respond.
//
// acks=0 is never answered; an error closes the connection (trap 21), and nothing of what the client had sent behind it
// is appended: Kafka reads a connection's next request only after it has ended the one before. So the next one has to
// wait until the log has taken this one.
//
// The bytes stay in the request's frame, where the appends patch and write them; the frame goes when the request ends.
#include "protocol/messages/produce.h"
#include "api/endpoints.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/produce_errors.h"
#include "api/state.h"
#include "metadata/publish.h"
#include "protocol/message.h"
#include "protocol/produce_codec.h"
#include "replica/append.h"
#include <stdlib.h>

#define PRODUCE_STEPS(STEP)                                                                                            \
    STEP(produce, order)                                                                                               \
    STEP(produce, validate) STEP(produce, route) STEP(produce, gather) STEP(produce, respond) STEP(produce, release)
enum { VERSION_OF_LOG_STARTS = 5, VERSION_OF_LEADERS = 10 };

FLOW_DEFINE_COUNTED(produce, PRODUCE_STEPS, FLOW_STATS_PRODUCE)

// One row of the answer. Rows of one partition that was named twice: the last one counts (trap 68).
struct produce_row {
    struct produce *produce;
    struct str topic;
    int32_t index;
    struct bytes records;
    bool superseded;
    int owner_core; // -1: it is not sent
    int16_t error;
    int64_t log_append_time_ms;
    struct append_check check;
    struct append append;
    bool sent;
};
struct produce {
    struct flow flow;
    struct api_call *call;
    const struct produce_request *request;
    struct produce_row *rows;
    size_t row_count;
    struct str message; // if the request is refused as a whole
    size_t validated;   // rows
    bool is_validating; // the next one has begun
    struct validation validation;
    uint32_t pending;
};

static struct produce *self(struct flow *flow) {
    return container_of(flow, struct produce, flow);
}

void handle_produce(struct api_call *call) {
    struct produce *p = call_alloc(call, sizeof *p);
    if (!p) return;
    p->call = call;
    struct message_error error;
    if (!produce_request_decode(call->version, call->body_bytes, NULL, call->body, &call->request->arena, &error)) {
        return respond_close(call, error.reason);
    }
    p->request = call->body;
    call->request->flow = &p->flow;
    flow_start(&p->flow, &produce_flow, call->core);
}

static bool rows_make(struct produce *p) {
    size_t count = 0;
    for (int32_t t = 0; t < p->request->topic_data_count; t++) {
        int32_t partitions = p->request->topic_data[t].partition_data_count;
        if (partitions > 0) count += (size_t)partitions;
    }
    p->rows = arena_alloc_array(&p->call->request->arena, count, sizeof *p->rows);
    if (!p->rows) return false;
    for (int32_t t = 0; t < p->request->topic_data_count; t++) {
        const struct produce_request_topic *topic = &p->request->topic_data[t];
        for (int32_t i = 0; i < topic->partition_data_count; i++) {
            p->rows[p->row_count++] = (struct produce_row){.produce = p,
                                                           .topic = topic->name,
                                                           .index = topic->partition_data[i].index,
                                                           .records = topic->partition_data[i].records,
                                                           .owner_core = -1,
                                                           .log_append_time_ms = -1};
        }
    }
    ASSERT(p->row_count == count);
    return true;
}

// By topic, partition, then place in the request.
static int row_order(const void *a, const void *b) {
    const struct produce_row *x = *(struct produce_row *const *)a, *y = *(struct produce_row *const *)b;
    int order = str_compare(x->topic, y->topic);
    if (order == 0) order = (x->index > y->index) - (x->index < y->index);
    return order != 0 ? order : (x > y) - (x < y);
}

// False: out of memory.
static bool rows_supersede(struct produce *p) {
    if (p->row_count < 2) return true;
    struct produce_row **sorted =
        arena_alloc_array(&p->call->request->arena, p->row_count, sizeof(struct produce_row *));
    if (!sorted) return false;
    for (size_t i = 0; i < p->row_count; i++)
        sorted[i] = &p->rows[i];
    qsort(sorted, p->row_count, sizeof(struct produce_row *), row_order);
    for (size_t i = 0; i + 1 < p->row_count; i++) {
        sorted[i]->superseded =
            sorted[i]->index == sorted[i + 1]->index && str_equal(sorted[i]->topic, sorted[i + 1]->topic);
    }
    return true;
}

// What forbids the row whatever is in its batch, if only it is a batch that the version may bring.
static int16_t row_refusal(const struct produce *p, const struct image_topic *topic,
                           const struct image_partition *partition) {
    if (p->request->acks < -1 || p->request->acks > 1) return KAFKA_ERROR_INVALID_REQUIRED_ACKS;
    if (topic->is_internal && !str_is(p->call->request->client_id, "__admin_client"))
        return KAFKA_ERROR_INVALID_TOPIC_EXCEPTION;
    if (partition->offline) return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    if (partition->owner_core < 0) return KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    return KAFKA_ERROR_NONE;
}

// False: the row needs no validation, its error is known.
static bool row_begin(struct produce *p, struct produce_row *row) {
    const struct image *image = image_of(p->call->core);
    const struct image_topic *topic = image_topic_by_name(image, row->topic);
    const struct image_partition *partition = topic ? image_partition(topic, row->index) : NULL;
    if (!topic || topic->deleting || !partition) {
        row->error = KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
        row->check.before_log = true;
        return false;
    }
    const struct topic_config *config = &topic->config;
    row->append.topic_id = topic->id;
    row->append.index = row->index;
    row->owner_core = partition->owner_core;
    p->validation.flow = &p->flow;
    p->validation.records = row->records;
    p->validation.arena = &p->call->request->arena;
    p->validation.check = &row->check;
    p->validation.rules = (struct append_rules){
        .now_ms = core_wall_ms(p->call->core),
        .log_append_time = config->timestamp_type == TOPIC_LOG_APPEND_TIME,
        .timestamp_before_max_ms = config->timestamp_before_max_ms,
        .timestamp_after_max_ms = config->timestamp_after_max_ms,
        .is_compacted = config->cleanup_policy & TOPIC_CLEANUP_COMPACT,
        .max_batch_bytes = (uint32_t)config->max_message_bytes,
        .refusal = row_refusal(p, topic, partition),
        .produce_version = p->call->version,
        .decompressed_max_bytes = facts_of(p->call->core)->decompressed_bytes_max,
    };
    return true;
}

static void row_end(struct produce *p, struct produce_row *row) {
    row->error = row->check.error;
    if (row->error != KAFKA_ERROR_NONE) return;
    if (p->validation.rules.log_append_time) row->log_append_time_ms = row->check.max_timestamp;
    row->append.records = (uint8_t *)row->check.batch.bytes.data; // the frame's or the arena's own memory
    row->append.size_bytes = row->check.batch.bytes.size;
}

// Transactions are not served yet: with a transactional id their batches are refused as without one (trap 67).
static bool refuse_whole(struct produce *p) {
    int16_t error = produce_refused_whole(p->request, &p->call->request->arena, &p->message);
    for (size_t i = 0; error != KAFKA_ERROR_NONE && i < p->row_count; i++) {
        p->rows[i].error = error;
        p->rows[i].check.before_log = true;
    }
    return error != KAFKA_ERROR_NONE;
}

static flow_next produce_step_order(struct flow *flow) {
    struct produce *p = self(flow);
    if (!request_may_pass(p->call->request)) return FLOW_WAIT;
    if (request_is_cut_off(p->call->request)) {
        respond_nothing(p->call);
        return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    }
    if (!rows_make(p) || !rows_supersede(p)) {
        respond_close(p->call, "request needs too much memory");
        return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    }
    if (refuse_whole(p)) return FLOW_GOTO(produce, route);
    return FLOW_NEXT;
}

// What has not been routed when the broker stops was never heard of.
static bool is_given_up(struct produce *p) {
    bool stopping = p->call->core->net->closing && request_is_orphan(p->call->request);
    return stopping && (!p->is_validating || validation_give_up(&p->validation));
}

static flow_next produce_step_validate(struct flow *flow) {
    struct produce *p = self(flow);
    if (is_given_up(p)) {
        respond_nothing(p->call);
        return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    }
    for (; p->validated < p->row_count; p->validated++) {
        struct produce_row *row = &p->rows[p->validated];
        if (row->superseded) continue;
        if (!p->is_validating && !row_begin(p, row)) continue;
        p->is_validating = true;
        if (!validation_run(&flow->core->api->validations, &p->validation)) return FLOW_WAIT;
        p->is_validating = false;
        row_end(p, row);
    }
    return FLOW_NEXT;
}

static void row_done(struct append *append) {
    struct produce_row *row = container_of(append, struct produce_row, append);
    struct produce *p = row->produce;
    row->error = append->error;
    if (append->duplicate_time_ms >= 0) row->log_append_time_ms = append->duplicate_time_ms;
    ASSERT(p->pending > 0);
    if (--p->pending == 0) flow_wake(&p->flow);
}

// An answer that tells where the log starts asks the log's core, also if the records have been refused here.
static bool row_must_go(const struct produce *p, const struct produce_row *row) {
    if (row->superseded) return false;
    if (row->error != KAFKA_ERROR_NONE)
        return !row->check.before_log && p->call->version >= VERSION_OF_LOG_STARTS && p->request->acks != 0;
    return row->check.batch.bytes.size > 0; // v0-2 may bring no records at all: NONE, with base offset -1
}

static flow_next produce_step_route(struct flow *flow) {
    struct produce *p = self(flow);
    for (size_t i = 0; i < p->row_count; i++) {
        struct produce_row *row = &p->rows[i];
        if (!row_must_go(p, row)) continue;
        row->append.refusal = row->error;
        row->append.acks = p->request->acks;
        row->append.timeout_ms = p->request->timeout_ms;
        row->append.origin = LOG_FROM_CLIENT;
        row->append.done = row_done;
        row->sent = true;
        p->pending++;
        append_send(flow->core, row->owner_core, &row->append);
    }
    if (p->request->acks != 0) request_pass(p->call->request);
    return FLOW_NEXT;
}

static flow_next produce_step_gather(struct flow *flow) {
    return self(flow)->pending > 0 ? FLOW_WAIT : FLOW_NEXT;
}

static struct produce_response_partition row_answer(struct produce *p, struct produce_row *row, bool *moved) {
    struct produce_response_partition answer = {
        .error_message = p->message,
        .index = row->index,
        .error_code = row->error,
        .base_offset = row->sent ? row->append.base_offset : -1,
        .log_append_time_ms = row->error == KAFKA_ERROR_NONE ? row->log_append_time_ms : -1,
        .log_start_offset = row->sent ? row->append.log_start_offset : -1,
        .current_leader = {-1, -1},
    };
    if (row->error == KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER && row->sent && p->call->version >= VERSION_OF_LEADERS) {
        answer.current_leader = (struct produce_response_current_leader){row->append.leader, row->append.leader_epoch};
        *moved |= row->append.leader >= 0;
    }
    if (row->check.record_error_count > 0 && row->error == row->check.error) {
        const struct image_topic *topic = image_topic_by_id(image_of(p->call->core), row->append.topic_id);
        produce_record_errors(&row->check, row->topic, topic ? topic->config.compression : TOPIC_COMPRESSION_PRODUCER,
                              &p->call->request->arena, &answer);
    }
    return answer;
}

// Where the leaders are that the rows name: this broker's own endpoint, as long as there is one broker.
static void respond_endpoints(struct produce *p, struct produce_response *response) {
    const struct image *image = image_of(p->call->core);
    const struct image_endpoint *endpoint = call_own_endpoint(p->call);
    struct produce_response_node_endpoint *row = arena_alloc(&p->call->request->arena, sizeof *row);
    if (!endpoint || !row) return;
    *row = (struct produce_response_node_endpoint){image->broker_id, endpoint->host, endpoint->port,
                                                   image_broker_by_id(image, image->broker_id)->rack};
    response->node_endpoints = row;
    response->node_endpoints_count = 1;
}

static flow_next produce_step_respond(struct flow *flow) {
    struct produce *p = self(flow);
    struct arena *arena = &p->call->request->arena;
    int32_t topics = p->request->topic_data_count;
    struct produce_response response;
    message_default(p->call->api->response, &response);
    struct produce_response_topic *answers = arena_alloc_array(arena, topics > 0 ? (size_t)topics : 0, sizeof *answers);
    struct produce_response_partition *partitions = arena_alloc_array(arena, p->row_count, sizeof *partitions);
    if (!answers || !partitions) {
        respond_close(p->call, "request needs too much memory");
        return FLOW_NEXT;
    }
    bool failed = false, moved = false;
    size_t row = 0, used = 0;
    for (int32_t t = 0; t < topics; t++) {
        answers[t].name = p->request->topic_data[t].name;
        answers[t].partition_responses = &partitions[used];
        for (int32_t i = 0; i < p->request->topic_data[t].partition_data_count; i++, row++) {
            failed |= p->rows[row].error != KAFKA_ERROR_NONE;
            if (p->rows[row].superseded) continue;
            partitions[used++] = row_answer(p, &p->rows[row], &moved);
            answers[t].partition_responses_count++;
        }
    }
    if (p->request->acks == 0) {
        if (failed) {
            respond_close(p->call, "a produce without acknowledgement failed");
        } else {
            respond_nothing(p->call);
        }
        return FLOW_NEXT;
    }
    response.responses = answers;
    response.responses_count = topics > 0 ? topics : 0;
    if (moved) respond_endpoints(p, &response);
    respond(p->call, &response);
    return FLOW_NEXT;
}

static flow_next produce_step_release(struct flow *flow) {
    (void)flow; // everything is in the request's arena; the request has been finished and may be gone
    return FLOW_END;
}
