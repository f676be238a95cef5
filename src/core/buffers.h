// SPDX-License-Identifier: Apache-2.0
// Buffers of one core for what comes from and goes to the network, and the budget that they are charged to.
//
// A buffer is taken and given on the core that it belongs to; freed buffers are kept in size classes, up to a bound,
// because memory that was touched before is far cheaper than fresh pages.
#pragma once

#include "core/flow.h"
#include <stddef.h>
#include <stdint.h>

enum { BUFFER_CLASS_MIN_SHIFT = 9, BUFFER_CLASS_MAX_SHIFT = 21 }; // 512 bytes to 2 MiB; larger ones are not kept
enum { BUFFER_CLASSES = BUFFER_CLASS_MAX_SHIFT - BUFFER_CLASS_MIN_SHIFT + 1 };
struct buffer_free {
    struct buffer_free *next;
};
struct buffers {
    struct buffer_free *free_lists[BUFFER_CLASSES];
    size_t kept_bytes, kept_limit_bytes;
    size_t taken_bytes; // out at present, rounded to classes
};

void buffers_init(struct buffers *buffers, size_t kept_limit_bytes);
void buffers_free(struct buffers *buffers);
// At least size_bytes (> 0), not cleared. Never NULL: what may be taken is limited by the budget.
void *buffer_take(struct buffers *buffers, size_t size_bytes);
// size_bytes as taken.
void buffer_give(struct buffers *buffers, void *buffer, size_t size_bytes);

// Bytes that clients may make this core hold, first come first served in each of four queues: a frame waits behind
// those of its kind only. Large ones have seven eighths at most, so that clients that declare much and send nothing do
// not keep ordinary requests out; and while one waits, small frames have no more than an eighth, so that its turn
// comes. What most clients send most of the time goes through however many half-sent frames of others there are: there
// is an eighth on top of the limit for frames that are here (in memory already), half of it for tiny ones too.
enum {
    BUDGET_SMALL_SHIFT = 6,
    BUDGET_TINY_SHIFT = 12
}; // a small frame is a 64th of the limit at most, a tiny a 4096th
enum budget_kind { BUDGET_HERE, BUDGET_TINY, BUDGET_LARGE, BUDGET_SMALL, BUDGET_KINDS };
struct budget {
    size_t limit_bytes, used_bytes;
    size_t large_bytes;                // of used_bytes, what large frames have
    size_t extra_bytes;                // on top of the limit
    size_t waiting_bytes;              // of all that wait
    struct list waiting[BUDGET_KINDS]; // of budget_claim
};
struct budget_claim {
    struct list link;
    struct flow *flow; // woken when the claim was granted
    size_t size_bytes;
    bool granted;
    bool is_extra; // granted on top of the limit
};
void budget_init(struct budget *budget, size_t limit_bytes);
// True: granted at once. False: the flow is woken when it has been granted (claim->granted), or budget_withdraw() ends
// the wait. A claim larger than the share of large frames is granted when no other large one is held, so that every
// legal frame gets its turn.
bool budget_claim(struct budget *budget, struct budget_claim *claim, struct flow *flow, size_t size_bytes,
                  bool is_here);
void budget_withdraw(struct budget *budget, struct budget_claim *claim); // not granted yet
static inline bool budget_is_short(const struct budget *budget) {        // somebody waits
    return budget->waiting_bytes > 0;
}
void budget_return(struct budget *budget, size_t size_bytes, bool is_extra);
