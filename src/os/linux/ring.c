// SPDX-License-Identifier: Apache-2.0
// The io_uring of one core.
//
// It is created disabled, by whoever makes the core, so that a refusal is known at once; the core's own thread enables
// it in its first os_wait, because SINGLE_ISSUER binds a ring to the thread that enables it. SQEs are only written by
// the start functions and go to the kernel in os_wait, all with one call.
//
// What can go wrong: the submission queue is full (requests wait in os->pending); the completion queue overflows (the
// kernel keeps what does not fit, and gives it with the next call); io_uring_enter says EINTR, EAGAIN or EBUSY (the
// next turn tries again); a request is told to try again (it is submitted again, a bounded number of times).
#include "os/linux/engine.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    RING_SUBMISSIONS_MAX = 4096,
    RING_COMPLETIONS_FOR_EACH_SUBMISSION = 4,
    RING_WORKERS_MAX = 16, // threads of the kernel for each ring and kind
    REAP_BATCH = 64,
    REAP_BATCHES_A_TURN_MAX = 16, // fairness: flows get their turn after 1,024 completions
    SUBMITS_A_TURN_MAX = 16,
    RETRIES_MAX = 64,
};

// In order of preference: kernel 6.1, 6.0, 5.19.
static const uint32_t RING_MODES[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
};
static const uint8_t RING_OPCODES[] = {
    IORING_OP_READ, IORING_OP_WRITEV,  IORING_OP_FSYNC,    IORING_OP_ACCEPT,
    IORING_OP_RECV, IORING_OP_CONNECT, IORING_OP_POLL_ADD, IORING_OP_FADVISE,
};
static const uint32_t RING_FEATURES =
    IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_EXT_ARG | IORING_FEAT_FAST_POLL;

static bool ring_has_opcodes(struct io_uring *ring) {
    struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
    if (!probe) return false;
    bool all = true;
    for (size_t i = 0; i < sizeof RING_OPCODES; i++)
        all = all && io_uring_opcode_supported(probe, RING_OPCODES[i]);
    io_uring_free_probe(probe);
    return all;
}

// What a seccomp profile says that lets rings be made but not used; 0: nothing. A disabled ring answers -EBADFD.
static int ring_refusal(const struct io_uring *ring) {
    long rc = syscall(SYS_io_uring_enter, ring->ring_fd, 0, 0, 0, NULL, 0);
    return rc >= 0 || errno == EBADFD ? 0 : -errno;
}

int ring_create(struct os *os, uint32_t depth) {
    ASSERT(depth > 0);
    uint32_t submissions = depth < RING_SUBMISSIONS_MAX ? depth : RING_SUBMISSIONS_MAX;
    int error = -ENOSYS;
    for (size_t mode = 0; mode < sizeof RING_MODES / sizeof RING_MODES[0]; mode++) {
        struct io_uring_params params = {
            .flags = RING_MODES[mode] | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP |
                     IORING_SETUP_SUBMIT_ALL,
            .cq_entries = submissions * RING_COMPLETIONS_FOR_EACH_SUBMISSION,
        };
        error = io_uring_queue_init_params(submissions, &os->ring, &params);
        if (error == 0) break;
        if (error != -EINVAL) return error; // refused, and not for the flags
    }
    if (error != 0) return -ENOSYS;
    if ((os->ring.features & RING_FEATURES) != RING_FEATURES || !ring_has_opcodes(&os->ring)) {
        io_uring_queue_exit(&os->ring);
        return -ENOSYS;
    }
    error = ring_refusal(&os->ring);
    if (error != 0) io_uring_queue_exit(&os->ring);
    return error;
}

void ring_destroy(struct os *os) {
    io_uring_queue_exit(&os->ring);
}

void ring_enable(struct os *os) {
    if (os->ring_enabled) return;
    // liburing 2.3 declares io_uring_enable_rings() but does not export it.
    long rc = syscall(SYS_io_uring_register, os->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    ASSERT(rc == 0);
    unsigned workers[2] = {RING_WORKERS_MAX, RING_WORKERS_MAX};
    (void)io_uring_register_iowq_max_workers(&os->ring, workers); // a refusal costs nothing but threads
    os->ring_enabled = true;
}

// ---- submission
static bool ring_fill(struct os *os, struct os_op *op) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&os->ring);
    if (!sqe) return false;
    const struct request *request = request_of(op);
    memset(sqe, 0, sizeof *sqe);
    sqe->opcode = request->opcode;
    sqe->flags = request->flags & REQUEST_ASYNC ? IOSQE_ASYNC : 0;
    sqe->ioprio = request->flags & REQUEST_POLL_FIRST ? IORING_RECVSEND_POLL_FIRST : 0;
    sqe->fd = request->fd;
    sqe->off = request->offset;
    sqe->addr = request->address;
    sqe->len = request->length;
    sqe->rw_flags = (__kernel_rwf_t)request->op_flags;
    sqe->user_data = (uint64_t)(uintptr_t)op;
    return true;
}

