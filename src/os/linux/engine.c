// SPDX-License-Identifier: Apache-2.0
// One core's engine: made, waited for, taken down. os_wait() is the whole story of a turn:
//
//   sends move on -> everything started goes to the kernel, and the core sleeps if there is nothing to do ->
//   completions are looked at
//   -> the operations that ended are delivered
#include "os/linux/engine.h"
#include <errno.h>
#include <stdlib.h>

struct os *os_create(struct os_host *host, int core_id, uint32_t depth, int *error) {
    struct os *os = aligned_alloc(64, (sizeof *os + 63) & ~(size_t)63);
    ASSERT(os != NULL);
    memset(os, 0, sizeof *os);
    os->host = host;
    os->core_id = core_id;
    *error = ring_create(os, depth);
    if (*error == 0) {
        *error = doorbell_create(os);
        if (*error != 0) ring_destroy(os);
    }
    if (*error != 0) {
        free(os);
        return NULL;
    }
    doorbell_arm(os);
    return os;
}

void os_destroy(struct os *os) {
    ASSERT(os->in_flight == (os->signal_awaited ? 1 : 0)); // else the kernel might write into memory that is given back
    ASSERT(!os->finished.first && !os->sending.first);
    offload_forget(os);
    ring_destroy(os); // ends the reads of the doorbell and of signals
    doorbell_destroy(os);
    free(os->cold_scratch);
    free(os);
}

struct os_host *os_host_of(struct os *os) {
    return os->host;
}

// An operation that ends while these are delivered waits for the next turn.
static void engine_deliver(struct os *os) {
    struct op_queue finished = os->finished;
    os->finished = (struct op_queue){NULL, NULL};
    for (struct os_op *op = op_queue_pop(&finished); op; op = op_queue_pop(&finished)) {
        ASSERT(op->in_flight && os->in_flight > 0);
        op->in_flight = false;
        os->in_flight--;
        op->done(op); // may free it or start it again
    }
}

void os_wait(struct os *os, uint64_t deadline_ns) {
    ring_enable(os);
    offload_collect(os);
    sends_progress(os);
    bool busy = os->finished.first || os->sending.first;
    ring_enter(os, busy ? 0 : deadline_ns);
    ring_reap(os);
    offload_collect(os);
    engine_deliver(os);
}
