// SPDX-License-Identifier: Apache-2.0
// What the measurements of the seam share: a stopwatch of wall and thread time, and percentiles.
#pragma once

#include "core/core.h"
#include "os/linux/host.h"
#include <stdio.h>
#include <stdlib.h>

struct stopwatch {
    uint64_t wall_ns, cpu_ns; // of the calling thread
};
struct stopwatch stopwatch_start(void);
struct stopwatch stopwatch_since(struct stopwatch start);
// Sorts the samples.
uint64_t percentile(uint64_t *samples, size_t count, double fraction);
// Waits for the op; its result, or the end of the program if that is an error.
int64_t finish(struct os *os, struct os_op *op);
void op_ignore(struct os_op *op);

void bench_append(struct os *os, const char *directory);
void bench_commit(struct os *os, const char *directory);
void bench_send(struct os_host *host, const char *directory);
void bench_probe(struct os *os, const char *directory);
void bench_messages(struct os_host *host);
