// SPDX-License-Identifier: Apache-2.0
// See histogram.h.
#include "base/histogram.h"
#include "base/assert.h"
#include <stddef.h>
#include <string.h>

// A value's bucket: its power of two and the HISTOGRAM_BITS bits behind the leading one.
static size_t bucket_of(uint64_t value) {
    if (value < HISTOGRAM_DIVISIONS) return (size_t)value;
    int shift = 63 - __builtin_clzll(value) - HISTOGRAM_BITS;
    size_t bucket = (size_t)(shift + 1) * HISTOGRAM_DIVISIONS + (size_t)((value >> shift) - HISTOGRAM_DIVISIONS);
    ASSERT(bucket < HISTOGRAM_BUCKETS);
    return bucket;
}

// The greatest value of a bucket.
static uint64_t bucket_end(size_t bucket) {
    if (bucket < HISTOGRAM_DIVISIONS) return bucket;
    int shift = (int)(bucket / HISTOGRAM_DIVISIONS) - 1;
    uint64_t begin = (uint64_t)(HISTOGRAM_DIVISIONS + bucket % HISTOGRAM_DIVISIONS) << shift;
    return begin + ((1ULL << shift) - 1);
}

void histogram_clear(struct histogram *h) {
    memset(h, 0, sizeof *h);
}

void histogram_record(struct histogram *h, uint64_t value) {
    if (h->count == 0 || value < h->min) h->min = value;
    if (value > h->max) h->max = value;
    h->count++;
    h->sum += (double)value;
    h->buckets[bucket_of(value)]++;
}

void histogram_add(struct histogram *h, const struct histogram *from) {
    if (from->count == 0) return;
    if (h->count == 0 || from->min < h->min) h->min = from->min;
    if (from->max > h->max) h->max = from->max;
    h->count += from->count;
    h->sum += from->sum;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        h->buckets[i] += from->buckets[i];
    }
}

uint64_t histogram_percentile(const struct histogram *h, double percent) {
    ASSERT(percent >= 0 && percent <= 100);
    if (h->count == 0) return 0;
    double exact = percent / 100 * (double)h->count;
    uint64_t wanted = (uint64_t)exact;
    if ((double)wanted < exact) wanted++;
    if (wanted == 0) return h->min;
    uint64_t seen = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen < wanted) continue;
        uint64_t end = bucket_end(i);
        return end < h->max ? end : h->max;
    }
    return h->max; // rounding of counts beyond 2^53
}

double histogram_mean(const struct histogram *h) {
    return h->count ? h->sum / (double)h->count : 0;
}
