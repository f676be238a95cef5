// SPDX-License-Identifier: Apache-2.0
// What scenario_log.c (the sessions) and scenario_log_clients.c (who appends and reads in one) share.
#pragma once

#include "base/bits.h"
#include "history.h"
#include "log/log.h"
#include "log/log_dir.h"
#include "sim.h"

enum { LOGS = 6, PRODUCERS_EACH = 2, PRODUCERS = LOGS * PRODUCERS_EACH, WINDOW = 5, ROUNDS = 5 };
enum { BATCH_MEMORY = 8 << 10, BATCH_RECORDS_MAX = 8, READ_BYTES = 64 << 10, VALUE_BYTES_MAX = 300 };

// ---- what outlives the process
struct log_batch {
    uint64_t first;
    int32_t count;
    size_t size_bytes;
    uint8_t bytes[BATCH_MEMORY];
};
struct log_producer_story {
    struct log_batch batches[WINDOW]; // not acknowledged, oldest first
    int batch_count;
    uint64_t next;
};
struct story {
    struct history_partition partitions[LOGS];
    struct history_producer producers[PRODUCERS];
    struct log_producer_story sending[PRODUCERS];
    struct topic_config config;
    bool stop;   // the session shall close in an orderly way
    bool failed; // the directory failed
    bool up;
    int64_t leader_epoch;
    int opened, clean_opens;
    int64_t start_offsets[LOGS];
};

// ---- the session
struct session;
struct pusher {
    struct flow flow;
    struct session *session;
    int number, log;
    struct log_producer_story *story;
    struct log_append appends[WINDOW];
    bool resending;                       // the batches of the session before
    bool repeating;                       // batches that were acknowledged in this session: every one is a duplicate
    int64_t base_offsets[WINDOW];         // of the acknowledged group
    uint8_t memory[WINDOW][BATCH_MEMORY]; // the log patches what it appends
    int started;
    bool active;
};
struct subject { // one log
    struct log_listener listener;
    struct session *session;
    int index;
    struct log *log;
    struct log_load load;
    struct log_close close;
    struct log_work work;
    // reads: first the whole log, then at random
    struct flow reader;
    struct log_read read;
    struct flow_op op;
    struct flow_timer timer;
    int64_t position, verify_end;
    bool verified, reading;
    uint8_t *buffer;
};
struct session {
    struct flow flow, keeper;
    struct flow_op op, keeper_op;
    struct flow_timer timer, poll; // the keeper's, the session's
    struct story *story;
    struct log_dir_open open;
    struct log_dir *dir;
    struct subject subjects[LOGS];
    struct pusher pushers[PRODUCERS];
    int loading, closing;
    bool stopping, keeper_done;
    struct checkpoint_entry entries[3][LOGS];
    int checkpointing;
};
extern const char *const log_topics[LOGS];
void pusher_start(struct pusher *pusher, struct core *core);
void subject_start_reading(struct subject *subject, struct core *core);
