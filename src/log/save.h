// SPDX-License-Identifier: Apache-2.0
// Making what belongs to a log beside its batches durable: index entries, a producer snapshot, leader epochs. Collected
// on the core as bytes, written by an offloaded function, and noted on the core afterwards.
#pragma once

#include "log/internal.h"

struct save_index {
    struct segment *segment; // the core's
    int64_t base_offset;
    bool is_resident;                               // else there is nothing to write, only to sync
    bool has_aborted;                               // there is a .txnindex, or has to be
    struct bytes offsets, times, aborted;           // entries that the files lack
    uint64_t offsets_at, times_at, aborted_at;      // where in the files
    size_t offset_count, time_count, aborted_count; // in the index, with these
    bool trim;
};
struct save {
    const char *directory;
    struct save_index *indexes;
    size_t index_count;
    int64_t end_offset; // of the state that was collected
    int64_t trim_base;  // of a segment whose file is cut to trim_bytes; -1: none
    uint64_t trim_bytes;
    bool sync_snapshot; // there is one at end_offset, but it may not be durable
    uint8_t *snapshot;  // else, if not NULL: its bytes
    size_t snapshot_bytes;
    int64_t stale_snapshot; // goes when the new one is durable; -1: none
    char *epochs;           // NULL: the file is up to date
    size_t epochs_bytes;
    uint32_t epochs_version;
    bool sync_failed; // out
};
// Needs the maintenance turn, and no tentative producer state (the writer's turn). is_final: the time indexes get their
// last entry, all index files are cut to their size.
void save_collect(struct log *log, struct save *save, bool is_final);
bool save_is_empty(const struct save *save);
int64_t save_run(struct os_host *host, void *save);
// result: of save_run. KAFKA_NONE: the recovery point is save->end_offset now (all batches below it are flushed). Frees
// what was collected.
int16_t save_finish(struct log *log, struct save *save, int64_t result);
