// SPDX-License-Identifier: Apache-2.0
// A walk over the batch headers of one segment file: 61 bytes a batch, the records are never read. Runs on the core
// against the page cache (nowait), or, from where that stopped, in an offloaded function.
#pragma once

#include "os/os.h"

enum scan_status {
    SCAN_FOUND,   // what was looked for
    SCAN_AT_END,  // end_position was reached first
    SCAN_AGAIN,   // nowait only: not in the page cache, or max_steps headers were read
    SCAN_DAMAGED, // what stands there is no batch, or not within the segment
    SCAN_FAILED,  // reading failed: `error`
};
struct log_scan {
    // in
    int file;
    uint64_t position;     // of a batch; moves on
    uint64_t end_position; // of the segment's batches
    // Stops at the first batch that ends at or after `offset`, ...
    int64_t offset;
    // ... or that does not lie wholly below these (UINT64_MAX: no limit).
    uint64_t limit_position;
    // out: the batch at `position`, if SCAN_FOUND
    int64_t base_offset, last_offset;
    uint32_t size_bytes;
    int64_t max_timestamp_ms;
    int64_t next_offset; // last offset + 1 of the batch before `position`; unchanged if there was none
    int error;
    uint32_t reads; // counted up
};
// max_steps 0: no bound.
enum scan_status log_scan_walk(struct os_host *host, struct log_scan *scan, bool nowait, uint32_t max_steps);
// The walk to its end; the result is the enum scan_status. argument: the struct log_scan.
int64_t log_scan_run(struct os_host *host, void *argument);
