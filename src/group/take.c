// SPDX-License-Identifier: Apache-2.0
// A call has arrived on this core: its items whose partition is owned here are looked at. Most are answered at once,
// from memory. JoinGroup and SyncGroup may be parked; commits and deletions wait for their record.
#include "group/groups.h"
#include "group/java_text.h"
#include <stdio.h>
#include <stdlib.h>

enum { MEMBER_ID_PREFIX_MAX = 32000, UUID_TEXT_BYTES = 36 }; // a text on the wire has at most 32767 bytes

// <client id or instance id>-<random uuid>
static struct str member_id_make(struct groups *groups, struct group_call *call, struct str prefix) {
    if (prefix.size > MEMBER_ID_PREFIX_MAX) prefix.size = MEMBER_ID_PREFIX_MAX;
    char *id = arena_alloc(call->arena, prefix.size + 1 + UUID_TEXT_BYTES + 1);
    if (!id) return (struct str){0};
    if (prefix.size > 0) memcpy(id, prefix.data, prefix.size);
    uint64_t a = os_random(groups->core->os), b = os_random(groups->core->os);
    a = (a & ~0xf000ull) | 0x4000;          // version 4
    b = (b & ~(3ull << 62)) | (2ull << 62); // of the usual variant
    snprintf(id + prefix.size, 1 + UUID_TEXT_BYTES + 1, "-%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xffff), (unsigned)(b >> 48),
             (unsigned long long)(b & 0xffffffffffffull));
    return (struct str){id, prefix.size + 1 + UUID_TEXT_BYTES};
}

// ---- join and sync
// ---------------------------------------------------------------------------------------------------

static int name_order(const void *a, const void *b) {
    const struct group_protocol *const *x = a, *const *y = b;
    int order = str_compare((*x)->name, (*y)->name);
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

// The request's protocols, each name once (its first place counts). NULL: the arena is used up.
static struct group_protocol *protocols_make(struct group_call *call, const struct join_group_request *request,
                                             int32_t *count) {
    size_t n = request->protocols_count > 0 ? (size_t)request->protocols_count : 0;
    struct group_protocol *protocols = arena_alloc_array(call->arena, n + 1, sizeof *protocols);
    struct group_protocol **sorted = arena_alloc_array(call->arena, n + 1, sizeof *sorted);
    if (!protocols || !sorted) return NULL;
    for (size_t i = 0; i < n; i++) {
        protocols[i] = (struct group_protocol){request->protocols[i].name, request->protocols[i].metadata};
        sorted[i] = &protocols[i];
    }
    if (n > 1) qsort(sorted, n, sizeof *sorted, name_order);
    for (size_t i = 1; i < n; i++) {
        if (str_equal(sorted[i]->name, sorted[i - 1]->name)) {
            sorted[i]->metadata.data = NULL; // repeated
            sorted[i]->metadata.size = SIZE_MAX;
            sorted[i] = sorted[i - 1];
        }
    }
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        if (protocols[i].metadata.size != SIZE_MAX) protocols[(*count)++] = protocols[i];
    }
    return protocols;
}

static void join_refuse(struct group_call *call, struct str member_id, int16_t error) {
    call->join.error_code = error;
    call->join.generation_id = -1;
    call->join.protocol_name = (struct str){0};
    call->join.leader = str_of("");
    call->join.member_id = member_id;
}

