// SPDX-License-Identifier: Apache-2.0
// FindCoordinator: the leader of the partition of __consumer_offsets that a group belongs to. The first one that asks
// makes the topic; until it is there, the coordinator is not available, and clients ask again.
//
// Transactions are not served: INVALID_REQUEST with a message, never a retriable code (trap 59). Share groups do not
// exist in this release: INVALID_REQUEST before version 6, not available from then on, as Kafka says (trap 34).
#include "protocol/messages/find_coordinator.h"
#include "api/endpoints.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/state.h"
#include "core/line.h"
#include "group/groups.h"
#include "group/java_text.h"
#include "protocol/message.h"
#include <stdlib.h>

enum { KEY_OF_GROUP = 0, KEY_OF_TRANSACTION = 1, KEY_OF_SHARE = 2 };
enum { VERSION_OF_SHARE = 6, VERSION_OF_BATCH = 4, VERSION_OF_MESSAGE = 1 };
enum { OFFSETS_TOPIC_TIMEOUT_MS = 30000 };

struct found {
    int16_t error;
    const char *message; // NULL: the error's own text
    int32_t node_id;
    struct str host;
    int32_t port;
};

// ---- the topic is made
// -----------------------------------------------------------------------------------------------

struct offsets_topic_request {
    struct controller_request controller;
    struct controller_auto_create_topic topic;
    struct arena arena;
};

static void offsets_topic_made(struct core *core, struct controller_request *request) {
    struct offsets_topic_request *r = container_of(request, struct offsets_topic_request, controller);
    int16_t error = request->error != KAFKA_ERROR_NONE ? request->error : r->topic.error;
    if (error != KAFKA_ERROR_NONE && error != KAFKA_ERROR_TOPIC_ALREADY_EXISTS) {
        line(core, LINE_WARN, "api", GROUPS_TOPIC, "not_created", "error=%s reason=\"%.*s\"", kafka_error_name(error),
             (int)r->topic.message.size, r->topic.message.data ? r->topic.message.data : "");
    }
    core->api->offsets_topic_asked = false;
    arena_drop(&r->arena);
    free(r);
}

static void offsets_topic_make(struct core *core) {
    if (core->api->offsets_topic_asked) return;
    core->api->offsets_topic_asked = true;
    struct offsets_topic_request *r = calloc(1, sizeof *r);
    ASSERT(r != NULL);
    arena_init(&r->arena, 1 << 20);
    r->topic.name = str_of(GROUPS_TOPIC);
    r->controller = (struct controller_request){.kind = CONTROLLER_AUTO_CREATE_TOPICS,
                                                .arena = &r->arena,
                                                .timeout_ms = OFFSETS_TOPIC_TIMEOUT_MS,
                                                .answered = offsets_topic_made,
                                                .auto_create_topics = &r->topic,
                                                .row_count = 1};
    controller_send(core, facts_of(core)->controller, &r->controller);
}

// ---- the answer
// ------------------------------------------------------------------------------------------------------

static struct found not_found(int16_t error, const char *message) {
    return (struct found){error, message, -1, str_of(""), -1};
}

static struct found find_group(struct api_call *call, struct str group_id) {
    const struct image *image = image_of(call->core);
    const struct image_topic *topic = image_topic_by_name(image, str_of(GROUPS_TOPIC));
    if (!topic) offsets_topic_make(call->core);
    if (!topic || topic->deleting || topic->partition_count == 0)
        return not_found(KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE, NULL);
    const struct image_partition *partition = image_partition(topic, java_partition(group_id, topic->partition_count));
    const struct image_broker *broker = image_broker_by_id(image, partition->leader);
    const struct image_endpoint *endpoint = broker && !partition->offline ? call_endpoint(call, broker) : NULL;
    if (!endpoint) return not_found(KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE, NULL);
    return (struct found){KAFKA_ERROR_NONE, NULL, broker->id, endpoint->host, endpoint->port};
}

static struct found find(struct api_call *call, int8_t key_type, struct str key) {
    switch (key_type) {
    case KEY_OF_GROUP: return find_group(call, key);
    case KEY_OF_TRANSACTION:
        return not_found(KAFKA_ERROR_INVALID_REQUEST, "transactions are not supported by this broker");
    case KEY_OF_SHARE:
        if (call->version >= VERSION_OF_SHARE) return not_found(KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE, NULL);
        return not_found(KAFKA_ERROR_INVALID_REQUEST, NULL);
    // Beside rows, too, Kafka says the error's own text here.
    default: return not_found(KAFKA_ERROR_INVALID_REQUEST, kafka_error_text(KAFKA_ERROR_INVALID_REQUEST));
    }
}

// Single answers say "NONE" without an error, batched ones nothing, not even with one, but where there is no other
// hint.
static void answer_single(struct api_call *call, const struct find_coordinator_request *request) {
    struct find_coordinator_response response;
    message_default(call->api->response, &response);
    struct found f = find(call, request->key_type, request->key);
    response.error_code = f.error;
    response.node_id = f.node_id;
    response.host = f.host;
    response.port = f.port;
    if (call->version >= VERSION_OF_MESSAGE)
        response.error_message = str_of(f.error == KAFKA_ERROR_NONE ? "NONE"
                                        : f.message                 ? f.message
                                                                    : kafka_error_text(f.error));
    respond(call, &response);
}

void handle_find_coordinator(struct api_call *call) {
    const struct find_coordinator_request *request = call->body;
    if (call->version < VERSION_OF_BATCH) return answer_single(call, request);
    struct find_coordinator_response response;
    message_default(call->api->response, &response);
    response.coordinators = call_alloc_array(call, request->coordinator_keys_count, sizeof *response.coordinators);
    if (!response.coordinators) return;
    for (int32_t i = 0; i < request->coordinator_keys_count; i++) {
        struct found f = find(call, request->key_type, request->coordinator_keys[i]);
        response.coordinators[response.coordinators_count++] = (struct find_coordinator_response_coordinator){
            .key = request->coordinator_keys[i],
            .node_id = f.node_id,
            .host = f.host,
            .port = f.port,
            .error_code = f.error,
            .error_message = str_of(f.message ? f.message : ""),
        };
    }
    respond(call, &response);
}
