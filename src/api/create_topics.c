// SPDX-License-Identifier: Apache-2.0
// CreateTopics: the request becomes rows for the controller, whose answers become the response. The order of the checks
// and their codes are the controller's (controller/create_topics.c).
#include "protocol/messages/create_topics.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/late_answer.h"
#include "config/describe.h"
#include "metadata/publish.h"
#include "protocol/message.h"

struct create_topics_call {
    struct late_answer late;
    struct api_call *call;
    const struct create_topics_request *request;
    struct controller_request controller;
};

static bool row_fill(struct create_topics_call *c, const struct create_topics_request_topic *asked,
                     struct controller_create_topic *row) {
    struct controller_assignment *assignments =
        call_alloc_array(c->call, asked->assignments_count, sizeof *assignments);
    if (!assignments) return false;
    struct controller_setting *settings = call_alloc_array(c->call, asked->configs_count, sizeof *settings);
    if (!settings) return false;
    for (int32_t i = 0; i < asked->assignments_count; i++) {
        const struct create_topics_request_assignment *a = &asked->assignments[i];
        assignments[i] = (struct controller_assignment){a->partition_index, a->broker_ids,
                                                        a->broker_ids_count > 0 ? (size_t)a->broker_ids_count : 0};
    }
    for (int32_t i = 0; i < asked->configs_count; i++) {
        settings[i] = (struct controller_setting){.key = asked->configs[i].name, .value = asked->configs[i].value};
    }
    *row = (struct controller_create_topic){
        .name = asked->name,
        .partition_count = asked->num_partitions,
        .replication_factor = asked->replication_factor,
        .assignments = assignments,
        .assignment_count = asked->assignments_count > 0 ? (size_t)asked->assignments_count : 0,
        .settings = settings,
        .setting_count = asked->configs_count > 0 ? (size_t)asked->configs_count : 0,
    };
    return true;
}

// The new topic's whole configuration, as DescribeConfigs would give it (v5+). False: out of memory.
static bool answer_configs(struct create_topics_call *c, const struct controller_create_topic *row,
                           struct create_topics_response_topic *answer) {
    struct arena *arena = &c->call->request->arena;
    const struct config *config = image_of(c->call->core)->config;
    struct config_map overrides = {row->entries, row->entry_count};
    struct config_description description;
    size_t count = 0;
    for (size_t position = 0; config_describe_topic(arena, config, overrides, &position, &description);)
        count++;
    answer->configs = call_alloc_array(c->call, (int32_t)count, sizeof *answer->configs);
    if (!answer->configs) return false;
    for (size_t position = 0; config_describe_topic(arena, config, overrides, &position, &description);) {
        ASSERT((size_t)answer->configs_count < count);
        answer->configs[answer->configs_count++] = (struct create_topics_response_config){
            .name = description.name,
            .value = description.value,
            .read_only = description.is_read_only,
            .config_source = (int8_t)description.source,
            .is_sensitive = description.is_sensitive,
        };
    }
    return true;
}

static void answer(struct late_answer *late) {
    struct create_topics_call *c = container_of(late, struct create_topics_call, late);
    struct controller_request *request = &c->controller;
    struct create_topics_response response;
    message_default(c->call->api->response, &response);
    response.topics = call_alloc_array(c->call, (int32_t)request->row_count, sizeof *response.topics);
    if (!response.topics) return;
    for (size_t i = 0; i < request->row_count; i++) {
        const struct controller_create_topic *row = &request->create_topics[i];
        struct create_topics_response_topic *topic = &response.topics[response.topics_count++];
        int16_t error = request->error != KAFKA_ERROR_NONE ? request->error : row->error;
        *topic = (struct create_topics_response_topic){
            .name = row->name,
            .topic_id = row->topic_id,
            .error_code = error,
            .error_message = row->message,
            .num_partitions = row->partition_count_out,
            .replication_factor = row->replication_factor_out,
        };
        if (error == KAFKA_ERROR_NONE && c->call->version >= 5 && !answer_configs(c, row, topic)) return;
    }
    respond(c->call, &response);
}

// Whether a topic has to wait for a leader: in vain, as there is no other broker that could come.
static bool lacks_leader(struct create_topics_call *c) {
    bool any = false;
    for (size_t i = 0; i < c->controller.row_count; i++) {
        struct controller_create_topic *row = &c->controller.create_topics[i];
        if (row->error != KAFKA_ERROR_NONE || !row->lacks_leader) continue;
        row->error = KAFKA_ERROR_REQUEST_TIMED_OUT;
        row->partition_count_out = row->replication_factor_out = -1;
        any = true;
    }
    return any;
}

static void answered(struct core *core, struct controller_request *request) {
    (void)core;
    struct create_topics_call *c = container_of(request, struct create_topics_call, controller);
    late_answer_finish(&c->late, request->error == KAFKA_ERROR_NONE && lacks_leader(c), request->timeout_ms);
}

void handle_create_topics(struct api_call *call) {
    struct create_topics_call *c = call_alloc(call, sizeof *c);
    if (!c) return;
    c->call = call;
    late_answer_begin(&c->late, call, answer);
    c->request = call->body;
    int32_t count = c->request->topics_count;
    c->controller = (struct controller_request){
        .kind = CONTROLLER_CREATE_TOPICS,
        .arena = &call->request->arena,
        .timeout_ms = c->request->timeout_ms,
        .validate_only = c->request->validate_only,
        .answered = answered,
        .create_topics = call_alloc_array(call, count, sizeof *c->controller.create_topics),
        .row_count = count > 0 ? (size_t)count : 0,
    };
    if (!c->controller.create_topics) return;
    for (int32_t i = 0; i < count; i++) {
        if (!row_fill(c, &c->request->topics[i], &c->controller.create_topics[i])) return;
    }
    controller_send(call->core, facts_of(call->core)->controller, &c->controller);
}
