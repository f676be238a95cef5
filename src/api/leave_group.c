// SPDX-License-Identifier: Apache-2.0
// LeaveGroup: members go. Up to version 2 there is one, and its error is the request's.
#include "protocol/messages/leave_group.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "protocol/message.h"

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (!call) return;
    g->leave.error_code = g->items[0].error;
    respond(call, &g->leave);
}

void handle_leave_group(struct api_call *call) {
    const struct leave_group_request *request = call->body;
    struct group_call *g = call_group_begin(call, GROUP_CALL_LEAVE, 1);
    if (!g) return;
    message_default(call->api->response, &g->leave);
    g->items[0].group_id = request->group_id;
    call_group_send(g, answer);
}
