// SPDX-License-Identifier: Apache-2.0
// sleep -> collect (every data core tells its partitions' ends) -> write (offloaded; only files whose content changed)
// -> sleep. Between the last two, where a directory is short of space: free (every data core deletes now what it would
// delete later, and the round is made again).
//
// A file that could not be written for want of space, or of a descriptor, stays as it was, which is safe for a
// partition that lives on: a checkpoint that lags makes recovery longer, not wrong. Whoever needs more (a deletion)
// waits, and is told; what it has renamed gives the room for the file that it waits for, although file.delete.delay.ms
// is not over.
#include "replica/checkpointer.h"
#include "base/hashmap.h"
#include "core/line.h"
#include "os/shortage.h"
#include "tailrace/error.h"
#include <stdio.h>
#include <stdlib.h>

#define CHECKPOINTER_STEPS(STEP)                                                                                       \
    STEP(checkpointer, sleep)                                                                                          \
    STEP(checkpointer, collect)                                                                                        \
    STEP(checkpointer, write) STEP(checkpointer, written) STEP(checkpointer, free) STEP(checkpointer, release)
FLOW_DEFINE(checkpointer, CHECKPOINTER_STEPS)

enum {
    FILES_A_DIRECTORY = 3,
    RETRY_MS = 1000,
    SHORT_OF_SPACE_BYTES = 1 << 20, // so little free space is none: there is nobody who can use it up
};

static struct checkpointer *self(struct flow *flow) {
    return container_of(flow, struct checkpointer, flow);
}

static enum log_dir_space space_of(const struct log_dir *dir) {
    if (atomic_load_explicit(&dir->below_reserve, memory_order_relaxed)) return LOG_DIR_BELOW_RESERVE;
    return atomic_load_explicit(&dir->short_of_space, memory_order_relaxed) ? LOG_DIR_FULL : LOG_DIR_HAS_SPACE;
}

// Once for each change: clients only see KAFKA_STORAGE_ERROR.
static void tell_of_space(struct checkpointer *c) {
    static const struct {
        enum line_level level;
        const char *event, *reason;
    } says[] = {
        [LOG_DIR_HAS_SPACE] = {LINE_INFO, "space_is_back", "records are taken again"},
        [LOG_DIR_BELOW_RESERVE] = {LINE_WARN, "space_below_reserve",
                                   "records are refused until there is more free space"},
        [LOG_DIR_FULL] = {LINE_WARN, "disk_full", "what does not fit is refused until there is more free space"},
    };
    for (int i = 0; i < c->dir_count; i++) {
        struct log_dir *dir = c->dirs[i];
        enum log_dir_space space = space_of(dir);
        if (log_dir_is_failed(dir) || space == dir->space_told) continue;
        dir->space_told = space;
        line(c->core, says[space].level, "log", dir->path, says[space].event,
             "tailrace.disk.reserve.bytes=%llu reason=\"%s\"", (unsigned long long)dir->reserve_bytes,
             says[space].reason);
    }
}

// Once until a round has written everything again. What is full has its own line.
static void tell_of_shortage(struct checkpointer *c, int shortage) {
    const bool tells = shortage != 0 && !os_is_full_disk(shortage);
    if (tells && !c->shortage_told)
        line(c->core, LINE_WARN, "log", "", "checkpoint_delayed", "reason=\"%s\" retry_ms=%llu",
             os_error_text(shortage), (unsigned long long)min_size(c->interval_ms, RETRY_MS));
    if (tells || shortage == 0) c->shortage_told = tells;
}

void checkpointer_start(struct checkpointer *c, struct core *control, struct log_dir **dirs, int dir_count,
                        int data_cores, uint64_t interval_ms) {
    *c = (struct checkpointer){.core = control, .dirs = dirs, .dir_count = dir_count, .data_cores = data_cores};
    // 0 is a legal setting, which Kafka takes as "once"; here these rounds write the recovery points too.
    c->interval_ms = interval_ms ? interval_ms : RETRY_MS;
    c->written = calloc((size_t)dir_count * FILES_A_DIRECTORY, sizeof *c->written);
    ASSERT(c->written != NULL);
    list_init(&c->waiting);
    list_init(&c->in_round);
    tell_of_space(c); // what the opening has found
    flow_start(&c->flow, &checkpointer_flow, control);
    flow_timer_set(&c->timer, &c->flow, c->interval_ms);
}

void checkpointer_await(struct checkpointer *c, struct checkpointer_wait *wait) {
    list_init(&wait->link);
    wait->error = KAFKA_ERROR_NONE;
    list_push_back(&c->waiting, &wait->link);
    flow_wake(&c->flow);
}

