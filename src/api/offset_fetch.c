// SPDX-License-Identifier: Apache-2.0
// OffsetFetch: what a group, or (from version 8) several groups, have committed.
//
// What is not known has offset -1, epoch -1 and metadata "" without an error (trap 33). An error of the whole group
// stands on each partition up to version 1, on top up to 7, and at the group from 8 on. Version 0 reads the metadata
// store.
#include "protocol/messages/offset_fetch.h"
#include "api/facts.h"
#include "api/group_calls.h"
#include "api/handlers.h"
#include "metadata/publish.h"
#include "protocol/message.h"

enum { VERSION_OF_TOP_ERROR = 2, VERSION_OF_GROUPS = 8 };

// ---- up to version 7: one group
// --------------------------------------------------------------------------------------

static struct offset_fetch_response_partition single_row(const struct group_offset_row *row) {
    return (struct offset_fetch_response_partition){.partition_index = row->partition,
                                                    .committed_offset = row->offset,
                                                    .committed_leader_epoch = row->leader_epoch,
                                                    .metadata = row->metadata,
                                                    .error_code = row->error};
}

// Rows of the same topic stand together.
static int32_t rows_of_topic(const struct group_call_item *item, int32_t first) {
    int32_t end = first + 1;
    while (end < item->row_count && str_equal(item->rows[end].topic, item->rows[first].topic))
        end++;
    return end - first;
}

static void answer_single(struct api_call *call, const struct group_call_item *item) {
    struct offset_fetch_response response;
    message_default(call->api->response, &response);
    response.error_code = call->version >= VERSION_OF_TOP_ERROR ? item->error : KAFKA_ERROR_NONE;
    bool has_rows = item->error == KAFKA_ERROR_NONE || call->version < VERSION_OF_TOP_ERROR;
    response.topics = call_alloc_array(call, item->row_count, sizeof *response.topics);
    if (!response.topics) return;
    for (int32_t i = 0; has_rows && i < item->row_count;) {
        struct offset_fetch_response_topic *topic = &response.topics[response.topics_count++];
        int32_t count = rows_of_topic(item, i);
        topic->name = item->rows[i].topic;
        topic->partitions = call_alloc_array(call, count, sizeof *topic->partitions);
        if (!topic->partitions) return;
        for (int32_t end = i + count; i < end; i++) {
            struct group_offset_row row = item->rows[i];
            if (item->error != KAFKA_ERROR_NONE)
                row = (struct group_offset_row){.partition = row.partition,
                                                .error = item->error,
                                                .offset = -1,
                                                .leader_epoch = -1,
                                                .metadata = str_of("")};
            topic->partitions[topic->partitions_count++] = single_row(&row);
        }
    }
    respond(call, &response);
}

// ---- from version 8 on: groups
// ----------------------------------------------------------------------------------------

static bool answer_group(struct api_call *call, const struct group_call_item *item,
                         struct offset_fetch_response_group *group) {
    group->group_id = item->group_id;
    group->error_code = item->error;
    if (item->error != KAFKA_ERROR_NONE) return true;
    group->topics = call_alloc_array(call, item->row_count, sizeof *group->topics);
    if (!group->topics) return false;
    for (int32_t i = 0; i < item->row_count;) {
        struct offset_fetch_response_group_topic *topic = &group->topics[group->topics_count++];
        int32_t count = rows_of_topic(item, i);
        topic->name = item->rows[i].topic;
        topic->partitions = call_alloc_array(call, count, sizeof *topic->partitions);
        if (!topic->partitions) return false;
        for (int32_t end = i + count; i < end; i++) {
            const struct group_offset_row *row = &item->rows[i];
            topic->partitions[topic->partitions_count++] =
                (struct offset_fetch_response_group_topic_partition){.partition_index = row->partition,
                                                                     .committed_offset = row->offset,
                                                                     .committed_leader_epoch = row->leader_epoch,
                                                                     .metadata = row->metadata,
                                                                     .error_code = row->error};
        }
    }
    return true;
}

static void answer_groups(struct api_call *call, const struct group_call *g) {
    struct offset_fetch_response response;
    message_default(call->api->response, &response);
    response.groups = call_alloc_array(call, g->item_count, sizeof *response.groups);
    if (!response.groups) return;
    for (int32_t i = 0; i < g->item_count; i++) {
        if (!answer_group(call, &g->items[i], &response.groups[response.groups_count++])) return;
    }
    respond(call, &response);
}

static void answer(struct group_call *g) {
    struct api_call *call = call_group_end(g);
    if (!call) return;
    if (call->version >= VERSION_OF_GROUPS) {
        answer_groups(call, g);
    } else {
        answer_single(call, &g->items[0]);
    }
}

