// SPDX-License-Identifier: Apache-2.0
// Values come back within 1/128; percentiles of a known distribution are its own.
#include "base/bits.h"
#include "base/histogram.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static struct histogram *make(void) {
    struct histogram *h = calloc(1, sizeof *h);
    cr_assert(h);
    return h;
}

Test(histogram, empty) {
    struct histogram *h = make();
    cr_assert_eq(histogram_percentile(h, 50), 0);
    cr_assert_eq(histogram_mean(h), 0);
    free(h);
}

Test(histogram, one_value_comes_back) {
    static const uint64_t values[] = {
        0, 1, 127, 128, 255, 256, 257, 1000, 123456789, 1ULL << 40, UINT64_MAX - 1, UINT64_MAX};
    struct histogram *h = make();
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        histogram_clear(h);
        histogram_record(h, values[i]);
        cr_assert_eq(histogram_percentile(h, 0), values[i]);
        cr_assert_eq(histogram_percentile(h, 50), values[i]); // the maximum is exact
        cr_assert_eq(h->min, values[i]);
        cr_assert_eq(h->max, values[i]);
    }
    free(h);
}

// Around every power of two: not less than the value, and at most 1/128 more.
Test(histogram, precision) {
    struct histogram *h = make();
    for (int bit = 0; bit < 64; bit++) {
        for (int delta = -3; delta <= 3; delta++) {
            uint64_t value = (1ULL << bit) + (uint64_t)delta;
            histogram_clear(h);
            histogram_record(h, value);
            histogram_record(h, UINT64_MAX);
            uint64_t read = histogram_percentile(h, 50);
            cr_assert(read >= value && read - value <= value / 128, "%lu read as %lu", value, read);
        }
    }
    free(h);
}

Test(histogram, percentiles) {
    struct histogram *h = make();
    for (uint64_t i = 1; i <= 100; i++) {
        histogram_record(h, i);
    }
    cr_assert_eq(histogram_percentile(h, 0), 1);
    cr_assert_eq(histogram_percentile(h, 1), 1);
    cr_assert_eq(histogram_percentile(h, 50), 50);
    cr_assert_eq(histogram_percentile(h, 50.1), 51);
    cr_assert_eq(histogram_percentile(h, 99), 99);
    cr_assert_eq(histogram_percentile(h, 99.9), 100);
    cr_assert_eq(histogram_percentile(h, 100), 100);
    cr_assert_eq(histogram_mean(h), 50.5);
    free(h);
}

Test(histogram, adding) {
    struct histogram *a = make(), *b = make();
    histogram_add(a, b);
    cr_assert_eq(a->count, 0);
    histogram_record(b, 7);
    histogram_record(b, 100000);
    histogram_add(a, b);
    histogram_record(a, 3);
    histogram_add(a, b);
    cr_assert_eq(a->count, 5);
    cr_assert_eq(a->min, 3);
    cr_assert_eq(a->max, 100000);
    cr_assert_eq(histogram_percentile(a, 60), 7);
    cr_assert_eq(histogram_percentile(a, 61), 100000);
    cr_assert_float_eq(histogram_mean(a), 200017.0 / 5, 1e-9);
    free(a);
    free(b);
}
