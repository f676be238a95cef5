// SPDX-License-Identifier: Apache-2.0
// The rules of the high watermark and of min.insync.replicas, as plain functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct replica_end {
    int32_t broker_id;
    int64_t acknowledged_end; // class fsync: its flushed end, as far as the leader knows
};
// The least acknowledged end of the in-sync replicas (the leader among them), never below the present one. `ends` has
// every in-sync replica; count >= 1.
int64_t watermark_of(int64_t present, const struct replica_end *ends, int32_t count);
// Whether acks=all may be taken: min.insync.replicas is capped at the replication factor (trap 75).
bool insync_is_enough(int32_t isr_count, int32_t min_insync, int32_t replication_factor);
