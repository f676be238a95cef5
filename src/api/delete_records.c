// SPDX-License-Identifier: Apache-2.0
// DeleteRecords: moves log starts (trap 74). An offset of -1 is the high watermark; topics without the delete policy
// are POLICY_VIOLATION, internal ones INVALID_TOPIC_EXCEPTION; the low watermark of an error is -1. A partition that is
// named more than once has one row, and its last offset counts; a topic has one row, and none without partitions.
//
// The answer comes when the log starts are in their checkpoint files: what was deleted must not be there again after a
// power cut. (Kafka relies on the other replicas for that; decision 0009.)
#include "protocol/messages/delete_records.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/scatter.h"
#include "metadata/publish.h"
#include "protocol/message.h"
#include "replica/checkpointer.h"
#include <stdlib.h>

struct delete_records_row {
    struct str topic;
    int32_t partition;
    int64_t offset;
    size_t place; // in the request
    struct partition_call call;
};
struct delete_records_call {
    struct api_call *call;
    struct scatter scatter;
    struct delete_records_row *rows; // by topic, partition, place
    size_t row_count;
    struct checkpointer_request checkpoint;
};

static int compare_rows(const void *a, const void *b) {
    const struct delete_records_row *x = a, *y = b;
    int by_topic = str_compare(x->topic, y->topic);
    if (by_topic != 0) return by_topic;
    if (x->partition != y->partition) return x->partition < y->partition ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool same_topic(const struct delete_records_row *a, const struct delete_records_row *b) {
    return str_equal(a->topic, b->topic);
}

static void answer(struct delete_records_call *d) {
    struct delete_records_response response;
    message_default(d->call->api->response, &response);
    response.topics = call_alloc_array(d->call, (int32_t)d->row_count, sizeof *response.topics);
    if (!response.topics) return;
    struct delete_records_response_partition *partitions =
        call_alloc_array(d->call, (int32_t)d->row_count, sizeof *partitions);
    if (!partitions) return;
    for (size_t i = 0; i < d->row_count; i++) {
        const struct delete_records_row *row = &d->rows[i];
        if (i == 0 || !same_topic(row, row - 1))
            response.topics[response.topics_count++] =
                (struct delete_records_response_topic){.name = row->topic, .partitions = &partitions[i]};
        response.topics[response.topics_count - 1].partitions_count++;
        bool is_done = row->call.error == KAFKA_ERROR_NONE;
        partitions[i] = (struct delete_records_response_partition){row->partition, is_done ? row->call.offset : -1,
                                                                   row->call.error};
    }
    respond(d->call, &response);
}

static void checkpointed(struct checkpointer_request *request) {
    struct delete_records_call *d = container_of(request, struct delete_records_call, checkpoint);
    const struct broker_facts *facts = facts_of(d->call->core);
    for (size_t i = 0; i < d->row_count; i++) {
        struct partition_call *call = &d->rows[i].call;
        if (call->error != KAFKA_ERROR_NONE) continue;
        if (request->wait.error != KAFKA_ERROR_NONE || log_dir_is_failed(facts->dirs[call->dir]))
            call->error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    }
    answer(d);
}

static void moved(struct scatter *scatter) {
    struct delete_records_call *d = container_of(scatter, struct delete_records_call, scatter);
    bool any = false;
    for (size_t i = 0; i < d->row_count; i++)
        any = any || d->rows[i].call.error == KAFKA_ERROR_NONE;
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

// False: out of memory.
static bool rows_fill(struct delete_records_call *d, const struct delete_records_request *request) {
    int64_t count = 0;
    for (int32_t t = 0; t < request->topics_count; t++)
        count += max_i64(request->topics[t].partitions_count, 0);
    d->rows = call_alloc_array(d->call, (int32_t)count, sizeof *d->rows);
    if (!d->rows) return false;
    for (int32_t t = 0; t < request->topics_count; t++) {
        const struct delete_records_request_topic *asked = &request->topics[t];
        for (int32_t i = 0; i < asked->partitions_count; i++, d->row_count++)
            d->rows[d->row_count] = (struct delete_records_row){.topic = asked->name,
                                                                .partition = asked->partitions[i].partition_index,
                                                                .offset = asked->partitions[i].offset,
                                                                .place = d->row_count};
    }
    qsort(d->rows, d->row_count, sizeof *d->rows, compare_rows);
    size_t kept = 0;
    for (size_t i = 0; i < d->row_count; i++) {
        const struct delete_records_row *row = &d->rows[i];
        bool repeated = i + 1 < d->row_count && same_topic(row, row + 1) && row->partition == row[1].partition;
        if (!repeated) d->rows[kept++] = *row;
    }
    d->row_count = kept;
    return true;
}

void handle_delete_records(struct api_call *call) {
    struct delete_records_call *d = call_alloc(call, sizeof *d);
    if (!d) return;
    d->call = call;
    if (!rows_fill(d, call->body)) return;
    const struct image *image = image_of(call->core);
    scatter_begin(&d->scatter, call->core, moved);
    for (size_t i = 0; i < d->row_count; i++) {
        struct delete_records_row *row = &d->rows[i];
        const struct image_topic *topic = image_topic_by_name(image, row->topic);
        row->call = (struct partition_call){
            .kind = PARTITION_DELETE_RECORDS, .current_leader_epoch = -1, .offset = row->offset};
        if (!topic || topic->deleting || !image_partition(topic, row->partition)) {
            row->call.error = KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
        } else if (topic->is_internal) {
            row->call.error = KAFKA_ERROR_INVALID_TOPIC_EXCEPTION;
        } else if (!(topic->config.cleanup_policy & TOPIC_CLEANUP_DELETE)) {
            row->call.error = KAFKA_ERROR_POLICY_VIOLATION;
        } else {
            scatter_send(&d->scatter, &row->call, topic, row->partition);
        }
    }
    scatter_end(&d->scatter);
}
