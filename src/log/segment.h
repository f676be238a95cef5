// SPDX-License-Identifier: Apache-2.0
// A segment: consecutive batches in one file, with its two indexes. Not for other folders.
//
// The struct is kept by the log's core; an offloaded function that works on a segment gets copies, or a segment that
// nobody else has yet (loading). What the blocking loader and the core share is here: counting a batch in, file names,
// creating, reading and writing the files.
#pragma once

#include "base/list.h"
#include "log/index.h"
#include "log/txn_index.h"
#include "os/os.h"

enum { BATCH_HEADER_BYTES_MIN = 61, LOG_PATH_BYTES_MAX = 4096 };
// A value that is not known yet (0 and -1 have their own meaning).
#define SEGMENT_UNKNOWN INT64_MIN

struct log;
struct log_shard;
struct segment_open;
struct segment {
    int64_t base_offset;
    uint64_t size_bytes;    // of whole batches in <base>.log
    uint64_t flushed_bytes; // of them, known to be on stable storage

    // What the indexes and rolling need to know about the batches; updated by segment_count_batch().
    uint32_t bytes_since_index;   // appended since the last index entry, or since the segment was opened
    int64_t max_timestamp_ms;     // -1: no batch with a timestamp
    int64_t max_timestamp_offset; // the last offset of the first batch that has it
    int64_t first_timestamp_ms;   // max timestamp of the first batch, for rolling by time; -1: none; SEGMENT_UNKNOWN:
                                  // look at the file
    int64_t modified_ms;          // the file's mtime at load, or of the last append
    struct index index;
    struct time_index time_index;
    struct txn_index aborted; // with the indexes, "indexes_" means this one too
    bool aborted_file;        // there is a .txnindex; Kafka makes it for the first aborted transaction only
    bool aborted_damaged;     // it turned out not to be valid after loading: it is left as it is
    bool time_pending;        // the largest timestamp has no time index entry yet
    bool indexes_resident;    // both are in memory; else only in their files (and nothing of them is unwritten)
    bool indexes_durable;     // the index files hold every entry and have been fsynced since
    // <base>.log may be longer than size_bytes (preallocated, or after a failed write): it is cut, durably, when no
    // more is appended to it
    bool preallocated;
    bool indexes_trim; // an index file is longer than its entries: cut it with the next write

    // The core's, from here on. The loader leaves it as segment_new() made it.
    struct log *log;     // NULL: out of the log, freed with the last reference
    int file;            // of <base>.log, readable and writable; -1: closed
    uint32_t references; // reads whose slices are not sent yet, and whatever else needs the file and the struct
    struct log_shard *shard;
    struct list open_link;     // in the shard's list of segments with a file or indexes, least recently used first
    int64_t created_ms;        // wall clock when it was created or attached: rolling by time without timestamps
    uint64_t used_ms;          // core_now_ms of the last use
    uint64_t writeback_bytes;  // up to here writeback has been started
    struct segment_open *open; // an offloaded opening in flight
};

// One batch as segments and indexes see it.
struct segment_batch {
    int64_t base_offset, last_offset;
    uint32_t size_bytes; // with the 12 bytes before the length's count
    int64_t max_timestamp_ms;
};
struct segment_limits {
    uint32_t index_interval_bytes;
    uint32_t index_bytes_max; // segment.index.bytes
};

// Empty, closed; indexes resident and empty; first timestamp -1.
struct segment *segment_new(int64_t base_offset);
void segment_free(struct segment *segment);
// The batch stands at the present end: adds index entries as Kafka 3.9.1 does, counts size and timestamps.
void segment_count_batch(struct segment *segment, const struct segment_batch *batch,
                         const struct segment_limits *limits);
// The time index's last entry: at roll, close and after recovery.
void segment_finish_time_index(struct segment *segment);
// No room for another entry in one of the indexes: time to roll.
bool segment_indexes_full(const struct segment *segment, const struct segment_limits *limits);
// Whether memory has entries that no file has.
static inline bool segment_indexes_unwritten(const struct segment *segment) {
    return segment->index.written < segment->index.count || segment->time_index.written < segment->time_index.count ||
           segment->aborted.written < segment->aborted.count;
}
// Indexes out of memory.
void segment_forget_indexes(struct segment *segment);
// A marker that has been written (or is about to be) ended a transaction by abort.
void segment_count_aborted(struct segment *segment, const struct aborted_transaction *transaction);
static inline int64_t segment_relative(const struct segment *segment, int64_t offset) {
    return offset - segment->base_offset;
}

// ---- files; everything below blocks: for offloaded functions only. `directory` is the partition's path. 0 or a
// negative errno.

// "<directory>/<20 digits><suffix>", suffix e.g. ".log", ".index.deleted". False: longer than LOG_PATH_BYTES_MAX.
bool segment_path(char path[static LOG_PATH_BYTES_MAX], const char *directory, int64_t base_offset, const char *suffix);
// Creates (or empties) .log, .index and .timeindex. The log file's descriptor, open for both; allocate_bytes > 0: the
// log file has that size (preallocate). The caller fsyncs the directory.
int segment_create_files(struct os_host *host, const char *directory, int64_t base_offset, uint64_t allocate_bytes);
int segment_open_file(struct os_host *host, const char *directory, int64_t base_offset);
// The file of aborted transactions, if there is one; apart from the indexes, since it cannot be built from the batches
// of this segment alone: -EINVAL: not a valid one.
int segment_read_aborted(struct os_host *host, const char *directory, struct segment *segment, struct text *reason);
// Reads both index files whole: segment->indexes_resident then. -EINVAL: not a valid index (*reason), as if missing.
int segment_read_indexes(struct os_host *host, const char *directory, struct segment *segment, struct text *reason);
// Writes the entries that the files lack (and cuts the files to their real size if indexes_trim, or `trim`). durable:
// and fsyncs them. Updates `written`, indexes_durable and indexes_trim.
int segment_write_indexes(struct os_host *host, const char *directory, struct segment *segment, bool trim,
                          bool durable);
// The last time index entry from the file's end, without reading all of it: fills max_timestamp_ms and its offset (-1:
// none). For a clean start.
int segment_read_last_timestamp(struct os_host *host, const char *directory, struct segment *segment);
