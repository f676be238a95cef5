// SPDX-License-Identifier: Apache-2.0
// What a data core does for its logs from time to time: retention, forgetting idle producers, and moving the recovery
// points (so that recovery stays short). One log at a time, so that it never competes with itself.
#pragma once

#include "replica/partition.h"

struct maintenance_intervals {
    uint64_t retention_ms, producers_ms, checkpoint_ms; // 0: once
    uint64_t initial_delay_ms; // the first retention and the first checkpoint come then, as Kafka's
};
struct maintenance {
    struct flow flow;
    struct replicas *replicas;
    struct maintenance_intervals intervals;
    // private
    uint64_t retention_due_ms, producers_due_ms, checkpoint_due_ms;
    enum log_work_kind kind; // of the present pass
    struct flow_timer timer;
    struct partition *partition; // the one being worked on, held
    int64_t log_start;           // its own, before
    struct log_work work;
    struct flow *stop_flow;
    bool *stop_done;
};
void maintenance_start(struct maintenance *m, struct replicas *replicas, const struct maintenance_intervals *intervals);
void maintenance_stop(struct maintenance *m, struct flow *flow, bool *done);
