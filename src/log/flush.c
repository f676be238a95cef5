// SPDX-License-Identifier: Apache-2.0
// Group commit. One flush in flight a log; what is written meanwhile waits for the next one, which starts as soon as
// this one completes. The end is sampled from completed writes before the flush is submitted. A segment is
// sealed only when it is flushed, and the new one's directory entry is durable before its first write, so the flushed
// end never passes anything that is not on stable storage. No two syncs of a file are ever in flight: the kernel tells
// an error of write-back to only one of them.
//
// The logs of one directory that want a flush on this core queue up for its flusher, which keeps at most two flushes in
// flight: what is written meanwhile goes together with the next. A few logs get an fdatasync each; three or more
// get one syncfs together, and those that want it meanwhile the next one. A log that is on another file system than the
// directory always gets its own fdatasync.
//
// Failure: an fdatasync that fails fails the directory, for ever; nothing is tried again. A syncfs that fails may have
// met somebody else's file: each log's own fdatasync then decides, from then on for ever. For a syncfs is told of an
// error once, and the file that it met may be one that was not waiting: the next syncfs would succeed, and its bytes
// count as durable.
#include "log/shard.h"

#define FLUSHER_STEPS(STEP) STEP(flusher, turn) STEP(flusher, release)
FLOW_DEFINE(flusher, FLUSHER_STEPS)

static void flush_done(struct os_op *op);
static void flush_by_age(struct timer *timer);

void flush_init(struct log *log) {
    log->flush.op = OS_OP(flush_done);
    timer_init(&log->flush.timer, flush_by_age);
}

static struct log *log_of_flush_link(struct list *link) {
    return container_of(container_of(link, struct log_flush, link), struct log, flush);
}

static void flusher_wake(struct log_shard *shard) {
    if (!list_is_empty(&shard->flush_queue) && !flow_is_active(&shard->flusher))
        flow_start(&shard->flusher, &flusher_flow, shard->core);
}

static struct segment *flush_first_dirty(const struct log *log, size_t *index) {
    for (size_t i = log_segment_index(log, log->flushed_end); i < log->segment_count; i++) {
        if (log->segments[i]->flushed_bytes == log->segments[i]->size_bytes) continue;
        *index = i;
        return log->segments[i];
    }
    return NULL;
}

static void flush_queue(struct log *log) {
    struct log_shard *shard = log->shard;
    if (log_dir_is_failed(log->dir) || log->flush.paused) return;
    if (!list_is_linked(&log->flush.link)) list_push_back(&shard->flush_queue, &log->flush.link);
    flusher_wake(shard);
}

void log_flush_start(struct log *log) {
    if (log->flushed_end == log->end_offset) return;
    log->flush.wanted = true;
    if (!log->flush.in_flight) flush_queue(log);
}

void flush_pause(struct log *log) {
    ASSERT(!log->flush.paused);
    log->flush.paused = true;
    if (!log->flush.in_flight) list_remove(&log->flush.link); // else it may be in the list of a syncfs
}

void flush_resume(struct log *log) {
    if (!log->flush.paused) return;
    log->flush.paused = false;
    if (log->flush.wanted) flush_queue(log);
}

void flush_after_write(struct log *log) {
    if (log->end_offset - log->flushed_end >= log->config.flush_messages) log_flush_start(log);
    if (log->config.flush_ms != INT64_MAX && !timer_is_set(&log->flush.timer) && log->flushed_end < log->end_offset)
        core_timer_set(log->core, &log->flush.timer, (uint64_t)log->config.flush_ms);
}

static void flush_by_age(struct timer *timer) {
    log_flush_start(container_of(container_of(timer, struct log_flush, timer), struct log, flush));
}

void flush_wake_waiters(struct log *log) {
    for (struct list *link = list_pop_front(&log->flush.waiters); link; link = list_pop_front(&log->flush.waiters))
        flow_wake(container_of(link, struct flush_wait, link)->flow);
}

void flush_await(struct log *log, struct flush_wait *wait, struct flow *flow) {
    if (wait->link.next == NULL) list_init(&wait->link);
    wait->flow = flow;
    if (!list_is_linked(&wait->link)) list_push_back(&log->flush.waiters, &wait->link);
}

void flush_await_no_more(struct flush_wait *wait) {
    if (wait->link.next != NULL) list_remove(&wait->link);
}

// ---- one log
static void flush_begin(struct log *log, struct segment *segment, size_t index) {
    struct log_flush *flush = &log->flush;
    ASSERT(!flush->in_flight && !flush->segment);
    flush->in_flight = true;
    flush->segment = segment;
    flush->target_bytes = segment->size_bytes;
    flush->target_offset = log_segment_end(log, index);
    segment_hold(segment);
}

static void flush_advance(struct log *log, int64_t flushed_end) {
    ASSERT(flushed_end <= log->end_offset);
    if (flushed_end <= log->flushed_end) return;
    log->flushed_end = flushed_end;
    if (log->flushed_end == log->end_offset) core_timer_cancel(log->core, &log->flush.timer);
    core_trace(log->core, "flushed", log->topic, (uint64_t)flushed_end);
    log->listener->flushed(log->listener);
}

