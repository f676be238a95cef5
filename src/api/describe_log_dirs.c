// SPDX-License-Identifier: Apache-2.0
// DescribeLogDirs: each log directory with its partitions and their sizes. Null topics: all; an empty list: none; what
// is not there is left out (trap 66).
//
//   ask every partition that is meant -> space (the size of each file system, offloaded) -> answer, directory by
//   directory
#include "protocol/messages/describe_log_dirs.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/scatter.h"
#include "metadata/publish.h"
#include "protocol/message.h"

struct log_dirs_row {
    struct str topic; // the arena's
    struct partition_call call;
};
struct log_dirs_space {
    uint64_t total_bytes, available_bytes;
    bool known;
};
struct log_dirs_call {
    struct api_call *call;
    const struct describe_log_dirs_request *request;
    struct scatter scatter;
    struct log_dirs_row *rows; // by topic
    int32_t row_count;
    struct log_dirs_space *spaces; // by directory
    struct log_dir **dirs;
    int dir_count;
    struct os_op op;
};

static bool answer_topics(struct log_dirs_call *d, int dir, struct describe_log_dirs_response_result *result) {
    result->topics = call_alloc_array(d->call, d->row_count, sizeof *result->topics);
    if (!result->topics) return false;
    struct describe_log_dirs_response_partition *partitions =
        call_alloc_array(d->call, d->row_count, sizeof *partitions);
    if (!partitions) return false;
    struct describe_log_dirs_response_topic *topic = NULL;
    for (int32_t i = 0; i < d->row_count; i++) {
        const struct log_dirs_row *row = &d->rows[i];
        if (row->call.error != KAFKA_ERROR_NONE || row->call.dir != dir) continue;
        if (!topic || !str_equal(topic->name, row->topic)) {
            topic = &result->topics[result->topics_count++];
            topic->name = row->topic;
            topic->partitions = partitions;
        }
        *partitions++ =
            (struct describe_log_dirs_response_partition){row->call.index, (int64_t)row->call.size_bytes, 0, false};
        topic->partitions_count++;
    }
    return true;
}

static void answer(struct log_dirs_call *d) {
    struct describe_log_dirs_response response;
    message_default(d->call->api->response, &response);
    response.results = call_alloc_array(d->call, d->dir_count, sizeof *response.results);
    if (!response.results) return;
    for (int dir = 0; dir < d->dir_count; dir++) {
        struct describe_log_dirs_response_result *result = &response.results[response.results_count++];
        *result = (struct describe_log_dirs_response_result){
            .log_dir = str_of(d->dirs[dir]->path), .total_bytes = -1, .usable_bytes = -1};
        if (log_dir_is_failed(d->dirs[dir])) {
            result->error_code = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
            continue;
        }
        if (d->spaces[dir].known) {
            result->total_bytes = (int64_t)d->spaces[dir].total_bytes;
            result->usable_bytes = (int64_t)d->spaces[dir].available_bytes;
        }
        if (!answer_topics(d, dir, result)) return;
    }
    respond(d->call, &response);
}

static int64_t space_run(struct os_host *host, void *argument) {
    struct log_dirs_call *d = argument;
    for (int dir = 0; dir < d->dir_count; dir++) {
        struct log_dirs_space *space = &d->spaces[dir];
        space->known = os_space(host, d->dirs[dir]->path, &space->total_bytes, &space->available_bytes) == 0;
    }
    return 0;
}

static void space_done(struct os_op *op) {
    answer(container_of(op, struct log_dirs_call, op));
}

static void asked_all(struct scatter *scatter) {
    struct log_dirs_call *d = container_of(scatter, struct log_dirs_call, scatter);
    d->op = OS_OP(space_done);
    os_offload(d->call->core->os, &d->op, space_run, d);
}

static bool is_meant(const struct describe_log_dirs_request *request, const struct image_topic *topic,
                     int32_t partition) {
    if (request->topics_count < 0) return true;
    for (int32_t t = 0; t < request->topics_count; t++) {
        if (!str_equal(request->topics[t].topic, topic->name)) continue;
        for (int32_t i = 0; i < request->topics[t].partitions_count; i++) {
            if (request->topics[t].partitions[i] == partition) return true;
        }
    }
    return false;
}

void handle_describe_log_dirs(struct api_call *call) {
    const struct broker_facts *facts = facts_of(call->core);
    struct log_dirs_call *d = call_alloc(call, sizeof *d);
    if (!d) return;
    d->call = call;
    d->request = call->body;
    d->dirs = facts->dirs;
    d->dir_count = facts->dir_count;
    d->spaces = call_alloc_array(call, d->dir_count, sizeof *d->spaces);
    if (!d->spaces) return;
    const struct image *image = image_of(call->core);
    int32_t count = 0;
    for (size_t t = 0; t < image->topic_count; t++)
        count += image->topics[t]->partition_count;
    d->rows = call_alloc_array(call, count, sizeof *d->rows);
    if (!d->rows) return;
    scatter_begin(&d->scatter, call->core, asked_all);
    for (size_t t = 0; t < image->topic_count; t++) {
        const struct image_topic *topic = image->topics[t];
        struct str name = arena_copy_str(&call->request->arena, topic->name);
        for (int32_t i = 0; i < topic->partition_count && !str_is_null(name); i++) {
            if (!is_meant(d->request, topic, i)) continue;
            struct log_dirs_row *row = &d->rows[d->row_count++];
            *row = (struct log_dirs_row){
                .topic = name, .call = {.kind = PARTITION_DESCRIBE_LOG, .current_leader_epoch = -1, .index = i}};
            scatter_send(&d->scatter, &row->call, topic, i);
        }
    }
    scatter_end(&d->scatter);
}
