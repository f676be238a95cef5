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

// ---- preallocate
static uint64_t file_bytes(struct live *live, int64_t base_offset) {
    char name[64];
    struct os_stat stat;
    snprintf(name, sizeof name, "orders-0/%020lld.log", (long long)base_offset);
    cr_assert_eq(os_stat(live->fixture.host, fixture_path(&live->fixture, name), &stat), 0, "%s", name);
    return stat.size_bytes;
}

static void check_files(struct live *live, uint64_t active_bytes) {
    const struct log *log = live->log;
    for (size_t i = 0; i + 1 < log->segment_count; i++)
        cr_assert_eq(file_bytes(live, log->segments[i]->base_offset), log->segments[i]->size_bytes);
    cr_assert_eq(file_bytes(live, log_active_segment(log)->base_offset), active_bytes);
}

static void check_all_readable(struct live *live) {
    struct log_read read;
    for (int64_t at = 0; at < log_end_offset(live->log);) {
        live_read(live, &read, at, log_end_offset(live->log), 1 << 20);
        at = check_range(live, &read, at, log_end_offset(live->log));
        log_read_release(live->log, &read);
    }
}

Test(roll, preallocated_files_are_cut_when_sealed_and_closed) {
    const struct batch_spec spec = {.count = 1, .value_bytes = 931, .time_ms = 1000};
    struct live live;
    struct topic_config config = live_config(10000);
    config.preallocate = true;
    live_open(&live, &config);
    check_files(&live, 10000);
    live_fill(&live, 25, &spec);
    cr_assert_eq(live.log->segment_count, 3);
    check_files(&live, 10000);
    check_all_readable(&live);
    live_reopen(&live);
    check_files(&live, log_active_segment(live.log)->size_bytes); // and is not allocated again
    live_fill(&live, 1, &spec);
    check_files(&live, log_active_segment(live.log)->size_bytes);
    live_fill(&live, 2, &spec);
    check_files(&live, 10000);
    cr_assert_eq(live_work(&live, LOG_TRUNCATE, 26), 0);
    check_files(&live, log_active_segment(live.log)->size_bytes);
    cr_assert_eq(live_work(&live, LOG_RESTART, 100), 0);
    check_files(&live, 10000);
    live_close(&live);
}

Test(roll, preallocated_tail_after_a_kill) {
    struct live live;
    struct topic_config config = live_config(10000);
    config.preallocate = true;
    live_open(&live, &config);
    live_fill(&live, 13, &(struct batch_spec){.count = 1, .value_bytes = 931, .time_ms = 1000});
    live_flush(&live);
    // A kill leaves the files as they are now; a copy of the partition stands for that.
    char command[512];
    snprintf(command, sizeof command, "cp -r %s/orders-0 %s/copy-0", live.fixture.path, live.fixture.path);
    cr_assert_eq(system(command), 0);
    int64_t base = log_active_segment(live.log)->base_offset;
    uint64_t size = log_active_segment(live.log)->size_bytes;
    for (int64_t point = 0; point <= 13; point += 13) {
        struct log_load load = {.dir = &live.dir,
                                .topic = "copy",
                                .config = config,
                                .durable = true,
                                .recovery_point = point,
                                .log_start_offset = -1,
                                .high_watermark = 13,
                                .producer_expiration_ms = INT64_MAX};
        cr_assert_eq(log_load_run(live.fixture.host, &load), 0, "%s", load.reason);
        cr_assert_str_eq(load.reason, ""); // nobody is to worry
        cr_assert_eq(load.cut_bytes, 0);
        cr_assert_eq(load.log->end_offset, 13);
        cr_assert_eq(log_active_segment(load.log)->base_offset, base);
        cr_assert_eq(log_active_segment(load.log)->size_bytes, size);
        log_free(load.log);
        char name[64];
        struct os_stat stat;
        snprintf(name, sizeof name, "copy-0/%020lld.log", (long long)base);
        cr_assert_eq(os_stat(live.fixture.host, fixture_path(&live.fixture, name), &stat), 0);
        cr_assert_eq(stat.size_bytes, size);
    }
    live_close(&live);
}
