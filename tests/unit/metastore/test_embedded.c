// SPDX-License-Identifier: Apache-2.0
// The embedded store: conformance, what a restart keeps, and what is left of its file when it is cut or damaged.
#include "bench.h"
#include "metastore/tree.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

Test(embedded, conformance) {
    struct bench b;
    bench_open(&b);
    struct metastore *store = bench_store(&b, 0);
    conformance_run(store, "");
    cr_assert_eq(do_create(store, "/sub", NULL, 0), METASTORE_OK);
    conformance_run(store, "/sub");
    bench_store_close(&b, store);
    bench_close(&b);
}

// Every job rewrites the file.
Test(embedded, conformance_while_compacting) {
    struct bench b;
    bench_open(&b);
    struct metastore *store = bench_store(&b, 1);
    conformance_run(store, "");
    bench_store_close(&b, store);
    struct stat stat;
    cr_assert_eq(lstat(b.path, &stat), 0);
    cr_assert_lt(stat.st_size, 2000, "history does not pile up");
    bench_close(&b);
}

Test(embedded, a_restart_keeps_the_tree_and_ends_the_session) {
    struct bench b;
    bench_open(&b);
    struct metastore *store = bench_store(&b, 0);
    cr_assert_eq(do_create(store, "/a", "one", 0), METASTORE_OK);
    cr_assert_eq(do_set(store, "/a", "two", 0), METASTORE_OK);
    struct metastore_change seq = metastore_create_node("/a/n", octets(NULL), METASTORE_SEQUENTIAL);
    cr_assert_eq(do_write(store, &seq, 1), METASTORE_OK);
    cr_assert_eq(do_delete(store, "/a/n0000000000", 0), METASTORE_OK);
    cr_assert_eq(do_create(store, "/e", "x", METASTORE_EPHEMERAL), METASTORE_OK);
    int64_t session = store->session_id;
    struct metastore_read before = {.kind = METASTORE_GET, .path = "/a"};
    do_read(store, &before);
    metastore_read_free(&before);
    bench_store_close(&b, store);
    store = bench_store(&b, 0);
    cr_assert_neq(store->session_id, session);
    struct metastore_read after = {.kind = METASTORE_GET, .path = "/a"};
    do_read(store, &after);
    cr_assert_str_eq((const char *)after.data.data, "two");
    cr_assert_eq(memcmp(&after.stat, &before.stat, sizeof after.stat), 0);
    metastore_read_free(&after);
    after.path = "/e";
    do_read(store, &after);
    cr_assert_eq(after.call.result, METASTORE_NO_NODE);
    cr_assert_eq(do_write(store, &seq, 1), METASTORE_OK);
    cr_assert_str_eq(seq.digits, "0000000001", "numbers go on after a restart");
    bench_store_close(&b, store);
    bench_close(&b);
}

// ---- cut and damaged files

enum { STATES = 12 };
// The tree as text, to compare states.
static void print_tree(struct metastore *store, const char *path, char *out, size_t size) {
    struct metastore_read get = {.kind = METASTORE_GET, .path = path};
    struct metastore_read list = {.kind = METASTORE_CHILDREN, .path = path};
    do_read(store, &get);
    do_read(store, &list);
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s=%.*s/%d/%d;", path, (int)get.data.size, (const char *)get.data.data,
             get.stat.version, get.stat.child_version);
    for (size_t i = 0; i < list.child_count; i++) {
        char child[256];
        snprintf(child, sizeof child, "%s/%s", strcmp(path, "/") == 0 ? "" : path, list.children[i]);
        print_tree(store, child, out, size);
    }
    metastore_read_free(&get);
    metastore_read_free(&list);
}

struct history {
    char states[STATES][2048];
    int count;
    char bytes[65536];
    ssize_t size;
};

static void remember(struct history *h, struct metastore *store) {
    h->states[h->count][0] = '\0';
    print_tree(store, "/", h->states[h->count], sizeof h->states[0]);
    h->count++;
}

static void read_whole_file(const char *path, struct history *h) {
    int file = open(path, O_RDONLY);
    h->size = read(file, h->bytes, sizeof h->bytes);
    cr_assert(h->size > 0 && h->size < (ssize_t)sizeof h->bytes);
    close(file);
}
static void write_whole_file(const char *path, const char *bytes, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert_eq(write(file, bytes, size), (ssize_t)size);
    close(file);
}

