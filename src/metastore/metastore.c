// SPDX-License-Identifier: Apache-2.0
// What all stores share.
#include "metastore/metastore.h"
#include <stdlib.h>

const char *metastore_result_name(enum metastore_result result) {
    static const char *const names[] = {"ok",
                                        "no node",
                                        "node exists",
                                        "bad version",
                                        "not empty",
                                        "no children below an ephemeral node",
                                        "invalid",
                                        "rolled back",
                                        "connection loss",
                                        "session expired",
                                        "store failed"};
    ASSERT(result >= METASTORE_OK && (size_t)result < ARRAY_LENGTH(names));
    return names[result];
}

static void call_init(struct metastore_call *call, bool is_write) {
    call->done = false;
    call->result = METASTORE_OK;
    call->is_write = is_write;
    call->sequence = 0;
    list_init(&call->link);
    list_init(&call->fired);
}

void metastore_write_start(struct metastore *store, struct metastore_write *write) {
    ASSERT(write->changes != NULL && write->count > 0);
    call_init(&write->call, true);
    write->failed = write->count;
    write->zxid = 0;
    store->functions->write(store, write);
}

void metastore_read_start(struct metastore *store, struct metastore_read *read) {
    ASSERT(read->path != NULL);
    call_init(&read->call, false);
    read->stat = (struct metastore_stat){0};
    read->data = (struct bytes){0};
    read->children = NULL;
    read->child_count = 0;
    store->functions->read(store, read);
}

void metastore_watch_cancel(struct metastore *store, struct metastore_watch *watch) {
    store->functions->cancel(store, watch);
    ASSERT(!watch->armed);
}

void metastore_read_free(struct metastore_read *read) {
    free((void *)(uintptr_t)read->data.data);
    for (size_t i = 0; i < read->child_count; i++)
        free(read->children[i]);
    free(read->children);
    read->data = (struct bytes){0};
    read->children = NULL;
    read->child_count = 0;
}

static bool component_is_valid(struct str name) {
    if (name.size == 0 || str_is(name, ".") || str_is(name, "..")) return false;
    for (size_t i = 0; i < name.size; i++)
        if ((unsigned char)name.data[i] < 0x20 || name.data[i] == 0x7f) return false;
    return true;
}

bool metastore_path_is_valid(struct str path) {
    if (path.size == 0 || path.size > METASTORE_PATH_MAX || path.data[0] != '/') return false;
    if (path.size == 1) return true;
    size_t start = 1;
    for (size_t i = 1; i <= path.size; i++) {
        if (i < path.size && path.data[i] != '/') continue;
        if (!component_is_valid((struct str){path.data + start, i - start})) return false;
        start = i + 1;
    }
    return true;
}