static void take_join(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    const struct join_group_request *request = call->request;
    int16_t error = group_check_session_timeout(&groups->settings.limits, request->session_timeout_ms);
    if (error != KAFKA_ERROR_NONE) return join_refuse(call, request->member_id, error);
    struct group *g = groups_find(groups, item->group_id);
    if (!g && request->member_id.size > 0) return join_refuse(call, request->member_id, KAFKA_ERROR_UNKNOWN_MEMBER_ID);
    if (!g) g = groups_create(groups, item->group_id, item->partition);
    if (!g) return join_refuse(call, str_of(""), KAFKA_ERROR_GROUP_MAX_SIZE_REACHED);
    struct group_join join = {
        .request = call,
        .member_id = request->member_id,
        .instance_id = request->group_instance_id,
        .client_id = call->client_id,
        .client_host = call->client_host,
        .protocol_type = request->protocol_type,
        .session_timeout_ms = request->session_timeout_ms,
        .rebalance_timeout_ms = call->version == 0 ? request->session_timeout_ms : request->rebalance_timeout_ms,
        .requires_member_id = call->version >= 4,
        .can_skip_assignment = call->version >= 9,
        .new_member_id = member_id_make(
            groups, call, str_is_null(request->group_instance_id) ? call->client_id : request->group_instance_id),
    };
    join.protocols = protocols_make(call, request, &join.protocol_count);
    if (!join.protocols || str_is_null(join.new_member_id)) {
        call->out_of_memory = true;
        return;
    }
    call->group = g;
    group_call_hold(call);
    group_join(g, &join, groups_now(groups), &groups->output);
    groups_group_moved(groups, g);
}

static void sync_refuse(struct group_call *call, int16_t error) {
    call->sync.error_code = error;
    call->sync.assignment = (struct bytes){(const uint8_t *)"", 0};
}

static void take_sync(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    const struct sync_group_request *request = call->request;
    struct group *g = groups_find(groups, item->group_id);
    if (!g) return sync_refuse(call, KAFKA_ERROR_UNKNOWN_MEMBER_ID);
    const struct group_sync sync = {
        .request = call,
        .member_id = request->member_id,
        .instance_id = request->group_instance_id,
        .generation = request->generation_id,
        .protocol_type = request->protocol_type,
        .protocol_name = request->protocol_name,
        .assignments = request->assignments,
        .assignment_count = request->assignments_count,
    };
    call->group = g;
    group_call_hold(call);
    group_sync(g, &sync, groups_now(groups), &groups->output);
    groups_group_moved(groups, g);
}

void groups_forget(struct groups *groups, struct group_call *call) {
    ASSERT(call->group != NULL);
    group_forget(call->group, call);
    call->group = NULL;
    group_call_release(groups->core, call);
}

// ---- heartbeat and leave
// ---------------------------------------------------------------------------------------------

static void take_heartbeat(struct groups *groups, struct group_call_item *item) {
    struct group *g = groups_find(groups, item->group_id);
    item->error = g ? group_heartbeat(g, item->member_id, item->instance_id, item->generation, groups_now(groups))
                    : KAFKA_ERROR_UNKNOWN_MEMBER_ID;
    if (g) groups_group_moved(groups, g);
}

// Before version 3 there is one member, and its error is the request's.
static void take_leave(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    enum { VERSION_OF_MANY = 3 };
    const struct leave_group_request *request = call->request;
    const struct leave_group_request_member one = {.member_id = request->member_id};
    bool many = call->version >= VERSION_OF_MANY;
    const struct leave_group_request_member *leaving = many ? request->members : &one;
    int32_t count = many ? request->members_count : 1;
    struct group *g = groups_find(groups, item->group_id);
    struct leave_group_response_member *rows =
        arena_alloc_array(call->arena, count > 0 ? (size_t)count : 0, sizeof *rows);
    if (!rows) {
        call->out_of_memory = true;
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        rows[i].member_id = leaving[i].member_id;
        rows[i].group_instance_id = leaving[i].group_instance_id;
        rows[i].error_code =
            g ? group_leave(g, leaving[i].member_id, leaving[i].group_instance_id, groups_now(groups), &groups->output)
              : KAFKA_ERROR_UNKNOWN_MEMBER_ID;
    }
    if (g) groups_group_moved(groups, g);
    if (many) {
        call->leave.members = rows;
        call->leave.members_count = count > 0 ? count : 0;
    } else {
        item->error = rows[0].error_code;
    }
}

// ---- list, describe, delete
// ------------------------------------------------------------------------------------------

static bool same_ignoring_case(struct str a, const char *b) {
    if (a.size != strlen(b)) return false;
    for (size_t i = 0; i < a.size; i++) {
        char x = a.data[i], y = b[i];
        if (x >= 'A' && x <= 'Z') x = (char)(x - 'A' + 'a');
        if (y >= 'A' && y <= 'Z') y = (char)(y - 'A' + 'a');
        if (x != y) return false;
    }
    return true;
}