// A store with a short history; no clean end, as after kill -9.
static void make_history(struct bench *b, struct history *h) {
    memset(h, 0, sizeof *h);
    struct metastore *store = bench_store(b, 0);
    remember(h, store);
    cr_assert_eq(do_create(store, "/a", "one", 0), METASTORE_OK);
    remember(h, store);
    struct metastore_change multi[] = {metastore_create_node("/a/b", octets("two"), 0),
                                       metastore_set_node("/a", octets("three"), 0),
                                       metastore_create_node("/c", octets(NULL), 0)};
    cr_assert_eq(do_write(store, multi, 3), METASTORE_OK);
    remember(h, store);
    cr_assert_eq(do_create(store, "/a/s", "x", METASTORE_SEQUENTIAL), METASTORE_OK);
    remember(h, store);
    cr_assert_eq(do_delete(store, "/c", 0), METASTORE_OK);
    remember(h, store);
    // Two writes of one batch.
    struct metastore_change one = metastore_set_node("/a/b", octets("four"), 0),
                            two = metastore_set_node("/a/b", octets("five"), 1);
    struct metastore_write first = {.changes = &one, .count = 1},
                           second = {.call.flow = bell_of(b->control), .changes = &two, .count = 1};
    metastore_write_start(store, &first);
    struct metastore_read between = {.kind = METASTORE_GET, .path = "/a/b"};
    metastore_read_start(store, &between);
    metastore_write_start(store, &second);
    bench_until(b->control, &second.call.done);
    metastore_read_free(&between);
    remember(h, store);
    read_whole_file(b->path, h); // before the clean end
    // The state between the two writes of the batch is one of the history, too.
    strcpy(h->states[h->count], h->states[h->count - 1]);
    char *place = strstr(h->states[h->count], "five/2");
    cr_assert_not_null(place);
    memcpy(place, "four/1", 6);
    h->count++;
    bench_store_close(b, store);
}

// Opens whatever the file has become: a state of the history, or a refusal that names a byte. Returns the state, -1:
// refused.
static int reopen(struct bench *b, struct history *h, size_t at) {
    struct embedded_open open = {.path = b->path};
    int64_t result = embedded_open_run(b->host, &open);
    if (result < 0) {
        cr_assert_not_null(strstr(open.reason, "byte "), "%s", open.reason);
        return -1;
    }
    embedded_attach(open.store, b->control);
    char state[2048] = "";
    print_tree(open.store, "/", state, sizeof state);
    // It goes on working.
    cr_assert_eq(do_create(open.store, "/after", "x", 0), METASTORE_OK);
    bench_store_close(b, open.store);
    for (int i = 0; i < h->count; i++)
        if (strcmp(state, h->states[i]) == 0) return i;
    cr_assert(false, "byte %zu: a state that never was: %s", at, state);
    return -1;
}

Test(embedded, a_file_cut_at_any_byte_is_a_prefix_of_the_history) {
    struct bench b;
    struct history *h = calloc(1, sizeof *h);
    bench_open(&b);
    make_history(&b, h);
    int states = 0, refused = 0, last = -1;
    for (ssize_t size = 0; size <= h->size; size++) {
        write_whole_file(b.path, h->bytes, (size_t)size);
        int state = reopen(&b, h, (size_t)size);
        if (state < 0) {
            cr_assert_eq(last, -1, "a longer file is not worse");
            refused++;
            continue;
        }
        if (state != last) states++;
        last = state;
    }
    cr_assert_eq(states, h->count, "every state can be reached");
    cr_assert_gt(refused, 0, "a file without its snapshot is refused");
    free(h);
    bench_close(&b);
}

Test(embedded, a_damaged_byte_is_a_prefix_or_a_refusal) {
    struct bench b;
    struct history *h = calloc(1, sizeof *h);
    bench_open(&b);
    make_history(&b, h);
    int refused = 0, complete = h->count - 2; // the last state is the one between two writes
    for (ssize_t at = 0; at < h->size; at++) {
        h->bytes[at] ^= (char)(1 << (at % 8));
        write_whole_file(b.path, h->bytes, (size_t)h->size);
        h->bytes[at] ^= (char)(1 << (at % 8));
        int state = reopen(&b, h, (size_t)at);
        if (state < 0) {
            refused++;
        } else {
            // Only the last batch can be taken for an unfinished write.
            cr_assert(state == complete - 1 || state == complete + 1, "byte %zd: durable state lost", at);
        }
    }
    cr_assert_gt(refused, h->size / 2);
    free(h);
    bench_close(&b);
}

