// SPDX-License-Identifier: Apache-2.0
// A checkpoint of one log. With the writer standing still for a moment, what is to be written is collected as bytes;
// appends go on meanwhile. Then the batches up to the collected end are flushed, indexes, snapshot and epochs are
// written and fsynced, and only then does the recovery point move: recovery never needs what is older.
//
// Failure: no space or no descriptor fails this checkpoint, the next one tries again: it writes the same bytes at the
// same places, and those behind them. A failed fsync, or any other error, fails the directory.
#include "log/save.h"
#include "log/files.h"
#include "log/snapshot.h"
#include "os/shortage.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- collecting
static struct bytes encoded_offsets(const struct index *index) {
    size_t size = (index->count - index->written) * INDEX_ENTRY_BYTES;
    uint8_t *data = malloc(size + 1);
    ASSERT(data != NULL);
    index_encode(index, index->written, data);
    return (struct bytes){data, size};
}

static struct bytes encoded_times(const struct time_index *index) {
    size_t size = (index->count - index->written) * TIME_INDEX_ENTRY_BYTES;
    uint8_t *data = malloc(size + 1);
    ASSERT(data != NULL);
    time_index_encode(index, index->written, data);
    return (struct bytes){data, size};
}

static struct bytes encoded_aborted(const struct txn_index *index) {
    size_t size = (index->count - index->written) * TXN_INDEX_ENTRY_BYTES;
    uint8_t *data = malloc(size + 1);
    ASSERT(data != NULL);
    txn_index_encode(index, index->written, data);
    return (struct bytes){data, size};
}

static void collect_index(struct save *save, struct segment *segment, bool is_final) {
    struct save_index *entry = &save->indexes[save->index_count++];
    *entry = (struct save_index){.segment = segment, .base_offset = segment->base_offset};
    entry->has_aborted = !segment->aborted_damaged && (segment->aborted_file || segment->aborted.count > 0);
    if (!segment->indexes_resident) return;
    entry->is_resident = true;
    entry->offsets = encoded_offsets(&segment->index);
    entry->times = encoded_times(&segment->time_index);
    entry->aborted = encoded_aborted(&segment->aborted);
    entry->offsets_at = segment->index.written * INDEX_ENTRY_BYTES;
    entry->times_at = segment->time_index.written * TIME_INDEX_ENTRY_BYTES;
    entry->offset_count = segment->index.count;
    entry->time_count = segment->time_index.count;
    entry->aborted_at = segment->aborted.written * TXN_INDEX_ENTRY_BYTES;
    entry->aborted_count = segment->aborted.count;
    entry->trim = is_final || segment->indexes_trim;
}

static bool is_base(const struct log *log, int64_t offset) {
    for (size_t i = 0; i < log->segment_count; i++)
        if (log->segments[i]->base_offset == offset) return true;
    return false;
}

// A snapshot that is not at the base of a segment is only good until there is a newer one. It is the last that was
// written, or, if a segment was rolled since, the last checkpoint's.
static int64_t stale_snapshot(const struct log *log) {
    const int64_t candidates[] = {log->producers.snapshot_offset, log->durable_snapshot};
    for (size_t i = 0; i < ARRAY_LENGTH(candidates); i++)
        if (candidates[i] >= 0 && candidates[i] != log->end_offset && !is_base(log, candidates[i]))
            return candidates[i];
    return -1;
}

void save_collect(struct log *log, struct save *save, bool is_final) {
    *save = (struct save){.directory = log->path, .end_offset = log->end_offset, .stale_snapshot = -1, .trim_base = -1};
    save->indexes = malloc(log->segment_count * sizeof *save->indexes);
    ASSERT(save->indexes != NULL);
    for (size_t i = 0; i < log->segment_count; i++) {
        struct segment *segment = log->segments[i];
        if (is_final && segment->time_pending) segment_finish_time_index(segment);
        if (!segment->indexes_durable) collect_index(save, segment, is_final);
    }
    if (log->end_offset > log->start_offset && log->producers.snapshot_offset == log->end_offset) {
        save->sync_snapshot = log->durable_snapshot != log->end_offset;
        if (save->sync_snapshot) save->stale_snapshot = stale_snapshot(log);
    } else if (log->end_offset > log->start_offset) {
        save->snapshot_bytes = producers_snapshot_bytes(&log->producers);
        save->snapshot = malloc(save->snapshot_bytes);
        ASSERT(save->snapshot != NULL);
        producers_encode(&log->producers, save->snapshot);
        save->stale_snapshot = stale_snapshot(log);
    }
    const struct segment *active = log_active_segment(log);
    if (is_final && active->preallocated) {
        save->trim_base = active->base_offset;
        save->trim_bytes = active->size_bytes;
    }
    if (log->epochs.version != log->epochs.written_version) {
        save->epochs = epochs_encode(&log->epochs, &save->epochs_bytes);
        save->epochs_version = log->epochs.version;
    }
}

