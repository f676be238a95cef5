// SPDX-License-Identifier: Apache-2.0
// What the controller tells a replica: take a role (LeaderAndIsr), or stop (StopReplica). Sent from the control core to
// the core that owns the partition; the texts and arrays are the sender's and stay until done().
#pragma once

#include "replica/partition.h"

struct replica_become {
    struct message message;
    // in
    const char *topic;
    struct uuid topic_id;
    int32_t index;
    int32_t leader, leader_epoch, partition_epoch;
    const int32_t *isr, *assigned;
    int32_t isr_count, assigned_count;
    struct topic_config config;
    int dir;     // index of the log directory
    bool create; // the partition is new: its directory must not exist yet
    // How the directory was found, if it is not new.
    bool clean;
    int64_t recovery_point, log_start_offset, high_watermark; // 0, -1, -1: not checkpointed
    void (*done)(struct replica_become *become);              // on the sender's core
    // out
    int16_t error;
    char reason[256];
    // private
    int from;
    struct flow flow;
    struct flow_op op;
    struct partition *partition;
    struct log_load load;
};
void replica_become_send(struct core *core, int owner_core, struct replica_become *become);

struct replica_stop {
    struct message message;
    // in
    struct uuid topic_id;
    int32_t index;
    bool remove;                             // delete the replica's files
    void (*done)(struct replica_stop *stop); // on the sender's core
    // out
    int16_t error; // NONE also if there is no such partition
    // private
    int from;
    struct flow flow;
    struct partition *partition;
    struct log_close close;
    struct log_remove removal; // of a log that was never loaded
    struct flow_op op;
};
void replica_stop_send(struct core *core, int owner_core, struct replica_stop *stop);
