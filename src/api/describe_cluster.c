// SPDX-License-Identifier: Apache-2.0
// DescribeCluster: cluster id, controller and brokers. There is no controller listener to describe here: endpoint type
// 2 is refused (trap 66).
#include "protocol/messages/describe_cluster.h"
#include "api/endpoints.h"
#include "api/handlers.h"
#include "protocol/message.h"

enum { ENDPOINT_BROKERS = 1, ENDPOINT_CONTROLLERS = 2 };

static void answer_endpoint_type(struct api_call *call, int8_t type, struct describe_cluster_response *response) {
    if (type == ENDPOINT_CONTROLLERS) {
        response->error_code = KAFKA_ERROR_MISMATCHED_ENDPOINT_TYPE;
        response->error_message = str_of("The request was sent to an endpoint of type BROKER, but we wanted an "
                                         "endpoint of type CONTROLLER");
    } else {
        response->error_code = KAFKA_ERROR_UNSUPPORTED_ENDPOINT_TYPE;
        response->error_message = arena_format(&call->request->arena, "Unsupported endpoint type %d", type);
    }
    respond(call, response);
}

void handle_describe_cluster(struct api_call *call) {
    const struct describe_cluster_request *request = call->body;
    const struct image *image = image_of(call->core);
    struct describe_cluster_response response;
    message_default(call->api->response, &response);
    response.cluster_id = str_of("");
    if (request->endpoint_type != ENDPOINT_BROKERS) {
        return answer_endpoint_type(call, request->endpoint_type, &response);
    }
    response.brokers = call_alloc_array(call, (int32_t)image->broker_count, sizeof *response.brokers);
    if (!response.brokers) return;
    for (size_t i = 0; i < image->broker_count; i++) {
        const struct image_broker *broker = &image->brokers[i];
        const struct image_endpoint *endpoint = call_endpoint(call, broker);
        if (!endpoint) continue;
        response.brokers[response.brokers_count++] =
            (struct describe_cluster_response_broker){broker->id, endpoint->host, endpoint->port, broker->rack};
    }
    response.cluster_id = image->cluster_id;
    response.controller_id = image->controller_id;
    if (request->include_cluster_authorized_operations) response.cluster_authorized_operations = CLUSTER_OPERATIONS;
    respond(call, &response);
}
