// SPDX-License-Identifier: Apache-2.0
// A question to one partition (or a small task), answered on the core that owns it: offsets by time, ends of epochs,
// record deletion, sizes, active producers. One struct for all kinds, because the trip is the same.
#pragma once

#include "replica/partition.h"

enum partition_call_kind {
    PARTITION_LIST_OFFSETS,      // time -> offset, timestamp, leader_epoch
    PARTITION_LIST_SEGMENTS,     // time, max_offsets -> offsets, falling: those of ListOffsets v0
    PARTITION_END_OF_EPOCH,      // epoch -> leader_epoch, offset
    PARTITION_DELETE_RECORDS,    // offset (-1: the high watermark) -> offset: the new log start
    PARTITION_DESCRIBE_LOG,      // -> size_bytes, offset (log end); answered for offline partitions too
    PARTITION_DESCRIBE_PRODUCERS // -> producers
};
struct partition_call {
    struct message message;
    // in
    enum partition_call_kind kind;
    struct uuid topic_id;
    int32_t index;
    int32_t current_leader_epoch; // -1: no check
    int64_t
        time_ms; // LIST_OFFSETS: a time, or -1 latest, -2 earliest, -3 largest timestamp, -4 earliest local, -5 tiered
    bool read_committed;
    bool is_replica; // LIST_OFFSETS, LIST_SEGMENTS: sees everything up to the log end
    int32_t max_offsets;
    int32_t epoch;                             // END_OF_EPOCH
    void (*done)(struct partition_call *call); // on the sender's core
    void *context;                             // the sender's
    // in and out
    int64_t offset;
    // out
    int16_t error;
    int64_t timestamp_ms;
    int32_t leader_epoch;
    uint64_t size_bytes;
    int dir;
    int64_t *offsets; // malloc; the sender frees it
    size_t offset_count;
    struct log_producer *producers; // malloc; the sender frees it
    size_t producer_count;
    // private
    int from;
    struct flow flow;
    struct partition *partition;
    struct log_lookup lookup;
    struct log_work work;
};
void partition_call_send(struct core *core, int owner_core, struct partition_call *call);
