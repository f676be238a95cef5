// SPDX-License-Identifier: Apache-2.0
// Appending and reading back, on a real core and file system.
#include "live.h"
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

TestSuite(append, .timeout = 60);

static const struct batch_spec one = {.count = 1, .value_bytes = 10, .time_ms = 1000, .epoch = 3};

Test(append, offsets_follow_and_all_can_be_read_back) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    static const struct {
        int count;
        size_t value_bytes;
    } shapes[] = {{1, 1}, {7, 100}, {1, 5000}, {100, 10}, {1, 300000}, {3, 70000}, {1, 131000}, {2000, 50}};
    int64_t next = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++) {
        struct log_append append;
        live_append(&live, &append, LOG_FROM_CLIENT,
                    &(struct batch_spec){.count = shapes[i].count, .value_bytes = shapes[i].value_bytes, .epoch = 3});
        cr_assert_eq(append.error, 0);
        cr_assert_eq(append.base_offset, next);
        next += shapes[i].count;
        cr_assert_eq(append.end_offset, next);
        cr_assert_eq(log_end_offset(live.log), next);
    }
    cr_assert_eq(log_latest_epoch(live.log), 3);
    cr_assert_eq(live.appended, (int)ARRAY_LENGTH(shapes));
    for (uint32_t max_bytes = 1; max_bytes < 2000000; max_bytes = max_bytes * 3 + 1) {
        for (int64_t offset = 0; offset < next;) {
            struct log_read read;
            live_read(&live, &read, offset, next, max_bytes);
            offset = check_range(&live, &read, offset, next);
            log_read_release(live.log, &read);
        }
    }
    live_close(&live);
}

Test(append, a_flush_makes_everything_written_count) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    live_fill(&live, 5, &one);
    cr_assert_eq(log_flushed_end(live.log), 0);
    live_flush(&live);
    cr_assert_eq(log_flushed_end(live.log), 5);
    cr_assert_geq(live.flushed, 1);
    live_close(&live);
}

Test(append, many_that_wait_go_in_one_write_in_order) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    struct waker waker;
    waker_start(&waker, live.core);
    struct log_append appends[200];
    for (int i = 0; i < 200; i++) {
        appends[i] = (struct log_append){.flow = &waker.flow, .leader_epoch = 0};
        appends[i].records = make_batch(&(struct batch_spec){.count = 2, .value_bytes = 5}, &appends[i].size_bytes);
        log_append_start(live.log, &appends[i]);
    }
    live_until(&live, &appends[199].done);
    for (int i = 0; i < 200; i++) {
        cr_assert(appends[i].done);
        cr_assert_eq(appends[i].base_offset, 2 * i);
        free(appends[i].records);
    }
    cr_assert_eq(live.appended, 4); // groups of OS_VECTORS_MAX
    waker_stop(&live, &waker);
    live_close(&live);
}

Test(append, a_batch_in_flight_a_duplicate_and_a_gap) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    struct batch_spec spec = {.count = 3, .value_bytes = 10, .time_ms = 5000, .producer_id = 7};
    struct log_append append;
    for (int i = 0; i < 3; i++) {
        live_append(&live, &append, LOG_FROM_CLIENT, &spec);
        cr_assert_eq(append.base_offset, 3 * i);
        cr_assert_not(append.duplicate);
        spec.sequence += 3;
    }
    spec.sequence = 3; // the second once more
    live_append(&live, &append, LOG_FROM_CLIENT, &spec);
    cr_assert(append.duplicate);
    cr_assert_eq(append.base_offset, 3);
    cr_assert_eq(append.end_offset, 6);
    cr_assert_eq(append.duplicate_time_ms, 5002);
    cr_assert_eq(log_end_offset(live.log), 9);
    spec.sequence = 12;
    live_append(&live, &append, LOG_FROM_CLIENT, &spec);
    cr_assert_eq(append.error, KAFKA_ERROR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    cr_assert_eq(append.base_offset, -1);
    live_close(&live);
}

