// SPDX-License-Identifier: Apache-2.0
// SyncGroup: the leader hands in the assignment, and everybody gets theirs once the group's record is committed.
//
// From version 5 on a member says which protocol it believes in. While the coordinator loads, the rebalance that the
// member is in is lost: REBALANCE_IN_PROGRESS makes it join again (older clients do not expect another code).
#include "protocol/messages/sync_group.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "protocol/message.h"

enum { VERSION_OF_PROTOCOL = 5 };

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (!call) return;
    int16_t error = g->items[0].error;
    if (error == KAFKA_ERROR_COORDINATOR_LOAD_IN_PROGRESS) error = KAFKA_ERROR_REBALANCE_IN_PROGRESS;
    if (error != KAFKA_ERROR_NONE) g->sync.error_code = error;
    respond(call, &g->sync);
}

void handle_sync_group(struct api_call *call) {
    const struct sync_group_request *request = call->body;
    struct group_call *g = call_group_begin(call, GROUP_CALL_SYNC, 1);
    if (!g) return;
    message_default(call->api->response, &g->sync);
    g->items[0].group_id = request->group_id;
    bool says_protocol = !str_is_null(request->protocol_type) && !str_is_null(request->protocol_name);
    if (call->version >= VERSION_OF_PROTOCOL && !says_protocol)
        g->items[0].error = KAFKA_ERROR_INCONSISTENT_GROUP_PROTOCOL;
    call_group_send(g, answer);
}