// No filter lets everything through.
static bool filter_has(const struct str *filter, int32_t count, const char *value) {
    if (count <= 0) return true;
    for (int32_t i = 0; i < count; i++) {
        if (same_ignoring_case(filter[i], value)) return true;
    }
    return false;
}

static struct str arena_text(struct group_call *call, struct str s) {
    struct str copy = arena_copy_str(call->arena, str_is_null(s) ? str_of("") : s);
    if (str_is_null(copy)) call->out_of_memory = true;
    return copy;
}

static void list_add(struct group_call *call, const struct group *g) {
    struct list_groups_response *response = &call->list;
    if ((size_t)response->groups_count == call->list_capacity) {
        size_t capacity = call->list_capacity ? call->list_capacity * 2 : 64;
        struct list_groups_response_group *groups = arena_alloc_array(call->arena, capacity, sizeof *groups);
        if (!groups) {
            call->out_of_memory = true;
            return;
        }
        if (response->groups_count > 0)
            memcpy(groups, response->groups, (size_t)response->groups_count * sizeof *groups);
        response->groups = groups;
        call->list_capacity = capacity;
    }
    response->groups[response->groups_count++] = (struct list_groups_response_group){
        .group_id = arena_text(call, g->id),
        .protocol_type = arena_text(call, g->protocol_type),
        .group_state = str_of(group_state_name(g->state)),
        .group_type = str_of("classic"),
    };
}

static void take_list(struct groups *groups, struct group_call *call) {
    const struct list_groups_request *request = call->request;
    if (groups->is_stopping) call->list.error_code = KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    if (groups->partitions_loading > 0) call->list.error_code = KAFKA_ERROR_COORDINATOR_LOAD_IN_PROGRESS;
    if (!filter_has(request->types_filter, request->types_filter_count, "classic")) return;
    LIST_FOREACH (link, &groups->all) {
        const struct group *g = container_of(link, struct group, link);
        if (groups_partition_state(groups, g->partition) != KAFKA_ERROR_NONE) continue;
        if (filter_has(request->states_filter, request->states_filter_count, group_state_name(g->state)))
            list_add(call, g);
        if (call->out_of_memory) return;
    }
}

static void describe_member(struct group_call *call, const struct group *g, const struct group_member *m,
                            struct describe_groups_response_member *row) {
    *row = (struct describe_groups_response_member){
        .member_id = arena_text(call, m->id),
        .group_instance_id = str_is_null(m->instance_id) ? m->instance_id : arena_text(call, m->instance_id),
        .client_id = arena_text(call, m->client_id),
        .client_host = arena_text(call, m->client_host),
        .member_metadata = {(const uint8_t *)"", 0},
        .member_assignment = {(const uint8_t *)"", 0},
    };
    if (g->state != GROUP_STABLE) return; // only then do they belong together
    const struct group_protocol *protocol = member_protocol(m, g->protocol_name);
    struct bytes metadata = protocol ? protocol->metadata : (struct bytes){0};
    struct str metadata_copy = arena_text(call, (struct str){(const char *)metadata.data, metadata.size});
    struct str assignment_copy = arena_text(call, (struct str){(const char *)m->assignment.data, m->assignment.size});
    row->member_metadata = (struct bytes){(const uint8_t *)metadata_copy.data, metadata_copy.size};
    row->member_assignment = (struct bytes){(const uint8_t *)assignment_copy.data, assignment_copy.size};
}

static void take_describe(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    const struct group *g = groups_find(groups, item->group_id);
    struct describe_groups_response_group *row = item->described;
    if (!g) {
        row->group_state = str_of(group_state_name(GROUP_DEAD));
        return;
    }
    row->group_state = str_of(group_state_name(g->state));
    row->protocol_type = arena_text(call, g->protocol_type);
    if (g->state == GROUP_STABLE) row->protocol_data = arena_text(call, g->protocol_name);
    row->members = arena_alloc_array(call->arena, (size_t)g->member_count, sizeof *row->members);
    if (!row->members) {
        call->out_of_memory = true;
        return;
    }
    LIST_FOREACH (link, (struct list *)&g->members) {
        if (call->out_of_memory) return;
        describe_member(call, g, container_of(link, struct group_member, link), &row->members[row->members_count++]);
    }
}

