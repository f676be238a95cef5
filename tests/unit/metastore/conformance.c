// SPDX-License-Identifier: Apache-2.0
// The conformance suite of metadata stores: whatever stands behind the interface has to pass it.
#include "bench.h"

struct paths {
    char at[16][128];
};
// "a/b" below the root.
static const char *under(struct paths *p, int slot, const char *root, const char *name) {
    snprintf(p->at[slot], sizeof p->at[slot], "%s/%s", root, name);
    return p->at[slot];
}

static void versions(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "versions"), *b = under(&p, 1, root, "versions/b");
    cr_assert_eq(do_create(store, b, "x", 0), METASTORE_NO_NODE);
    cr_assert_eq(do_create(store, a, NULL, 0), METASTORE_OK);
    cr_assert_eq(do_create(store, a, "x", 0), METASTORE_NODE_EXISTS);
    cr_assert_eq(do_create(store, b, "", 0), METASTORE_OK);
    struct metastore_read get = {.kind = METASTORE_GET, .path = a};
    do_read(store, &get);
    cr_assert_eq(get.call.result, METASTORE_OK);
    cr_assert_null(get.data.data, "null data stays null");
    cr_assert_eq(get.stat.version, 0);
    cr_assert_eq(get.stat.child_count, 1);
    cr_assert_eq(get.stat.czxid, get.stat.mzxid);
    metastore_read_free(&get);
    cr_assert_eq(do_set(store, a, "one", 1), METASTORE_BAD_VERSION);
    cr_assert_eq(do_set(store, a, "one", 0), METASTORE_OK);
    cr_assert_eq(do_set(store, a, "two", METASTORE_ANY_VERSION), METASTORE_OK);
    do_read(store, &get);
    cr_assert_str_eq((const char *)get.data.data, "two");
    cr_assert_eq(get.stat.version, 2);
    cr_assert_gt(get.stat.mzxid, get.stat.czxid);
    metastore_read_free(&get);
    get.path = b;
    do_read(store, &get);
    cr_assert(get.data.data != NULL && get.data.size == 0, "empty data is not null");
    metastore_read_free(&get);
    cr_assert_eq(do_delete(store, a, METASTORE_ANY_VERSION), METASTORE_NOT_EMPTY);
    cr_assert_eq(do_delete(store, b, 1), METASTORE_BAD_VERSION);
    cr_assert_eq(do_delete(store, b, 0), METASTORE_OK);
    cr_assert_eq(do_delete(store, a, 2), METASTORE_OK);
    cr_assert_eq(do_delete(store, a, 2), METASTORE_NO_NODE);
    cr_assert_eq(do_set(store, a, "x", METASTORE_ANY_VERSION), METASTORE_NO_NODE);
    cr_assert_eq(do_create(store, "/a//b", "x", 0), METASTORE_INVALID);
}

static void multi(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "multi"), *b = under(&p, 1, root, "multi/b"), *c = under(&p, 2, root, "multi/c");
    struct metastore_change good[] = {metastore_create_node(a, octets("1"), 0),
                                      metastore_create_node(b, octets("2"), 0), metastore_set_node(b, octets("3"), 0),
                                      metastore_check_node(a, 0)};
    cr_assert_eq(do_write(store, good, 4), METASTORE_OK);
    cr_assert_eq(good[2].stat.version, 1);
    cr_assert_eq(good[0].stat.czxid, good[1].stat.czxid, "one write has one zxid");
    struct metastore_change bad[] = {metastore_delete_node(b, 1), metastore_create_node(c, octets("4"), 0),
                                     metastore_check_node(a, 9), metastore_set_node(a, octets("5"), 0)};
    struct metastore_write write = {.call.flow = bell_of(store->core), .changes = bad, .count = 4};
    metastore_write_start(store, &write);
    bench_until(store->core, &write.call.done);
    cr_assert_eq(write.call.result, METASTORE_BAD_VERSION);
    cr_assert_eq(write.failed, 2);
    cr_assert_eq(bad[2].result, METASTORE_BAD_VERSION);
    cr_assert_eq(bad[0].result, METASTORE_ROLLED_BACK);
    struct metastore_read children = {.kind = METASTORE_CHILDREN, .path = a};
    do_read(store, &children);
    cr_assert_eq(children.child_count, 1, "nothing happened");
    cr_assert_str_eq(children.children[0], "b");
    metastore_read_free(&children);
    struct metastore_change end[] = {metastore_delete_node(b, 1), metastore_delete_node(a, 0)};
    cr_assert_eq(do_write(store, end, 2), METASTORE_OK);
}

static void growing_czxid(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "czxid");
    int64_t last = 0;
    for (int i = 0; i < 3; i++) {
        struct metastore_change create = metastore_create_node(a, octets("x"), 0);
        cr_assert_eq(do_write(store, &create, 1), METASTORE_OK);
        cr_assert_gt(create.stat.czxid, last);
        last = create.stat.czxid;
        cr_assert_eq(do_delete(store, a, 0), METASTORE_OK);
    }
}

