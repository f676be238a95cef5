// SPDX-License-Identifier: Apache-2.0
// LOG_TRUNCATE and LOG_RESTART. The writer and the flusher stand still. The place of the cut is searched first; then
// the log's state is cut on the core, at once, so that no read sees what goes; then the files follow: later segments
// are deleted, newest first, then the segment that holds the end is cut and fsynced, its index files with it. Producer
// state is built again from the newest snapshot at or below the end and the batches behind it.
//
// An offset in the middle of a batch cuts the batch: the log ends at its base. Failure of anything after the cut of the
// state fails the directory.
#include "log/files.h"
#include "log/producers_batch.h"
#include "log/save.h"
#include "log/shard.h"
#include "log/snapshot.h"
#include "log/walk.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TRUNCATE_STEPS(STEP)                                                                                           \
    STEP(truncate, begin)                                                                                              \
    STEP(truncate, stand_still)                                                                                        \
    STEP(truncate, open)                                                                                               \
    STEP(truncate, find)                                                                                               \
    STEP(truncate, found) STEP(truncate, cut) STEP(truncate, done) STEP(truncate, release)
FLOW_DEFINE(truncate, TRUNCATE_STEPS)

struct truncate_task {
    struct log_task task;
    struct segment *segment; // the one that will be the last, held
    size_t segment_index;
    struct log_scan scan;
    // lent to the offloaded function
    const char *directory;
    int64_t *bases; // of segments to delete, newest first
    size_t base_count;
    int64_t base_offset;                            // of the last segment
    uint64_t size_bytes;                            // it is to have
    bool create;                                    // the last segment is made anew
    uint64_t times_from;                            // position from where on timestamps are looked for
    int64_t max_timestamp_ms, max_timestamp_offset; // in: up to there; out: of the segment
    struct index index;                             // what is left of the segment's indexes
    struct time_index times;
    struct txn_index aborted;
    uint64_t allocate_bytes; // with create
    bool aborted_file;
    struct producers producers;
    struct replay_segment {
        int64_t base_offset;
        uint64_t size_bytes;
    } * replay; // of all segments left
    size_t replay_count;
    int64_t start_offset, end_offset, now_ms, expiration_ms;
    int file;
    const char *what; // failed
};

static struct truncate_task *truncate_task_of(struct flow *flow) {
    return container_of(log_task_of(flow), struct truncate_task, task);
}

void log_truncate_start(struct log *log, struct log_work *work) {
    struct truncate_task *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    t->file = -1;
    log_task_start(&t->task, log, &truncate_flow, work);
}

static flow_next truncate_step_begin(struct flow *flow) {
    struct log_task *task = log_task_of(flow);
    if (!log_turn_take(&task->log->maintenance, &task->maintenance, flow)) return FLOW_WAIT;
    if (!log_turn_take(&task->log->writer_turn, &task->writer, flow)) return FLOW_WAIT;
    flush_pause(task->log);
    return FLOW_NEXT;
}

static flow_next truncate_step_stand_still(struct flow *flow) {
    struct truncate_task *t = truncate_task_of(flow);
    struct log *log = t->task.log;
    if (log->flush.in_flight) {
        flush_await(log, &t->task.flush_wait, flow);
        return FLOW_WAIT;
    }
    if (log_dir_is_failed(log->dir)) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    int64_t offset = t->task.work->offset;
    t->start_offset = log->start_offset;
    if (t->task.work->kind == LOG_RESTART || offset < log->segments[0]->base_offset) {
        t->create = true;
        t->end_offset = t->start_offset = t->base_offset = offset;
        return FLOW_GOTO(truncate, cut);
    }
    if (offset >= log->end_offset) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    t->segment_index = log_segment_index(log, offset);
    t->segment = log->segments[t->segment_index];
    segment_hold(t->segment);
    return FLOW_NEXT;
}

static flow_next truncate_step_open(struct flow *flow) {
    struct truncate_task *t = truncate_task_of(flow);
    if (!segment_want(t->task.log, t->segment, true, &t->task.wait, flow)) return FLOW_WAIT;
    return t->task.wait.error == 0 ? FLOW_NEXT : FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
}