static void request_return(struct core *core, struct message *message) {
    (void)core;
    struct checkpointer_request *request = container_of(message, struct checkpointer_request, message);
    request->done(request);
}

static void request_written(struct checkpointer_wait *wait) {
    struct checkpointer_request *request = container_of(wait, struct checkpointer_request, wait);
    core_send(request->checkpointer->core, request->from, &request->message, request_return);
}

static void request_arrive(struct core *core, struct message *message) {
    (void)core;
    struct checkpointer_request *request = container_of(message, struct checkpointer_request, message);
    checkpointer_await(request->checkpointer, &request->wait);
}

void checkpointer_request_send(struct core *core, struct checkpointer *c, struct checkpointer_request *request) {
    request->wait = (struct checkpointer_wait){.done = request_written};
    request->checkpointer = c;
    request->from = core->id;
    core_send(core, c->core->id, &request->message, request_arrive);
}

void checkpointer_hurry(struct checkpointer *c) {
    c->hurry = true;
    flow_wake(&c->flow);
}

void checkpointer_stop(struct checkpointer *c, struct flow *flow, bool *done) {
    c->stop_flow = flow;
    c->stop_done = done;
    flow_stop(&c->flow);
}

static void collected(struct ends_request *request);
static void freed(struct deletions_request *request);

