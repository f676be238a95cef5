// SPDX-License-Identifier: Apache-2.0
// OffsetCommit: each row is checked here (is there such a partition?), then the group's coordinator takes those that
// are left. The answer comes when their records are committed.
//
// Version 0 is older than the coordinator: its offsets go to the metadata store, as Kafka's do.
#include "protocol/messages/offset_commit.h"
#include "api/facts.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "group/java_text.h"
#include "metadata/publish.h"
#include "protocol/message.h"

struct commit_call {
    struct api_call *call;
    struct group_offset_row *rows; // in request order
    struct controller_request controller;
};

static void respond_rows(struct api_call *call, const struct group_offset_row *row) {
    const struct offset_commit_request *request = call->body;
    struct offset_commit_response response;
    message_default(call->api->response, &response);
    response.topics = call_alloc_array(call, request->topics_count, sizeof *response.topics);
    if (!response.topics) return;
    for (int32_t t = 0; t < request->topics_count; t++) {
        const struct offset_commit_request_topic *asked = &request->topics[t];
        struct offset_commit_response_topic *topic = &response.topics[response.topics_count++];
        topic->name = asked->name;
        topic->partitions = call_alloc_array(call, asked->partitions_count, sizeof *topic->partitions);
        if (!topic->partitions) return;
        for (int32_t i = 0; i < asked->partitions_count; i++, row++)
            topic->partitions[topic->partitions_count++] =
                (struct offset_commit_response_partition){row->partition, row->error};
    }
    respond(call, &response);
}

static struct group_offset_row *rows_make(struct api_call *call, int32_t *count, bool *any) {
    const struct offset_commit_request *request = call->body;
    const struct image *image = image_of(call->core);
    for (int32_t t = 0; t < request->topics_count; t++)
        *count += (int32_t)max_i64(request->topics[t].partitions_count, 0);
    struct group_offset_row *rows = call_alloc_array(call, *count, sizeof *rows), *row = rows;
    if (!rows) return NULL;
    for (int32_t t = 0; t < request->topics_count; t++) {
        const struct offset_commit_request_topic *asked = &request->topics[t];
        const struct image_topic *topic = image_topic_by_name(image, asked->name);
        for (int32_t i = 0; i < asked->partitions_count; i++, row++) {
            const struct offset_commit_request_partition *p = &asked->partitions[i];
            bool known = topic && !topic->deleting && image_partition(topic, p->partition_index);
            *row = (struct group_offset_row){
                .topic = asked->name,
                .partition = p->partition_index,
                .error = known ? KAFKA_ERROR_NONE : KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION,
                .offset = p->committed_offset,
                .leader_epoch = p->committed_leader_epoch,
                .commit_time_ms = p->commit_timestamp,
                .metadata = p->committed_metadata,
            };
            *any |= known;
        }
    }
    return rows;
}

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (!call) return;
    const struct group_call_item *item = &g->items[0];
    for (int32_t i = 0; item->error != KAFKA_ERROR_NONE && i < item->row_count; i++) {
        if (item->rows[i].error == KAFKA_ERROR_NONE) item->rows[i].error = item->error;
    }
    respond_rows(call, item->rows);
}

static void answer_from_store(struct core *core, struct controller_request *request) {
    (void)core;
    struct commit_call *c = container_of(request, struct commit_call, controller);
    for (size_t i = 0, row = 0; i < request->row_count; i++, row++) {
        while (c->rows[row].error != KAFKA_ERROR_NONE)
            row++;
        c->rows[row].error = request->error != KAFKA_ERROR_NONE ? request->error : request->offsets[i].error;
    }
    respond_rows(c->call, c->rows);
}

static void commit_to_store(struct api_call *call, struct group_offset_row *rows, int32_t count) {
    const struct offset_commit_request *request = call->body;
    struct commit_call *c = call_alloc(call, sizeof *c);
    struct controller_offset *offsets = c ? call_alloc_array(call, count, sizeof *offsets) : NULL;
    if (!offsets) return;
    int64_t metadata_max = config_i64(facts_of(call->core)->config, CONFIG_OFFSET_METADATA_MAX_BYTES);
    *c = (struct commit_call){.call = call,
                              .rows = rows,
                              .controller = {.kind = CONTROLLER_STORE_OFFSETS,
                                             .arena = &call->request->arena,
                                             .answered = answer_from_store,
                                             .group = request->group_id,
                                             .offsets = offsets}};
    for (int32_t i = 0; i < count; i++) {
        if (rows[i].error != KAFKA_ERROR_NONE) continue;
        if ((int64_t)java_length(rows[i].metadata) > metadata_max) {
            rows[i].error = KAFKA_ERROR_OFFSET_METADATA_TOO_LARGE;
            continue;
        }
        offsets[c->controller.row_count++] = (struct controller_offset){
            .topic = rows[i].topic, .partition = rows[i].partition, .offset = rows[i].offset};
    }
    if (c->controller.row_count == 0) return respond_rows(call, rows);
    controller_send(call->core, facts_of(call->core)->controller, &c->controller);
}

void handle_offset_commit(struct api_call *call) {
    const struct offset_commit_request *request = call->body;
    int32_t count = 0;
    bool any = false;
    struct group_offset_row *rows = rows_make(call, &count, &any);
    if (!rows) return;
    if (!any) return respond_rows(call, rows);
    if (call->version == 0) return commit_to_store(call, rows, count);
    struct group_call *g = call_group_begin(call, GROUP_CALL_COMMIT, 1);
    if (!g) return;
    g->items[0] = (struct group_call_item){.group_id = request->group_id,
                                           .member_id = request->member_id,
                                           .instance_id = request->group_instance_id,
                                           .generation = request->generation_id_or_member_epoch,
                                           .retention_ms = request->retention_time_ms,
                                           .rows = rows,
                                           .row_count = count};
    call_group_send(g, answer);
}
