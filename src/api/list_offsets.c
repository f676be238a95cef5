// SPDX-License-Identifier: Apache-2.0
// ListOffsets: offsets by time, or of the ends of a log (trap 28).
//
// -1 latest and -2 earliest in every version, -3 (largest timestamp) from v7, -4 from v8, -5 from v9; other negative
// times are UNSUPPORTED_VERSION on the partition. A partition that is named twice: INVALID_REQUEST on both rows (not in
// v0). v0 answers a list of offsets: where segments begin and the log ends.
#include "protocol/messages/list_offsets.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/scatter.h"
#include "metadata/publish.h"
#include "protocol/message.h"
#include <stdlib.h>

enum { VERSION_OF_LEADER_EPOCHS = 4, CONSUMER = -1 };

struct list_offsets_call {
    struct api_call *call;
    const struct list_offsets_request *request;
    struct scatter scatter;
    struct partition_call *calls; // one a row, in request order
    int32_t row_count;
};

static bool time_is_known(int64_t time, int16_t version) {
    if (time >= -2) return true;
    return (time == -3 && version >= 7) || (time == -4 && version >= 8) || (time == -5 && version >= 9);
}

static struct list_offsets_response_partition answer_row(struct list_offsets_call *l,
                                                         const struct list_offsets_request_partition *asked,
                                                         const struct partition_call *call) {
    struct list_offsets_response_partition row = {.partition_index = asked->partition_index,
                                                  .error_code = call->error,
                                                  .timestamp = -1,
                                                  .offset = -1,
                                                  .leader_epoch = -1};
    if (call->error != KAFKA_ERROR_NONE) return row;
    if (l->call->version >= VERSION_OF_LEADER_EPOCHS) row.leader_epoch = call->leader_epoch;
    if (l->call->version > 0) {
        row.timestamp = call->timestamp_ms;
        row.offset = call->offset;
    } else {
        row.old_style_offsets = call->offsets; // the request holds it until it has been answered
        row.old_style_offsets_count = (int32_t)call->offset_count;
    }
    return row;
}

static void answer(struct scatter *scatter) {
    struct list_offsets_call *l = container_of(scatter, struct list_offsets_call, scatter);
    struct list_offsets_response response;
    message_default(l->call->api->response, &response);
    response.topics = call_alloc_array(l->call, l->request->topics_count, sizeof *response.topics);
    if (!response.topics) return;
    const struct partition_call *call = l->calls;
    for (int32_t t = 0; t < l->request->topics_count; t++) {
        const struct list_offsets_request_topic *asked = &l->request->topics[t];
        struct list_offsets_response_topic *topic = &response.topics[response.topics_count++];
        topic->name = asked->name;
        topic->partitions = call_alloc_array(l->call, asked->partitions_count, sizeof *topic->partitions);
        if (!topic->partitions) return;
        for (int32_t i = 0; i < asked->partitions_count; i++) {
            topic->partitions[topic->partitions_count++] = answer_row(l, &asked->partitions[i], call++);
            if (l->call->request->finished) return; // out of memory
        }
    }
    respond(l->call, &response);
}

static bool is_repeated(const struct list_offsets_call *l, int32_t topic, int32_t partition) {
    struct str name = l->request->topics[topic].name;
    int32_t index = l->request->topics[topic].partitions[partition].partition_index;
    int seen = 0;
    for (int32_t t = 0; t < l->request->topics_count; t++) {
        if (t != topic && !str_equal(l->request->topics[t].name, name)) continue;
        for (int32_t i = 0; i < l->request->topics[t].partitions_count; i++) {
            if (l->request->topics[t].partitions[i].partition_index == index) seen++;
        }
    }
    return seen > 1;
}

static void ask(struct list_offsets_call *l, int32_t topic_index, int32_t partition_index, struct partition_call *call,
                const struct image *image) {
    enum { REPEATS_SOUGHT_MAX = 2000 }; // quadratic; a request with more rows than this is not searched for repeats
    const struct list_offsets_request_topic *topic = &l->request->topics[topic_index];
    const struct list_offsets_request_partition *asked = &topic->partitions[partition_index];
    *call = (struct partition_call){
        .kind = l->call->version > 0 ? PARTITION_LIST_OFFSETS : PARTITION_LIST_SEGMENTS,
        .current_leader_epoch = asked->current_leader_epoch,
        .time_ms = asked->timestamp,
        .read_committed = l->request->isolation_level == 1,
        .is_replica = l->request->replica_id != CONSUMER,
        .max_offsets = asked->max_num_offsets,
    };
    if (l->call->version > 0 && l->row_count <= REPEATS_SOUGHT_MAX && is_repeated(l, topic_index, partition_index)) {
        call->error = KAFKA_ERROR_INVALID_REQUEST;
    } else if (!time_is_known(asked->timestamp, l->call->version)) {
        call->error = KAFKA_ERROR_UNSUPPORTED_VERSION;
    } else {
        scatter_send(&l->scatter, call, image_topic_by_name(image, topic->name), asked->partition_index);
    }
}

static void calls_free(void *object) {
    struct list_offsets_call *l = object;
    for (int32_t i = 0; i < l->row_count; i++)
        free(l->calls[i].offsets);
}

void handle_list_offsets(struct api_call *call) {
    struct list_offsets_call *l = call_alloc(call, sizeof *l);
    if (!l) return;
    l->call = call;
    l->request = call->body;
    for (int32_t t = 0; t < l->request->topics_count; t++) {
        if (l->request->topics[t].partitions_count > 0) l->row_count += l->request->topics[t].partitions_count;
    }
    l->calls = call_alloc_array(call, l->row_count, sizeof *l->calls);
    if (!l->calls) return;
    if (!arena_hold(&call->request->arena, calls_free, l)) return respond_close(call, "request needs too much memory");
    const struct image *image = image_of(call->core);
    scatter_begin(&l->scatter, call->core, answer);
    struct partition_call *next = l->calls;
    for (int32_t t = 0; t < l->request->topics_count; t++) {
        for (int32_t i = 0; i < l->request->topics[t].partitions_count; i++)
            ask(l, t, i, next++, image);
    }
    scatter_end(&l->scatter);
}