static void take_delete(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    struct group *g = groups_find(groups, item->group_id);
    item->error = !g                        ? KAFKA_ERROR_GROUP_ID_NOT_FOUND
                  : g->state != GROUP_EMPTY ? KAFKA_ERROR_NON_EMPTY_GROUP
                                            : KAFKA_ERROR_NONE;
    if (item->error != KAFKA_ERROR_NONE) return;
    struct record_batch batch;
    record_batch_begin(&batch, groups_now(groups).wall_ms);
    LIST_FOREACH (link, &g->offsets.all) {
        const struct offset *offset = container_of(link, struct offset, owner_link);
        record_batch_add_offset(&batch, g->id, offset->topic->name, offset->partition, NULL);
    }
    if (g->generation > 0) record_batch_add_group_tombstone(&batch, g->id);
    group_bury(g, groups_now(groups), &groups->output);
    // Answered when the tombstones are committed: what has been deleted stays deleted.
    const struct group_write write = {.kind = GROUP_WRITE_TOMBSTONES, .call = call, .item = item};
    if (record_batch_count(&batch) > 0) groups_write(groups, item->partition, &write, &batch);
    groups_drop(groups, g);
}

// ---- offsets
// ---------------------------------------------------------------------------------------------------------

static void rows_refuse(struct group_call_item *item, int16_t error) {
    for (int32_t i = 0; i < item->row_count; i++) {
        if (item->rows[i].error == KAFKA_ERROR_NONE) item->rows[i].error = error;
    }
}

static int16_t commit_group(struct groups *groups, struct group_call_item *item, struct group **group) {
    struct group *g = groups_find(groups, item->group_id);
    if (!g) {
        if (item->generation >= 0) return KAFKA_ERROR_ILLEGAL_GENERATION; // of a group that is gone
        g = groups_create(groups, item->group_id, item->partition);
        if (!g) return KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    }
    *group = g;
    return group_check_commit(g, item->member_id, item->instance_id, item->generation, groups_now(groups));
}

static void take_commit(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    struct group *g = NULL;
    int16_t error = commit_group(groups, item, &g);
    if (g) groups_group_moved(groups, g);
    if (error != KAFKA_ERROR_NONE) return rows_refuse(item, error);
    uint64_t commit = ++groups->last_commit;
    struct record_batch batch;
    record_batch_begin(&batch, groups_now(groups).wall_ms);
    for (int32_t i = 0; i < item->row_count; i++) {
        struct group_offset_row *row = &item->rows[i];
        if (row->error != KAFKA_ERROR_NONE) continue;
        const struct offset_value value = group_row_value(item, row, batch.timestamp_ms);
        if (java_length(value.metadata) > (size_t)max_i64(groups->settings.offset_metadata_max, 0)) {
            row->error = KAFKA_ERROR_OFFSET_METADATA_TOO_LARGE;
        } else if (!group_memory_fits(&groups->memory, value.metadata.size) ||
                   !offsets_prepare(&g->offsets, row->topic, row->partition, commit)) {
            groups_say_memory_is_short(groups);
            row->error = KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
        } else {
            record_batch_add_offset(&batch, g->id, row->topic, row->partition, &value);
        }
    }
    if (record_batch_count(&batch) == 0) return;
    const struct group_write write = {.kind = GROUP_WRITE_COMMIT, .group = g, .id = commit, .call = call, .item = item};
    groups_write(groups, item->partition, &write, &batch);
}

