// SPDX-License-Identifier: Apache-2.0
// The store of a standalone broker.
//
// A call acts on the tree at once and joins the queue of answers. A write also appends its record to the buffer that is
// being filled. One job at a time is with a helper thread: it appends the buffer to the file and makes it durable; what
// comes meanwhile fills the other buffer (group commit without a linger). An answer leaves when everything that it
// could show is durable. When the file has grown well beyond the tree, the next job writes a whole new file instead
// (temporary file, fsync, rename, fsync of the directory), which makes the waiting records durable as well.
//
// On a full disk topics must be deleted still, so some space behind the file's end is reserved. When that is used up
// too, the job is tried again until there is space; all answers wait meanwhile. A part that was written is overwritten
// then, or cut by the next start. The same where a new file meets that there is no descriptor left.
//
// Failure: if a job fails for any other reason, the store is broken for good; what was not durable is answered with
// FAILED (outcome unknown: some of it may be found at the next start).
#include "metastore/embedded.h"
#include "base/text.h"
#include "core/line.h"
#include "metastore/metafile.h"
#include "metastore/watches.h"
#include "os/shortage.h"
#include <stdlib.h>

// Until the store is attached, the helper that opens it owns it; then the control core does, and a job's fields belong
// to the helper while it is in flight.
struct embedded {
    struct metastore store;
    struct tree tree;
    struct flow serve;
    struct list calls; // in order of arrival
    struct metafile_buffer filling;
    uint64_t filling_batch; // number of the batch that `filling` will become
    uint64_t durable_batch;
    uint64_t filling_position; // where the buffer will go in the file
    uint64_t compact_above_bytes;
    bool closing, close_recorded;
    struct flow *close_flow;
    bool *close_done;
    // the job
    struct flow_op job;
    bool job_started;
    bool job_replaces; // writes a new file
    bool job_closes;   // and closes it: the last one
    struct metafile_buffer writing;
    uint64_t writing_batch, writing_position;
    char *path;
    int file;
    uint64_t file_id;
    uint64_t file_bytes; // all of it durable
    uint64_t reserve_bytes;
    uint64_t reserved_bytes; // the file has space up to here
    uint64_t room_bytes;     // free on the disk when it was looked at last
    // The disk is full, or there is no descriptor for a new file
    bool waits_for_space; // the job will be tried again
    bool hurry;           // not any more
    struct flow_timer retry;
};
enum { RETRY_MS = 500 };

#define EMBEDDED_STEPS(STEP) STEP(embedded, serve) STEP(embedded, release)
FLOW_DEFINE(embedded, EMBEDDED_STEPS)

static struct embedded *embedded_of(struct metastore *store) {
    return container_of(store, struct embedded, store);
}

// ---- file work, on helper threads

// The limit of file sizes stays as it is while the broker runs: no reason to wait.
static bool will_pass(int64_t error) {
    return error != -EFBIG && os_is_shortage(error);
}

// What an fsync that finds no space has lost is not known.
static int sync_error(int error) {
    return os_is_shortage(error) ? -EIO : error;
}

// Keeps space behind the end. What cannot be reserved is asked for again next time.
static void reserve(struct os_host *host, struct embedded *e, uint64_t end) {
    uint64_t total;
    if (os_space(host, e->path, &total, &e->room_bytes) != 0) e->room_bytes = 0;
    if (end + e->reserve_bytes / 2 <= e->reserved_bytes) return;
    if (os_reserve(host, e->file, end, e->reserve_bytes) == 0) e->reserved_bytes = end + e->reserve_bytes;
}

static int write_all(struct os_host *host, int file, const uint8_t *data, size_t size, uint64_t position) {
    while (size > 0) {
        struct os_vector vector = {data, size};
        int64_t n = os_pwritev(host, file, &vector, 1, position);
        if (n < 0) return (int)n;
        if (n == 0) return -ENOSPC; // nothing can be written any more
        ASSERT((size_t)n <= size);
        data += n;
        size -= (size_t)n;
        position += (uint64_t)n;
    }
    return 0;
}

