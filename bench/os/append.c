// SPDX-License-Identifier: Apache-2.0
// Appends: pwritev on the core's thread against a write through the ring; group commit; what it costs to ask whether a
// range is cached.
#include "bench.h"
#include <string.h>

enum { APPEND_TOTAL = 128 << 20, COMMITS = 500 };

static int file_open(struct os *os, const char *directory, char path[512]) {
    snprintf(path, 512, "%s/bench-os.data", directory);
    int file = os_open(os_host_of(os), path, OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE);
    if (file < 0) {
        fprintf(stderr, "bench_os: %s: %s\n", path, os_error_text(file));
        exit(1);
    }
    return file;
}

static void file_close(struct os *os, const char *path, int file) {
    os_close(os_host_of(os), file);
    os_unlink(os_host_of(os), path);
}

static void append(struct os *os, const char *directory, size_t size, bool through_ring) {
    char path[512];
    int file = file_open(os, directory, path);
    size_t count = APPEND_TOTAL / size / (size < 4096 ? 8 : 1);
    uint64_t *samples = calloc(count, sizeof *samples);
    char *data = malloc(size);
    memset(data, 'x', size);
    struct os_vector vector = {data, size};
    struct os_op op = OS_OP(op_ignore);
    struct stopwatch start = stopwatch_start();
    for (size_t i = 0; i < count; i++) {
        uint64_t before_ns = os_now_ns(os);
        if (through_ring) {
            os_pwritev_start(os, &op, file, &vector, 1, i * size);
            finish(os, &op);
        } else {
            os_pwritev(os_host_of(os), file, &vector, 1, i * size);
        }
        samples[i] = os_now_ns(os) - before_ns;
    }
    struct stopwatch took = stopwatch_since(start);
    double bytes = (double)(count * size);
    printf("append %-8s %4zu KiB   %7.0f MB/s   %5.2f core CPU-s/GB   p50 %6.1f us   p99 %6.1f us\n",
           through_ring ? "ring" : "pwritev", size / 1024, bytes * 1e3 / (double)took.wall_ns,
           (double)took.cpu_ns / bytes, (double)percentile(samples, count, 0.5) / 1e3,
           (double)percentile(samples, count, 0.99) / 1e3);
    free(data);
    free(samples);
    file_close(os, path, file);
}

void bench_append(struct os *os, const char *directory) {
    static const size_t sizes[] = {1024, 16 * 1024, 128 * 1024, 1024 * 1024};
    for (size_t i = 0; i < 4; i++) {
        append(os, directory, sizes[i], false);
        append(os, directory, sizes[i], true);
    }
}

void bench_commit(struct os *os, const char *directory) {
    char path[512];
    int file = file_open(os, directory, path);
    static char data[16 * 1024];
    static uint64_t samples[COMMITS];
    struct os_vector vector = {data, sizeof data};
    struct os_op op = OS_OP(op_ignore);
    for (int i = 0; i < COMMITS; i++) {
        uint64_t before_ns = os_now_ns(os);
        os_pwritev(os_host_of(os), file, &vector, 1, (uint64_t)i * sizeof data);
        os_fdatasync_start(os, &op, file);
        finish(os, &op);
        samples[i] = os_now_ns(os) - before_ns;
    }
    printf("append and flush 16 KiB                                        p50 %6.1f us   p99 %6.1f us\n",
           (double)percentile(samples, COMMITS, 0.5) / 1e3, (double)percentile(samples, COMMITS, 0.99) / 1e3);
    file_close(os, path, file);
}

void bench_probe(struct os *os, const char *directory) {
    enum { PROBES = 200000, SIZE = 1 << 20 };
    char path[512], byte;
    int file = file_open(os, directory, path);
    char *data = calloc(1, SIZE);
    struct os_vector vector = {data, SIZE};
    os_pwritev(os_host_of(os), file, &vector, 1, 0);
    struct stopwatch start = stopwatch_start();
    for (uint64_t i = 0; i < PROBES; i++)
        os_pread_nowait(os_host_of(os), file, &byte, 1, i * 4096 % SIZE);
    printf("is a page cached?                                              %6.2f us\n",
           (double)stopwatch_since(start).wall_ns / PROBES / 1e3);
    free(data);
    file_close(os, path, file);
}
