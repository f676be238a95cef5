// SPDX-License-Identifier: Apache-2.0
// What the files of log/ share: the log's struct, and what its flows ask of each other. Not for other folders.
//
// on the core  log.c life, accessors, turns · append.c the writer flow · check.c what may be appended · roll.c ·
//              flush.c group commit · read.c, scan.c, lookup.c positions by offset and by time · open.c files and
//              indexes on demand · shard.c what the logs of one directory share on one core
// maintenance  work.c · truncate.c · retain.c (carries out retention.c) · save.c checkpoints · deletion.c · close.c
// blocking     load.c, tidy.c, recover.c, recover_segment.c · walk.c, inspect.c · log_dir.c, checkpoint.c, meta.c
// in memory    segment.c, index.c, txn_index.c · producers.c, snapshot.c · epochs.c · retention.c
//
// Two turns order what changes a log. `maintenance`: one of roll, truncation, retention, checkpoint, close at a time.
// `writer`: the writer flow while it checks, writes and commits, or whoever needs it to stand still. Who needs both
// takes maintenance first. Reading needs neither: all state changes between two steps of flows, on the log's core.
#pragma once

#include "core/core.h"
#include "log/epochs.h"
#include "log/log.h"
#include "log/producers.h"
#include "log/segment.h"

struct log_turn_wait {
    struct list link;
    struct flow *flow;
    bool granted;
};
struct log_turn {
    struct list waiters; // of log_turn_wait, in order
    bool taken;
};

// flush.c: what one log's flushing needs.
struct log_flush {
    struct list link;        // in the shard's queue, or in the list of its syncfs
    bool wanted;             // something is to be flushed that the flush in flight may not cover
    bool in_flight;          // with these:
    struct segment *segment; // the first that is dirty, held
    uint64_t target_bytes;   // of it, sampled before the flush was submitted
    int64_t target_offset;   // the flushed end if it succeeds
    struct os_op op;
    bool paused;         // nothing new starts
    struct timer timer;  // flush.ms
    struct list waiters; // of flush_wait: woken whenever a flush has ended
};
struct flush_wait {
    struct list link;
    struct flow *flow;
};

enum { LOG_RECENT_ENDS = 32, LOG_NEXT_POSITIONS = 8 };
// A batch boundary that was seen: `offset` begins (or will begin) at `position` of the segment.
struct log_boundary {
    int64_t segment_base; // -1: unused
    int64_t offset;
    uint64_t position;
};

struct log {
    // Filled by the loader (log_new and log_load_run).
    struct log_dir *dir;
    char *topic;
    int32_t partition;
    struct uuid topic_id;
    char *path; // of the partition directory
    struct topic_config config;
    struct segment **segments; // by base offset, at least one; the last is active
    size_t segment_count, segment_capacity;
    int64_t start_offset, end_offset, flushed_end, high_watermark;
    int64_t recovery_point;
    struct epochs epochs;
    struct producers producers;
    int64_t durable_snapshot; // the offset of a snapshot that is on stable storage; -1: not known of any
    int64_t producer_expiration_ms;
    bool durable;
    bool is_elsewhere; // a file of it is on another file system than the directory's: no syncfs serves it

    // The core's, set up by log_attach.
    struct core *core;
    struct log_shard *shard;
    struct list shard_link;
    struct log_listener *listener;
    struct log_turn maintenance, writer_turn;
    struct list appends; // of log_append, waiting
    struct flow writer;
    struct log_writer *write; // the writer's working memory, while it runs
    struct log_flush flush;
    struct log_boundary recent_ends[LOG_RECENT_ENDS]; // of the last writes; a ring
    uint32_t recent_end_next;
    struct log_boundary next_positions[LOG_NEXT_POSITIONS]; // where sequential readers will go on; a ring
    uint32_t next_position_next;
    int64_t roll_jitter_ms; // of the active segment
    uint32_t removals;      // of segments, or of a segment's end: a search that sees it change starts again
    uint32_t readers;       // reads and searches in flight (not slices that are being sent)
    bool has_aborted;       // some segment may have aborted transactions
    struct flow *closer;    // waits for everything in flight to end; no new work is taken
    bool failed_told;       // listener->failed() was called
};

