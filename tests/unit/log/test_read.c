// SPDX-License-Identifier: Apache-2.0
// Reading: what a sequential reader costs in headers read, edges of ranges, cold logs.
#include "live.h"
#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(read, .timeout = 60);

static const struct batch_spec small = {.count = 1, .value_bytes = 10, .time_ms = 1000};

// Many appends at once, so that 10,000 batches do not need as many turns.
static void fill_fast(struct live *live, int count, const struct batch_spec *spec) {
    enum { AT_ONCE = 1000 };
    struct waker waker;
    waker_start(&waker, live->core);
    struct log_append *appends = calloc(AT_ONCE, sizeof *appends);
    for (int done = 0; done < count; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            appends[i] = (struct log_append){.flow = &waker.flow};
            appends[i].records = make_batch(spec, &appends[i].size_bytes);
            log_append_start(live->log, &appends[i]);
        }
        live_until(live, &appends[AT_ONCE - 1].done);
        for (int i = 0; i < AT_ONCE; i++)
            free(appends[i].records);
    }
    free(appends);
    waker_stop(live, &waker);
}

Test(read, a_sequential_reader_reads_few_headers) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    fill_fast(&live, 10000, &small);
    int64_t end = log_end_offset(live.log);
    cr_assert_eq(end, 10000);
    uint32_t reads = 0, ranges = 0;
    for (int64_t offset = 0; offset < end; ranges++) {
        struct log_read read;
        live_read(&live, &read, offset, end, 65536);
        offset = check_range(&live, &read, offset, end);
        reads += read.scan.reads;
        log_read_release(live.log, &read);
    }
    cr_assert_leq(ranges, 14); // 800,000 bytes in ranges that are three quarters full at least
    cr_assert_leq(reads, ranges, "%u headers in %u ranges", reads, ranges); // one each, to know where to go on
    live_close(&live);
}

Test(read, at_the_end_no_header_is_read) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    for (int i = 0; i < 50; i++) {
        int64_t before = log_end_offset(live.log);
        live_fill(&live, 1, &small);
        struct log_read read;
        live_read(&live, &read, before, before + 1, 65536);
        cr_assert_eq(check_range(&live, &read, before, before + 1), before + 1);
        cr_assert_eq(read.scan.reads, 0);
        log_read_release(live.log, &read);
    }
    live_close(&live);
}

Test(read, a_random_reader_reads_what_lies_between_two_index_entries) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    fill_fast(&live, 10000, &small);
    for (int64_t offset = 13; offset < 10000; offset += 617) {
        struct log_read read;
        live_read(&live, &read, offset, 10000, 1000);
        check_range(&live, &read, offset, 10000);
        cr_assert_leq(read.scan.reads, 2 * (4096 / 72 + 2));
        cr_assert_leq(read.size_bytes, 1000);
        log_read_release(live.log, &read);
    }
    live_close(&live);
}

Test(read, edges) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    for (int i = 0; i < 4; i++)
        live_fill(&live, 1, &(struct batch_spec){.count = 10, .value_bytes = 100});
    struct log_read read;
    live_read(&live, &read, 41, 41, 1000);
    cr_assert_eq(read.error, KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
    live_read(&live, &read, -1, 41, 1000);
    cr_assert_eq(read.error, KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
    live_read(&live, &read, 40, 40, 1000);
    cr_assert_eq(read.error, 0);
    cr_assert_eq(read.size_bytes, 0);
    live_read(&live, &read, 35, 20, 1000); // beyond the high watermark: nothing, no error
    cr_assert_eq(read.error, 0);
    cr_assert_eq(read.size_bytes, 0);
    live_read(&live, &read, 15, 40, 1); // in the middle of a batch, which comes whole
    cr_assert_eq(check_range(&live, &read, 15, 40), 20);
    log_read_release(live.log, &read);
    live_read(&live, &read, 0, 25, 100000); // the batch that holds 25 is not below it
    cr_assert_eq(check_range(&live, &read, 0, 25), 20);
    log_read_release(live.log, &read);
    struct log_read strict = {.offset = 0, .max_offset = 40, .max_bytes = 10};
    cr_assert(log_read_start(live.log, &strict));
    cr_assert_eq(strict.size_bytes, 0);
    log_read_release(live.log, &strict);
    live_close(&live);
}

Test(read, a_log_that_was_just_loaded_and_has_several_segments) {
    struct live live;
    struct topic_config config = live_config(20000);
    live_open(&live, &config);
    live_fill(&live, 300, &(struct batch_spec){.count = 5, .value_bytes = 50, .time_ms = 1000});
    cr_assert_gt(live.log->segment_count, 4);
    live_reopen(&live);
    for (int64_t offset = 0; offset < 1500;) {
        struct log_read read;
        live_read(&live, &read, offset, 1500, 3000);
        cr_assert_eq(read.older_segment, read.held != log_active_segment(live.log));
        offset = check_range(&live, &read, offset, 1500);
        log_read_release(live.log, &read);
    }
    for (int64_t offset = 1499; offset > 0; offset -= 37) {
        struct log_read read;
        live_read(&live, &read, offset, 1500, 3000);
        check_range(&live, &read, offset, 1500);
        log_read_release(live.log, &read);
    }
    live_close(&live);
}

Test(read, a_lost_or_damaged_index_is_built_again) {
    struct live live;
    struct topic_config config = live_config(40000);
    live_open(&live, &config);
    live_fill(&live, 200, &(struct batch_spec){.count = 5, .value_bytes = 50, .time_ms = 1000});
    live_end_log(&live, live.log, false);
    size_t size_bytes;
    char *before = fixture_read(&live.fixture, "orders-0/00000000000000000000.index", &size_bytes);
    fixture_write(&live.fixture, "orders-0/00000000000000000000.index", "garbage!garbage!", 16);
    live.clean = true;
    live.log = live_add_log(&live, "orders", &config);
    struct log_read read;
    live_read(&live, &read, 77, 1000, 500);
    check_range(&live, &read, 77, 1000);
    log_read_release(live.log, &read);
    cr_assert_eq(live_work(&live, LOG_CHECKPOINT, 0), 0);
    live_end_log(&live, live.log, false);
    live.log = NULL;
    size_t again_bytes;
    char *again = fixture_read(&live.fixture, "orders-0/00000000000000000000.index", &again_bytes);
    cr_assert_eq(again_bytes, size_bytes);
    cr_assert_eq(memcmp(again, before, size_bytes), 0);
    free(before);
    free(again);
    live_close(&live);
}
