// SPDX-License-Identifier: Apache-2.0
// One replica on disk: an append-only log of record batches in segments, as Kafka 3.9 lays it out (docs: "Files on
// disk").
//
// A log belongs to one core. The calls in this header run on that core and never block it; what has to wait wakes a
// flow. Work that may sleep (loading, rolling, truncating, deleting, searching cold segments) is done by offloaded
// functions inside log/; while one of them needs the log to stand still, appends queue up.
//
//   log start <= last stable offset <= high watermark <= log end;  flushed end <= log end
//
// Errors: Kafka's codes. A failed write or fsync (EIO, EROFS, a failed fsync of any kind) fails the whole directory
// (log_dir_fail) for the life of the process; a shortage (os_is_shortage) on a write cuts the log back to its last
// whole batch and answers KAFKA_STORAGE_ERROR. A shortage in other work fails that work only, which leaves everything
// as it was; but truncation has nothing to go back to, and fails the directory.
#pragma once

#include "config/topic.h"
#include "core/core.h"
#include "core/waitlist.h"
#include "log/log_dir.h"
#include "log/scan.h"
#include "log/txn_index.h"
#include "protocol/uuid.h"
#include "tailrace/error.h"

struct log;

// Waiting for a segment's file to be open and its indexes in memory; private to log/.
struct segment_wait {
    struct list link;
    struct flow *flow;
    int error; // a negative errno of the attempt that was waited for
};

// The partition that sits on the log, told on the log's core. None of them may free the log or start an append
// directly: wake flows.
struct log_listener {
    void (*appended)(struct log_listener *listener); // the log end moved
    void (*flushed)(struct log_listener *listener);  // the flushed end moved
    void (*failed)(struct log_listener *listener);   // the directory has failed: no write will succeed any more
};

// ---- life
// ----------------------------------------------------------------------------------------------------------------------------
// Loading (crash recovery included) and creating are offloaded functions: fill the struct, os_offload(log_load_run),
// then log_attach.
struct log_load {
    // in; the texts outlive the call
    struct log_dir *dir;
    const char *topic;
    int32_t partition;
    struct uuid topic_id; // zero: not known; else it must agree with partition.metadata (INCONSISTENT_TOPIC_ID), which
                          // is written if missing
    struct topic_config config;
    bool create;  // the partition directory must not exist; otherwise it must
    bool clean;   // the directory had its clean-shutdown marker: nothing is recovered, indexes are trusted unread
    bool durable; // class fsync: a cut below the recovery point or the checkpointed high watermark is corruption,
                  // nothing is cut
    int64_t recovery_point;   // from the checkpoint, 0 if none
    int64_t log_start_offset; // from the checkpoint, -1 if none
    int64_t high_watermark;   // from the checkpoint, -1 if none
    int64_t producer_expiration_ms;
    _Atomic uint64_t *progress_bytes; // advanced while recovering; may be NULL
    // out
    struct log *log;   // NULL on error
    char reason[256];  // what was wrong: file, byte, what was expected; or, with a log, a warning (a cut); else ""
    int64_t cut_bytes; // dropped from the end by recovery
    int64_t recovered_bytes;
};
// Returns a Kafka error code: NONE, KAFKA_STORAGE_ERROR (I/O: the directory has been failed; corruption: only this
// partition is offline, see reason), INCONSISTENT_TOPIC_ID. Everything kept has been flushed, so the flushed end is the
// log end.
int64_t log_load_run(struct os_host *host, void *log_load);
// Gives the log to the core. The listener outlives it.
void log_attach(struct log *log, struct core *core, struct log_listener *listener);
// Ends it in an orderly way: waits for what is in flight, flushes, trims indexes, writes the producer snapshot, closes.
// Wakes the flow when done (then *error is set and the log is gone). remove: instead renames the directory to
// <name>.<32 hex>-delete, makes that durable, and deletes it after file_delete_delay_ms.
struct log_close {
    bool remove;
    struct flow *flow;
    bool done;
    int16_t error;
};
void log_close_start(struct log *log, struct log_close *close);
// An offloaded function: removes the directory of a partition whose log could not be loaded. Returns a Kafka error
// code; that there is no such directory is fine.
struct log_remove {
    struct log_dir *dir;
    const char *topic;
    int32_t partition;
};
int64_t log_remove_run(struct os_host *host, void *log_remove);
// Files and directories that wait for file_delete_delay_ms on this core are left as they are: the next start deletes
// them. True: nothing of the directory is in use on this core any more. False: a deletion is under way, or something is
// still being read: ask again later. After the last log of the core was closed, before log_dir_close().
bool log_dir_leave_core(struct log_dir *dir, struct core *core);
// The same are deleted now instead, for their space. `hurry` counts those that it waits for, over several calls; when
// the last has gone, done() is called. One hurry of a core at a time.
struct log_hurry {
    uint32_t pending, count;
    void (*done)(struct log_hurry *hurry);
};
void log_dir_hurry(struct log_dir *dir, struct core *core, struct log_hurry *hurry);

