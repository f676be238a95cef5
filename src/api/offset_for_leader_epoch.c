// SPDX-License-Identifier: Apache-2.0
// OffsetForLeaderEpoch: where a leader epoch ends, for consumers (and followers) that look for a truncation (trap 14).
#include "protocol/messages/offset_for_leader_epoch.h"
#include "api/handlers.h"
#include "api/scatter.h"
#include "metadata/publish.h"
#include "protocol/message.h"

struct epoch_call {
    struct api_call *call;
    const struct offset_for_leader_epoch_request *request;
    struct scatter scatter;
    struct partition_call *calls;
};

static void answer(struct scatter *scatter) {
    struct epoch_call *e = container_of(scatter, struct epoch_call, scatter);
    struct offset_for_leader_epoch_response response;
    message_default(e->call->api->response, &response);
    response.topics = call_alloc_array(e->call, e->request->topics_count, sizeof *response.topics);
    if (!response.topics) return;
    const struct partition_call *call = e->calls;
    for (int32_t t = 0; t < e->request->topics_count; t++) {
        const struct offset_for_leader_epoch_request_topic *asked = &e->request->topics[t];
        struct offset_for_leader_epoch_response_topic *topic = &response.topics[response.topics_count++];
        topic->topic = asked->topic;
        topic->partitions = call_alloc_array(e->call, asked->partitions_count, sizeof *topic->partitions);
        if (!topic->partitions) return;
        for (int32_t i = 0; i < asked->partitions_count; i++, call++) {
            bool ok = call->error == KAFKA_ERROR_NONE;
            topic->partitions[topic->partitions_count++] = (struct offset_for_leader_epoch_response_partition){
                call->error, asked->partitions[i].partition, ok ? call->leader_epoch : -1, ok ? call->offset : -1};
        }
    }
    respond(e->call, &response);
}

void handle_offset_for_leader_epoch(struct api_call *call) {
    struct epoch_call *e = call_alloc(call, sizeof *e);
    if (!e) return;
    e->call = call;
    e->request = call->body;
    int32_t count = 0;
    for (int32_t t = 0; t < e->request->topics_count; t++)
        count += (int32_t)max_i64(e->request->topics[t].partitions_count, 0);
    e->calls = call_alloc_array(call, count, sizeof *e->calls);
    if (!e->calls) return;
    const struct image *image = image_of(call->core);
    scatter_begin(&e->scatter, call->core, answer);
    struct partition_call *next = e->calls;
    for (int32_t t = 0; t < e->request->topics_count; t++) {
        const struct offset_for_leader_epoch_request_topic *asked = &e->request->topics[t];
        const struct image_topic *topic = image_topic_by_name(image, asked->topic);
        for (int32_t i = 0; i < asked->partitions_count; i++, next++) {
            const struct offset_for_leader_epoch_request_partition *p = &asked->partitions[i];
            *next = (struct partition_call){.kind = PARTITION_END_OF_EPOCH,
                                            .current_leader_epoch = p->current_leader_epoch,
                                            .epoch = p->leader_epoch};
            scatter_send(&e->scatter, next, topic, p->partition);
        }
    }
    scatter_end(&e->scatter);
}
