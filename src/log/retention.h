// SPDX-License-Identifier: Apache-2.0
// Which segments have to go: a plain function from facts to a plan, carried out by work.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct retention_segment {
    int64_t base_offset;
    uint64_t size_bytes;
    int64_t max_timestamp_ms; // -1: no batch with a timestamp: modified_ms counts instead
    int64_t modified_ms;
};
struct retention_facts {
    const struct retention_segment *segments; // oldest first; the last is active
    size_t segment_count;                     // >= 1
    int64_t log_start_offset, high_watermark, log_end_offset;
    int64_t now_ms;
    // configuration
    bool delete_policy;      // cleanup.policy has "delete"; without it nothing goes by time or size
    int64_t retention_ms;    // -1: for ever
    int64_t retention_bytes; // -1: any size
};
struct retention_plan {
    size_t delete_count;      // so many of the oldest segments go
    bool roll;                // the active one is among them: an empty segment at the log's end comes first
    int64_t log_start_offset; // afterwards
    // why, for the log line: how many of them by each rule
    size_t by_log_start, by_size, by_time;
};
struct retention_plan retention_decide(const struct retention_facts *facts);
