// SPDX-License-Identifier: Apache-2.0
// How another thread ends a core's sleep: an eventfd whose read is always in the ring. Between a ring and the core's
// waking, further rings cost one atomic exchange.
//
// No ring is lost: the core clears the flag before os_wait returns and looks at its queues after that. A thread that
// still saw the flag set had published its message before the exchange, so the core, whose own exchange comes later in
// the flag's order, sees the message.
#include "os/linux/engine.h"
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void doorbell_read(struct os *os, struct os_op *op, int32_t result) {
    ASSERT(op == &os->doorbell);
    ASSERT(result == (int32_t)sizeof os->doorbell_count);
    (void)atomic_exchange_explicit(&os->doorbell_rung, false, memory_order_acq_rel);
    request_of(op)->retries = 0;
    ring_start(os, op); // stays in flight
}

static void doorbell_is_never_delivered(struct os_op *op) {
    (void)op;
    UNREACHABLE();
}

int doorbell_create(struct os *os) {
    os->doorbell_fd = eventfd(0, EFD_CLOEXEC); // blocking: the ring waits by poll
    return os->doorbell_fd < 0 ? -errno : 0;
}

void doorbell_arm(struct os *os) {
    os->doorbell = OS_OP(doorbell_is_never_delivered);
    os->doorbell.in_flight = true;
    *request_of(&os->doorbell) = (struct request){
        .opcode = IORING_OP_READ,
        .fd = os->doorbell_fd,
        .address = (uint64_t)(uintptr_t)&os->doorbell_count,
        .length = sizeof os->doorbell_count,
        .complete = doorbell_read,
    };
    ring_start(os, &os->doorbell);
}

void doorbell_destroy(struct os *os) {
    close(os->doorbell_fd);
}

void os_ring_doorbell(struct os *os) {
    if (atomic_exchange_explicit(&os->doorbell_rung, true, memory_order_acq_rel)) return;
    uint64_t one = 1;
    ssize_t n;
    do {
        n = write(os->doorbell_fd, &one, sizeof one);
    } while (n < 0 && errno == EINTR);
    ASSERT(n == sizeof one); // the counter is far from its end
}
