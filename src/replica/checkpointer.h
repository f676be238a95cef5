// SPDX-License-Identifier: Apache-2.0
// Keeps the checkpoint files of the log directories up to date, from the control core; also keeps an eye on the free
// space of each directory.
#pragma once

#include "replica/deletions.h"
#include "replica/ends.h"

// Whoever must know that a round that began after now has been written. On a full disk it is tried again: at once when
// something was deleted to make room, else every second.
struct checkpointer_wait {
    struct list link;
    uint32_t tries_left;                          // more than one
    void (*done)(struct checkpointer_wait *wait); // on the control core
    int16_t error;                                // NONE; KAFKA_STORAGE_ERROR: some file is as it was
};
struct checkpointer {
    struct flow flow;
    struct core *core;
    struct log_dir **dirs;
    int dir_count, data_cores;
    uint64_t interval_ms;
    // Adds lines for partitions that no core has yet; may be NULL. Set after checkpointer_start().
    void (*add)(void *context, struct ends_list *ends);
    void *context;
    // private
    struct list waiting, in_round; // of checkpointer_wait
    bool retrying;                 // a disk is full, or the like: the next round comes with the timer only
    bool shortage_told;            // a line tells of another shortage than a full disk
    bool hurry;
    bool freed; // something was deleted for its space: the next round comes at once
    struct flow_timer timer;
    struct flow_op op;
    struct ends_request requests[CORES_MAX];
    struct deletions_request deletions[CORES_MAX];
    int pending;
    struct checkpoint_batch *batch;
    uint64_t *written; // digest of each file as last written: [dir * 3 + kind]
    struct flow *stop_flow;
    bool *stop_done;
};
void checkpointer_start(struct checkpointer *c, struct core *control, struct log_dir **dirs, int dir_count,
                        int data_cores, uint64_t interval_ms);
void checkpointer_await(struct checkpointer *c, struct checkpointer_wait *wait);
// The same from any core, without more tries.
struct checkpointer_request {
    void (*done)(struct checkpointer_request *request); // on the core that asked; wait.error says how it went
    struct checkpointer_wait wait;
    // private
    struct message message;
    struct checkpointer *checkpointer;
    int from;
};
void checkpointer_request_send(struct core *core, struct checkpointer *c, struct checkpointer_request *request);
// The broker stops: no more tries for those who wait.
void checkpointer_hurry(struct checkpointer *c);
// Nobody waits any more. Ends after the round in progress; sets *done and wakes the flow.
void checkpointer_stop(struct checkpointer *c, struct flow *flow, bool *done);

// The three files of every directory from the given ends (offloaded function; the argument is a checkpoint_batch).
// Directories that have failed are left out. Returns 0.
struct checkpoint_batch {
    struct log_dir **dirs;
    int dir_count;
    struct ends_list ends;
    uint64_t *written;   // as in the checkpointer; NULL: write all
    int shortage;        // out: the errno for which a file of a directory that works is as it was; 0: there is none
    bool dir_failed;     // out: a directory has failed in this round
    bool short_of_space; // out: so is a directory
};
int64_t checkpoint_batch_run(struct os_host *host, void *checkpoint_batch);
