// SPDX-License-Identifier: Apache-2.0
// DescribeGroups: state and members. A group that is not there is "Dead", without an error (trap 73).
#include "protocol/messages/describe_groups.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "protocol/message.h"

static void answer(struct group_call *g) {
    enum { VERSION_OF_OPERATIONS = 3 };
    struct api_call *call = call_group_end(g);
    if (!call) return;
    const struct describe_groups_request *request = call->body;
    struct describe_groups_response response;
    message_default(call->api->response, &response);
    response.groups = call_alloc_array(call, g->item_count, sizeof *response.groups);
    if (!response.groups) return;
    for (int32_t i = 0; i < g->item_count; i++) {
        struct describe_groups_response_group *row = g->items[i].described;
        row->error_code = g->items[i].error;
        if (call->version >= VERSION_OF_OPERATIONS && request->include_authorized_operations &&
            row->error_code == KAFKA_ERROR_NONE)
            row->authorized_operations = GROUP_OPERATIONS;
        response.groups[response.groups_count++] = *row;
    }
    respond(call, &response);
}

void handle_describe_groups(struct api_call *call) {
    const struct describe_groups_request *request = call->body;
    struct group_call *g = call_group_begin(call, GROUP_CALL_DESCRIBE, request->groups_count);
    if (!g) return;
    struct describe_groups_response_group *rows = call_alloc_array(call, g->item_count, sizeof *rows);
    if (!rows) return;
    for (int32_t i = 0; i < g->item_count; i++) {
        rows[i] = (struct describe_groups_response_group){
            .group_id = request->groups[i],
            .group_state = str_of(""),
            .protocol_type = str_of(""),
            .protocol_data = str_of(""),
            .authorized_operations = INT32_MIN,
        };
        g->items[i].group_id = request->groups[i];
        g->items[i].described = &rows[i];
    }
    call_group_send(g, answer);
}
