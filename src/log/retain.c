// SPDX-License-Identifier: Apache-2.0
// LOG_EXPIRE_PRODUCERS ends with the decision. LOG_APPLY_RETENTION and LOG_DELETE_RECORDS: the oldest segments go, as
// retention.c decides. The log forgets them at once; their files get the suffix .deleted (in order, so that a crash
// leaves no hole), and are deleted after file_delete_delay_ms. A read that holds one of them keeps its file.
//
// Failure: what cannot be renamed fails the directory; what cannot be deleted is left to the next start. The directory
// is opened first, for its fsync: without a descriptor nothing happens, and the next pass tries again.
#include "log/deletion.h"
#include "log/files.h"
#include "log/retention.h"
#include "log/roll.h"
#include "log/shard.h"
#include "os/shortage.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RETAIN_STEPS(STEP)                                                                                             \
    STEP(retain, begin)                                                                                                \
    STEP(retain, decide)                                                                                               \
    STEP(retain, open)                                                                                                 \
    STEP(retain, rolling)                                                                                              \
    STEP(retain, prepare) STEP(retain, remove) STEP(retain, renamed) STEP(retain, release)
FLOW_DEFINE(retain, RETAIN_STEPS)

struct retain_task {
    struct log_task task;
    struct retention_plan plan;
    struct log_roll roll;
    // lent to the offloaded function
    const char *directory;
    int64_t *bases;
    size_t base_count;
    int directory_file;
};

static struct retain_task *retain_task_of(struct flow *flow) {
    return container_of(log_task_of(flow), struct retain_task, task);
}

void log_retain_start(struct log *log, struct log_work *work) {
    struct retain_task *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    log_task_start(&t->task, log, &retain_flow, work);
}

static flow_next retain_step_begin(struct flow *flow) {
    struct log_task *task = log_task_of(flow);
    return log_turn_take(&task->log->maintenance, &task->maintenance, flow) ? FLOW_NEXT : FLOW_WAIT;
}

static struct retention_plan decide(struct log *log, bool by_policy) {
    struct retention_segment *segments = malloc(log->segment_count * sizeof *segments);
    ASSERT(segments != NULL);
    for (size_t i = 0; i < log->segment_count; i++) {
        const struct segment *s = log->segments[i];
        segments[i] = (struct retention_segment){s->base_offset, s->size_bytes, s->max_timestamp_ms, s->modified_ms};
    }
    struct retention_facts facts = {.segments = segments,
                                    .segment_count = log->segment_count,
                                    .log_start_offset = log->start_offset,
                                    .high_watermark = log->high_watermark,
                                    .log_end_offset = log->end_offset,
                                    .now_ms = core_wall_ms(log->core),
                                    .delete_policy = by_policy && (log->config.cleanup_policy & TOPIC_CLEANUP_DELETE),
                                    .retention_ms = log->config.retention_ms,
                                    .retention_bytes = log->config.retention_bytes};
    struct retention_plan plan = retention_decide(&facts);
    free(segments);
    return plan;
}

static void raise_start(struct log *log, int64_t offset) {
    ASSERT(offset <= log->end_offset);
    if (offset <= log->start_offset) return;
    log->start_offset = offset;
    epochs_truncate_start(&log->epochs, offset);
    producers_set_log_start(&log->producers, offset);
}

