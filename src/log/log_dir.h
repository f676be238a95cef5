// SPDX-License-Identifier: Apache-2.0
// A log directory (an entry of log.dirs): its lock, meta.properties, clean-shutdown marker, checkpoint files and
// partition directories. Opened and closed by offloaded functions of the control core; the struct is shared by all
// cores: after opening, everything but the failure flag is constant.
#pragma once

#include "core/core.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOG_DIR_META         "meta.properties"
#define LOG_DIR_CLEAN_MARKER ".kafka_cleanshutdown" // the last broker stopped well

enum log_dir_failure {
    LOG_DIR_OK,
    LOG_DIR_FAILING, // the reason is being written
    LOG_DIR_FAILED
};
enum log_dir_space { LOG_DIR_HAS_SPACE, LOG_DIR_BELOW_RESERVE, LOG_DIR_FULL };
struct log_shard;
struct log_dir {
    char *path;
    uint64_t device; // the file system it is on
    int index;       // in log.dirs
    int lock_file;
    bool was_clean;
    _Atomic int state;          // enum log_dir_failure
    char failure_reason[512];   // written once by whoever set the state, before it is published
    uint64_t reserve_bytes;     // below this much free space produce is refused (promise 15)
    _Atomic bool below_reserve; // found at opening, kept up to date by the checkpointer
    // So is this: below the reserve, less than nothing to speak of, or a checkpoint file found no space. What waits to
    // be deleted goes at once then.
    _Atomic bool short_of_space;
    enum log_dir_space space_told; // the checkpointer's: what the last line about it said
    // What the logs of one core share; NULL while it has none. A core touches only its own.
    struct log_shard *shards[CORES_MAX];
    // Each core's own descriptor for syncfs, opened before anything is written: so no failed write-back of this process
    // is hidden from it. Closed with the first error it was told (flush.c); -1: none, also where a
    // syncfs is not enough.
    int sync_files[CORES_MAX];
};

// One line of a checkpoint file. The topic's text belongs to the entry list.
struct checkpoint_entry {
    char *topic;
    int32_t partition;
    int64_t offset;
};
struct checkpoint {
    struct checkpoint_entry *entries;
    size_t count;
};
// One partition directory found at opening.
struct log_dir_partition {
    char *topic;
    int32_t partition;
    int64_t recovery_point;   // 0: none
    int64_t log_start_offset; // -1: none
    int64_t high_watermark;   // -1: none
    bool is_elsewhere;        // on another file system: the name is a link, or something is mounted there
};
struct log_dir_open {
    // in
    const char *path;
    int index;
    int32_t broker_id;      // -1: whatever meta.properties says, else 0 is for the caller to choose
    const char *cluster_id; // "" : whatever meta.properties says
    int64_t reserve_bytes;  // as log_dir_reserve()
    bool may_fail;          // the broker can do without it
    int core_count;         // of cores with logs of it: 0 to CORES_MAX
    // All directories of the broker (this one may be among them): a partition that is in one of them is not missing.
    char *const *all_paths;
    int all_count;
    // out
    struct log_dir *dir;                  // NULL on error; with may_fail sometimes one that has failed
    char reason[512];                     // what was wrong and what to do; or, with a dir, a warning; else ""
    int32_t found_broker_id;              // -1: no meta.properties yet
    char found_cluster_id[64];            // "": none yet
    struct log_dir_partition *partitions; // log_dir_open_free() frees the list
    size_t partition_count;
};
// Makes the directory if missing, locks it, checks meta.properties and names, finishes interrupted deletions (-delete
// directories are removed), reads the checkpoints, reads and removes the clean-shutdown marker (and makes the removal
// durable) before anything is loaded. Returns 0 or a negative errno (-EINVAL: something is not as it must be, see
// reason; -EAGAIN: another process has it).
//
// What cannot be read or written, and what is damaged, concerns this directory alone: with may_fail it is given with
// the error, in the state in which a failure of the running broker would leave it (as Kafka does). What shows that it
// is not this broker's (another process has it; foreign ids, formats or directories) is a mistake in the configuration:
// no directory.
int64_t log_dir_open_run(struct os_host *host, void *log_dir_open);
void log_dir_open_free(struct log_dir_open *open);
// The free space to keep in a file system of that size. configured -1: 2 % of it, at least 1 GiB, but at most 10 %.
uint64_t log_dir_reserve(int64_t configured_bytes, uint64_t total_bytes);
// meta.properties with version 0, written durably if it is missing or lacks an id. Returns 0 or a negative errno.
int log_dir_write_meta(struct os_host *host, struct log_dir *dir, int32_t broker_id, const char *cluster_id);

enum checkpoint_kind { CHECKPOINT_RECOVERY_POINT, CHECKPOINT_LOG_START, CHECKPOINT_HIGH_WATERMARK, CHECKPOINT_CLEANER };
// [any] Replaces the file durably: temporary file, fsync, rename, fsync of the directory. Returns 0 or a negative
// errno: a shortage (os_is_shortage) and the old file is still there, or something else and the directory has been
// failed.
int checkpoint_write(struct os_host *host, struct log_dir *dir, enum checkpoint_kind kind,
                     const struct checkpoint *checkpoint);
// [any] Missing or empty is no entries. A wrong count, version or field count: -EINVAL. The caller frees the entries.
int checkpoint_read(struct os_host *host, struct log_dir *dir, enum checkpoint_kind kind,
                    struct checkpoint *checkpoint);
void checkpoint_free(struct checkpoint *checkpoint);
// [any] At the end of an orderly stop, after every log of the directory was closed. Unlocks and frees the directory
// too.
int log_dir_close(struct os_host *host, struct log_dir *dir, bool write_clean_marker);

// [any] The directory is of no use any more (a failed fsync, EIO on a write). The first reason is kept. No more
// acknowledgements from it.
void log_dir_fail(struct log_dir *dir, const char *what, int error);
static inline bool log_dir_is_failed(struct log_dir *dir) {
    return atomic_load_explicit(&dir->state, memory_order_acquire) != LOG_DIR_OK;
}
