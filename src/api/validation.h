// SPDX-License-Identifier: Apache-2.0
// Checking the batches of Produce without keeping a core from others. Most batches are checked at once, where their
// bytes are hot. What would take long goes to a computing thread, a few of a core at a time, the rest in order; and
// what is checked on the core is limited for each turn.
//
// Whoever has several batches has one of them here at a time, so that no client fills the queue alone.
#pragma once

#include "core/core.h"
#include "protocol/batch_validate.h"
#include "protocol/compress.h"

// Per core.
struct validations {
    struct core *core;
    uint64_t cost_max_ns;          // of a batch that is checked here, and of those of a turn
    struct decompress_cache cache; // for those
    int64_t left_ns;               // of this turn
    struct list yielded;           // until the next turn; of struct validation
    struct message next_turn;      // sent to this core itself
    bool next_turn_sent;
    uint32_t computing;  // with a thread
    struct list waiting; // for one; of struct validation
};
void validations_init(struct validations *vs, struct core *core, uint64_t cost_max_ns);
void validations_free(struct validations *vs);

enum validation_stage {
    VALIDATION_IDLE,
    VALIDATION_YIELDED,
    VALIDATION_WAITING,
    VALIDATION_COMPUTING,
    VALIDATION_BACK
};
struct validation {
    // All of this stays until it is done; arena and check are the thread's in the meantime.
    struct flow *flow;
    struct bytes records;
    struct append_rules rules; // but cache and cost_max_ns
    struct arena *arena;
    struct append_check *check;
    // private, zero at first
    enum validation_stage stage;
    struct validations *all;
    struct os_op op;
    struct list link;
};
// True: *check is complete, as append_validate() leaves it, and the struct can be used again. False: ask again when the
// flow has been woken.
bool validation_run(struct validations *vs, struct validation *v);
// The broker stops: true if it does not go on. False: it is with a thread, and the flow will be woken.
bool validation_give_up(struct validation *v);
