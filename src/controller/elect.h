// SPDX-License-Identifier: Apache-2.0
// Who leads a partition: pure decisions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elect_partition {
    const int32_t *replicas; // in order of the assignment
    int32_t replica_count;
    bool is_new; // it has never had a leader: every replica is as good as another
    const int32_t *isr;
    int32_t isr_count;
    int32_t leader_epoch; // the present one
    const int32_t *alive; // brokers whose replica can serve
    int32_t alive_count;
    bool unclean_allowed;
};
struct elect_result {
    int32_t leader;       // -1: none can be found
    int32_t leader_epoch; // 0 for a new partition, else one more
    bool unclean;         // the leader was not in the ISR: records may be lost
    int32_t isr_count;    // written to isr, which has room for all replicas and the present ISR
};
// The first alive replica of the ISR, in order of the assignment; else, if allowed, the first alive replica. The new
// ISR is the alive part of the old one (the leader alone if unclean). Without a leader the ISR stays as it is: its
// members alone have all records.
struct elect_result elect_leader(const struct elect_partition *partition, int32_t *isr);
