// SPDX-License-Identifier: Apache-2.0
// Offsets that very old clients keep in the metadata store (OffsetCommit and OffsetFetch v0): a node for each group,
// topic and partition, with decimal text. Nothing but these two requests reads them.
//
//   store:  set -> settled, and where the node is missing: make (its parents first) -> made
//   load:   get -> got
#include "controller/internal.h"
#include <stdlib.h>

#define STORE_STEPS(STEP) STEP(store, set) STEP(store, settled) STEP(store, made) STEP(store, release)
FLOW_DEFINE(store, STORE_STEPS)
#define FETCH_STEPS(STEP) STEP(fetch, get) STEP(fetch, got) STEP(fetch, release)
FLOW_DEFINE(fetch, FETCH_STEPS)

struct stored_offsets {
    struct procedure p;
    struct metastore_write **rows; // store: the write that decides about the row; NULL: refused already
    struct metastore_read *reads;  // load
};

static struct stored_offsets *offsets_of(struct flow *flow) {
    return container_of(flow, struct stored_offsets, p.flow);
}

// Names that would lead to another node ("a/b") are none.
static bool is_one_component(struct str name) {
    return name.size > 0 && !memchr(name.data, '/', name.size) && !memchr(name.data, '\0', name.size);
}

static const char *row_path(struct stored_offsets *t, size_t row) {
    const struct controller_request *request = t->p.request;
    char path[ZNODE_PATH_SIZE];
    znode_offset_path(path, request->group, request->offsets[row].topic, request->offsets[row].partition);
    bool clean = is_one_component(request->group) && is_one_component(request->offsets[row].topic);
    return arena_path(&t->p.arena, clean && metastore_path_is_valid(str_of(path)) ? path : "");
}

// ---- store

static flow_next store_step_set(struct flow *flow) {
    struct stored_offsets *t = offsets_of(flow);
    struct controller_request *request = t->p.request;
    t->rows = arena_alloc_array(&t->p.arena, request->row_count, sizeof(struct metastore_write *));
    ASSERT(t->rows != NULL);
    for (size_t i = 0; i < request->row_count; i++) {
        const char *path = row_path(t, i);
        if (request->offsets[i].error != KAFKA_ERROR_NONE) continue;
        if (!path[0]) {
            request->offsets[i].error = KAFKA_ERROR_INVALID_GROUP_ID;
            continue;
        }
        t->rows[i] = write_begin(&t->p.arena, &t->p.writes, 1);
        struct bytes data = znode_number_encode(&t->p.arena, request->offsets[i].offset);
        write_add(t->rows[i], metastore_set_node(path, data, METASTORE_ANY_VERSION));
    }
    writes_start(&t->p.writes, t->p.controller, flow);
    return FLOW_NEXT;
}

// The parents one by one, top down, then the node; whatever is there already is left.
static void make_node(struct stored_offsets *t, size_t row, struct write_set *set) {
    const struct metastore_change *change = &t->rows[row]->changes[0];
    struct str path = str_of(change->path);
    for (size_t i = strlen("/consumers/"); i < path.size; i++) {
        if (path.data[i] != '/') continue;
        struct str parent = arena_copy_str(&t->p.arena, (struct str){path.data, i});
        ASSERT(parent.data != NULL);
        write_add(write_begin(&t->p.arena, set, 1), metastore_create_node(parent.data, (struct bytes){0}, 0));
    }
    write_add(write_begin(&t->p.arena, set, 1), metastore_create_node(change->path, (struct bytes){0}, 0));
    // A row may come twice, or another broker may be faster: then the node is there and this sets it.
    t->rows[row] = write_begin(&t->p.arena, set, 1);
    write_add(t->rows[row], metastore_set_node(change->path, change->data, METASTORE_ANY_VERSION));
}

static flow_next store_step_settled(struct flow *flow) {
    struct stored_offsets *t = offsets_of(flow);
    if (!writes_are_done(&t->p.writes)) return FLOW_WAIT;
    t->p.writes = (struct write_set){0};
    for (size_t i = 0; i < t->p.request->row_count; i++)
        if (t->rows[i] && t->rows[i]->call.result == METASTORE_NO_NODE) make_node(t, i, &t->p.writes);
    writes_start(&t->p.writes, t->p.controller, flow);
    return FLOW_NEXT;
}

static flow_next store_step_made(struct flow *flow) {
    struct stored_offsets *t = offsets_of(flow);
    if (!writes_are_done(&t->p.writes)) return FLOW_WAIT;
    for (size_t i = 0; i < t->p.request->row_count; i++) {
        if (!t->rows[i] || t->rows[i]->call.result == METASTORE_OK) continue;
        t->p.request->offsets[i].error = controller_unexpected(t->p.controller, t->rows[i], "storing an offset");
    }
    return FLOW_NEXT;
}

static flow_next offsets_end(struct flow *flow) {
    struct stored_offsets *t = offsets_of(flow);
    procedure_end(&t->p);
    free(t);
    return FLOW_END;
}
static flow_next store_step_release(struct flow *flow) {
    return offsets_end(flow);
}

// ---- load

static flow_next fetch_step_get(struct flow *flow) {
    struct stored_offsets *t = offsets_of(flow);
    struct controller_request *request = t->p.request;
    t->reads = arena_alloc_array(&t->p.arena, request->row_count, sizeof *t->reads);
    ASSERT(t->reads != NULL);
    for (size_t i = 0; i < request->row_count; i++) {
        t->reads[i] = (struct metastore_read){.kind = METASTORE_GET, .path = row_path(t, i), .call.flow = flow};
        request->offsets[i].offset = -1;
        metastore_read_start(t->p.controller->options.store, &t->reads[i]);
    }
    return FLOW_NEXT;
}

static flow_next fetch_step_got(struct flow *flow) {
    struct stored_offsets *t = offsets_of(flow);
    for (size_t i = 0; i < t->p.request->row_count; i++)
        if (!t->reads[i].call.done) return FLOW_WAIT;
    for (size_t i = 0; i < t->p.request->row_count; i++) {
        struct controller_offset *row = &t->p.request->offsets[i];
        char memory[128];
        struct text reason = TEXT_IN(memory);
        if (row->error == KAFKA_ERROR_NONE &&
            (t->reads[i].call.result != METASTORE_OK ||
             !znode_number_decode(t->reads[i].data, INT64_MIN, INT64_MAX, &row->offset, &reason)))
            row->error = KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
        metastore_read_free(&t->reads[i]);
    }
    return FLOW_NEXT;
}

static flow_next fetch_step_release(struct flow *flow) {
    return offsets_end(flow);
}

void store_offsets_start(struct controller *c, struct controller_request *request) {
    struct stored_offsets *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    procedure_start(&t->p, c, request, &store_flow);
}
void load_offsets_start(struct controller *c, struct controller_request *request) {
    struct stored_offsets *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    procedure_start(&t->p, c, request, &fetch_flow);
}
