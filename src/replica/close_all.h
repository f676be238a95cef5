// SPDX-License-Identifier: Apache-2.0
// The orderly end of a core's partitions: each is closed, and what the checkpoint files shall say of it is noted.
#pragma once

#include "replica/ends.h"

// How many partitions of a core are closed at a time: each waits for the disk several times, and file systems write
// together what is flushed together.
enum { CLOSE_AT_ONCE = 16 };
struct partition_close {
    struct flow flow;
    struct replicas_close *all;
    struct partition *partition;
    struct log_close close;
    struct partition_ends ends;
};
struct replicas_close {
    struct message message;
    void (*done)(struct replicas_close *close); // on the sender's core
    void *context;
    // out
    struct ends_list ends;    // of the logs that were closed well
    uint64_t failed_dir_bits; // directories with a log that could not be closed well (bit = index, 63 for all above)
    // private
    int from;
    struct flow flow;
    struct partition_close parts[CLOSE_AT_ONCE];
    int active; // of parts
    struct flow_timer timer;
};
// No connection, no maintenance and no controller is at work any more.
void replicas_close_send(struct core *core, int to, struct replicas_close *close);