// ---- what it holds
// ---------------------------------------------------------------------------------------------------------------------
int64_t log_start_offset(const struct log *log);
int64_t log_end_offset(const struct log *log);
int64_t log_flushed_end(const struct log *log);
int64_t log_high_watermark(const struct log *log);
int64_t log_last_stable_offset(
    const struct log *log); // first offset of the oldest open transaction, at most the high watermark
uint64_t log_size_bytes(const struct log *log);
int64_t log_recovery_point(
    const struct log *log); // what the checkpoint may say: durable with its indexes and producer snapshot
struct log_dir *log_directory(const struct log *log);
const struct topic_config *log_config(const struct log *log);
void log_set_config(struct log *log, const struct topic_config *config);
void log_set_producer_expiration(struct log *log, int64_t expiration_ms);
// Only grows (up to the log end). The log needs it for retention, for reads by consumers and for the last stable
// offset.
void log_set_high_watermark(struct log *log, int64_t offset);

// ---- append
// ------------------------------------------------------------------------------------------------------------------------------
enum log_origin {
    LOG_FROM_CLIENT,      // offsets are assigned, producer state is checked
    LOG_FROM_COORDINATOR, // the same, but no check of producer sequences (group and transaction records, markers)
    LOG_FROM_LEADER       // offsets and epochs are kept as they are, and must continue the log
};
struct log_append {
    // in: one or more whole batches of magic 2, validated. They are patched in place (base offset, leader epoch, and
    // for LogAppendTime already done by the validation) and stay where they are until done.
    uint8_t *records;
    size_t size_bytes;
    int32_t leader_epoch;
    enum log_origin origin;
    struct flow *flow; // woken when done
    // out
    bool done;
    int16_t error;             // NONE, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, RECORD_LIST_TOO_LARGE,
                               // KAFKA_STORAGE_ERROR, ...
    bool duplicate;            // nothing was written: offsets and time are those of the original (trap 22)
    int64_t base_offset;       // of the first batch; -1 on error
    int64_t end_offset;        // last offset + 1: wait for the high watermark to reach it, a duplicate too (trap 47)
    int64_t duplicate_time_ms; // the original's max timestamp, if duplicate; else -1
    // private
    struct list link;
};
// Appends of one log are written in the order of the calls, those that wait together by one write. One write is in
// flight at a time.
void log_append_start(struct log *log, struct log_append *append);
// Everything written so far shall become durable; the listener's flushed() tells. Free to repeat. Group commit: the
// next flush starts as soon as the present one completes.
void log_flush_start(struct log *log);