bool save_is_empty(const struct save *save) {
    return save->index_count == 0 && save->trim_base < 0 && !save->snapshot && !save->sync_snapshot && !save->epochs;
}

// ---- offloaded
static int sync_and_close(struct os_host *host, struct save *save, int file) {
    int error = os_fsync(host, file);
    if (error != 0) save->sync_failed = true;
    os_close(host, file);
    return error;
}

static int write_part(struct os_host *host, struct save *save, const char *name, struct bytes bytes, uint64_t position,
                      bool trim) {
    char path[FILES_PATH_MAX];
    if (!path_join(path, save->directory, name)) return -ENAMETOOLONG;
    int file = os_open(host, path, OS_READ | OS_WRITE | OS_CREATE);
    if (file < 0) return file;
    int error = file_write_all(host, file, bytes.data, bytes.size, position);
    if (error == 0 && trim) error = os_truncate(host, file, position + bytes.size);
    if (error == 0) return sync_and_close(host, save, file);
    os_close(host, file);
    return error;
}

static int save_index(struct os_host *host, struct save *save, const struct save_index *entry) {
    char name[64];
    snprintf(name, sizeof name, "%020" PRId64 ".index", entry->base_offset);
    int error = write_part(host, save, name, entry->offsets, entry->offsets_at, entry->trim);
    if (error != 0) return error;
    snprintf(name, sizeof name, "%020" PRId64 ".timeindex", entry->base_offset);
    error = write_part(host, save, name, entry->times, entry->times_at, entry->trim);
    if (error != 0 || !entry->has_aborted) return error;
    snprintf(name, sizeof name, "%020" PRId64 ".txnindex", entry->base_offset);
    return write_part(host, save, name, entry->aborted, entry->aborted_at, entry->trim);
}

static int trim_log(struct os_host *host, struct save *save) {
    if (save->trim_base < 0) return 0;
    int file = segment_open_file(host, save->directory, save->trim_base);
    if (file < 0) return file;
    int error = os_truncate(host, file, save->trim_bytes);
    if (error == 0) return sync_and_close(host, save, file);
    os_close(host, file);
    return error;
}

static int save_snapshot(struct os_host *host, struct save *save) {
    if (!save->snapshot && !save->sync_snapshot) return 0;
    char name[64];
    snprintf(name, sizeof name, "%020" PRId64 ".snapshot", save->end_offset);
    if (save->sync_snapshot) return write_part(host, save, name, (struct bytes){0}, 0, false);
    return write_part(host, save, name, (struct bytes){save->snapshot, save->snapshot_bytes}, 0, true);
}

static int save_files(struct os_host *host, struct save *save) {
    int error = trim_log(host, save);
    for (size_t i = 0; i < save->index_count && error == 0; i++)
        error = save_index(host, save, &save->indexes[i]);
    if (error == 0) error = save_snapshot(host, save);
    if (error == 0 && save->epochs)
        error = file_replace(host, save->directory, "leader-epoch-checkpoint", save->epochs, save->epochs_bytes);
    return error;
}

int64_t save_run(struct os_host *host, void *argument) {
    struct save *save = argument;
    int directory = directory_open(host, save->directory);
    if (directory < 0) return directory;
    int error = save_files(host, save);
    if (error != 0 || save->epochs) { // replacing their file has ended with the fsync of the directory
        os_close(host, directory);
    } else {
        error = directory_sync_and_close(host, directory);
    }
    if (error == 0 && save->stale_snapshot >= 0) error = snapshot_delete(host, save->directory, save->stale_snapshot);
    return error;
}

