// SPDX-License-Identifier: Apache-2.0
// A control core driven by the test's own thread, a temporary directory, and calls on a store that are awaited.
#pragma once

#include "metastore/embedded.h"
#include "os/linux/host.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

struct bench {
    struct flow bell; // ends the wait of the turn in which an answer came
    struct os_host *host;
    struct core_set *set;
    struct core *control;
    char directory[64], path[128];
};

#define BELL_STEPS(STEP) STEP(bell, ring) STEP(bell, release)
FLOW_DEFINE(bell, BELL_STEPS)
static flow_next bell_step_ring(struct flow *flow) {
    os_ring_doorbell(flow->core->os);
    return FLOW_WAIT;
}
static flow_next bell_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}
static inline struct flow *bell_of(struct core *control) {
    return &((struct bench *)control->net)->bell;
}

static inline void bench_open(struct bench *b) {
    *b = (struct bench){0};
    int error;
    b->host = os_host_create();
    b->set = core_set_create(b->host, 1, &error);
    cr_assert_not_null(b->set, "%d", error);
    b->control = core_control(b->set);
    b->control->net = (struct net *)b; // nothing here looks at it
    flow_start(&b->bell, &bell_flow, b->control);
    strcpy(b->directory, "/tmp/tailrace-metastore-XXXXXX");
    cr_assert_not_null(mkdtemp(b->directory));
    snprintf(b->path, sizeof b->path, "%s/tailrace.metadata", b->directory);
}
static inline void bench_close(struct bench *b) {
    core_set_destroy(b->set);
    os_host_destroy(b->host);
    unlink(b->path);
    rmdir(b->directory);
#ifdef __SANITIZE_ADDRESS__
    *b = (struct bench){0};
    cr_assert_eq(__lsan_do_recoverable_leak_check(), 0, "a leak");
#endif
}
static inline struct metastore *bench_store(struct bench *b, uint64_t compact_above_bytes) {
    struct embedded_open open = {.path = b->path, .compact_above_bytes = compact_above_bytes};
    int64_t result = embedded_open_run(b->host, &open);
    cr_assert_eq(result, 0, "%s", open.reason);
    embedded_attach(open.store, b->control);
    return open.store;
}
// Turns of the loop until *flag, whose flow is the bell; a test that hangs is ended by ctest.
static inline void bench_until(struct core *control, const bool *flag) {
    while (!*flag)
        core_turn(control);
}
static inline void bench_store_close(struct bench *b, struct metastore *store) {
    bool done = false;
    metastore_close(store, &b->bell, &done);
    bench_until(b->control, &done);
}

static inline struct bytes octets(const char *text) {
    return (struct bytes){(const uint8_t *)text, text ? strlen(text) : 0};
}
// Awaited calls.
static inline enum metastore_result do_write(struct metastore *store, struct metastore_change *changes, size_t count) {
    struct metastore_write write = {.call.flow = bell_of(store->core), .changes = changes, .count = count};
    metastore_write_start(store, &write);
    cr_assert_not(write.call.done, "an answer inside the call");
    bench_until(store->core, &write.call.done);
    return write.call.result;
}
static inline enum metastore_result do_create(struct metastore *store, const char *path, const char *data, int flags) {
    struct metastore_change change = metastore_create_node(path, octets(data), flags);
    return do_write(store, &change, 1);
}
static inline enum metastore_result do_set(struct metastore *store, const char *path, const char *data,
                                           int32_t version) {
    struct metastore_change change = metastore_set_node(path, octets(data), version);
    return do_write(store, &change, 1);
}
static inline enum metastore_result do_delete(struct metastore *store, const char *path, int32_t version) {
    struct metastore_change change = metastore_delete_node(path, version);
    return do_write(store, &change, 1);
}
static inline void do_read(struct metastore *store, struct metastore_read *read) {
    read->call.flow = bell_of(store->core);
    metastore_read_start(store, read);
    cr_assert_not(read->call.done, "an answer inside the call");
    bench_until(store->core, &read->call.done);
}

// What every store must do; the tree below `root` ("" or "/x", existing) is the suite's. `reconnect` gives a second
// session on the same tree after ending the first, or NULL.
void conformance_run(struct metastore *store, const char *root);