static void ephemeral(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "ephemeral"), *b = under(&p, 1, root, "ephemeral/b");
    struct metastore_change create = metastore_create_node(a, octets("x"), METASTORE_EPHEMERAL);
    cr_assert_eq(do_write(store, &create, 1), METASTORE_OK);
    cr_assert_neq(store->session_id, 0);
    cr_assert_eq(create.stat.ephemeral_owner, store->session_id);
    cr_assert_eq(do_create(store, b, "x", 0), METASTORE_NO_CHILDREN);
    struct metastore_read exists = {.kind = METASTORE_EXISTS, .path = a};
    do_read(store, &exists);
    cr_assert_eq(exists.stat.ephemeral_owner, store->session_id);
    cr_assert_eq(do_delete(store, a, 0), METASTORE_OK);
}

static void sequential(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "seq"), *n = under(&p, 1, root, "seq/n_");
    cr_assert_eq(do_create(store, a, NULL, 0), METASTORE_OK);
    long last = -1;
    for (int i = 0; i < 4; i++) {
        struct metastore_change create = metastore_create_node(n, octets("x"), METASTORE_SEQUENTIAL);
        cr_assert_eq(do_write(store, &create, 1), METASTORE_OK);
        cr_assert_eq(strlen(create.digits), 10);
        cr_assert_gt(atol(create.digits), last, "numbers grow, also after deletions");
        last = atol(create.digits);
        char path[160];
        snprintf(path, sizeof path, "%s%s", n, create.digits);
        if (i > 0) cr_assert_eq(do_delete(store, path, 0), METASTORE_OK);
        if (i == 0) cr_assert_eq(do_create(store, path, "x", 0), METASTORE_NODE_EXISTS);
    }
    char path[160];
    snprintf(path, sizeof path, "%s%010d", n, 0);
    cr_assert_eq(do_delete(store, path, 0), METASTORE_OK);
    cr_assert_eq(do_delete(store, a, METASTORE_ANY_VERSION), METASTORE_OK);
}

struct seen {
    struct metastore_watch watch;
    int count;
    const bool *not_before, *not_after; // of the order between events and answers
    bool was_before, was_after;
};
static void seen_fired(struct metastore_watch *watch) {
    struct seen *seen = container_of(watch, struct seen, watch);
    seen->count++;
    if (seen->not_after) seen->was_after = *seen->not_after;
    if (seen->not_before) seen->was_before = !*seen->not_before;
}

static void watches(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "watch"), *b = under(&p, 1, root, "watch/b");
    struct seen exists = {.watch.fired = seen_fired}, data = exists, children = exists, cancelled = exists;
    struct metastore_read read = {.kind = METASTORE_EXISTS, .path = a, .watch = &exists.watch};
    do_read(store, &read);
    cr_assert_eq(read.call.result, METASTORE_NO_NODE);
    cr_assert(exists.watch.armed, "exists watches what is not there");
    struct metastore_read get = {.kind = METASTORE_GET, .path = a, .watch = &data.watch};
    do_read(store, &get);
    cr_assert_not(data.watch.armed, "get does not");

    // The event comes before the answer to the write that caused it.
    struct metastore_change create = metastore_create_node(a, octets("x"), 0);
    struct metastore_write write = {.call.flow = bell_of(store->core), .changes = &create, .count = 1};
    exists.not_after = &write.call.done;
    metastore_write_start(store, &write);
    bench_until(store->core, &write.call.done);
    cr_assert_eq(exists.count, 1);
    cr_assert_eq(exists.watch.event, METASTORE_NODE_CREATED);
    cr_assert_not(exists.was_after);

    do_read(store, &get);
    metastore_read_free(&get);
    struct metastore_read list = {.kind = METASTORE_CHILDREN, .path = a, .watch = &children.watch};
    do_read(store, &list);
    struct metastore_read other = {.kind = METASTORE_GET, .path = a, .watch = &cancelled.watch};
    do_read(store, &other);
    metastore_read_free(&other);
    metastore_watch_cancel(store, &cancelled.watch);
    cr_assert(data.watch.armed && children.watch.armed);
    cr_assert_eq(do_create(store, b, "y", 0), METASTORE_OK);
    cr_assert_eq(children.count, 1);
    cr_assert_eq(children.watch.event, METASTORE_CHILDREN_CHANGED);
    cr_assert_eq(data.count, 0, "a child is not data");
    cr_assert_eq(do_set(store, a, "z", 0), METASTORE_OK);
    cr_assert_eq(data.count, 1);
    cr_assert_eq(data.watch.event, METASTORE_DATA_CHANGED);
    cr_assert_eq(do_set(store, a, "zz", 1), METASTORE_OK);
    cr_assert_eq(data.count, 1, "one-shot");
    cr_assert_eq(exists.count, 1, "one-shot");

    // Deletion fires both kinds on the node and the children's on its parent.
    do_read(store, &list);
    metastore_read_free(&list);
    struct metastore_read of_b = {.kind = METASTORE_EXISTS, .path = b, .watch = &data.watch};
    do_read(store, &of_b);
    cr_assert_eq(do_delete(store, b, 0), METASTORE_OK);
    cr_assert_eq(data.watch.event, METASTORE_NODE_DELETED);
    cr_assert_eq(children.count, 2);
    do_read(store, &list);
    metastore_read_free(&list);
    cr_assert_eq(do_delete(store, a, METASTORE_ANY_VERSION), METASTORE_OK);
    cr_assert_eq(children.count, 3);
    cr_assert_eq(children.watch.event, METASTORE_NODE_DELETED);
    cr_assert_eq(cancelled.count, 0);
}