// ---- the request
// -----------------------------------------------------------------------------------------------------

static bool rows_reserve(struct api_call *call, struct group_call_item *item, int64_t count) {
    item->rows = call_alloc_array(call, (int32_t)count, sizeof *item->rows);
    return item->rows != NULL;
}

static void rows_add(struct group_call_item *item, struct str topic, const int32_t *partitions, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        item->rows[item->row_count++] = (struct group_offset_row){
            .topic = topic, .partition = partitions[i], .offset = -1, .leader_epoch = -1, .metadata = str_of("")};
    }
}

static bool item_single(struct api_call *call, struct group_call_item *item) {
    const struct offset_fetch_request *request = call->body;
    int64_t count = 0;
    item->group_id = request->group_id;
    item->all_offsets = request->topics_count < 0 && call->version >= VERSION_OF_TOP_ERROR;
    for (int32_t t = 0; t < request->topics_count; t++)
        count += max_i64(request->topics[t].partition_indexes_count, 0);
    if (!rows_reserve(call, item, count)) return false;
    for (int32_t t = 0; t < request->topics_count; t++)
        rows_add(item, request->topics[t].name, request->topics[t].partition_indexes,
                 request->topics[t].partition_indexes_count);
    return true;
}

static bool item_group(struct api_call *call, const struct offset_fetch_request_group *asked,
                       struct group_call_item *item) {
    int64_t count = 0;
    item->group_id = asked->group_id;
    item->all_offsets = asked->topics_count < 0;
    for (int32_t t = 0; t < asked->topics_count; t++)
        count += max_i64(asked->topics[t].partition_indexes_count, 0);
    if (!rows_reserve(call, item, count)) return false;
    for (int32_t t = 0; t < asked->topics_count; t++)
        rows_add(item, asked->topics[t].name, asked->topics[t].partition_indexes,
                 asked->topics[t].partition_indexes_count);
    return true;
}

// ---- version 0
// -------------------------------------------------------------------------------------------------------

struct fetch_call {
    struct api_call *call;
    struct group_call_item item;
    struct controller_request controller;
};

static void answer_from_store(struct core *core, struct controller_request *request) {
    (void)core;
    struct fetch_call *f = container_of(request, struct fetch_call, controller);
    for (size_t i = 0; i < request->row_count; i++) {
        const struct controller_offset *from = &request->offsets[i];
        struct group_offset_row *row = &f->item.rows[i];
        row->error = request->error != KAFKA_ERROR_NONE ? request->error : from->error;
        row->offset = row->error == KAFKA_ERROR_NONE ? from->offset : -1;
    }
    answer_single(f->call, &f->item);
}

static void fetch_from_store(struct api_call *call) {
    struct fetch_call *f = call_alloc(call, sizeof *f);
    if (!f || !item_single(call, &f->item)) return;
    const struct image *image = image_of(call->core);
    f->call = call;
    f->controller = (struct controller_request){.kind = CONTROLLER_LOAD_OFFSETS,
                                                .arena = &call->request->arena,
                                                .answered = answer_from_store,
                                                .group = f->item.group_id,
                                                .row_count = (size_t)f->item.row_count};
    f->controller.offsets = call_alloc_array(call, f->item.row_count, sizeof *f->controller.offsets);
    if (!f->controller.offsets) return;
    for (int32_t i = 0; i < f->item.row_count; i++) {
        const struct group_offset_row *row = &f->item.rows[i];
        const struct image_topic *topic = image_topic_by_name(image, row->topic);
        f->controller.offsets[i] = (struct controller_offset){.topic = row->topic, .partition = row->partition};
        if (!topic || topic->deleting || !image_partition(topic, row->partition))
            f->controller.offsets[i].error = KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
    }
    controller_send(call->core, facts_of(call->core)->controller, &f->controller);
}

void handle_offset_fetch(struct api_call *call) {
    const struct offset_fetch_request *request = call->body;
    if (call->version == 0) return fetch_from_store(call);
    bool many = call->version >= VERSION_OF_GROUPS;
    struct group_call *g = call_group_begin(call, GROUP_CALL_FETCH_OFFSETS, many ? request->groups_count : 1);
    if (!g) return;
    for (int32_t i = 0; i < g->item_count; i++) {
        g->items[i].require_stable = request->require_stable;
        if (!(many ? item_group(call, &request->groups[i], &g->items[i]) : item_single(call, &g->items[i]))) return;
    }
    call_group_send(g, answer);
}
