// SPDX-License-Identifier: Apache-2.0
// SIGTERM, SIGINT and SIGUSR1 as an operation: a read of the host's signalfd. A signal that comes while no operation is
// in flight is kept by the kernel for the next one.
#include "os/linux/engine.h"
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

_Static_assert(OS_SIGNAL_REPORT == SIGUSR1, "the number that os.h promises");
_Static_assert(sizeof(struct signalfd_siginfo) == sizeof((struct os *)0)->signal_info, "room for one signal");

static void signal_read(struct os *os, struct os_op *op, int32_t result) {
    os->signal_awaited = false;
    if (result < 0) {
        engine_finish(os, op, result);
        return;
    }
    ASSERT((size_t)result == sizeof os->signal_info);
    struct signalfd_siginfo info;
    memcpy(&info, os->signal_info, sizeof info);
    engine_finish(os, op, (int64_t)info.ssi_signo);
}

void os_signal_start(struct os *os, struct os_op *op) {
    engine_begin(os, op);
    if (os->host->signal_fd < 0) {
        engine_finish(os, op, -EMFILE);
        return;
    }
    *request_of(op) = (struct request){
        .opcode = IORING_OP_READ,
        .fd = os->host->signal_fd,
        .address = (uint64_t)(uintptr_t)os->signal_info,
        .length = sizeof os->signal_info,
        .complete = signal_read,
    };
    os->signal_awaited = true;
    ring_start(os, op);
}
