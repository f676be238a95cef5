// SPDX-License-Identifier: Apache-2.0
// Rolling: when a new segment is due, and making it.
#pragma once

#include "log/internal.h"

// A record set that is to follow `segment_bytes` of the active segment (with what the same write brings before it).
struct roll_question {
    int64_t base_offset, last_offset;
    int64_t max_timestamp_ms;
    uint64_t set_bytes, segment_bytes;
    int64_t group_first_timestamp_ms; // of the write's first batch; SEGMENT_UNKNOWN if the set is the first
};
// The active segment's indexes are in memory.
bool log_must_roll(const struct log *log, const struct roll_question *question);

struct log_roll {
    struct flow_op op;
    bool finished;
    int16_t error; // a Kafka code
    // lent to the offloaded function
    const char *directory;
    struct segment *sealed;
    uint64_t allocate_bytes; // for the new file
    int64_t base_offset;
    uint8_t *snapshot;
    size_t snapshot_bytes;
    int file;
    bool sync_failed;
};
// True: everything is flushed, or the directory has failed. False: the flow will be woken; ask again. Needs both turns.
bool log_roll_may_begin(struct log *log, struct flush_wait *wait, struct flow *flow);
// After log_roll_may_begin, in a directory that has not failed; the active segment's indexes are in memory. The flow
// will be woken; ask log_roll_is_done until it is true, then *roll can be used again.
void log_roll_begin(struct log *log, struct log_roll *roll, int64_t base_offset, struct flow *flow);
bool log_roll_is_done(struct log *log, struct log_roll *roll);
