// SPDX-License-Identifier: Apache-2.0
// OffsetDelete: committed offsets of topics that the group does not subscribe to. An error of the group leaves no rows.
#include "protocol/messages/offset_delete.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "metadata/publish.h"
#include "protocol/message.h"

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (!call) return;
    const struct offset_delete_request *request = call->body;
    const struct group_offset_row *row = g->items[0].rows;
    struct offset_delete_response response;
    message_default(call->api->response, &response);
    response.error_code = g->items[0].error;
    response.topics = call_alloc_array(call, request->topics_count, sizeof *response.topics);
    if (!response.topics) return;
    for (int32_t t = 0; response.error_code == KAFKA_ERROR_NONE && t < request->topics_count; t++) {
        const struct offset_delete_request_topic *asked = &request->topics[t];
        struct offset_delete_response_topic *topic = &response.topics[response.topics_count++];
        topic->name = asked->name;
        topic->partitions = call_alloc_array(call, asked->partitions_count, sizeof *topic->partitions);
        if (!topic->partitions) return;
        for (int32_t i = 0; i < asked->partitions_count; i++, row++)
            topic->partitions[topic->partitions_count++] =
                (struct offset_delete_response_partition){row->partition, row->error};
    }
    respond(call, &response);
}

void handle_offset_delete(struct api_call *call) {
    const struct offset_delete_request *request = call->body;
    const struct image *image = image_of(call->core);
    struct group_call *g = call_group_begin(call, GROUP_CALL_DELETE_OFFSETS, 1);
    if (!g) return;
    struct group_call_item *item = &g->items[0];
    int32_t count = 0;
    item->group_id = request->group_id;
    for (int32_t t = 0; t < request->topics_count; t++)
        count += (int32_t)max_i64(request->topics[t].partitions_count, 0);
    item->rows = call_alloc_array(call, count, sizeof *item->rows);
    if (!item->rows) return;
    for (int32_t t = 0; t < request->topics_count; t++) {
        const struct offset_delete_request_topic *asked = &request->topics[t];
        const struct image_topic *topic = image_topic_by_name(image, asked->name);
        for (int32_t i = 0; i < asked->partitions_count; i++) {
            int32_t partition = asked->partitions[i].partition_index;
            bool known = topic && !topic->deleting && image_partition(topic, partition);
            item->rows[item->row_count++] = (struct group_offset_row){
                .topic = asked->name,
                .partition = partition,
                .error = known ? KAFKA_ERROR_NONE : KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION,
            };
        }
    }
    call_group_send(g, answer);
}
