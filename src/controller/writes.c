// SPDX-License-Identifier: Apache-2.0
// Writes in flight: made in an arena, started together, awaited together. The store answers them in order.
#include "controller/internal.h"
#include <stdarg.h>
#include <stdio.h>

struct metastore_write *write_begin(struct arena *a, struct write_set *set, size_t changes_max) {
    struct write_item *item = arena_alloc(a, sizeof *item);
    struct metastore_change *changes = arena_alloc_array(a, changes_max, sizeof *changes);
    ASSERT(item != NULL && changes != NULL); // what clients ask for is bounded before
    item->write.changes = changes;
    if (set->last) {
        set->last->next = item;
    } else {
        set->first = item;
    }
    set->last = item;
    return &item->write;
}

struct metastore_change *write_add(struct metastore_write *write, struct metastore_change change) {
    write->changes[write->count] = change;
    return &write->changes[write->count++];
}

struct metastore_write *write_begin_fenced(struct controller *c, struct arena *a, struct write_set *set,
                                           size_t changes_max) {
    struct metastore_write *write = write_begin(a, set, changes_max + 1);
    write_add(write, metastore_check_node(ZNODE_CONTROLLER_EPOCH, c->epoch_version));
    return write;
}

void writes_start(struct write_set *set, struct controller *c, struct flow *flow) {
    for (struct write_item *item = set->first; item; item = item->next) {
        item->write.call.flow = flow;
        metastore_write_start(c->options.store, &item->write);
    }
}

bool writes_are_done(const struct write_set *set) {
    // Answers come in order: the last one is enough.
    return !set->last || set->last->write.call.done;
}

int16_t controller_unexpected(struct controller *c, const struct metastore_write *write, const char *doing) {
    bool fenced = write->failed == 0 && write->changes[0].kind == METASTORE_CHECK &&
                  str_is(str_of(write->changes[0].path), ZNODE_CONTROLLER_EPOCH);
    if (fenced) {
        controller_fail(c, "another broker has become the controller (%s)", doing);
        return KAFKA_ERROR_NOT_CONTROLLER;
    }
    const char *path = write->failed < write->count ? write->changes[write->failed].path : "";
    const char *failure = c->options.store->failure;
    controller_fail(c, "%s: %s %s%s%s", doing, path, metastore_result_name(write->call.result), failure[0] ? ": " : "",
                    failure);
    return KAFKA_ERROR_REQUEST_TIMED_OUT; // whether it happened is not known
}

const char *arena_path(struct arena *a, const char *path) {
    struct str copy = arena_copy_str(a, str_of(path));
    ASSERT(copy.data != NULL);
    return copy.data;
}
const char *arena_state_path(struct arena *a, struct str topic, int32_t partition) {
    char path[ZNODE_PATH_SIZE];
    znode_state_path(path, topic, partition);
    return arena_path(a, path);
}
const char *arena_partition_path(struct arena *a, struct str topic, int32_t partition) {
    char path[ZNODE_PATH_SIZE];
    znode_partition_path(path, topic, partition);
    return arena_path(a, path);
}