Test(embedded, old_blocks_are_not_taken_for_new_ones) {
    struct bench b;
    struct history *h = calloc(1, sizeof *h);
    bench_open(&b);
    make_history(&b, h);
    // The tail once more behind the end: valid bytes, but of another place.
    char *twice = malloc((size_t)h->size + 200);
    memcpy(twice, h->bytes, (size_t)h->size);
    memcpy(twice + h->size, h->bytes + h->size - 200, 200);
    write_whole_file(b.path, twice, (size_t)h->size + 200);
    cr_assert_eq(reopen(&b, h, 0), h->count - 2);
    // And zeros, as a file system leaves them.
    memset(twice + h->size, 0, 200);
    write_whole_file(b.path, twice, (size_t)h->size + 200);
    cr_assert_eq(reopen(&b, h, 0), h->count - 2);
    free(twice);
    free(h);
    bench_close(&b);
}

Test(embedded, refusals_say_what_is_wrong) {
    struct bench b;
    bench_open(&b);
    struct embedded_open open = {.path = b.path, .must_exist = true};
    cr_assert_lt(embedded_open_run(b.host, &open), 0);
    write_whole_file(b.path, "broker.id=0\nsomething else altogether\n", 38);
    cr_assert_eq(embedded_open_run(b.host, &open), -22);
    cr_assert_not_null(strstr(open.reason, "not a metadata file"), "%s", open.reason);
    struct metastore *store;
    unlink(b.path);
    store = bench_store(&b, 0);
    struct embedded_open second = {.path = b.path};
    cr_assert_lt(embedded_open_run(b.host, &second), 0);
    cr_assert_not_null(strstr(second.reason, "another"), "%s", second.reason);
    bench_store_close(&b, store);
    bench_close(&b);
}

// A disk that takes no more: what was answered stays, the rest is answered with FAILED.
Test(embedded, a_failed_write_breaks_the_store) {
    struct bench b;
    bench_open(&b);
    struct metastore *store = bench_store(&b, 0);
    cr_assert_eq(do_create(store, "/a", "kept", 0), METASTORE_OK);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1024;
    setrlimit(RLIMIT_FSIZE, &limit);
    char big[2000];
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = '\0';
    cr_assert_eq(do_create(store, "/b", big, 0), METASTORE_FAILED);
    cr_assert_eq(store->state, METASTORE_BROKEN);
    cr_assert_not_null(strstr(store->failure, "tailrace.metadata"), "%s", store->failure);
    cr_assert_eq(do_create(store, "/c", "x", 0), METASTORE_FAILED);
    struct metastore_read get = {.kind = METASTORE_GET, .path = "/a"};
    do_read(store, &get);
    cr_assert_eq(get.call.result, METASTORE_FAILED);
    metastore_read_free(&get);
    setrlimit(RLIMIT_FSIZE, &before);
    bench_store_close(&b, store);
    store = bench_store(&b, 0);
    do_read(store, &get);
    cr_assert_eq(get.call.result, METASTORE_OK);
    cr_assert_str_eq((const char *)get.data.data, "kept");
    metastore_read_free(&get);
    bench_store_close(&b, store);
    bench_close(&b);
}

// The job that makes a new file waits until there is a descriptor for it; the store does not break.
Test(embedded, no_descriptor_for_a_new_file) {
    struct bench b;
    bench_open(&b);
    struct metastore *store = bench_store(&b, 1);
    cr_assert_eq(do_create(store, "/a", "kept", 0), METASTORE_OK);
    struct rlimit before, none;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct metastore_change change = metastore_set_node("/a", octets("x"), -1);
    struct metastore_write write;
    int count = 0;
    do { // what is appended needs no descriptor
        cr_assert_lt(count++, 1000, "the file is never made anew");
        write = (struct metastore_write){.call.flow = bell_of(b.control), .changes = &change, .count = 1};
        metastore_write_start(store, &write);
        const uint64_t end_ms = core_now_ms(b.control) + 300; // it would be answered long before
        while (core_now_ms(b.control) < end_ms && !write.call.done) {
            os_ring_doorbell(b.control->os);
            core_turn(b.control);
        }
    } while (write.call.done && write.call.result == METASTORE_OK);
    cr_assert_not(write.call.done, "%s", store->failure);
    cr_assert_neq(store->state, METASTORE_BROKEN);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    bench_until(b.control, &write.call.done);
    cr_assert_eq(write.call.result, METASTORE_OK);
    bench_store_close(&b, store);
    bench_close(&b);
}