// The flush in flight has ended, with what it covers durable or not.
static void flush_end(struct log *log, bool good) {
    struct log_flush *flush = &log->flush;
    ASSERT(flush->in_flight && flush->segment);
    flush->in_flight = false;
    struct segment *segment = flush->segment;
    flush->segment = NULL;
    if (good) {
        segment->flushed_bytes = flush->target_bytes;
        flush_advance(log, flush->target_offset);
    }
    segment_release(segment);
    flush_wake_waiters(log);
    if (log->closer) flow_wake(log->closer);
    if (good && flush->wanted) flush_queue(log);
}

static void flush_done(struct os_op *op) {
    struct log *log = container_of(container_of(op, struct log_flush, op), struct log, flush);
    struct log_shard *shard = log->shard; // stays while the log is attached, and its closing is a flow
    bool good = op->result >= 0;
    ASSERT(shard->flushes_in_flight > 0);
    shard->flushes_in_flight--;
    if (!good) log_fail_directory(log, "fdatasync", (int)op->result);
    flush_end(log, good && !log_dir_is_failed(log->dir));
    flusher_wake(shard);
}

// False: nothing is dirty (any more).
static bool flush_prepare(struct log *log) {
    size_t index;
    struct segment *segment = flush_first_dirty(log, &index);
    if (!segment) {
        log->flush.wanted = false;
        flush_advance(log, log->end_offset);
        flush_wake_waiters(log);
        return false;
    }
    ASSERT(segment->file >= 0);                                     // dirty segments stay open
    if (index == log->segment_count - 1) log->flush.wanted = false; // else the following ones come next
    flush_begin(log, segment, index);
    return true;
}

static void flush_submit(struct log *log) {
#ifdef TAILRACE_PLANT_ACK_BEFORE_FLUSH
    flush_advance(log, log->flush.target_offset);
#endif
    log->shard->flush_count++;
    log->shard->flushes_in_flight++;
    os_fdatasync_start(log->core->os, &log->flush.op, log->flush.segment->file);
}

// ---- many logs
static int64_t syncfs_run(struct os_host *host, void *file) {
    return os_sync_filesystem(host, *(const int *)file);
}

static int *sync_file_of(struct log_shard *shard) {
    return &shard->dir->sync_files[shard->core->id];
}

static void syncfs_done(struct os_op *op) {
    struct log_shard *shard = container_of(container_of(op, struct log_syncfs, op), struct log_shard, syncfs);
    struct list logs; // ends and failures may queue the same links again
    list_init(&logs);
    for (struct list *link = list_pop_front(&shard->syncfs.logs); link; link = list_pop_front(&shard->syncfs.logs))
        list_push_back(&logs, link);
    shard->syncfs.in_flight = false;
#ifndef TAILRACE_PLANT_SYNCFS_TRUSTED
    if (op->result < 0) {
        os_close(shard->core->host, *sync_file_of(shard));
        *sync_file_of(shard) = -1;
    }
#endif
    for (struct list *link = list_pop_front(&logs); link; link = list_pop_front(&logs)) {
        struct log *log = log_of_flush_link(link);
        if (op->result >= 0 && !log_dir_is_failed(log->dir)) {
            flush_end(log, true);
        } else {
            flush_submit(log); // its verdict counts
        }
    }
    flusher_wake(shard);
}

static void syncfs_submit(struct log_shard *shard) {
    struct log_syncfs *syncfs = &shard->syncfs;
    struct list elsewhere;
    ASSERT(!syncfs->in_flight && list_is_empty(&syncfs->logs));
    list_init(&elsewhere);
    for (struct list *link = list_pop_front(&shard->flush_queue); link; link = list_pop_front(&shard->flush_queue)) {
        struct log *log = log_of_flush_link(link);
        if (log->is_elsewhere)
            list_push_back(&elsewhere, link);
        else if (flush_prepare(log))
            list_push_back(&syncfs->logs, link);
    }
    for (struct list *link = list_pop_front(&elsewhere); link; link = list_pop_front(&elsewhere))
        list_push_back(&shard->flush_queue, link);
    if (list_is_empty(&syncfs->logs)) return;
    syncfs->in_flight = true;
    shard->syncfs_count++;
    syncfs->op = OS_OP(syncfs_done);
    os_offload(shard->core->os, &syncfs->op, syncfs_run, sync_file_of(shard));
}

static bool takes_syncfs(struct log_shard *shard) {
    int count = 0;
    if (*sync_file_of(shard) < 0) return false;
    LIST_FOREACH (link, &shard->flush_queue) {
        if (log_of_flush_link(link)->is_elsewhere) return false;
        if (++count >= SHARD_SYNCFS_LOGS) return true;
    }
    return false;
}

static flow_next flusher_step_turn(struct flow *flow) {
    struct log_shard *shard = container_of(flow, struct log_shard, flusher);
    // Whatever is in flight wakes the flusher again when it is done.
    if (shard->syncfs.in_flight || shard->flushes_in_flight >= SHARD_FLUSHES_MAX) return FLOW_NEXT;
    if (takes_syncfs(shard)) syncfs_submit(shard);
    while (!shard->syncfs.in_flight && shard->flushes_in_flight < SHARD_FLUSHES_MAX &&
           !list_is_empty(&shard->flush_queue)) {
        struct log *log = log_of_flush_link(list_pop_front(&shard->flush_queue));
        if (flush_prepare(log)) flush_submit(log);
    }
    return FLOW_NEXT;
}

static flow_next flusher_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}
