// SPDX-License-Identifier: Apache-2.0
// The process's host, and the little that it says and does by itself: standard error, the names of errors, the exit.
#include "os/linux/host.h"
#include "os/linux/engine.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

// Threads made from here on inherit what is blocked.
static sigset_t host_set_signals(void (*pipe_handler)(int), int how) {
    struct sigaction action = {.sa_handler = pipe_handler};
    int rc = sigaction(SIGPIPE, &action, NULL);
    ASSERT(rc == 0);
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGUSR1);
    rc = pthread_sigmask(how, &taken, NULL);
    ASSERT(rc == 0);
    return taken;
}

static int host_take_signals(void) {
    sigset_t taken = host_set_signals(SIG_IGN, SIG_BLOCK);
    return signalfd(-1, &taken, SFD_CLOEXEC); // blocking: the ring waits by poll
}

void os_host_leave_signals(void) {
    host_set_signals(SIG_DFL, SIG_UNBLOCK);
}

// Blocks of this size and more are given back to the kernel when they are freed. Left to itself, glibc raises its
// threshold with every large block that it sees freed (to 32 MiB), and what one odd request needed is kept for good:
// 100 MiB in the tests of bad input. What data needs often does not come from malloc each time (core/buffers.h).
enum { MALLOC_KEEPS_BYTES = 1 << 20 };
static void host_limit_malloc(void) {
    (void)mallopt(M_MMAP_THRESHOLD, MALLOC_KEEPS_BYTES); // the allocators of sanitizers refuse, and keep what they keep
    (void)mallopt(M_TRIM_THRESHOLD, MALLOC_KEEPS_BYTES);
}

struct os_host *os_host_create(void) {
    host_limit_malloc();
    struct os_host *host = calloc(1, sizeof *host);
    ASSERT(host != NULL);
    pthread_mutex_init(&host->lock, NULL);
    host->cpus = cpus_of_process();
    offload_init(host);
    host->signal_fd = host_take_signals(); // below 0: os_signal_start tells
    return host;
}

void os_host_destroy(struct os_host *host) {
    offload_stop(host);
    if (host->signal_fd >= 0) close(host->signal_fd);
    CPU_FREE(host->cpus);
    pthread_mutex_destroy(&host->lock);
    free(host);
}

void os_print_error(struct os_host *host, const char *text, size_t size) {
    (void)host;
    while (size > 0) {
        ssize_t n = write(STDERR_FILENO, text, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return; // nobody listens
        text += n;
        size -= (size_t)n;
    }
}

const char *os_error_text(int error) {
    const char *text = strerrordesc_np(error < 0 ? -error : error);
    return text ? text : "unknown error";
}

_Noreturn void os_exit(struct os_host *host, int status) {
    (void)host;
    _exit(status);
}
