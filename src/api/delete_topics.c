// SPDX-License-Identifier: Apache-2.0
// DeleteTopics: by name, from v6 by name or id. When deletion is disabled: INVALID_REQUEST below v3,
// TOPIC_DELETION_DISABLED after (trap 17).
#include "protocol/messages/delete_topics.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "metadata/publish.h"
#include "protocol/message.h"

enum { VERSION_OF_DISABLED_CODE = 3, VERSION_OF_TOPIC_IDS = 6 };

struct delete_topics_call {
    struct api_call *call;
    struct controller_request controller;
};

static void answer_rows(struct delete_topics_call *d) {
    struct delete_topics_response response;
    message_default(d->call->api->response, &response);
    response.responses = call_alloc_array(d->call, (int32_t)d->controller.row_count, sizeof *response.responses);
    if (!response.responses) return;
    for (size_t i = 0; i < d->controller.row_count; i++) {
        const struct controller_delete_topic *row = &d->controller.delete_topics[i];
        response.responses[response.responses_count++] = (struct delete_topics_response_topic){
            .name = row->name,
            .topic_id = row->topic_id,
            .error_code = d->controller.error != KAFKA_ERROR_NONE ? d->controller.error : row->error,
            .error_message = row->message,
        };
    }
    respond(d->call, &response);
}

static void answered(struct core *core, struct controller_request *request) {
    (void)core;
    answer_rows(container_of(request, struct delete_topics_call, controller));
}

static bool rows_fill(struct delete_topics_call *d, const struct delete_topics_request *request) {
    bool by_id = d->call->version >= VERSION_OF_TOPIC_IDS;
    int32_t count = by_id ? request->topics_count : request->topic_names_count;
    struct controller_delete_topic *rows = call_alloc_array(d->call, count, sizeof *rows);
    if (!rows) return false;
    d->controller.delete_topics = rows;
    d->controller.row_count = count > 0 ? (size_t)count : 0;
    for (int32_t i = 0; i < count; i++) {
        rows[i] = by_id ? (struct controller_delete_topic){.name = request->topics[i].name,
                                                           .topic_id = request->topics[i].topic_id}
                        : (struct controller_delete_topic){.name = request->topic_names[i]};
    }
    return true;
}

static bool names_both(const struct delete_topics_call *d) {
    for (size_t i = 0; i < d->controller.row_count; i++) {
        const struct controller_delete_topic *row = &d->controller.delete_topics[i];
        if (!str_is_null(row->name) && !uuid_is_zero(row->topic_id)) return true;
    }
    return false;
}

void handle_delete_topics(struct api_call *call) {
    const struct delete_topics_request *request = call->body;
    struct delete_topics_call *d = call_alloc(call, sizeof *d);
    if (!d) return;
    d->call = call;
    d->controller.kind = CONTROLLER_DELETE_TOPICS;
    d->controller.arena = &call->request->arena;
    d->controller.timeout_ms = request->timeout_ms;
    d->controller.answered = answered;
    if (!rows_fill(d, request)) return;
    if (!config_bool(image_of(call->core)->config, CONFIG_DELETE_TOPIC_ENABLE)) {
        d->controller.error = call->version < VERSION_OF_DISABLED_CODE ? KAFKA_ERROR_INVALID_REQUEST
                                                                       : KAFKA_ERROR_TOPIC_DELETION_DISABLED;
        return answer_rows(d);
    }
    if (names_both(d)) { // name and id together: the whole request
        d->controller.error = KAFKA_ERROR_INVALID_REQUEST;
        return answer_rows(d);
    }
    controller_send(call->core, facts_of(call->core)->controller, &d->controller);
}
