// SPDX-License-Identifier: Apache-2.0
// Heartbeat: a member is alive, and learns whether its group rebalances. While the coordinator loads, everybody is
// taken to be alive.
#include "protocol/messages/heartbeat.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "protocol/message.h"

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (!call) return;
    struct heartbeat_response response;
    message_default(call->api->response, &response);
    if (g->items[0].error != KAFKA_ERROR_COORDINATOR_LOAD_IN_PROGRESS) response.error_code = g->items[0].error;
    respond(call, &response);
}

void handle_heartbeat(struct api_call *call) {
    const struct heartbeat_request *request = call->body;
    struct group_call *g = call_group_begin(call, GROUP_CALL_HEARTBEAT, 1);
    if (!g) return;
    g->items[0].group_id = request->group_id;
    g->items[0].member_id = request->member_id;
    g->items[0].instance_id = request->group_instance_id;
    g->items[0].generation = request->generation_id;
    call_group_send(g, answer);
}
