// SPDX-License-Identifier: Apache-2.0
// What the logs of one directory share on one core: the open segment files (bounded, least recently used closed first,
// idle ones closed by a timer) and the flusher. It exists while a log is attached, or a segment is still being sent.
#pragma once

#include "log/internal.h"

enum {
    SHARD_OPEN_FILES_MAX = 512, // dirty and referenced ones may exceed it for a while
    SHARD_IDLE_MS = 30000,      // a file or index that was not used for so long is dropped
    SHARD_SWEEP_MS = 10000,
    SHARD_SEALED_INDEXES_MAX = 64, // resident indexes of segments that are not active
    SHARD_SLOW_WRITE_NS = 2000000, // inline writes that took longer ...
    SHARD_SLOW_WRITES = 3,         // ... so many in a row (one may be a thread that was not given the CPU) ...
    SHARD_SLOW_PERIOD_MS = 10000,  // ... send the directory's writes through the ring for so long
    SHARD_FLUSHES_MAX = 2,         // flushes in flight; what is written meanwhile is flushed together afterwards
    SHARD_SYNCFS_LOGS = 3,         // so many dirty logs are flushed by one syncfs
};

struct log_syncfs {
    struct os_op op;
    bool in_flight;
    struct list logs; // of log.flush.link
};
struct log_shard {
    struct core *core;
    struct log_dir *dir;
    uint32_t users;   // attached logs, and segments out of a log that are still referenced
    struct list logs; // of log.shard_link
    struct list open; // of segment.open_link: those with a file or resident indexes; least recently used first
    uint32_t open_files;
    uint32_t look_from_files;   // there is nothing to close before so many are open
    uint32_t openings_unlooked; // so many openings until there may be too many sealed indexes
    struct timer sweep;
    struct list flush_queue; // of log.flush.link
    struct flow flusher;
    struct log_syncfs syncfs;
    uint32_t flushes_in_flight;         // of single logs
    uint64_t flush_count, syncfs_count; // submitted so far
    struct list deletions;              // of struct deletion, waiting for their time or under way
    uint32_t slow_writes;               // in a row
    uint64_t slow_until_ms;             // writes go through the ring
};

struct log_shard *log_shard_enter(struct log_dir *dir, struct core *core);
void log_shard_leave(struct log_shard *shard);
// The segment's file was opened.
void log_shard_opened(struct log_shard *shard, struct segment *segment, int file);
// The segment (its file, its indexes) is in use now.
void log_shard_touch(struct log_shard *shard, struct segment *segment);
// Closes the file and forgets the place in the list; indexes stay.
void log_shard_close_file(struct log_shard *shard, struct segment *segment);
// An inline write took so long.
void log_shard_wrote(struct log_shard *shard, uint64_t duration_ns);
// The directory has failed: tells every attached log's listener, once each.
void log_shard_tell_failed(struct log_shard *shard);
