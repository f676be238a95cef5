// SPDX-License-Identifier: Apache-2.0
// One partition's share of a Produce request (or a coordinator's record), on the core that owns the partition.
#pragma once

#include "replica/partition.h"

struct append {
    struct message message;
    // in; the sender's until append_send(), and again when done() is called
    struct uuid topic_id;
    int32_t index;
    uint8_t *records; // validated batches; patched in place while the append has them
    size_t size_bytes;
    enum log_origin origin;
    int16_t acks;       // 1: answered after the write; -1: after the high watermark has passed its end; 0 as 1
    int32_t timeout_ms; // of the wait for the high watermark
    int16_t refusal; // NONE. Else nothing is written, and that is the error unless there is one here: the answer tells
                     // where the log starts
    void (*done)(struct append *append); // on the sender's core
    // out
    int16_t error;
    int64_t base_offset;
    int64_t end_offset;
    int64_t log_start_offset;
    int64_t duplicate_time_ms;    // >= 0: a duplicate, the original's max timestamp; -1
    int32_t leader, leader_epoch; // as known here, for NOT_LEADER_OR_FOLLOWER
    // private
    int from;
    struct flow flow;
    struct partition *partition;
    struct list arrival; // in partition->arrivals
    struct log_append write;
    struct waiter waiter;
    struct flow_timer timer;
};
// Sends it to the core that owns the partition (image_partition.owner_core). Two appends sent from one core to one
// partition are written in that order.
void append_send(struct core *core, int owner_core, struct append *append);
// The first of the appends that wait for the partition to be loaded looks again.
void append_wake_first(struct partition *p);