static flow_next truncate_step_find(struct flow *flow) {
    struct truncate_task *t = truncate_task_of(flow);
    int64_t offset = t->task.work->offset;
    struct index_entry entry = index_floor_offset(&t->segment->index, segment_relative(t->segment, offset));
    t->scan = (struct log_scan){.file = t->segment->file,
                                .position = (uint64_t)entry.position,
                                .end_position = t->segment->size_bytes,
                                .offset = offset,
                                .limit_position = UINT64_MAX};
    os_offload(t->task.log->core->os, &t->task.op.op, log_scan_run, &t->scan);
    return FLOW_NEXT;
}

static flow_next truncate_step_found(struct flow *flow) {
    struct truncate_task *t = truncate_task_of(flow);
    if (t->task.op.op.in_flight) return FLOW_WAIT;
    enum scan_status status = (enum scan_status)t->task.op.op.result;
    if (status != SCAN_FOUND && status != SCAN_AT_END) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    t->end_offset = t->task.work->offset;
    if (status == SCAN_FOUND) t->end_offset = min_i64(t->end_offset, t->scan.base_offset);
    t->end_offset = max_i64(t->end_offset, t->segment->base_offset);
    t->base_offset = t->segment->base_offset;
    t->size_bytes = t->scan.position;
    return FLOW_NEXT;
}

// ---- offloaded
static int delete_segments(struct os_host *host, const struct truncate_task *t) {
    static const char *const suffixes[] = {".log", ".index", ".timeindex", ".txnindex"};
    for (size_t i = 0; i < t->base_count; i++) {
        for (size_t j = 0; j < ARRAY_LENGTH(suffixes); j++) {
            char path[LOG_PATH_BYTES_MAX];
            if (!segment_path(path, t->directory, t->bases[i], suffixes[j])) return -ENAMETOOLONG;
            int error = os_unlink(host, path);
            if (error != 0 && error != -ENOENT) return error;
        }
    }
    return directory_sync(host, t->directory);
}

static int delete_snapshots_above(struct os_host *host, const struct truncate_task *t) {
    struct offset_list list = {0};
    int error = snapshot_list(host, t->directory, &list);
    for (size_t i = 0; i < list.count && error == 0; i++)
        if (t->create || list.offsets[i] > t->end_offset) error = snapshot_delete(host, t->directory, list.offsets[i]);
    offset_list_free(&list);
    return error;
}

static int cut_segment(struct os_host *host, struct truncate_task *t) {
    t->file = t->create ? segment_create_files(host, t->directory, t->base_offset, 0)
                        : segment_open_file(host, t->directory, t->base_offset);
    if (t->file < 0) return t->file;
    int error = os_truncate(host, t->file, t->size_bytes);
    if (error == 0 && t->allocate_bytes > 0) error = os_allocate(host, t->file, t->allocate_bytes);
    return error != 0 ? error : os_fsync(host, t->file);
}

static int find_max_timestamp(struct os_host *host, struct truncate_task *t) {
    struct log_scan scan = {.file = t->file,
                            .position = t->times_from,
                            .end_position = t->size_bytes,
                            .offset = INT64_MAX,
                            .limit_position = 0};
    enum scan_status status;
    while ((status = log_scan_walk(host, &scan, false, 0)) == SCAN_FOUND) {
        if (scan.max_timestamp_ms > t->max_timestamp_ms) {
            t->max_timestamp_ms = scan.max_timestamp_ms;
            t->max_timestamp_offset = scan.last_offset;
        }
        scan.position += scan.size_bytes;
    }
    return status == SCAN_AT_END ? 0 : status == SCAN_FAILED ? scan.error : -EIO;
}