static int open_parent(struct os_host *host, const char *path) {
    const char *slash = strrchr(path, '/');
    char *parent = slash ? strndup(path, (size_t)max_i64(slash - path, 1)) : strdup(".");
    ASSERT(parent != NULL);
    int directory = os_open(host, parent, OS_READ | OS_DIRECTORY);
    free(parent);
    return directory;
}

static int sync_parent(struct os_host *host, const char *path) {
    int directory = open_parent(host, path);
    if (directory < 0) return directory;
    int result = os_fsync(host, directory);
    os_close(host, directory);
    return result;
}

static int put_in_place(struct os_host *host, const char *path, int parent, const struct metafile_buffer *bytes) {
    char temporary[1024];
    struct text t = TEXT_IN(temporary);
    text_addf(&t, "%s.tmp", path);
    if (t.truncated) return -ENAMETOOLONG;
    int file = os_open(host, temporary, OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE);
    if (file < 0) return file;
    int result = os_lock(host, file);
    if (result >= 0) result = write_all(host, file, bytes->data, bytes->size, 0);
    if (result >= 0) result = sync_error(os_fsync(host, file));
    if (result >= 0) result = os_rename(host, temporary, path);
#ifndef TAILRACE_PLANT_METASTORE_RENAME_UNSYNCED
    if (result >= 0) result = sync_error(os_fsync(host, parent));
#else
    (void)parent;
#endif
    if (result >= 0) return file;
    os_close(host, file);
    if (will_pass(result)) os_unlink(host, temporary);
    return result;
}

// Puts a new file with these bytes in the place of the old one. Returns the file, or a negative errno: a shortage
// (also of descriptors: the directory is opened first) leaves the old one there.
static int replace_file(struct os_host *host, const char *path, const struct metafile_buffer *bytes) {
    int parent = open_parent(host, path);
    if (parent < 0) return parent;
    int file = put_in_place(host, path, parent, bytes);
    os_close(host, parent);
    return file;
}

static int64_t job_run(struct os_host *host, void *argument) {
    struct embedded *e = argument;
    int result = 0;
    if (e->job_replaces) {
        int file = replace_file(host, e->path, &e->writing);
        if (file < 0) return file;
        os_close(host, e->file);
        e->file = file;
        e->reserved_bytes = 0;
    } else if (e->writing.size > 0) {
        result = write_all(host, e->file, e->writing.data, e->writing.size, e->writing_position);
#ifndef TAILRACE_PLANT_STORE_UNSYNCED
        if (result >= 0) result = sync_error(os_fdatasync(host, e->file));
#endif
    }
    if (result >= 0) reserve(host, e, e->writing_position + e->writing.size);
    if (e->job_closes) {
        os_close(host, e->file);
        e->file = -1;
    }
    return result;
}

// ---- opening, on a helper thread

static void embedded_free(struct embedded *e) {
    tree_free(&e->tree);
    metafile_buffer_free(&e->filling);
    metafile_buffer_free(&e->writing);
    free(e->path);
    free(e);
}

static int open_fail(struct embedded_open *open, int error, const char *what) {
    struct text t = TEXT_IN(open->reason);
    text_addf(&t, "%s: %s", open->path, what);
    if (error != -22) text_addf(&t, ": %s", os_error_text(error));
    return error;
}

static int open_new_file(struct os_host *host, struct embedded *e, struct embedded_open *open) {
    e->file_id = os_host_random(host);
    metafile_put_snapshot(&e->writing, e->file_id, &e->tree, os_host_wall_ms(host));
    e->file = replace_file(host, e->path, &e->writing);
    if (e->file < 0) return open_fail(open, e->file, "cannot make the metadata file");
    e->file_bytes = e->writing.size;
    e->writing.size = 0;
    return 0;
}

static int open_cut(struct os_host *host, struct embedded *e, struct embedded_open *open, uint64_t cut_bytes) {
    open->cut_bytes = cut_bytes;
    struct text t = TEXT_IN(open->reason);
    text_addf(&t, "%s: %llu bytes of an unfinished write cut at byte %llu", open->path, (unsigned long long)cut_bytes,
              (unsigned long long)e->file_bytes);
    int result = os_truncate(host, e->file, e->file_bytes);
    return result < 0 ? open_fail(open, result, "cannot cut the unfinished end") : 0;
}

