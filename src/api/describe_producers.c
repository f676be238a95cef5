// SPDX-License-Identifier: Apache-2.0
// DescribeProducers: the active producers of partitions (KIP-664). Why a topic is not served is told with a text, why a
// partition is not without one.
#include "protocol/messages/describe_producers.h"
#include "api/handlers.h"
#include "api/scatter.h"
#include "config/topic_name.h"
#include "metadata/publish.h"
#include "protocol/message.h"
#include <stdlib.h>

struct producers_call {
    struct api_call *call;
    const struct describe_producers_request *request;
    struct scatter scatter;
    struct partition_call *calls;
    size_t call_count;
};

static void calls_free(void *object) {
    struct producers_call *p = object;
    for (size_t i = 0; i < p->call_count; i++)
        free(p->calls[i].producers);
}

static bool answer_producers(struct producers_call *p, const struct partition_call *call,
                             struct describe_producers_response_partition *row) {
    row->active_producers = call_alloc_array(p->call, (int32_t)call->producer_count, sizeof *row->active_producers);
    if (!row->active_producers) return false;
    for (size_t i = 0; i < call->producer_count; i++) {
        const struct log_producer *from = &call->producers[i];
        row->active_producers[row->active_producers_count++] = (struct describe_producers_response_active_producer){
            from->producer_id,       from->producer_epoch,    from->last_sequence,
            from->last_timestamp_ms, from->coordinator_epoch, from->transaction_start};
    }
    return true;
}

static struct str text_of(struct producers_call *p, const struct text *text) {
    return arena_copy_str(&p->call->request->arena, (struct str){text->data, text->size});
}

// What is wrong with the topic, for each of its rows; NONE: nothing.
static int16_t topic_error(struct producers_call *p, struct str name, struct str *message) {
    char memory[TOPIC_NAME_PROBLEM_MAX];
    struct text problem = TEXT_IN(memory);
    topic_name_problem(name, &problem);
    if (problem.size > 0) {
        *message = text_of(p, &problem);
        return KAFKA_ERROR_INVALID_TOPIC_EXCEPTION;
    }
    const struct image_topic *topic = image_topic_by_name(image_of(p->call->core), name);
    if (topic && !topic->deleting) return KAFKA_ERROR_NONE;
    *message = str_of("This server does not host this topic-partition."); // Kafka's words
    return KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
}

static void answer(struct scatter *scatter) {
    struct producers_call *p = container_of(scatter, struct producers_call, scatter);
    struct describe_producers_response response;
    message_default(p->call->api->response, &response);
    response.topics = call_alloc_array(p->call, p->request->topics_count, sizeof *response.topics);
    if (!response.topics) return;
    const struct partition_call *call = p->calls;
    for (int32_t t = 0; t < p->request->topics_count; t++) {
        const struct describe_producers_request_topic *asked = &p->request->topics[t];
        struct describe_producers_response_topic *topic = &response.topics[response.topics_count++];
        topic->name = asked->name;
        topic->partitions = call_alloc_array(p->call, asked->partition_indexes_count, sizeof *topic->partitions);
        if (!topic->partitions) return;
        struct str message = {NULL, 0};
        int16_t error = topic_error(p, asked->name, &message);
        for (int32_t i = 0; i < asked->partition_indexes_count; i++, call++) {
            struct describe_producers_response_partition *row = &topic->partitions[topic->partitions_count++];
            *row = (struct describe_producers_response_partition){.partition_index = asked->partition_indexes[i],
                                                                  .error_code = error ? error : call->error,
                                                                  .error_message = message};
            if (!answer_producers(p, call, row)) return;
        }
    }
    respond(p->call, &response);
}

void handle_describe_producers(struct api_call *call) {
    struct producers_call *p = call_alloc(call, sizeof *p);
    if (!p) return;
    p->call = call;
    p->request = call->body;
    int32_t count = 0;
    for (int32_t t = 0; t < p->request->topics_count; t++)
        count += (int32_t)max_i64(p->request->topics[t].partition_indexes_count, 0);
    p->calls = call_alloc_array(call, count, sizeof *p->calls);
    if (!p->calls) return;
    p->call_count = (size_t)count;
    if (!arena_hold(&call->request->arena, calls_free, p)) return respond_close(call, "request needs too much memory");
    const struct image *image = image_of(call->core);
    scatter_begin(&p->scatter, call->core, answer);
    struct partition_call *next = p->calls;
    for (int32_t t = 0; t < p->request->topics_count; t++) {
        const struct describe_producers_request_topic *asked = &p->request->topics[t];
        const struct image_topic *topic = image_topic_by_name(image, asked->name);
        for (int32_t i = 0; i < asked->partition_indexes_count; i++, next++) {
            *next = (struct partition_call){.kind = PARTITION_DESCRIBE_PRODUCERS, .current_leader_epoch = -1};
            scatter_send(&p->scatter, next, topic, asked->partition_indexes[i]);
        }
    }
    scatter_end(&p->scatter);
}