static flow_next checkpointer_step_sleep(struct flow *flow) {
    struct checkpointer *c = self(flow);
    if (flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    bool wanted = !list_is_empty(&c->waiting) && (!c->retrying || c->hurry);
    if (!c->timer.fired && !wanted) return FLOW_WAIT;
    flow_timer_cancel(&c->timer);
    for (struct list *link = list_pop_front(&c->waiting); link; link = list_pop_front(&c->waiting))
        list_push_back(&c->in_round, link);
    for (int core = 0; core < c->data_cores; core++) {
        c->requests[core].done = collected;
        c->requests[core].context = c;
        c->pending++;
        ends_send(c->core, core, &c->requests[core]);
    }
    return FLOW_NEXT;
}

static void collected(struct ends_request *request) {
    struct checkpointer *c = request->context;
    ASSERT(c->pending > 0);
    if (--c->pending == 0) flow_wake(&c->flow);
}

static flow_next checkpointer_step_collect(struct flow *flow) {
    return self(flow)->pending > 0 ? FLOW_WAIT : FLOW_NEXT;
}

static flow_next checkpointer_step_write(struct flow *flow) {
    struct checkpointer *c = self(flow);
    c->batch = calloc(1, sizeof *c->batch);
    ASSERT(c->batch != NULL);
    *c->batch = (struct checkpoint_batch){.dirs = c->dirs, .dir_count = c->dir_count, .written = c->written};
    for (int core = 0; core < c->data_cores; core++)
        ends_move(&c->batch->ends, &c->requests[core].ends);
    if (c->add) c->add(c->context, &c->batch->ends);
    flow_op_init(&c->op, flow);
    os_offload(c->core->os, &c->op.op, checkpoint_batch_run, c->batch);
    return FLOW_NEXT;
}

static flow_next checkpointer_step_written(struct flow *flow) {
    struct checkpointer *c = self(flow);
    if (c->op.op.in_flight) return FLOW_WAIT;
    const int shortage = c->batch->shortage;
    const bool is_short = c->batch->short_of_space, failed = shortage != 0 || c->batch->dir_failed;
    tell_of_space(c);
    tell_of_shortage(c, shortage);
    ends_free(&c->batch->ends);
    free(c->batch);
    c->batch = NULL;
    for (struct list *link = list_pop_front(&c->in_round); link; link = list_pop_front(&c->in_round)) {
        struct checkpointer_wait *wait = container_of(link, struct checkpointer_wait, link);
        if (shortage != 0 && wait->tries_left > 0 && !c->hurry) {
            wait->tries_left--;
            list_push_back(&c->waiting, link);
            continue;
        }
        wait->error = failed ? KAFKA_ERROR_KAFKA_STORAGE_ERROR : KAFKA_ERROR_NONE;
        wait->done(wait);
    }
    c->retrying = shortage != 0;
    c->freed = false;
    for (int core = 0; is_short && core < c->data_cores; core++) {
        c->deletions[core].done = freed;
        c->deletions[core].context = c;
        c->pending++;
        deletions_hurry_send(c->core, core, &c->deletions[core]);
    }
    return FLOW_NEXT;
}

static void freed(struct deletions_request *request) {
    struct checkpointer *c = request->context;
    ASSERT(c->pending > 0);
    if (request->hurry.count > 0) c->freed = true;
    if (--c->pending == 0) flow_wake(&c->flow);
}

static flow_next checkpointer_step_free(struct flow *flow) {
    struct checkpointer *c = self(flow);
    if (c->pending > 0) return FLOW_WAIT;
    const bool soon = c->retrying && c->interval_ms > RETRY_MS;
    flow_timer_set(&c->timer, flow, c->freed ? 1 : soon ? RETRY_MS : c->interval_ms);
    return FLOW_GOTO(checkpointer, sleep);
}

static flow_next checkpointer_step_release(struct flow *flow) {
    struct checkpointer *c = self(flow);
    flow_timer_cancel(&c->timer);
    ASSERT(list_is_empty(&c->waiting) && list_is_empty(&c->in_round));
    free(c->written);
    *c->stop_done = true;
    flow_wake(c->stop_flow);
    return FLOW_END;
}

// ---- the offloaded part
// -----------------------------------------------------------------------------------------------------------------

static int by_name(const void *a, const void *b) {
    const struct partition_ends *x = a, *y = b;
    int order = strcmp(x->topic, y->topic);
    return order != 0 ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

static int64_t value_of(const struct partition_ends *e, enum checkpoint_kind kind) {
    return kind == CHECKPOINT_RECOVERY_POINT ? e->recovery_point
           : kind == CHECKPOINT_LOG_START    ? e->log_start_offset
                                             : e->high_watermark;
}

// log-start-offset-checkpoint names only partitions whose start is not that of a new log.
static void checkpoint_fill(const struct checkpoint_batch *batch, int dir, enum checkpoint_kind kind,
                            struct checkpoint *checkpoint) {
    checkpoint->count = 0;
    for (size_t i = 0; i < batch->ends.count; i++) {
        const struct partition_ends *e = &batch->ends.entries[i];
        int64_t value = value_of(e, kind);
        if (e->dir != dir || value < 0 || (kind == CHECKPOINT_LOG_START && value == 0)) continue;
        checkpoint->entries[checkpoint->count++] = (struct checkpoint_entry){e->topic, e->partition, value};
    }
}

static uint64_t checkpoint_digest(const struct checkpoint *checkpoint) {
    uint64_t digest = 1;
    for (size_t i = 0; i < checkpoint->count; i++) {
        const struct checkpoint_entry *e = &checkpoint->entries[i];
        digest = hash_bytes(digest, e->topic, strlen(e->topic));
        digest = hash_bytes(digest + (uint64_t)e->partition, &e->offset, sizeof e->offset);
    }
    return digest;
}

static bool space_check(struct os_host *host, struct log_dir *dir, bool is_full) {
    uint64_t total, available = UINT64_MAX;
    if (os_space(host, dir->path, &total, &available) == 0)
        atomic_store_explicit(&dir->below_reserve, available < dir->reserve_bytes, memory_order_relaxed);
    const bool is_short = is_full || available < max_size(dir->reserve_bytes, SHORT_OF_SPACE_BYTES);
    atomic_store_explicit(&dir->short_of_space, is_short, memory_order_relaxed);
    return is_short;
}

int64_t checkpoint_batch_run(struct os_host *host, void *argument) {
    struct checkpoint_batch *batch = argument;
    static const enum checkpoint_kind kinds[FILES_A_DIRECTORY] = {CHECKPOINT_RECOVERY_POINT, CHECKPOINT_LOG_START,
                                                                  CHECKPOINT_HIGH_WATERMARK};
    if (batch->ends.count > 1) qsort(batch->ends.entries, batch->ends.count, sizeof *batch->ends.entries, by_name);
    struct checkpoint checkpoint = {.entries = calloc(batch->ends.count + 1, sizeof *checkpoint.entries)};
    ASSERT(checkpoint.entries != NULL);
    for (int dir = 0; dir < batch->dir_count; dir++) {
        bool is_full = false;
        for (int k = 0; k < FILES_A_DIRECTORY && !log_dir_is_failed(batch->dirs[dir]); k++) {
            checkpoint_fill(batch, dir, kinds[k], &checkpoint);
            uint64_t digest = checkpoint_digest(&checkpoint);
            uint64_t *written = batch->written ? &batch->written[dir * FILES_A_DIRECTORY + k] : NULL;
            if (written && *written == digest) continue;
            int error = checkpoint_write(host, batch->dirs[dir], kinds[k], &checkpoint);
            if (error == 0 && written) *written = digest;
            if (error == 0) continue;
            if (log_dir_is_failed(batch->dirs[dir])) {
                batch->dir_failed = true;
                continue;
            }
            batch->shortage = error;
            if (os_is_full_disk(error)) is_full = true;
        }
        if (space_check(host, batch->dirs[dir], is_full)) batch->short_of_space = true;
    }
    free(checkpoint.entries);
    return 0;
}