void ring_start(struct os *os, struct os_op *op) {
    ASSERT(op->in_flight);
    if (os->pending.first || !ring_fill(os, op)) op_queue_push(&os->pending, op);
}

void ring_advise(struct os *os, int file, uint64_t position, uint32_t size, int advice) {
    struct io_uring_sqe *sqe = os->pending.first ? NULL : io_uring_get_sqe(&os->ring);
    if (!sqe) return; // advice can be left out
    io_uring_prep_fadvise(sqe, file, position, size, advice);
    sqe->user_data = 0;
}

bool ring_write_back(struct os *os, int file, uint64_t position, uint32_t size) {
    struct io_uring_sqe *sqe = os->pending.first ? NULL : io_uring_get_sqe(&os->ring);
    if (!sqe) return false;
    io_uring_prep_sync_file_range(sqe, file, size, position, SYNC_FILE_RANGE_WRITE);
    sqe->user_data = 0;
    return true;
}

static void ring_fill_pending(struct os *os) {
    while (os->pending.first && ring_fill(os, os->pending.first))
        op_queue_pop(&os->pending);
}

static bool ring_has_news(struct os *os) {
    return (IO_URING_READ_ONCE(*os->ring.sq.kflags) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

// What was not submitted stays in the queue, and the next turn submits it. Anything but "later" is a programmer error:
// a ring used by a thread that is not its own (-EEXIST), a descriptor closed under it.
static void ring_check(int result) {
    ASSERT(result >= 0 || result == -EINTR || result == -EAGAIN || result == -EBUSY || result == -ETIME);
}

static void ring_block(struct os *os, uint64_t deadline_ns) {
    struct io_uring_cqe *cqe;
    if (deadline_ns == UINT64_MAX) {
        ring_check(io_uring_submit_and_wait(&os->ring, 1));
        return;
    }
    uint64_t now_ns = os_now_ns(os);
    if (deadline_ns <= now_ns) {
        ring_check(io_uring_submit_and_get_events(&os->ring));
        return;
    }
    uint64_t left_ns = deadline_ns - now_ns;
    struct __kernel_timespec timeout = {
        .tv_sec = (int64_t)(left_ns / 1000000000),
        .tv_nsec = (int64_t)(left_ns % 1000000000),
    };
    ring_check(io_uring_submit_and_wait_timeout(&os->ring, &cqe, 1, &timeout, NULL));
}

void ring_enter(struct os *os, uint64_t deadline_ns) {
    ring_fill_pending(os);
    for (int budget = SUBMITS_A_TURN_MAX; os->pending.first && budget > 0; budget--) {
        int submitted = io_uring_submit(&os->ring);
        ring_check(submitted);
        if (submitted <= 0) break; // no room in the kernel: reap first
        ring_fill_pending(os);
    }
    bool must_not_block = deadline_ns == 0 || os->pending.first || io_uring_cq_ready(&os->ring) > 0;
    if (!must_not_block) {
        ring_block(os, deadline_ns);
    } else if (io_uring_sq_ready(&os->ring) > 0 || ring_has_news(os)) {
        ring_check(io_uring_submit_and_get_events(&os->ring)); // min_complete 0: never a zero timeout
    }
}

// ---- completion
static bool ring_again(struct os *os, struct os_op *op, int32_t result) {
    struct request *request = request_of(op);
    bool never_ran = result == -ECANCELED;
    bool again = never_ran || ((result == -EINTR || result == -EAGAIN) && !(request->flags & REQUEST_NO_RETRY));
    if (!again || request->retries >= RETRIES_MAX) return false;
    request->retries++;
    ring_start(os, op);
    return true;
}

static void ring_complete(struct os *os, struct os_op *op, int32_t result) {
    ASSERT(op->in_flight);
    if (result < 0 && ring_again(os, op, result)) return;
    const struct request *request = request_of(op);
    if (request->complete) {
        request->complete(os, op, result);
    } else {
        engine_finish(os, op, result);
    }
}

void ring_reap(struct os *os) {
    struct io_uring_cqe *cqes[REAP_BATCH];
    struct {
        struct os_op *op;
        int32_t result;
    } batch[REAP_BATCH];
    for (int round = 0; round < REAP_BATCHES_A_TURN_MAX; round++) {
        unsigned count = io_uring_peek_batch_cqe(&os->ring, cqes, REAP_BATCH);
        for (unsigned i = 0; i < count; i++) {
            batch[i].op = (struct os_op *)(uintptr_t)cqes[i]->user_data;
            batch[i].result = cqes[i]->res;
        }
        io_uring_cq_advance(&os->ring, count);
        for (unsigned i = 0; i < count; i++) {
            if (batch[i].op) ring_complete(os, batch[i].op, batch[i].result);
        }
        if (count < REAP_BATCH) return;
    }
}