// ---- noting
static void note_index(const struct save_index *entry) {
    struct segment *segment = entry->segment;
    // Dropped meanwhile (with nothing unwritten), or never in memory: the files were whole, and were fsynced.
    if (!entry->is_resident || !segment->indexes_resident) {
        segment->indexes_durable = !segment->indexes_resident || !segment_indexes_unwritten(segment);
        return;
    }
    ASSERT(segment->index.count >= entry->offset_count && segment->time_index.count >= entry->time_count);
    segment->index.written = entry->offset_count;
    segment->time_index.written = entry->time_count;
    segment->aborted.written = entry->aborted_count;
    if (entry->has_aborted) segment->aborted_file = true;
    if (entry->trim) segment->indexes_trim = false;
    segment->indexes_durable = !segment_indexes_unwritten(segment);
}

static void save_free(struct save *save) {
    for (size_t i = 0; i < save->index_count; i++) {
        free((void *)save->indexes[i].offsets.data);
        free((void *)save->indexes[i].times.data);
        free((void *)save->indexes[i].aborted.data);
    }
    free(save->indexes);
    free(save->snapshot);
    free(save->epochs);
    *save = (struct save){0};
}

int16_t save_finish(struct log *log, struct save *save, int64_t result) {
    int16_t error = KAFKA_ERROR_NONE;
    if (result == 0) {
        for (size_t i = 0; i < save->index_count; i++)
            note_index(&save->indexes[i]);
        if (save->snapshot) log->producers.snapshot_offset = save->end_offset;
        if (save->snapshot || save->sync_snapshot) log->durable_snapshot = save->end_offset;
        if (save->epochs) log->epochs.written_version = save->epochs_version;
        ASSERT(log->flushed_end >= save->end_offset);
        log->recovery_point = save->end_offset;
    } else if (save->sync_failed || !os_is_shortage(result)) {
        error = log_fail_directory(log, "writing indexes and producer state", (int)result);
    } else {
        error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    }
    save_free(save);
    return error;
}

// ---- LOG_CHECKPOINT
#define SAVE_STEPS(STEP) STEP(save, begin) STEP(save, collect) STEP(save, flush) STEP(save, written) STEP(save, release)
FLOW_DEFINE(save, SAVE_STEPS)

struct save_task {
    struct log_task task;
    struct save save;
};
static struct save_task *save_task_of(struct flow *flow) {
    return container_of(log_task_of(flow), struct save_task, task);
}

void log_save_start(struct log *log, struct log_work *work) {
    struct save_task *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    log_task_start(&t->task, log, &save_flow, work);
}

static flow_next save_step_begin(struct flow *flow) {
    struct log_task *task = log_task_of(flow);
    return log_turn_take(&task->log->maintenance, &task->maintenance, flow) ? FLOW_NEXT : FLOW_WAIT;
}

// Between two writes there is no tentative producer state.
static flow_next save_step_collect(struct flow *flow) {
    struct save_task *t = save_task_of(flow);
    struct log *log = t->task.log;
    if (!log_turn_take(&log->writer_turn, &t->task.writer, flow)) return FLOW_WAIT;
    save_collect(log, &t->save, false);
    log_turn_give(&log->writer_turn, &t->task.writer);
    return FLOW_NEXT;
}

static flow_next save_step_flush(struct flow *flow) {
    struct save_task *t = save_task_of(flow);
    struct log *log = t->task.log;
    if (log_dir_is_failed(log->dir)) {
        save_free(&t->save);
        return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    }
    if (log->flushed_end < t->save.end_offset) {
        log_flush_start(log);
        flush_await(log, &t->task.flush_wait, flow);
        return FLOW_WAIT;
    }
    if (save_is_empty(&t->save)) return FLOW_DONE(flow, save_finish(log, &t->save, 0));
    os_offload(log->core->os, &t->task.op.op, save_run, &t->save);
    return FLOW_NEXT;
}

static flow_next save_step_written(struct flow *flow) {
    struct save_task *t = save_task_of(flow);
    if (t->task.op.op.in_flight) return FLOW_WAIT;
    return FLOW_DONE(flow, save_finish(t->task.log, &t->save, t->task.op.op.result));
}

static flow_next save_step_release(struct flow *flow) {
    struct save_task *t = save_task_of(flow);
    log_task_end(&t->task);
    free(t);
    return FLOW_END;
}