static int open_load(struct os_host *host, struct embedded *e, struct embedded_open *open, uint64_t size) {
    uint8_t *data = malloc(size + 1);
    if (!data) return open_fail(open, -12, "the metadata file does not fit into memory");
    int64_t n = os_pread(host, e->file, data, size, 0);
    struct metafile_load load = {0};
    if (n >= 0) metafile_load(&e->tree, data, (size_t)n, &load);
    free(data);
    if (n < 0) return open_fail(open, (int)n, "cannot read the metadata file");
    if (!load.ok) return open_fail(open, -22, load.reason);
    e->file_id = load.file_id;
    e->file_bytes = load.valid_bytes;
    int result = 0;
    if (load.valid_bytes < (uint64_t)n) result = open_cut(host, e, open, (uint64_t)n - load.valid_bytes);
    if (result < 0) return result;
    // A killed process may have left bytes that are in the page cache only, or a name that is not durable yet; what is
    // shown from here on must be neither.
    result = os_fsync(host, e->file);
    if (result >= 0) result = sync_parent(host, e->path);
    return result < 0 ? open_fail(open, result, "cannot make the metadata file durable") : 0;
}

// Earlier sessions' ephemeral nodes go; that is durable before anybody sees the tree.
static int open_session(struct os_host *host, struct embedded *e, struct embedded_open *open) {
    while (e->store.session_id == 0)
        e->store.session_id = (int64_t)(os_host_random(host) >> 1);
    int64_t zxid = e->tree.zxid, now_ms = os_host_wall_ms(host);
    tree_end_session(&e->tree, 0, now_ms, NULL);
    if (e->tree.zxid == zxid) return 0;
    const struct metafile_place place = {e->file_id, e->file_bytes};
    metafile_put_session_end(&e->writing, &place, e->tree.zxid, 0, now_ms);
    int result = write_all(host, e->file, e->writing.data, e->writing.size, e->file_bytes);
    if (result >= 0) result = os_fdatasync(host, e->file);
    if (result < 0) return open_fail(open, result, "cannot write the metadata file");
    e->file_bytes += e->writing.size;
    e->writing.size = 0;
    return 0;
}

static int open_file(struct os_host *host, struct embedded *e, struct embedded_open *open) {
    e->file = os_open(host, e->path, OS_READ | OS_WRITE);
    if (e->file == -2 && !open->must_exist) return open_new_file(host, e, open); // ENOENT
    if (e->file < 0) return open_fail(open, e->file, "cannot open the metadata file");
    int result = os_lock(host, e->file);
    if (result < 0) return open_fail(open, result, "another process has the metadata file");
    struct os_stat stat;
    result = os_stat_file(host, e->file, &stat);
    if (result < 0) return open_fail(open, result, "cannot look at the metadata file");
    return open_load(host, e, open, stat.size_bytes);
}

static const struct metastore_functions embedded_functions;

int64_t embedded_open_run(struct os_host *host, void *argument) {
    struct embedded_open *open = argument;
    open->store = NULL;
    open->reason[0] = '\0';
    open->cut_bytes = 0;
    struct embedded *e = calloc(1, sizeof *e);
    ASSERT(e != NULL);
    tree_init(&e->tree, os_host_random(host));
    list_init(&e->calls);
    e->path = strdup(open->path);
    ASSERT(e->path != NULL);
    e->file = -1;
    e->compact_above_bytes = open->compact_above_bytes ? open->compact_above_bytes : EMBEDDED_COMPACT_BYTES;
    e->reserve_bytes = open->reserve_bytes ? open->reserve_bytes : EMBEDDED_RESERVE_BYTES;
    int result = open_file(host, e, open);
    if (result >= 0) result = open_session(host, e, open);
    if (result < 0) {
        if (e->file >= 0) os_close(host, e->file);
        embedded_free(e);
        return result;
    }
    reserve(host, e, e->file_bytes);
    e->filling_batch = 1;
    e->filling_position = e->file_bytes;
    e->store.functions = &embedded_functions;
    e->store.state = METASTORE_CONNECTED;
    open->store = &e->store;
    return 0;
}

