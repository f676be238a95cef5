// SPDX-License-Identifier: Apache-2.0
// A new segment. The offloaded function flushes the old one, writes what its index files lack and cuts them to size,
// writes a producer snapshot at the new base, creates the three new files and makes their directory entries durable;
// only then does the log have the segment and write into it. (Were the old one not flushed first, a power cut could
// take its end and leave the new segment: a hole in the log, which recovery could not tell from a compacted log.) The
// index files and the snapshot become durable at the next checkpoint.
//
// Failure: no space (or no descriptor) leaves the log as it was, and the append that needed the segment is answered
// KAFKA_STORAGE_ERROR; what was created is removed again. Everything else, and any failed fsync, fails the directory.
#include "log/roll.h"
#include "log/files.h"
#include "log/shard.h"
#include "os/shortage.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Kafka compares the record set's largest timestamp with that of the segment's first batch; without timestamps, the
// clock with the time of creation.
static bool roll_is_due_by_time(const struct log *log, const struct segment *active,
                                const struct roll_question *question) {
    int64_t first_ms = active->size_bytes > 0 ? active->first_timestamp_ms : question->group_first_timestamp_ms;
    ASSERT(first_ms != SEGMENT_UNKNOWN);
    int64_t waited_ms =
        first_ms >= 0 ? question->max_timestamp_ms - first_ms : core_wall_ms(log->core) - active->created_ms;
    int64_t limit_ms = log->config.segment_ms;
    if (log->config.cleanup_policy & TOPIC_CLEANUP_COMPACT)
        limit_ms = min_i64(limit_ms, log->config.max_compaction_lag_ms);
    return waited_ms > limit_ms - log->roll_jitter_ms;
}

bool log_must_roll(const struct log *log, const struct roll_question *question) {
    const struct segment *active = log_active_segment(log);
    struct segment_limits limits = log_segment_limits(log);
    ASSERT(active->indexes_resident);
    // An empty segment at the same place would be no better.
    if (question->segment_bytes == 0 && question->base_offset == active->base_offset) return false;
    if (segment_relative(active, question->last_offset) > INT32_MAX) return true;
    if (question->segment_bytes == 0) return false;
    if (question->segment_bytes + question->set_bytes > (uint64_t)log->config.segment_bytes) return true;
    return segment_indexes_full(active, &limits) || roll_is_due_by_time(log, active, question);
}

// ---- offloaded
static const char *const segment_suffixes[] = {".log", ".index", ".timeindex"};

static void remove_created(struct os_host *host, const struct log_roll *roll) {
    for (size_t i = 0; i < ARRAY_LENGTH(segment_suffixes); i++) {
        char path[LOG_PATH_BYTES_MAX];
        if (segment_path(path, roll->directory, roll->base_offset, segment_suffixes[i])) os_unlink(host, path);
    }
}

static int write_snapshot(struct os_host *host, const struct log_roll *roll) {
    if (!roll->snapshot) return 0;
    char name[64];
    snprintf(name, sizeof name, "%020" PRId64 ".snapshot", roll->base_offset);
    return file_write(host, roll->directory, name, roll->snapshot, roll->snapshot_bytes, false);
}

// What was preallocated and not used, or is left of a failed write, goes, durably: a sealed segment ends where its file
// ends.
static int trim_sealed(struct os_host *host, struct log_roll *roll) {
    const struct segment *sealed = roll->sealed;
    if (!sealed->preallocated) return 0;
    int error = os_truncate(host, sealed->file, sealed->size_bytes);
    if (error == 0) error = os_fsync(host, sealed->file);
    roll->sync_failed = error != 0;
    return error;
}

static int make_segment(struct os_host *host, struct log_roll *roll) {
    int error = segment_write_indexes(host, roll->directory, roll->sealed, true, false);
    if (error == 0) error = write_snapshot(host, roll);
    if (error != 0) return error;
    error = trim_sealed(host, roll);
    if (error != 0) return error;
    roll->file = segment_create_files(host, roll->directory, roll->base_offset, roll->allocate_bytes);
    if (roll->file >= 0) return 0;
    remove_created(host, roll);
    return roll->file;
}

// The directory is opened before anything is made: when the descriptors run out, nothing is there that a power cut
// could bring back.
static int64_t roll_run(struct os_host *host, void *argument) {
    struct log_roll *roll = argument;
    int directory = directory_open(host, roll->directory);
    if (directory < 0) return directory;
    int error = make_segment(host, roll);
    if (error != 0) {
        os_close(host, directory);
        return error;
    }
    error = directory_sync_and_close(host, directory);
    if (error == 0) return 0;
    roll->sync_failed = true;
    os_close(host, roll->file);
    roll->file = -1;
    remove_created(host, roll);
    return error;
}

// ---- on the core
bool log_roll_may_begin(struct log *log, struct flush_wait *wait, struct flow *flow) {
    if (log->flushed_end == log->end_offset || log_dir_is_failed(log->dir)) return true;
    log_flush_start(log);
    flush_await(log, wait, flow);
    return false;
}

void log_roll_begin(struct log *log, struct log_roll *roll, int64_t base_offset, struct flow *flow) {
    struct segment *active = log_active_segment(log);
    ASSERT(base_offset > active->base_offset);
    ASSERT(base_offset >= log->end_offset);
    ASSERT(log->flushed_end == log->end_offset);
    ASSERT(active->indexes_resident);
    ASSERT(active->file >= 0);
    *roll = (struct log_roll){.directory = log->path,
                              .sealed = active,
                              .allocate_bytes = log_initial_file_bytes(log),
                              .base_offset = base_offset,
                              .file = -1};
    flow_op_init(&roll->op, flow);
    segment_finish_time_index(active);
    segment_hold(active);
    if (log->producers.snapshot_offset != base_offset) {
        roll->snapshot_bytes = producers_snapshot_bytes(&log->producers);
        roll->snapshot = malloc(roll->snapshot_bytes);
        ASSERT(roll->snapshot != NULL);
        producers_encode(&log->producers, roll->snapshot);
    }
    os_offload(log->core->os, &roll->op.op, roll_run, roll);
}

static void roll_install(struct log *log, struct log_roll *roll) {
    struct segment *segment = segment_new(roll->base_offset);
    segment->modified_ms = core_wall_ms(log->core);
    segment->file = roll->file;
    segment->preallocated = roll->allocate_bytes > 0;
    log_add_segment(log, segment);
    log_adopt_segment(log, segment);
    log_choose_roll_jitter(log);
    if (roll->snapshot) log->producers.snapshot_offset = roll->base_offset;
    core_trace(log->core, "rolled", log->topic, (uint64_t)roll->base_offset);
}

bool log_roll_is_done(struct log *log, struct log_roll *roll) {
    if (roll->op.op.in_flight) return false;
    if (roll->finished) return true;
    roll->finished = true;
    int error = (int)roll->op.op.result;
    roll->error = KAFKA_ERROR_NONE;
    if (error == 0) {
        roll->sealed->preallocated = false;
        roll_install(log, roll);
    } else if (roll->sync_failed || !os_is_shortage(error)) {
        roll->error = log_fail_directory(log, "making a new segment", error);
    } else {
        roll->error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    }
    free(roll->snapshot);
    roll->snapshot = NULL;
    segment_release(roll->sealed);
    return true;
}