static flow_next retain_step_decide(struct flow *flow) {
    struct retain_task *t = retain_task_of(flow);
    struct log *log = t->task.log;
    // Between two writes: nothing tentative is in the producer state.
    if (!log_turn_take(&log->writer_turn, &t->task.writer, flow)) return FLOW_WAIT;
    const struct log_work *work = t->task.work;
    if (work->kind == LOG_DELETE_RECORDS) {
        if (work->offset > log->high_watermark) return FLOW_DONE(flow, KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
        raise_start(log, work->offset);
    } else if (work->kind == LOG_EXPIRE_PRODUCERS) {
        producers_expire(&log->producers, core_wall_ms(log->core), log->producer_expiration_ms);
        return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    }
    t->plan = decide(log, work->kind == LOG_APPLY_RETENTION);
    if (t->plan.delete_count == 0) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    if (t->plan.roll) return FLOW_NEXT;
    log_turn_give(&log->writer_turn, &t->task.writer);
    return FLOW_GOTO(retain, prepare);
}

static flow_next retain_step_open(struct flow *flow) {
    struct retain_task *t = retain_task_of(flow);
    struct log *log = t->task.log;
    if (!segment_want(log, log_active_segment(log), true, &t->task.wait, flow)) return FLOW_WAIT;
    if (t->task.wait.error != 0) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    if (!log_roll_may_begin(log, &t->task.flush_wait, flow)) return FLOW_WAIT;
    if (log_dir_is_failed(log->dir)) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    log_roll_begin(log, &t->roll, log->end_offset, flow);
    return FLOW_NEXT;
}

static flow_next retain_step_rolling(struct flow *flow) {
    struct retain_task *t = retain_task_of(flow);
    if (!log_roll_is_done(t->task.log, &t->roll)) return FLOW_WAIT;
    log_turn_give(&t->task.log->writer_turn, &t->task.writer);
    return t->roll.error == KAFKA_ERROR_NONE ? FLOW_NEXT : FLOW_DONE(flow, t->roll.error);
}

// ---- removing
static int64_t prepare_run(struct os_host *host, void *argument) {
    struct retain_task *t = argument;
    return directory_open(host, t->directory);
}

static int64_t rename_run(struct os_host *host, void *argument) {
    struct retain_task *t = argument;
    int error = 0;
    for (size_t i = 0; i < t->base_count && error == 0; i++)
        error = deletion_mark_segment(host, t->directory, t->bases[i]);
    if (error == 0) return directory_sync_and_close(host, t->directory_file);
    os_close(host, t->directory_file);
    return error;
}

static flow_next retain_step_prepare(struct flow *flow) {
    struct retain_task *t = retain_task_of(flow);
    t->directory = t->task.log->path;
    os_offload(t->task.log->core->os, &t->task.op.op, prepare_run, t);
    return FLOW_NEXT;
}

static flow_next retain_step_remove(struct flow *flow) {
    struct retain_task *t = retain_task_of(flow);
    struct log *log = t->task.log;
    if (t->task.op.op.in_flight) return FLOW_WAIT;
    int64_t file = t->task.op.op.result;
    if (os_is_shortage(file)) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    if (file < 0) return FLOW_DONE(flow, log_fail_directory(log, "renaming a segment", (int)file));
    t->directory_file = (int)file;
    size_t count = t->plan.delete_count; // the turn of maintenance is ours: nobody else has taken any of them
    ASSERT(count < log->segment_count);
    t->bases = malloc(count * sizeof *t->bases);
    ASSERT(t->bases != NULL);
    t->base_count = count;
    for (size_t i = 0; i < count; i++)
        t->bases[i] = log->segments[i]->base_offset;
    raise_start(log, max_i64(t->plan.log_start_offset, log->segments[count]->base_offset));
    log_remove_first_segments(log, count);
    os_offload(log->core->os, &t->task.op.op, rename_run, t);
    return FLOW_NEXT;
}

static flow_next retain_step_renamed(struct flow *flow) {
    struct retain_task *t = retain_task_of(flow);
    struct log *log = t->task.log;
    if (t->task.op.op.in_flight) return FLOW_WAIT;
    if (t->task.op.op.result < 0)
        return FLOW_DONE(flow, log_fail_directory(log, "renaming a segment", (int)t->task.op.op.result));
    deletion_of_segments(log->shard, log->path, t->bases, t->base_count, log->config.file_delete_delay_ms);
    t->bases = NULL; // the deletion's
    core_trace(log->core, "deleted segments", log->topic, t->base_count);
    return FLOW_NEXT;
}

static flow_next retain_step_release(struct flow *flow) {
    struct retain_task *t = retain_task_of(flow);
    log_task_end(&t->task);
    free(t->bases);
    free(t);
    return FLOW_END;
}
