// SPDX-License-Identifier: Apache-2.0
// What the files of os/linux share: the host, one core's engine, and what hides in an os_op's private words.
//
// An operation that goes through the ring is a `struct request`, kept in the op itself: if the submission queue is full
// it waits there, and if the kernel says "again" it is submitted once more. Its CQE carries the op's address.
// Everything that ends goes through engine_finish(), which only queues: os_wait() delivers.
#pragma once

#include "base/assert.h"
#include "os/os.h"
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct op_queue {
    struct os_op *first, *last;
};

enum request_flag {
    REQUEST_ASYNC = 1,      // to a worker thread at once: the core must not do the work inline
    REQUEST_POLL_FIRST = 2, // receive: nothing is expected to be there yet
    REQUEST_WAS_SHORT = 4,  // receive: the last one emptied the socket
    REQUEST_CORKED = 8,     // send: TCP_CORK is set
    REQUEST_NO_RETRY = 16,  // a failed attempt is final (fsync)
};
struct request {
    uint8_t opcode;
    uint8_t flags;
    uint16_t retries;
    int32_t fd;
    uint64_t address;
    uint64_t offset;
    uint32_t length;
    uint32_t op_flags;                                                 // the SQE's union of flags, events, advice
    void (*complete)(struct os *os, struct os_op *op, int32_t result); // NULL: the result is the op's result
    uint64_t extra;                                                    // for the file that made the request
};
_Static_assert(sizeof(struct request) <= sizeof((struct os_op *)0)->private, "a request lives in its op");

static inline struct request *request_of(struct os_op *op) {
    return (struct request *)op->private;
}

enum { HELPER_THREADS_MAX = OS_COMPUTERS_MAX };
_Static_assert((int)OS_HELPERS_MAX <= (int)HELPER_THREADS_MAX, "both pools fit");
struct helper_pool {
    struct os_host *host;
    const char *thread_name;
    int count_max;
    // under host->lock:
    pthread_cond_t work;
    struct op_queue jobs;
    int jobs_waiting;
    pthread_t threads[HELPER_THREADS_MAX];
    int count;
    int idle;
};
struct os_host {
    pthread_mutex_t lock;                   // of the pools' fields and `stopping`
    struct helper_pool sleepers, computers; // os_offload, os_compute
    bool stopping;
    int signal_fd;
    cpu_set_t *cpus; // that the process may use; CPUS_MAX of them
};
enum { CPUS_MAX = 8192 };

enum { RANDOM_WORDS = 32 };
struct os {
    struct os_host *host;
    int core_id;
    bool ring_enabled;
    bool signal_awaited;
    uint64_t in_flight; // operations that were started and not delivered
    struct io_uring ring;
    struct op_queue pending;  // requests that wait for a submission slot
    struct op_queue sending;  // sends that can make progress
    struct op_queue finished; // to be delivered
    struct os_op doorbell;    // the read of doorbell_fd, always in flight
    uint64_t doorbell_count;
    int doorbell_fd;
    uint8_t *cold_scratch; // where cold file ranges are read to; nobody looks at it
    uint64_t signal_info[16];
    uint64_t random[RANDOM_WORDS];
    int random_left;
    // Written by other threads.
    _Alignas(64) atomic_bool doorbell_rung;
    _Atomic(struct os_op *) offloaded; // helper threads push what they have done
};

static inline void op_queue_push(struct op_queue *queue, struct os_op *op) {
    op->next = NULL;
    if (queue->last) {
        queue->last->next = op;
    } else {
        queue->first = op;
    }
    queue->last = op;
}
static inline struct os_op *op_queue_pop(struct op_queue *queue) {
    struct os_op *op = queue->first;
    if (!op) return NULL;
    queue->first = op->next;
    if (!queue->first) queue->last = NULL;
    op->next = NULL;
    return op;
}

// Every start function begins with it.
static inline void engine_begin(struct os *os, struct os_op *op) {
    ASSERT(op->done != NULL);
    ASSERT(!op->in_flight);
    os->in_flight++;
    op->in_flight = true;
    op->result = 0;
}
// The op is delivered in this os_wait, or in the next if none is running.
static inline void engine_finish(struct os *os, struct os_op *op, int64_t result) {
    ASSERT(op->in_flight);
    op->result = result;
    op_queue_push(&os->finished, op);
}

// ring.c
int ring_create(struct os *os, uint32_t depth);
void ring_destroy(struct os *os);
void ring_enable(struct os *os);
void ring_start(struct os *os, struct os_op *op);                                        // request_of(op) is filled
void ring_advise(struct os *os, int file, uint64_t position, uint32_t size, int advice); // nobody waits for it
bool ring_write_back(struct os *os, int file, uint64_t position, uint32_t size);         // nor for this; false: no room
// Submits; waits for a completion until deadline_ns if nothing else is to be done. Bounded.
void ring_enter(struct os *os, uint64_t deadline_ns);
void ring_reap(struct os *os);

// doorbell.c
int doorbell_create(struct os *os);
void doorbell_arm(struct os *os);
void doorbell_destroy(struct os *os);

// offload.c
void offload_init(struct os_host *host); // host->cpus is known
void offload_collect(struct os *os);
void offload_forget(struct os *os); // after it no helper thread touches the engine
void offload_stop(struct os_host *host);

// machine.c
cpu_set_t *cpus_of_process(void); // CPU_FREE it

// send.c
void sends_progress(struct os *os);

// address.c
struct sockaddr;
void address_to_text(const struct sockaddr *from, struct os_address *to);
// A numeric address; false if the text is none.
bool address_from_numeric(const char *text, uint16_t port, struct sockaddr_storage *to, socklen_t *size);
struct addrinfo;
// May block. The list, or NULL and a negative errno.
struct addrinfo *address_resolve(const char *text, uint16_t port, bool to_listen, int *error);
