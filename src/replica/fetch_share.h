// SPDX-License-Identifier: Apache-2.0
// The share of a Fetch request that one core owns: reads positions of its partitions, and waits until there is enough.
//
// The share is allocated with malloc by the sender and freed here by fetch_share_release(), because the file ranges in
// it are held until they have been sent: sender -> owner (reads, perhaps waits) -> sender (sends) -> owner (gives the
// ranges back, frees).
#pragma once

#include "replica/partition.h"

struct fetch_part {
    // in
    struct uuid topic_id;
    int32_t index;
    int64_t offset;
    int32_t max_bytes;
    int32_t current_leader_epoch; // -1: no check
    int32_t last_fetched_epoch;   // -1: no check
    uint32_t row;                 // the sender's
    int64_t first_segment; // -1. Then the base of the segment that had the offset, or the end, at the first reading
    // out
    int16_t error;
    bool has_ends; // the three below are known
    int64_t high_watermark, last_stable_offset, log_start_offset;
    int32_t diverging_epoch; // -1: none
    int64_t diverging_end;
    int32_t leader, leader_epoch;
    bool older_segment;
    struct log_read read; // read.size_bytes of read.file at read.position
    // private
    struct partition *partition;
    struct partition_watch watch;
    bool reading, read_held;
};
struct fetch_share {
    struct message message;
    // in
    bool read_committed;
    int32_t replica_id;                      // -1: a consumer
    uint64_t min_bytes;                      // answer when there is at least this much, or an error
    uint64_t deadline_ns;                    // or when this time has come (os_now_ns); 0: do not wait
    void (*done)(struct fetch_share *share); // on the sender's core
    void *context;                           // the sender's
    // out
    uint64_t bytes;
    bool must_answer; // a read error, or a fetch from an older segment (trap 70)
    // private
    int from, owner;
    struct flow flow;
    struct flow_timer timer;
    struct message stop_message;
    bool parked;
    bool stop_sent, away; // the sender's: a stop is under way; the share is with the owner
    uint32_t next;        // the part being read
    size_t part_count;
    struct fetch_part parts[];
};
struct fetch_share *fetch_share_create(size_t part_count);
void fetch_share_send(struct core *core, int owner_core, struct fetch_share *share);
// Asks a share that is away to come back with what it has. At most once a trip.
void fetch_share_stop(struct core *core, struct fetch_share *share);
// Gives the ranges back to the owner and frees the share; it is not used any more.
void fetch_share_release(struct core *core, struct fetch_share *share);