// For the loader: everything zero or empty, no segments. log_free for a log that was never attached.
struct log *log_new(const char *topic, int32_t partition);
void log_free(struct log *log);
// Takes the segment in at the end.
void log_add_segment(struct log *log, struct segment *segment);
static inline struct segment *log_active_segment(const struct log *log) {
    ASSERT(log->segment_count > 0);
    return log->segments[log->segment_count - 1];
}
struct segment_limits log_segment_limits(const struct log *log);
// The size that a new segment's file has from the start (preallocate); 0: it grows.
uint64_t log_initial_file_bytes(const struct log *log);

// ---- work.c: what every piece of maintenance is. Allocated, and freed by log_task_end.
struct log_task {
    struct flow flow;
    struct flow_op op;
    struct log *log;
    struct log_work *work; // NULL: nobody waits for it
    struct log_turn_wait maintenance, writer;
    struct segment_wait wait;
    struct flush_wait flush_wait;
};
void log_task_start(struct log_task *task, struct log *log, const struct flow_type *type, struct log_work *work);
// Gives the turns back, answers whoever waits with flow.error. The caller frees the memory.
void log_task_end(struct log_task *task);
static inline struct log_task *log_task_of(struct flow *flow) {
    return container_of(flow, struct log_task, flow);
}
void log_truncate_start(struct log *log, struct log_work *work); // truncate.c
void log_retain_start(struct log *log, struct log_work *work);   // retain.c
void log_save_start(struct log *log, struct log_work *work);     // save.c

// ---- log.c
// The segment is the core's from now on.
void log_adopt_segment(struct log *log, struct segment *segment);
void log_choose_roll_jitter(struct log *log);
// True: the turn is the flow's, until log_turn_give. False: it will be woken when it is.
bool log_turn_take(struct log_turn *turn, struct log_turn_wait *wait, struct flow *flow);
void log_turn_give(struct log_turn *turn, struct log_turn_wait *wait); // nothing if it is not the flow's
// Neither writer, nor flush, nor read or search is in flight.
bool log_is_quiet(const struct log *log);
void log_reader_ends(struct log *log);
// Fails the directory and tells the logs of this core; returns KAFKA_STORAGE_ERROR.
int16_t log_fail_directory(struct log *log, const char *what, int error);
void log_tell_failed(struct log *log);
// The segment that holds the offset (or would), and the offset behind its last one.
size_t log_segment_index(const struct log *log, int64_t offset);
int64_t log_segment_end(const struct log *log, size_t index);

// ---- open.c
// True: the file is open (and, if asked for, the indexes are in memory), or wait->error says why not. False: the flow
// will be woken; ask again. *wait is zero before the first call. Hold the segment, or it may be closed at the next
// wait.
bool segment_want(struct log *log, struct segment *segment, bool indexes, struct segment_wait *wait, struct flow *flow);
void segment_hold(struct segment *segment);
void segment_release(struct segment *segment);
// The segment, no longer in the log's array, is freed with its last reference.
void log_detach_segment(struct log *log, struct segment *segment);
// They leave the log; searches in flight start again.
void log_remove_first_segments(struct log *log, size_t count);
void log_remove_last_segments(struct log *log, size_t count);

// ---- flush.c
void flush_init(struct log *log);
void flush_after_write(struct log *log); // flush.messages, flush.ms
void flush_pause(struct log *log);       // starts no new flush until flush_resume; await !flush.in_flight
void flush_resume(struct log *log);
void flush_await(struct log *log, struct flush_wait *wait, struct flow *flow);
void flush_await_no_more(struct flush_wait *wait);
void flush_wake_waiters(struct log *log);

// ---- read.c: boundaries
void log_forget_boundaries(struct log *log);
void log_remember_end(struct log *log, int64_t offset, uint64_t position); // of the active segment
