// SPDX-License-Identifier: Apache-2.0
// CreatePartitions: more partitions for topics. Null assignments: the controller chooses; an empty array is an
// assignment too (trap 65).
#include "protocol/messages/create_partitions.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/late_answer.h"
#include "protocol/message.h"

struct create_partitions_call {
    struct late_answer late;
    struct api_call *call;
    struct controller_request controller;
};

static void answer(struct late_answer *late) {
    struct create_partitions_call *c = container_of(late, struct create_partitions_call, late);
    const struct controller_request *request = &c->controller;
    struct create_partitions_response response;
    message_default(c->call->api->response, &response);
    response.results = call_alloc_array(c->call, (int32_t)request->row_count, sizeof *response.results);
    if (!response.results) return;
    for (size_t i = 0; i < request->row_count; i++) {
        const struct controller_create_partitions *row = &request->create_partitions[i];
        if (row->is_repeated && request->error == KAFKA_ERROR_NONE) continue; // one row a topic
        response.results[response.results_count++] = (struct create_partitions_response_result){
            .name = row->name,
            .error_code = request->error != KAFKA_ERROR_NONE ? request->error : row->error,
            .error_message = request->error != KAFKA_ERROR_NONE ? (struct str){0} : row->message,
        };
    }
    respond(c->call, &response);
}

// Whether a topic has to wait for a leader: in vain, as there is no other broker that could come.
static bool lacks_leader(struct create_partitions_call *c) {
    bool any = false;
    for (size_t i = 0; i < c->controller.row_count; i++) {
        struct controller_create_partitions *row = &c->controller.create_partitions[i];
        if (row->error != KAFKA_ERROR_NONE || !row->lacks_leader) continue;
        row->error = KAFKA_ERROR_REQUEST_TIMED_OUT;
        any = true;
    }
    return any;
}

static void answered(struct core *core, struct controller_request *request) {
    (void)core;
    struct create_partitions_call *c = container_of(request, struct create_partitions_call, controller);
    late_answer_finish(&c->late, request->error == KAFKA_ERROR_NONE && lacks_leader(c), request->timeout_ms);
}

static bool row_fill(struct create_partitions_call *c, const struct create_partitions_request_topic *asked,
                     struct controller_create_partitions *row) {
    struct controller_assignment *assignments =
        call_alloc_array(c->call, asked->assignments_count, sizeof *assignments);
    if (!assignments) return false;
    for (int32_t i = 0; i < asked->assignments_count; i++) {
        const struct create_partitions_request_assignment *a = &asked->assignments[i];
        assignments[i] = (struct controller_assignment){-1, a->broker_ids,
                                                        a->broker_ids_count > 0 ? (size_t)a->broker_ids_count : 0};
    }
    *row = (struct controller_create_partitions){
        .name = asked->name,
        .count = asked->count,
        .has_assignments = asked->assignments_count >= 0,
        .assignments = assignments,
        .assignment_count = asked->assignments_count > 0 ? (size_t)asked->assignments_count : 0,
    };
    return true;
}

void handle_create_partitions(struct api_call *call) {
    const struct create_partitions_request *request = call->body;
    struct create_partitions_call *c = call_alloc(call, sizeof *c);
    if (!c) return;
    c->call = call;
    late_answer_begin(&c->late, call, answer);
    int32_t count = request->topics_count;
    c->controller = (struct controller_request){
        .kind = CONTROLLER_CREATE_PARTITIONS,
        .arena = &call->request->arena,
        .timeout_ms = request->timeout_ms,
        .validate_only = request->validate_only,
        .answered = answered,
        .create_partitions = call_alloc_array(call, count, sizeof *c->controller.create_partitions),
        .row_count = count > 0 ? (size_t)count : 0,
    };
    if (!c->controller.create_partitions) return;
    for (int32_t i = 0; i < count; i++) {
        if (!row_fill(c, &request->topics[i], &c->controller.create_partitions[i])) return;
    }
    controller_send(call->core, facts_of(call->core)->controller, &c->controller);
}