// Five of one producer wait together: each is checked against what the ones before it leave.
Test(append, sequences_of_one_group) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    struct waker waker;
    waker_start(&waker, live.core);
    static const int32_t sequences[] = {0, 2, 2, 4, 8, 6};
    static const int16_t errors[] = {0, 0, 0, 0, KAFKA_ERROR_OUT_OF_ORDER_SEQUENCE_NUMBER, 0};
    static const int64_t offsets[] = {0, 2, 2, 4, -1, 6};
    struct log_append appends[6];
    for (int i = 0; i < 6; i++) {
        appends[i] = (struct log_append){.flow = &waker.flow};
        appends[i].records =
            make_batch(&(struct batch_spec){.count = 2, .value_bytes = 5, .producer_id = 9, .sequence = sequences[i]},
                       &appends[i].size_bytes);
        log_append_start(live.log, &appends[i]);
    }
    live_until(&live, &appends[5].done);
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(appends[i].error, errors[i], "%d: %d", i, appends[i].error);
        cr_assert_eq(appends[i].base_offset, offsets[i], "%d", i);
        cr_assert_eq(appends[i].duplicate, i == 2);
        free(appends[i].records);
    }
    waker_stop(&live, &waker);
    live_close(&live);
}

Test(append, what_a_leader_sent_keeps_its_offsets_and_epochs) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    struct log_append append;
    struct batch_spec spec = {.count = 2, .value_bytes = 10, .base_offset = 0, .epoch = 4};
    live_append(&live, &append, LOG_FROM_LEADER, &spec);
    cr_assert_eq(append.end_offset, 2);
    spec.base_offset = 10; // compaction left a gap
    spec.epoch = 6;
    live_append(&live, &append, LOG_FROM_LEADER, &spec);
    cr_assert_eq(append.base_offset, 10);
    cr_assert_eq(log_end_offset(live.log), 12);
    cr_assert_eq(log_epoch_at(live.log, 1), 4);
    cr_assert_eq(log_epoch_at(live.log, 10), 6);
    spec.base_offset = 11;
    live_append(&live, &append, LOG_FROM_LEADER, &spec);
    cr_assert_eq(append.error, KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
    struct log_read read;
    live_read(&live, &read, 5, 12, 10000); // in the gap: the next batch
    cr_assert_eq(read.error, 0);
    cr_assert_gt(read.size_bytes, 0);
    log_read_release(live.log, &read);
    live_close(&live);
}

Test(append, more_than_a_segment_is_refused) {
    struct live live;
    struct topic_config config = live_config(1000);
    live_open(&live, &config);
    struct log_append append;
    live_append(&live, &append, LOG_FROM_CLIENT, &(struct batch_spec){.count = 1, .value_bytes = 1000});
    cr_assert_eq(append.error, KAFKA_ERROR_RECORD_LIST_TOO_LARGE);
    live_append(&live, &append, LOG_FROM_CLIENT, &one);
    cr_assert_eq(append.base_offset, 0);
    live_close(&live);
}

static void limit_file_size(uint64_t size_bytes) {
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size_bytes;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// The kernel writes up to the limit (a short write), then refuses: as a disk that fills up.
Test(append, no_space_cuts_back_to_the_last_batch_and_is_tried_again) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    signal(SIGXFSZ, SIG_IGN);
    struct log_append append;
    struct batch_spec spec = {.count = 1, .value_bytes = 1000, .producer_id = 5};
    live_append(&live, &append, LOG_FROM_CLIENT, &spec);
    uint64_t whole = log_size_bytes(live.log);
    for (size_t value_bytes = 10000; value_bytes <= 200000; value_bytes += 190000) { // inline, and by the ring
        limit_file_size(6000);
        spec.sequence = 1;
        spec.value_bytes = value_bytes;
        live_append(&live, &append, LOG_FROM_CLIENT, &spec);
        cr_assert_eq(append.error, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
        cr_assert_eq(log_end_offset(live.log), 1);
        limit_file_size(RLIM_INFINITY);
        size_t size_bytes;
        free(fixture_read(&live.fixture, "orders-0/00000000000000000000.log", &size_bytes));
        cr_assert_eq(size_bytes, whole);
    }
    cr_assert_eq(live.failed, 0);
    live_append(&live, &append, LOG_FROM_CLIENT, &spec); // the same sequence: nothing of the failed ones is remembered
    cr_assert_eq(append.error, 0);
    cr_assert_not(append.duplicate);
    cr_assert_eq(append.base_offset, 1);
    live_close(&live);
}
