// SPDX-License-Identifier: Apache-2.0
// Counts values (latencies, sizes) in buckets whose width grows with the value, as HdrHistogram does: any 64-bit value
// fits, and what is read back is at most 1/128 above what was recorded. Recording is a few instructions and never
// allocates.
#pragma once

#include <stdint.h>

// Values below 2 * 128 have a bucket each; every power of two above is divided into 128 buckets.
enum {
    HISTOGRAM_BITS = 7,
    HISTOGRAM_DIVISIONS = 1 << HISTOGRAM_BITS,
    HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) * HISTOGRAM_DIVISIONS,
};

// 58 KiB: not for the stack. Zeroed is empty.
struct histogram {
    uint64_t count;
    uint64_t min, max; // exact; 0 while empty
    double sum;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *h);
void histogram_record(struct histogram *h, uint64_t value);
// Adds everything that was recorded in `from`.
void histogram_add(struct histogram *h, const struct histogram *from);
// The least recorded value that at least `percent` (0 to 100) of all values do not exceed, to the bucket's upper end
// and never above max; 0 while empty.
uint64_t histogram_percentile(const struct histogram *h, double percent);
double histogram_mean(const struct histogram *h); // 0 while empty