static int replay_into(struct os_host *host, struct truncate_task *t, const struct replay_segment *segment,
                       int64_t from) {
    int file = segment_open_file(host, t->directory, segment->base_offset);
    if (file < 0) return file;
    struct walk walk = {
        .host = host, .file = file, .end_position = segment->size_bytes, .next_offset = segment->base_offset};
    enum walk_status status;
    int error = 0;
    while (error == 0 && (status = walk_next(&walk)) != WALK_END) {
        if (status != WALK_BATCH) error = status == WALK_FAILED ? walk.error : -EIO;
        if (error != 0 || walk.batch.base_offset < from) continue;
        if (batch_is_control(&walk.batch) && walk_load_batch(&walk, MARKER_BATCH_BYTES_MAX) != WALK_BATCH) continue;
        struct producer_append append;
        struct producer_transaction ended;
        if (producer_append_of(&walk.batch, &append)) producers_apply(&t->producers, &append, &ended);
    }
    walk_close(&walk);
    os_close(host, file);
    return error;
}

static int rebuild_producers(struct os_host *host, struct truncate_task *t) {
    if (t->create) return 0;
    char memory[128];
    struct text warning = TEXT_IN(memory);
    struct offset_list list = {0};
    int64_t from = -1;
    struct snapshot_limits limits = {t->start_offset, t->end_offset, t->now_ms, t->expiration_ms};
    int error = snapshot_list(host, t->directory, &list);
    if (error == 0) error = snapshot_load_newest(host, t->directory, &list, &limits, &t->producers, &from, &warning);
    offset_list_free(&list);
    t->producers.snapshot_offset = from;
    from = max_i64(from, t->start_offset);
    for (size_t i = 0; i < t->replay_count && error == 0; i++) {
        if (i + 1 < t->replay_count && t->replay[i + 1].base_offset <= from) continue;
        error = replay_into(host, t, &t->replay[i], from);
    }
    producers_written(&t->producers, INT64_MAX);
    return error;
}

static int64_t truncate_run(struct os_host *host, void *argument) {
    struct truncate_task *t = argument;
    t->what = "deleting segments to truncate";
    int error = delete_segments(host, t);
    if (error == 0) error = delete_snapshots_above(host, t);
    if (error != 0) return error;
    t->what = "cutting a segment";
    error = cut_segment(host, t);
    if (error == 0 && !t->create) error = find_max_timestamp(host, t);
    if (error != 0) return error;
    t->what = "cutting index files";
    struct segment left = {.base_offset = t->base_offset,
                           .index = t->index,
                           .time_index = t->times,
                           .aborted = t->aborted,
                           .aborted_file = t->aborted_file,
                           .indexes_resident = true,
                           .indexes_trim = true};
    error = segment_write_indexes(host, t->directory, &left, true, true);
    if (error == 0) error = directory_sync(host, t->directory);
    if (error != 0) return error;
    t->what = "building producer state again";
    return rebuild_producers(host, t);
}

// ---- on the core
static void collect_bases(struct truncate_task *t, size_t keep) {
    struct log *log = t->task.log;
    t->bases = malloc((log->segment_count + 1) * sizeof *t->bases);
    t->replay = malloc((log->segment_count + 1) * sizeof *t->replay);
    ASSERT(t->bases != NULL && t->replay != NULL);
    for (size_t i = log->segment_count; i > keep; i--)
        t->bases[t->base_count++] = log->segments[i - 1]->base_offset;
    for (size_t i = 0; i < keep; i++)
        t->replay[t->replay_count++] =
            (struct replay_segment){log->segments[i]->base_offset, log->segments[i]->size_bytes};
}

