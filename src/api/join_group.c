// SPDX-License-Identifier: Apache-2.0
// JoinGroup: a member enters its group, or takes part in a rebalance; the answer comes when everybody has joined.
#include "protocol/messages/join_group.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "protocol/message.h"

static void answer(struct group_call *g) {
    enum { VERSION_OF_NULL_NAME = 7 };
    struct api_call *call = call_group_end(g);
    if (!call) return;
    const struct join_group_request *request = call->body;
    struct join_group_response *response = &g->join;
    if (g->items[0].error != KAFKA_ERROR_NONE) {
        response->error_code = g->items[0].error;
        response->protocol_name = (struct str){0};
        response->member_id = request->member_id;
    }
    if (call->version < VERSION_OF_NULL_NAME && str_is_null(response->protocol_name))
        response->protocol_name = str_of("");
    respond(call, response);
}

void handle_join_group(struct api_call *call) {
    const struct join_group_request *request = call->body;
    struct group_call *g = call_group_begin(call, GROUP_CALL_JOIN, 1);
    if (!g) return;
    message_default(call->api->response, &g->join);
    g->items[0].group_id = request->group_id;
    call_group_send(g, answer);
}
