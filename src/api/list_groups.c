// SPDX-License-Identifier: Apache-2.0
// ListGroups: the groups that this broker coordinates, by state and type if wanted.
#include "protocol/messages/list_groups.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "protocol/message.h"

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (call) respond(call, &g->list);
}

void handle_list_groups(struct api_call *call) {
    struct group_call *g = call_group_begin(call, GROUP_CALL_LIST, 0);
    if (!g) return;
    message_default(call->api->response, &g->list);
    call_group_send(g, answer);
}