static void cut_segment_state(struct truncate_task *t) {
    struct segment *segment = t->segment;
    int64_t relative = segment_relative(segment, t->end_offset);
    segment->size_bytes = t->size_bytes;
    segment->flushed_bytes = min_size(segment->flushed_bytes, t->size_bytes);
    segment->writeback_bytes = min_size(segment->writeback_bytes, t->size_bytes);
    segment->bytes_since_index = 0;
    segment->indexes_durable = false;
    index_truncate(&segment->index, relative);
    time_index_truncate(&segment->time_index, relative);
    txn_index_truncate(&segment->aborted, t->end_offset);
    if (t->size_bytes == 0) segment->first_timestamp_ms = -1;
    struct time_index_entry last = time_index_floor(&segment->time_index, INT64_MAX);
    t->max_timestamp_ms = last.timestamp_ms;
    t->max_timestamp_offset = last.timestamp_ms < 0 ? -1 : segment->base_offset + last.relative_offset;
    t->times_from =
        last.timestamp_ms < 0 ? 0 : (uint64_t)index_floor_offset(&segment->index, last.relative_offset).position;
    // Lent while nobody else changes them (reads go on).
    t->index = segment->index;
    t->times = segment->time_index;
    t->aborted = segment->aborted;
    t->aborted_file = segment->aborted_file && !segment->aborted_damaged;
}

static void cut_log_state(struct truncate_task *t) {
    struct log *log = t->task.log;
    log_forget_boundaries(log);
    log->end_offset = t->end_offset;
    log->start_offset = t->create ? t->start_offset : min_i64(log->start_offset, t->end_offset);
    log->flushed_end = min_i64(log->flushed_end, t->end_offset);
    log->high_watermark = min_i64(log->high_watermark, t->end_offset);
    log->recovery_point = min_i64(log->recovery_point, t->end_offset);
    if (t->create) {
        epochs_clear(&log->epochs);
        log->flushed_end = log->high_watermark = log->recovery_point = t->end_offset;
    } else {
        epochs_truncate_end(&log->epochs, t->end_offset);
    }
}

static flow_next truncate_step_cut(struct flow *flow) {
    struct truncate_task *t = truncate_task_of(flow);
    struct log *log = t->task.log;
    size_t keep = t->create ? 0 : t->segment_index + 1;
    t->directory = log->path;
    t->now_ms = core_wall_ms(log->core);
    t->expiration_ms = log->producer_expiration_ms;
    t->allocate_bytes = t->create ? log_initial_file_bytes(log) : 0;
    producers_init(&t->producers, log->producers.hash_seed);
    t->max_timestamp_ms = t->max_timestamp_offset = -1;
    if (!t->create) cut_segment_state(t);
    collect_bases(t, keep);
    log_remove_last_segments(log, log->segment_count - keep);
    if (t->create) {
        t->segment = segment_new(t->base_offset);
        segment_hold(t->segment);
        log_add_segment(log, t->segment);
        log_adopt_segment(log, t->segment);
    }
    cut_log_state(t);
    os_offload(log->core->os, &t->task.op.op, truncate_run, t);
    return FLOW_NEXT;
}

static flow_next truncate_step_done(struct flow *flow) {
    struct truncate_task *t = truncate_task_of(flow);
    struct log *log = t->task.log;
    if (t->task.op.op.in_flight) return FLOW_WAIT;
    struct segment *segment = t->segment;
    if (t->file >= 0) {
        if (segment->file < 0) {
            log_shard_opened(log->shard, segment, t->file);
        } else {
            os_close(log->core->host, t->file);
        }
    }
    if (t->task.op.op.result < 0) return FLOW_DONE(flow, log_fail_directory(log, t->what, (int)t->task.op.op.result));
    segment->index.written = segment->index.count;
    segment->time_index.written = segment->time_index.count;
    segment->aborted.written = segment->aborted.count;
    if (segment->aborted.count > 0) segment->aborted_file = true;
    segment->indexes_durable = true;
    segment->indexes_trim = false;
    segment->flushed_bytes = segment->size_bytes;
    segment->preallocated = t->allocate_bytes > 0;
    segment->max_timestamp_ms = t->max_timestamp_ms;
    segment->max_timestamp_offset = t->max_timestamp_offset;
    segment->time_pending = t->max_timestamp_ms >= 0;
    producers_move(&log->producers, &t->producers);
    return FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

static flow_next truncate_step_release(struct flow *flow) {
    struct truncate_task *t = truncate_task_of(flow);
    if (t->segment) segment_release(t->segment);
    log_task_end(&t->task);
    free(t->bases);
    free(t->replay);
    free(t);
    return FLOW_END;
}
