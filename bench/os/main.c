// SPDX-License-Identifier: Apache-2.0
// bench_os DIRECTORY: the seam's own costs, as a table. See README.md.
#include "bench.h"
#include <time.h>

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct stopwatch stopwatch_start(void) {
    return (struct stopwatch){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

struct stopwatch stopwatch_since(struct stopwatch start) {
    struct stopwatch now = stopwatch_start();
    return (struct stopwatch){now.wall_ns - start.wall_ns, now.cpu_ns - start.cpu_ns};
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t percentile(uint64_t *samples, size_t count, double fraction) {
    qsort(samples, count, sizeof *samples, compare);
    return samples[(size_t)((double)(count - 1) * fraction)];
}

void op_ignore(struct os_op *op) {
    (void)op;
}

int64_t finish(struct os *os, struct os_op *op) {
    while (op->in_flight)
        os_wait(os, UINT64_MAX);
    if (op->result < 0) {
        fprintf(stderr, "bench_os: %s\n", os_error_text((int)op->result));
        exit(1);
    }
    return op->result;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: bench_os DIRECTORY (600 MB are written there, and removed)\n");
        return 2;
    }
    struct os_host *host = os_host_create();
    int error;
    struct os *os = os_create(host, 0, 256, &error);
    if (!os) {
        fprintf(stderr, "bench_os: io_uring: %s\n", os_error_text(error));
        return 1;
    }
    bench_append(os, argv[1]);
    bench_commit(os, argv[1]);
    bench_probe(os, argv[1]);
    os_destroy(os);
    bench_send(host, argv[1]);
    bench_messages(host);
    os_host_destroy(host);
    return 0;
}