void embedded_attach(struct metastore *store, struct core *core) {
    ASSERT(store->core == NULL);
    store->core = core;
    flow_start(&embedded_of(store)->serve, &embedded_flow, core);
}

void embedded_hurry(struct metastore *store) {
    struct embedded *e = embedded_of(store);
    e->hurry = true;
    flow_wake(&e->serve);
}

void embedded_discard(struct os_host *host, struct metastore *store) {
    ASSERT(store->core == NULL);
    struct embedded *e = embedded_of(store);
    os_close(host, e->file);
    embedded_free(e);
}

// ---- calls

static void call_queue(struct embedded *e, struct metastore_call *call, bool records) {
    // What the call has seen is durable with the batch that is being filled, if there is anything in it.
    call->sequence = records || e->filling.size > 0 ? e->filling_batch : e->filling_batch - 1;
    list_push_back(&e->calls, &call->link);
    flow_wake(&e->serve);
}

static bool call_refuse(struct embedded *e, struct metastore_call *call) {
    ASSERT(!e->closing);
    if (e->store.state != METASTORE_BROKEN) return false;
    call->result = METASTORE_FAILED;
    call_queue(e, call, false);
    return true;
}

static struct metafile_place embedded_place(const struct embedded *e) {
    return (struct metafile_place){e->file_id, e->filling_position};
}

static void embedded_write(struct metastore *store, struct metastore_write *write) {
    struct embedded *e = embedded_of(store);
    if (call_refuse(e, &write->call)) return;
    int64_t now_ms = core_wall_ms(store->core);
    write->call.result = tree_write(&e->tree, store->session_id, now_ms, write->changes, write->count, &write->failed,
                                    &write->call.fired);
    bool records = write->call.result == METASTORE_OK;
    if (records) {
        write->zxid = e->tree.zxid;
        const struct metafile_place place = embedded_place(e);
        metafile_put_write(&e->filling, &place, write->zxid, store->session_id, now_ms, write->changes, write->count);
    }
    call_queue(e, &write->call, records);
}

static void embedded_read(struct metastore *store, struct metastore_read *read) {
    struct embedded *e = embedded_of(store);
    if (call_refuse(e, &read->call)) return;
    read->call.result = tree_read(&e->tree, read);
    call_queue(e, &read->call, false);
}

static void embedded_cancel(struct metastore *store, struct metastore_watch *watch) {
    tree_cancel(&embedded_of(store)->tree, watch);
}

static void embedded_reopen(struct metastore *store) {
    (void)store; // sessions do not expire here
    UNREACHABLE();
}

static void embedded_close(struct metastore *store, struct flow *flow, bool *done) {
    struct embedded *e = embedded_of(store);
    ASSERT(!e->closing && list_is_empty(&e->calls));
    e->closing = true;
    e->close_flow = flow;
    e->close_done = done;
    flow_wake(&e->serve);
}

static const struct metastore_functions embedded_functions = {embedded_write, embedded_read, embedded_cancel,
                                                              embedded_reopen, embedded_close};

// ---- serving

static void serve_break(struct embedded *e, int64_t error) {
    struct text t = TEXT_IN(e->store.failure);
    text_addf(&t, "%s: cannot be written: %s", e->path, os_error_text((int)error));
    e->store.state = METASTORE_BROKEN;
    if (e->store.state_changed) e->store.state_changed(&e->store);
}

static bool serve_must_wait_for_space(const struct embedded *e) {
    return will_pass(e->job.op.result) && !e->hurry && !e->closing && e->store.state != METASTORE_BROKEN;
}

static void serve_job_done(struct embedded *e) {
    e->job_started = false;
    if (serve_must_wait_for_space(e)) {
        if (!e->waits_for_space)
            line(e->store.core, LINE_WARN, "metastore", e->path,
                 os_is_full_disk(e->job.op.result) ? "disk_full" : "write_delayed", "unwritten_bytes=%zu reason=\"%s\"",
                 e->writing.size, os_error_text((int)e->job.op.result));
        e->waits_for_space = true;
        flow_timer_set(&e->retry, &e->serve, RETRY_MS);
        return;
    }
    e->waits_for_space = false;
    if (e->job.op.result < 0) {
        if (e->store.state != METASTORE_BROKEN) serve_break(e, e->job.op.result);
    } else {
        ASSERT(e->durable_batch < e->writing_batch || e->job_closes);
        e->durable_batch = e->writing_batch;
        e->file_bytes = e->writing_position + e->writing.size;
    }
    e->writing.size = 0;
}

