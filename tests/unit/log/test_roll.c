// SPDX-License-Identifier: Apache-2.0
// When a segment is full, and what its files look like then.
#include "live.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(roll, .timeout = 60);

Test(roll, by_size) {
    struct live live;
    struct topic_config config = live_config(10000);
    live_open(&live, &config);
    live_fill(&live, 100,
              &(struct batch_spec){.count = 1, .value_bytes = 931, .time_ms = 1000}); // 1,000 bytes and some
    for (size_t i = 0; i < live.log->segment_count; i++) {
        cr_assert_leq(live.log->segments[i]->size_bytes, 10000);
        if (i + 1 < live.log->segment_count) cr_assert_gt(live.log->segments[i]->size_bytes, 8900);
    }
    cr_assert(fixture_has(&live.fixture, "orders-0/00000000000000000009.index"));
    cr_assert(fixture_has(&live.fixture, "orders-0/00000000000000000009.timeindex"));
    cr_assert(fixture_has(&live.fixture, "orders-0/00000000000000000009.snapshot"));
    live_close(&live);
}

Test(roll, by_the_time_in_the_records) {
    struct live live;
    struct topic_config config = live_config(0);
    config.segment_ms = 1000;
    live_open(&live, &config);
    static const int64_t times[] = {5000, 5500, 6000, 6001, 6500, 7001, 7002, 9000};
    static const int64_t bases[] = {0, 3, 6, 7}; // more than 1,000 ms behind the segment's first
    for (size_t i = 0; i < ARRAY_LENGTH(times); i++)
        live_fill(&live, 1, &(struct batch_spec){.count = 1, .value_bytes = 10, .time_ms = times[i]});
    cr_assert_eq(live.log->segment_count, ARRAY_LENGTH(bases));
    for (size_t i = 0; i < ARRAY_LENGTH(bases); i++)
        cr_assert_eq(live.log->segments[i]->base_offset, bases[i], "%zu: %ld", i, live.log->segments[i]->base_offset);
    live_close(&live);
}

Test(roll, when_an_index_is_full) {
    struct live live;
    struct topic_config config = live_config(0);
    config.index_interval_bytes = 0; // an entry for each batch but the first
    config.segment_index_bytes = 80; // ten offsets, six times
    live_open(&live, &config);
    live_fill(&live, 30, &(struct batch_spec){.count = 1, .value_bytes = 10, .time_ms = 1000});
    cr_assert_eq(live.log->segments[1]->base_offset, 6); // five times and one kept free
    live_close(&live);
}

static int64_t entry_offset(const char *index, size_t i) {
    return (int32_t)load_be32(index + 8 * i);
}

Test(roll, indexes_are_those_of_kafka_batch_by_batch) {
    struct live live;
    struct topic_config config = live_config(30000);
    live_open(&live, &config);
    live_fill(&live, 40, &(struct batch_spec){.count = 2, .value_bytes = 450, .time_ms = 1000});
    cr_assert_geq(live.log->segment_count, 2);
    size_t size_bytes, time_bytes;
    char *index = fixture_read(&live.fixture, "orders-0/00000000000000000000.index", &size_bytes);
    char *times = fixture_read(&live.fixture, "orders-0/00000000000000000000.timeindex", &time_bytes);
    // Batches of about 979 bytes: the fifth after an entry comes behind more than 4,096 bytes.
    cr_assert_eq(size_bytes, 5 * 8);
    uint32_t batch_bytes = load_be32(index + 4) / 5;
    for (size_t i = 0; i < 5; i++) {
        cr_assert_eq(entry_offset(index, i), (int64_t)(5 * (i + 1) * 2 + 1));
        cr_assert_eq(load_be32(index + 8 * i + 4), 5 * (i + 1) * batch_bytes);
    }
    // One for each, and the last of the segment.
    cr_assert_eq(time_bytes, 6 * 12);
    struct segment *first = live.log->segments[0];
    cr_assert_eq((int64_t)load_be64(times + 60), first->max_timestamp_ms);
    cr_assert_eq((int32_t)load_be32(times + 68), live.log->segments[1]->base_offset - 1);
    free(index);
    free(times);
    live_close(&live);
}

Test(roll, everything_counts_as_flushed_only_in_order) {
    struct live live;
    struct topic_config config = live_config(5000);
    live_open(&live, &config);
    for (int i = 0; i < 50; i++) {
        live_fill(&live, 1, &(struct batch_spec){.count = 1, .value_bytes = 700});
        for (size_t s = 0; s + 1 < live.log->segment_count; s++)
            cr_assert_eq(live.log->segments[s]->flushed_bytes, live.log->segments[s]->size_bytes);
        cr_assert_geq(log_flushed_end(live.log), log_active_segment(live.log)->base_offset);
    }
    live_flush(&live);
    cr_assert_eq(log_flushed_end(live.log), 50);
    live_close(&live);
}
