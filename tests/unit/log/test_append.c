// SPDX-License-Identifier: Apache-2.0
// Appending and reading back, on a real core and file system.
#include "live.h"
#include <criterion/criterion.h>
#include <stdlib.h>

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
