// SPDX-License-Identifier: Apache-2.0
// From batch to batch through a segment file, blocking, for recovery and inspection: bounded memory whatever the bytes
// say, and for the first thing that is wrong, where it is and what was expected.
#pragma once

#include "os/os.h"
#include "protocol/batch.h"

enum { WALK_CHUNK_BYTES = 1 << 20, WALK_HEADER_CHUNK_BYTES = 64 << 10 };

enum walk_status {
    WALK_BATCH,   // `batch` is the next one
    WALK_END,     // the end, at a batch's edge
    WALK_DAMAGED, // from `position` on it is no log: *reason
    WALK_FAILED,  // reading failed: `error`
};
struct walk {
    // in
    struct os_host *host;
    int file;
    uint64_t position;     // where to begin, at a batch's edge; then the next batch
    uint64_t end_position; // nothing is read from here on
    int64_t next_offset;   // batches must not begin below it; then behind the last one
    bool check_crc;
    // out
    struct batch batch;      // bytes: the whole batch only after walk_load_batch
    uint64_t batch_position; // of `batch`
    uint64_t batch_bytes;
    int8_t magic;     // 0 and 1: one old message, of whose header only these are set: base_offset, max_timestamp
    char reason[160]; // on WALK_DAMAGED
    bool is_whole;    // on WALK_DAMAGED: the batch is there as a whole, only what it says is wrong
    int error;        // on WALK_FAILED
    // private
    uint8_t *buffer;
    size_t buffer_bytes, capacity_bytes;
    uint64_t buffer_position;
};
// The fields of `in` are set, the rest is zero. walk_close() frees the memory; the file is the caller's.
enum walk_status walk_next(struct walk *walk);
// After WALK_BATCH: reads the whole batch into memory: walk->batch.bytes, until the next call. WALK_DAMAGED: larger
// than bytes_max.
enum walk_status walk_load_batch(struct walk *walk, uint64_t bytes_max);
// After WALK_DAMAGED with is_whole: goes on behind that batch.
void walk_skip(struct walk *walk);
void walk_close(struct walk *walk);
static inline int64_t walk_last_offset(const struct walk *walk) {
    return walk->batch.base_offset + walk->batch.last_offset_delta;
}