// ---- read
// --------------------------------------------------------------------------------------------------------------------------------
struct log_read {
    // in
    int64_t offset;
    int64_t max_offset; // exclusive: the high watermark, the last stable offset, or the log end
    uint32_t max_bytes;
    bool at_least_one; // the first batch comes whole, even if it is larger than max_bytes
    bool want_aborted; // with max_offset the last stable offset
    struct flow *flow;
    // out
    bool done;
    int16_t error; // NONE, OFFSET_OUT_OF_RANGE (below the log start or above the log end), KAFKA_STORAGE_ERROR
    int file; // a range of whole batches (the last may be cut by nothing but max_bytes: never inside a batch); size 0:
              // nothing there
    uint64_t position;
    uint32_t size_bytes;
    bool older_segment;       // not in the active segment (trap 70)
    struct txn_index aborted; // if asked for: the aborted transactions of which the range may hold records
    // private
    struct segment *held;
    struct segment *wanted; // held, or one behind it whose aborted transactions are looked through
    int64_t aborted_from;   // segments that begin below it have been looked through
    struct log *log;
    struct log_scan scan;
    int stage, walk_status;
    bool is_trimmed; // the walk is for a better end only
    uint32_t removals;
    int64_t next_offset; // the first offset behind the range, if known; else -1
    struct segment_wait wait;
    struct flow work;
    struct flow_op op;
};
// True: done already. False: the flow will be woken. The file stays open and its bytes in place until
// log_read_release().
bool log_read_start(struct log *log, struct log_read *read);
void log_read_release(struct log *log, struct log_read *read);
// Where the segment begins that has the offset, or that it would be written to.
int64_t log_segment_base(const struct log *log, int64_t offset);

// ListOffsets: the first record with a timestamp >= time_ms below max_offset, or (time_ms = LOG_TIME_MAX) the record
// with the largest one.
enum { LOG_TIME_MAX = -3 };
struct log_lookup {
    int64_t time_ms;
    int64_t max_offset;
    struct flow *flow;
    bool done;
    int16_t error;
    int64_t offset; // -1: none
    int64_t timestamp_ms;
    int32_t leader_epoch; // -1: not known
};
void log_lookup_start(struct log *log, struct log_lookup *lookup);
// ListOffsets v0: at most `max` ends of segments, falling, that were there at time_ms (LOG_TIME_LATEST,
// LOG_TIME_EARLIEST: the newest and the oldest one only, and what is older): the log end, which counts as written now,
// unless the active segment is empty; then where segments begin, each as old as its file. In *offsets, malloc, the
// caller's.
enum { LOG_TIME_LATEST = -1, LOG_TIME_EARLIEST = -2 };
size_t log_segment_ends(const struct log *log, int64_t time_ms, size_t max, int64_t **offsets);

// ---- leader epochs (pure, in memory)
// -----------------------------------------------------------------------------------------------------
int32_t log_latest_epoch(const struct log *log); // -1: none
// This replica became leader in `epoch`: known from now on (trap 52), written to the epoch file at the first append.
void log_set_leader_epoch(struct log *log, int32_t epoch);
// OffsetForLeaderEpoch (trap 14): the largest known epoch <= `epoch` and where it ends; -1, -1 if unknown.
void log_end_of_epoch(const struct log *log, int32_t epoch, int32_t *found_epoch, int64_t *end_offset);
int32_t log_epoch_at(const struct log *log, int64_t offset); // -1: not known

// ---- producers
// ---------------------------------------------------------------------------------------------------------------------------
struct log_producer {
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t last_sequence;
    int64_t last_timestamp_ms;
    int32_t coordinator_epoch;
    int64_t transaction_start; // -1: none open
};
// Calls row() for each active producer, in order of id.
void log_each_producer(const struct log *log, void (*row)(void *context, const struct log_producer *producer),
                       void *context);

// ---- maintenance: each wakes the flow when done
// --------------------------------------------------------------------------------------------
enum log_work_kind {
    LOG_TRUNCATE,         // cuts everything from `offset` on (below the high watermark only for a follower)
    LOG_RESTART,          // drops everything; the log starts anew, empty, at `offset`
    LOG_DELETE_RECORDS,   // moves the log start to `offset` (at most the high watermark); segments below it go
    LOG_APPLY_RETENTION,  // by time, by size and by log start, as configured; rolls by time
    LOG_EXPIRE_PRODUCERS, // forgets producers that were idle for log_set_producer_expiration
    LOG_CHECKPOINT // makes indexes, data and a producer snapshot durable up to the present end: log_recovery_point
                   // moves
};
struct log_work {
    enum log_work_kind kind;
    int64_t offset;
    struct flow *flow;
    bool done;
    int16_t error; // NONE, KAFKA_STORAGE_ERROR, OFFSET_OUT_OF_RANGE (LOG_DELETE_RECORDS above the high watermark),
                   // NOT_LEADER_OR_FOLLOWER (the log is being closed)
};
void log_work_start(struct log *log, struct log_work *work);
