// SPDX-License-Identifier: Apache-2.0
// What the files of log/ share: the log's struct, and what its flows ask of each other. Not for other folders.
//
// log.c life and accessors · shard.c what the logs of one directory share on one core: open files, the flusher ·
// segment.c files of a segment · index.c offset and time index · append.c the writer flow · check.c what may be
// appended · flush.c group commit · read.c, scan.c, lookup.c positions by offset and by time · roll.c · work.c and
// checkpointing, truncation, removal · load.c, recover.c · producers.c, snapshot.c · epochs.c · retention.c (pure plan)
// · log_dir.c, checkpoint.c
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

// ---- turns
struct log_turn {
    struct list waiters; // of log_turn_wait, in order
    bool taken;
};
struct log_turn_wait {
    struct list link;
    struct flow *flow;
    bool granted;
};

struct log_flush {
    struct list link; // in the shard's list of logs that want a flush
    bool wanted;
    bool in_flight;
    bool by_filesystem;      // in flight as part of a syncfs
    struct segment *segment; // being flushed
    uint64_t target_bytes;   // of it, sampled before the flush was submitted
    int64_t target_offset;   // the flushed end if it succeeds
    struct os_op op;
    struct timer timer;       // flush.ms
    struct list wait_flushed; // of log_flush_wait: works that wait for an end to be flushed, or for the flush to end
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
    int64_t producer_expiration_ms;
    bool durable;

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
    uint64_t roll_jitter_ms; // of the active segment
    uint32_t truncations;    // a search in flight that sees it change starts again
    int32_t leader_epoch;    // of log_set_leader_epoch
    bool closing;
    bool failed_told; // listener->failed() was called
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
