// SPDX-License-Identifier: Apache-2.0
// DeleteRecords: moves log starts (trap 74). An offset of -1 is the high watermark; topics without the delete policy
// are POLICY_VIOLATION, internal ones INVALID_TOPIC_EXCEPTION; the low watermark of an error is -1.
//
// The answer comes when the log starts are in their checkpoint files: what was deleted must not be there again after a
// power cut. (Kafka relies on the other replicas for that.)
#include "protocol/messages/delete_records.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/scatter.h"
#include "metadata/publish.h"
#include "protocol/message.h"
#include "replica/checkpointer.h"

struct delete_records_call {
    struct api_call *call;
    const struct delete_records_request *request;
    struct scatter scatter;
    struct partition_call *calls;
    int32_t count;
    struct checkpointer_request checkpoint;
};

static void answer(struct delete_records_call *d) {
    struct delete_records_response response;
    message_default(d->call->api->response, &response);
    response.topics = call_alloc_array(d->call, d->request->topics_count, sizeof *response.topics);
    if (!response.topics) return;
    const struct partition_call *call = d->calls;
    for (int32_t t = 0; t < d->request->topics_count; t++) {
        const struct delete_records_request_topic *asked = &d->request->topics[t];
        struct delete_records_response_topic *topic = &response.topics[response.topics_count++];
        topic->name = asked->name;
        topic->partitions = call_alloc_array(d->call, asked->partitions_count, sizeof *topic->partitions);
        if (!topic->partitions) return;
        for (int32_t i = 0; i < asked->partitions_count; i++, call++) {
            topic->partitions[topic->partitions_count++] = (struct delete_records_response_partition){
                asked->partitions[i].partition_index, call->error == KAFKA_ERROR_NONE ? call->offset : -1, call->error};
        }
    }
    respond(d->call, &response);
}

static void checkpointed(struct checkpointer_request *request) {
    struct delete_records_call *d = container_of(request, struct delete_records_call, checkpoint);
    const struct broker_facts *facts = facts_of(d->call->core);
    for (int32_t i = 0; i < d->count; i++) {
        struct partition_call *call = &d->calls[i];
        if (call->error != KAFKA_ERROR_NONE) continue;
        if (request->wait.error != KAFKA_ERROR_NONE || log_dir_is_failed(facts->dirs[call->dir]))
            call->error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    }
    answer(d);
}

static void moved(struct scatter *scatter) {
    struct delete_records_call *d = container_of(scatter, struct delete_records_call, scatter);
    bool any = false;
    for (int32_t i = 0; i < d->count; i++)
        any = any || d->calls[i].error == KAFKA_ERROR_NONE;
    d->checkpoint.done = checkpointed;
#ifdef TAILRACE_PLANT_LOG_START_NOT_AWAITED
    any = false;
#endif
    if (any) {
        checkpointer_request_send(d->call->core, facts_of(d->call->core)->checkpointer, &d->checkpoint);
    } else {
        answer(d);
    }
}

void handle_delete_records(struct api_call *call) {
    struct delete_records_call *d = call_alloc(call, sizeof *d);
    if (!d) return;
    d->call = call;
    d->request = call->body;
    int32_t count = 0;
    for (int32_t t = 0; t < d->request->topics_count; t++)
        count += (int32_t)max_i64(d->request->topics[t].partitions_count, 0);
    d->calls = call_alloc_array(call, count, sizeof *d->calls);
    if (!d->calls) return;
    d->count = count;
    const struct image *image = image_of(call->core);
    scatter_begin(&d->scatter, call->core, moved);
    struct partition_call *next = d->calls;
    for (int32_t t = 0; t < d->request->topics_count; t++) {
        const struct delete_records_request_topic *asked = &d->request->topics[t];
        const struct image_topic *topic = image_topic_by_name(image, asked->name);
        for (int32_t i = 0; i < asked->partitions_count; i++, next++) {
            *next = (struct partition_call){
                .kind = PARTITION_DELETE_RECORDS, .current_leader_epoch = -1, .offset = asked->partitions[i].offset};
            if (topic && topic->is_internal) {
                next->error = KAFKA_ERROR_INVALID_TOPIC_EXCEPTION;
            } else if (topic && !(topic->config.cleanup_policy & TOPIC_CLEANUP_DELETE)) {
                next->error = KAFKA_ERROR_POLICY_VIOLATION;
            } else {
                scatter_send(&d->scatter, next, topic, asked->partitions[i].partition_index);
            }
        }
    }
    scatter_end(&d->scatter);
}
