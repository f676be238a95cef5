// SPDX-License-Identifier: Apache-2.0
// One header after the other. The file is ours, but its bytes are checked all the same: a disk may give back anything.
#include "log/scan.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/batch.h"
#include <errno.h>

// Fills the batch at the position. False: no batch can stand there.
static bool scan_take_header(struct log_scan *scan, const uint8_t header[static BATCH_HEADER_BYTES]) {
    int64_t size = batch_announced_bytes(header);
    if (size < BATCH_HEADER_BYTES || (uint64_t)size > scan->end_position - scan->position) return false;
    int32_t last_delta = (int32_t)load_be32(header + BATCH_LAST_OFFSET_DELTA);
    int64_t base_offset = (int64_t)load_be64(header + BATCH_BASE_OFFSET);
    if (header[BATCH_MAGIC] != 2 || last_delta < 0 || base_offset < 0 || base_offset > INT64_MAX - INT32_MAX - 1)
        return false;
    scan->size_bytes = (uint32_t)size;
    scan->base_offset = base_offset;
    scan->last_offset = base_offset + last_delta;
    scan->max_timestamp_ms = (int64_t)load_be64(header + BATCH_MAX_TIMESTAMP);
    return true;
}

enum scan_status log_scan_walk(struct os_host *host, struct log_scan *scan, bool nowait, uint32_t max_steps) {
    ASSERT(scan->position <= scan->end_position);
    for (uint32_t steps = 0;; steps++) {
        if (scan->position == scan->end_position) return SCAN_AT_END;
        if (max_steps > 0 && steps == max_steps) return SCAN_AGAIN;
        if (scan->end_position - scan->position < BATCH_HEADER_BYTES) return SCAN_DAMAGED;
        uint8_t header[BATCH_HEADER_BYTES];
        int64_t got = nowait ? os_pread_nowait(host, scan->file, header, sizeof header, scan->position)
                             : os_pread(host, scan->file, header, sizeof header, scan->position);
        scan->reads++;
        if (nowait && (got == -EAGAIN || got == -EOPNOTSUPP || (got >= 0 && got < (int64_t)sizeof header)))
            return SCAN_AGAIN;
        if (got < 0) {
            scan->error = (int)got;
            return SCAN_FAILED;
        }
        if (got < (int64_t)sizeof header || !scan_take_header(scan, header)) return SCAN_DAMAGED;
        if (scan->last_offset >= scan->offset || scan->position + scan->size_bytes > scan->limit_position)
            return SCAN_FOUND;
        scan->next_offset = scan->last_offset + 1;
        scan->position += scan->size_bytes;
    }
}

int64_t log_scan_run(struct os_host *host, void *argument) {
    return log_scan_walk(host, argument, false, 0);
}