static int row_order(const void *a, const void *b) {
    const struct group_offset_row *x = a, *y = b;
    int order = str_compare(x->topic, y->topic);
    return order != 0 ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

static void row_fill(struct group_call *call, const struct group_call_item *item, const struct offset *offset,
                     struct group_offset_row *row) {
    row->offset = -1;
    row->leader_epoch = -1;
    row->metadata = str_of("");
    if (!offset) return;
    if (item->require_stable && offset->pending) {
        row->error = KAFKA_ERROR_UNSTABLE_OFFSET_COMMIT;
    } else if (offset->is_committed) {
        row->offset = offset->value.offset;
        row->leader_epoch = offset->value.leader_epoch;
        row->metadata = arena_text(call, offset->value.metadata);
    }
}

static void fetch_all(struct group_call *call, struct group_call_item *item, const struct group *g) {
    item->rows = arena_alloc_array(call->arena, g->offsets.committed_count, sizeof *item->rows);
    if (!item->rows) {
        call->out_of_memory = true;
        return;
    }
    LIST_FOREACH (link, (struct list *)&g->offsets.all) {
        const struct offset *offset = container_of(link, struct offset, owner_link);
        if (!offset->is_committed || call->out_of_memory) continue;
        struct group_offset_row *row = &item->rows[item->row_count++];
        *row =
            (struct group_offset_row){.topic = arena_text(call, offset->topic->name), .partition = offset->partition};
        row_fill(call, item, offset, row);
    }
    if (item->row_count > 1) qsort(item->rows, (size_t)item->row_count, sizeof *item->rows, row_order);
}

static void take_fetch(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    const struct group *g = groups_find(groups, item->group_id);
    if (item->all_offsets) {
        if (g) fetch_all(call, item, g);
        return;
    }
    for (int32_t i = 0; i < item->row_count && !call->out_of_memory; i++) {
        struct group_offset_row *row = &item->rows[i];
        row_fill(call, item, g ? offsets_find(&g->offsets, row->topic, row->partition) : NULL, row);
    }
}

static void take_delete_offsets(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    struct group *g = groups_find(groups, item->group_id);
    item->error = g ? group_check_delete_offsets(g) : KAFKA_ERROR_GROUP_ID_NOT_FOUND;
    if (item->error != KAFKA_ERROR_NONE) return;
    struct record_batch batch;
    record_batch_begin(&batch, groups_now(groups).wall_ms);
    for (int32_t i = 0; i < item->row_count; i++) {
        struct group_offset_row *row = &item->rows[i];
        if (row->error != KAFKA_ERROR_NONE) continue;
        if (group_is_subscribed(g, row->topic)) {
            row->error = KAFKA_ERROR_GROUP_SUBSCRIBED_TO_TOPIC;
            continue;
        }
        struct offset *offset = offsets_find(&g->offsets, row->topic, row->partition);
        if (!offset) continue;
        record_batch_add_offset(&batch, g->id, row->topic, row->partition, NULL);
        offset_remove(offset);
    }
    int32_t partition = g->partition;
    groups_bury_if_unused(groups, g, &batch);
    const struct group_write write = {.kind = GROUP_WRITE_TOMBSTONES, .call = call, .item = item};
    if (record_batch_count(&batch) > 0) groups_write(groups, partition, &write, &batch);
}

// ---- all kinds
// -------------------------------------------------------------------------------------------------------

static void take_item(struct groups *groups, struct group_call *call, struct group_call_item *item) {
    switch (call->kind) {
    case GROUP_CALL_JOIN: take_join(groups, call, item); break;
    case GROUP_CALL_SYNC: take_sync(groups, call, item); break;
    case GROUP_CALL_HEARTBEAT: take_heartbeat(groups, item); break;
    case GROUP_CALL_LEAVE: take_leave(groups, call, item); break;
    case GROUP_CALL_COMMIT: take_commit(groups, call, item); break;
    case GROUP_CALL_FETCH_OFFSETS: take_fetch(groups, call, item); break;
    case GROUP_CALL_DELETE_OFFSETS: take_delete_offsets(groups, call, item); break;
    case GROUP_CALL_DESCRIBE: take_describe(groups, call, item); break;
    case GROUP_CALL_DELETE: take_delete(groups, call, item); break;
    case GROUP_CALL_LIST: UNREACHABLE();
    }
}

void groups_take(struct groups *groups, struct group_call *call) {
    if (call->kind == GROUP_CALL_LIST) return take_list(groups, call);
    for (int32_t i = 0; i < call->item_count; i++) {
        struct group_call_item *item = &call->items[i];
        if (item->core != groups->core->id) continue;
        item->error = groups_partition_state(groups, item->partition);
        if (item->error == KAFKA_ERROR_NONE) take_item(groups, call, item);
    }
}
