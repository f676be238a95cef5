// SPDX-License-Identifier: Apache-2.0
// DeleteGroups: groups without members go, with their offsets. A group that is named twice has one row.
#include "protocol/messages/delete_groups.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "protocol/message.h"

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (!call) return;
    struct delete_groups_response response;
    message_default(call->api->response, &response);
    response.results = call_alloc_array(call, g->item_count, sizeof *response.results);
    if (!response.results) return;
    for (int32_t i = 0; i < g->item_count; i++) {
        response.results[response.results_count++] =
            (struct delete_groups_response_result){g->items[i].group_id, g->items[i].error};
    }
    respond(call, &response);
}

static bool is_named_before(const struct group_call *g, int32_t count, struct str group_id) {
    enum { COMPARED_MAX = 2000 };
    for (int32_t i = count > COMPARED_MAX ? count - COMPARED_MAX : 0; i < count; i++) {
        if (str_equal(g->items[i].group_id, group_id)) return true;
    }
    return false;
}

void handle_delete_groups(struct api_call *call) {
    const struct delete_groups_request *request = call->body;
    struct group_call *g = call_group_begin(call, GROUP_CALL_DELETE, request->groups_names_count);
    if (!g) return;
    int32_t count = 0;
    for (int32_t i = 0; i < g->item_count; i++) {
        if (!is_named_before(g, count, request->groups_names[i])) g->items[count++].group_id = request->groups_names[i];
    }
    g->item_count = count;
    call_group_send(g, answer);
}