static bool call_is_ready(const struct embedded *e, const struct metastore_call *call) {
    return e->store.state == METASTORE_BROKEN || call->sequence <= e->durable_batch;
}

static void serve_answers(struct embedded *e) {
    struct list *front = list_front(&e->calls);
    while (front && call_is_ready(e, container_of(front, struct metastore_call, link))) {
        struct metastore_call *call = container_of(front, struct metastore_call, link);
        list_remove(front);
        bool durable = call->sequence <= e->durable_batch;
        if (!durable) call->result = METASTORE_FAILED;
        // Even after a failure: watches are hints, and one that never fires is worse than one too many.
        watches_deliver(&call->fired);
        call->done = true;
        if (call->flow) flow_wake(call->flow);
        front = list_front(&e->calls);
    }
}

// The file is rewritten when most of it is history. The waiting records need not be appended then: the tree has them.
static bool serve_should_replace(const struct embedded *e) {
    uint64_t size = e->file_bytes + e->filling.size;
    uint64_t tree_bytes = e->tree.size_bytes + e->tree.nodes.count * 128;
    return size > e->compact_above_bytes && size > 3 * tree_bytes && e->room_bytes > 2 * tree_bytes + e->reserve_bytes;
}

static void serve_send_job(struct embedded *e) {
    e->job_started = true;
    flow_op_init(&e->job, &e->serve);
    os_offload(e->store.core->os, &e->job.op, job_run, e);
}

static void serve_start_job(struct embedded *e) {
    ASSERT(!e->job_started && e->writing.size == 0);
    e->job_replaces = serve_should_replace(e);
    e->writing_position = e->filling_position;
    if (e->job_replaces) {
        e->filling.size = 0;
        e->writing_position = 0;
        metafile_put_snapshot(&e->writing, e->file_id, &e->tree, core_wall_ms(e->store.core));
    } else {
        struct metafile_buffer empty = e->writing;
        e->writing = e->filling;
        e->filling = empty;
    }
    e->writing_batch = e->filling_batch++;
    e->filling_position = e->writing_position + e->writing.size;
    e->job_closes = e->closing;
    serve_send_job(e);
}

static void serve_record_close(struct embedded *e) {
    int64_t zxid = e->tree.zxid, now_ms = core_wall_ms(e->store.core);
    e->close_recorded = true;
    tree_end_session(&e->tree, e->store.session_id, now_ms, NULL);
    if (e->tree.zxid == zxid) return;
    const struct metafile_place place = embedded_place(e);
    metafile_put_session_end(&e->filling, &place, e->tree.zxid, e->store.session_id, now_ms);
}

static flow_next embedded_step_serve(struct flow *flow) {
    struct embedded *e = container_of(flow, struct embedded, serve);
    if (e->job_started && e->job.op.in_flight) return FLOW_WAIT;
    if (e->job_started) serve_job_done(e);
    serve_answers(e);
    if (e->file < 0) return FLOW_NEXT;
    if (e->waits_for_space) {
        if (!e->retry.fired && !e->hurry) return FLOW_WAIT;
        flow_timer_cancel(&e->retry);
        serve_send_job(e);
        return FLOW_WAIT;
    }
    bool broken = e->store.state == METASTORE_BROKEN;
    if (broken) e->filling.size = 0;
    if (e->closing && !e->close_recorded && !broken) serve_record_close(e);
    if (e->filling.size > 0 || e->closing) serve_start_job(e);
    return FLOW_WAIT;
}

static flow_next embedded_step_release(struct flow *flow) {
    struct embedded *e = container_of(flow, struct embedded, serve);
    ASSERT(e->closing && list_is_empty(&e->calls));
    *e->close_done = true;
    if (e->close_flow) flow_wake(e->close_flow);
    embedded_free(e);
    return FLOW_END;
}
