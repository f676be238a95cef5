// SPDX-License-Identifier: Apache-2.0
// The end of a log on its core. From log_close_start on nothing new is taken (appends and maintenance are answered
// NOT_LEADER_OR_FOLLOWER); what is in flight ends by itself. Then either everything is flushed, the index files are cut
// to their size, and a producer snapshot is written at the end, so that a clean start needs to read nothing; or, to
// remove it, the directory gets a name ending in -delete, durably, and is deleted later. Where a full disk has no room
// for that name it is deleted at once; a crash meanwhile leaves a partition that is damaged, and still to be removed.
//
// Segments that are still being sent outlive the log. Failure: in a failed directory the log is only taken apart.
#include "log/deletion.h"
#include "log/dir_name.h"
#include "log/files.h"
#include "log/save.h"
#include "os/shortage.h"
#include <stdlib.h>

#define CLOSE_STEPS(STEP)                                                                                              \
    STEP(close, quiet)                                                                                                 \
    STEP(close, open)                                                                                                  \
    STEP(close, flush)                                                                                                 \
    STEP(close, saved) STEP(close, remove) STEP(close, rename) STEP(close, removed) STEP(close, release)
FLOW_DEFINE(close, CLOSE_STEPS)

// A directory that cannot be removed stays until the next start: whoever has ordered it is told, and it is the same
// then.
enum { REMOVE_TRIES = 10, REMOVE_AGAIN_MS = 300 };

struct close_task {
    struct flow flow;
    struct flow_op op;
    struct log *log;
    struct log_close *close;
    struct segment_wait wait;
    struct flush_wait flush_wait;
    struct save save;
    // lent to the function that renames
    char *from, *to, *parent;
    bool is_deleted; // at once
    int tries;       // to remove it, that met a shortage
    struct flow_timer again;
};

static struct close_task *close_task_of(struct flow *flow) {
    return container_of(flow, struct close_task, flow);
}

void log_close_start(struct log *log, struct log_close *close) {
    ASSERT(!log->closer);
    struct close_task *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    t->log = log;
    t->close = close;
    close->done = false;
    close->error = KAFKA_ERROR_NONE;
    log->closer = &t->flow;
    flow_start(&t->flow, &close_flow, log->core);
    flow_op_init(&t->op, &t->flow);
}

static flow_next close_step_quiet(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    if (!log_is_quiet(t->log)) return FLOW_WAIT;
    ASSERT(!t->log->maintenance.taken && !t->log->writer_turn.taken);
    if (log_dir_is_failed(t->log->dir)) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    if (!t->close->remove) return FLOW_NEXT;
    flush_pause(t->log);
    return FLOW_GOTO(close, remove);
}

// Only if the active segment lacks the last entry of its time index, and its indexes were dropped.
static flow_next close_step_open(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    struct segment *active = log_active_segment(t->log);
    if (!active->time_pending || active->indexes_resident) return FLOW_NEXT;
    if (!segment_want(t->log, active, true, &t->wait, flow)) return FLOW_WAIT;
    return t->wait.error == 0 ? FLOW_NEXT : FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
}

static flow_next close_step_flush(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    struct log *log = t->log;
    if (log->flush.in_flight) return FLOW_WAIT; // its end wakes the closer
    if (log_dir_is_failed(log->dir)) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
#ifdef TAILRACE_PLANT_CLOSE_UNFLUSHED
    log->flushed_end = log->end_offset;
#endif
    if (log->flushed_end < log->end_offset) {
        log_flush_start(log);
        flush_await(log, &t->flush_wait, flow);
        return FLOW_WAIT;
    }
    flush_pause(log);
    save_collect(log, &t->save, true);
    if (save_is_empty(&t->save)) return FLOW_DONE(flow, save_finish(log, &t->save, 0));
    os_offload(log->core->os, &t->op.op, save_run, &t->save);
    return FLOW_NEXT;
}

static flow_next close_step_saved(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    if (t->op.op.in_flight) return FLOW_WAIT;
    return FLOW_DONE(flow, save_finish(t->log, &t->save, t->op.op.result));
}

// ---- removing
static int64_t remove_run(struct os_host *host, void *argument) {
    struct close_task *t = argument;
    return deletion_mark_directory(host, t->parent, t->from, t->to, &t->is_deleted);
}

static flow_next close_step_remove(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    struct log *log = t->log;
    char name[DIR_NAME_BYTES_MAX + 1], path[FILES_PATH_MAX];
    dir_name_print_suffixed(name, log->topic, log->partition, os_random(log->core->os), os_random(log->core->os),
                            "delete");
    if (!path_join(path, log->dir->path, name)) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    t->from = log->path;
    t->to = strdup(path);
    t->parent = log->dir->path;
    ASSERT(t->to != NULL);
    return FLOW_NEXT;
}

static flow_next close_step_rename(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    if (t->tries > 0 && !t->again.fired) return FLOW_WAIT;
    os_offload(t->log->core->os, &t->op.op, remove_run, t);
    return FLOW_NEXT;
}

static flow_next close_step_removed(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    if (t->op.op.in_flight) return FLOW_WAIT;
    if (os_is_shortage(t->op.op.result)) {
        if (++t->tries == REMOVE_TRIES) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
        flow_timer_set(&t->again, flow, REMOVE_AGAIN_MS);
        return FLOW_GOTO(close, rename);
    }
    if (t->op.op.result < 0)
        return FLOW_DONE(flow, log_fail_directory(t->log, "renaming a partition's directory", (int)t->op.op.result));
    if (!t->is_deleted) deletion_of_directory(t->log->shard, t->to, t->log->config.file_delete_delay_ms);
    return FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

// ---- the end
static void take_apart(struct log *log) {
    struct log_shard *shard = log->shard;
    core_timer_cancel(log->core, &log->flush.timer);
    list_remove(&log->flush.link);
    list_remove(&log->shard_link);
    log_remove_last_segments(log, log->segment_count);
    log->shard = NULL;
    log_free(log);
    log_shard_leave(shard);
}

static flow_next close_step_release(struct flow *flow) {
    struct close_task *t = close_task_of(flow);
    ASSERT(!t->log->flush.in_flight && t->log->readers == 0);
    flow_timer_cancel(&t->again);
    flush_await_no_more(&t->flush_wait);
    take_apart(t->log);
    t->close->error = flow->error;
    t->close->done = true;
    flow_wake(t->close->flow);
    free(t->to);
    free(t);
    return FLOW_END;
}