// A failed write fires nothing.
static void no_false_alarm(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "alarm");
    cr_assert_eq(do_create(store, a, "x", 0), METASTORE_OK);
    struct seen data = {.watch.fired = seen_fired};
    struct metastore_read get = {.kind = METASTORE_GET, .path = a, .watch = &data.watch};
    do_read(store, &get);
    metastore_read_free(&get);
    struct metastore_change bad[] = {metastore_set_node(a, octets("y"), 0), metastore_check_node(a, 7)};
    cr_assert_eq(do_write(store, bad, 2), METASTORE_BAD_VERSION);
    cr_assert_eq(data.count, 0);
    metastore_watch_cancel(store, &data.watch);
    cr_assert_eq(do_delete(store, a, 0), METASTORE_OK);
}

// Neither an answer, be it a refusal, nor a watch runs inside the call that causes it.
static void asynchronous(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "asynchronous");
    struct seen seen = {.watch.fired = seen_fired};
    struct metastore_read read = {.kind = METASTORE_EXISTS, .path = a, .watch = &seen.watch};
    do_read(store, &read);
    struct metastore_change create = metastore_create_node(a, octets("x"), 0), again = create,
                            invalid = metastore_create_node("none", octets("x"), 0);
    struct metastore_write writes[] = {
        {.changes = &create, .count = 1}, {.changes = &again, .count = 1}, {.changes = &invalid, .count = 1}};
    for (int i = 0; i < 3; i++) {
        writes[i].call.flow = bell_of(store->core);
        metastore_write_start(store, &writes[i]);
        cr_assert_not(writes[i].call.done);
    }
    cr_assert_eq(seen.count, 0);
    bench_until(store->core, &writes[2].call.done);
    cr_assert_eq(seen.count, 1);
    cr_assert_eq(writes[0].call.result, METASTORE_OK);
    cr_assert_eq(writes[1].call.result, METASTORE_NODE_EXISTS);
    cr_assert_eq(writes[2].call.result, METASTORE_INVALID);
    read.watch = NULL;
    metastore_read_start(store, &read);
    cr_assert_not(read.call.done);
    bench_until(store->core, &read.call.done);
    cr_assert_eq(do_delete(store, a, 0), METASTORE_OK);
}

// Many calls in flight: in order, each sees those before it.
static void pipeline(struct metastore *store, const char *root) {
    enum { CALLS = 40 };
    struct paths p;
    const char *a = under(&p, 0, root, "pipeline");
    cr_assert_eq(do_create(store, a, "0", 0), METASTORE_OK);
    struct metastore_change changes[CALLS];
    struct metastore_write writes[CALLS];
    struct metastore_read reads[CALLS];
    char values[CALLS][12];
    for (int i = 0; i < CALLS; i++) {
        snprintf(values[i], sizeof values[i], "%d", i);
        changes[i] = metastore_set_node(a, octets(values[i]), i);
        writes[i] = (struct metastore_write){.call.flow = bell_of(store->core), .changes = &changes[i], .count = 1};
        reads[i] = (struct metastore_read){.call.flow = bell_of(store->core), .kind = METASTORE_GET, .path = a};
        metastore_write_start(store, &writes[i]);
        metastore_read_start(store, &reads[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        bench_until(store->core, &writes[i].call.done);
        cr_assert_eq(writes[i].call.result, METASTORE_OK);
        for (int earlier = 0; earlier < i; earlier++)
            cr_assert(writes[earlier].call.done && reads[earlier].call.done, "answers come in order");
        bench_until(store->core, &reads[i].call.done);
        cr_assert_eq(reads[i].stat.version, i + 1);
        cr_assert_str_eq((const char *)reads[i].data.data, values[i]);
        metastore_read_free(&reads[i]);
    }
    cr_assert_eq(do_delete(store, a, CALLS), METASTORE_OK);
}

static void limits(struct metastore *store, const char *root) {
    struct paths p;
    const char *a = under(&p, 0, root, "limits");
    char *big = calloc(METASTORE_DATA_MAX + 2, 1);
    memset(big, 'x', METASTORE_DATA_MAX + 1);
    cr_assert_eq(do_create(store, a, big, 0), METASTORE_INVALID);
    big[METASTORE_DATA_MAX] = '\0';
    cr_assert_eq(do_create(store, a, big, 0), METASTORE_OK);
    cr_assert_eq(do_delete(store, a, 0), METASTORE_OK);
    free(big);
}

void conformance_run(struct metastore *store, const char *root) {
    versions(store, root);
    multi(store, root);
    growing_czxid(store, root);
    ephemeral(store, root);
    sequential(store, root);
    watches(store, root);
    no_false_alarm(store, root);
    asynchronous(store, root);
    pipeline(store, root);
    limits(store, root);
}
