// SPDX-License-Identifier: Apache-2.0
// Work that meets that the process has no descriptor left: it fails by itself, the directory does not, nothing is half
// done, and the next attempt does all of it.
#include "live.h"
#include "log/checkpoint.h"
#include "log/deletion.h"
#include "log/files.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(shortage, .timeout = 60);

enum { DESCRIPTORS_TRIED = 6 }; // so many are enough for any work

static const struct batch_spec five = {.count = 5, .value_bytes = 100, .time_ms = 10000};

// So many descriptors can still be opened, until lift() with what is returned.
static struct rlimit leave(int count) {
    int held[DESCRIPTORS_TRIED];
    struct rlimit before, limit;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < count; i++)
        held[i] = open("/dev/null", O_RDONLY);
    int next = open("/dev/null", O_RDONLY); // the lowest that is free: all below it are taken
    cr_assert_geq(next, 0);
    close(next);
    for (int i = 0; i < count; i++)
        close(held[i]);
    limit = (struct rlimit){(rlim_t)next, before.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

static void lift(struct rlimit before) {
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void check_all(struct live *live) {
    cr_assert_not(log_dir_is_failed(&live->dir), "%s", live->dir.failure_reason);
    live_check_all(live);
}

Test(shortage, a_checkpoint_comes_later) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    struct batch_spec spec = {
        .count = 1, .value_bytes = 100, .producer_id = 3, .time_ms = os_wall_ms(live.core->os)}; // or it expires
    int refused = 0;
    for (int count = 0; count < DESCRIPTORS_TRIED; count++) {
        struct log_append append;
        for (int i = 0; i < 30; i++, spec.sequence++) {
            live_append(&live, &append, LOG_FROM_CLIENT, &spec);
            cr_assert_eq(append.error, 0);
        }
        int64_t before = log_recovery_point(live.log);
        struct rlimit limit = leave(count);
        int16_t error = live_work(&live, LOG_CHECKPOINT, 0);
        lift(limit);
        if (error != 0) {
            refused++;
            cr_assert_eq(error, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
            cr_assert_eq(log_recovery_point(live.log), before);
        }
        check_all(&live);
        cr_assert_eq(live_work(&live, LOG_CHECKPOINT, 0), 0);
        cr_assert_eq(log_recovery_point(live.log), log_end_offset(live.log));
    }
    cr_assert_geq(refused, 2);
    cr_assert_lt(refused, DESCRIPTORS_TRIED);
    cr_assert_eq(live.failed, 0);
    live_reopen(&live);
    check_all(&live);
    spec.sequence -= 1;
    struct log_append append;
    live_append(&live, &append, LOG_FROM_CLIENT, &spec);
    cr_assert(append.error == 0 && append.duplicate, "the producer is known");
    live_close(&live);
}

Test(shortage, a_segment_comes_later) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    int refused = 0;
    for (int count = 0; count < DESCRIPTORS_TRIED; count++) {
        live_fill(&live, 1, &five); // opens the file
        size_t segments = live.log->segment_count;
        struct rlimit limit = leave(count);
        struct log_append append = {0};
        for (int i = 0; i < 10 && append.error == 0 && live.log->segment_count == segments; i++)
            live_append(&live, &append, LOG_FROM_CLIENT, &five);
        lift(limit);
        if (append.error != 0) {
            char name[80];
            refused++;
            cr_assert_eq(append.error, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
            cr_assert_eq(live.log->segment_count, segments);
            snprintf(name, sizeof name, "orders-0/%020lld.log", (long long)log_end_offset(live.log));
            cr_assert_not(fixture_has(&live.fixture, name), "%d %s", count, name);
        }
        check_all(&live);
        live_fill(&live, 3, &five);
        check_all(&live);
    }
    cr_assert_geq(refused, 2);
    cr_assert_lt(refused, DESCRIPTORS_TRIED);
    live_flush(&live);
    live_reopen(&live);
    check_all(&live);
    live_close(&live);
}

Test(shortage, segments_are_deleted_later) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    live_fill(&live, 20, &five);
    log_set_high_watermark(live.log, 100);
    size_t segments = live.log->segment_count;
    struct rlimit limit = leave(0);
    cr_assert_eq(live_work(&live, LOG_DELETE_RECORDS, 62), KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    lift(limit);
    cr_assert_eq(live.log->segment_count, segments);
    cr_assert(fixture_has(&live.fixture, "orders-0/00000000000000000000.log"));
    check_all(&live);
    cr_assert_eq(live_work(&live, LOG_DELETE_RECORDS, 62), 0);
    cr_assert_lt(live.log->segment_count, segments);
    cr_assert_not(fixture_has(&live.fixture, "orders-0/00000000000000000000.log"));
    check_all(&live);
    live_close(&live);
}

// Whoever asked for it notes that it is still to be done.
Test(shortage, a_partition_that_cannot_be_removed) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    live_fill(&live, 3, &five);
    struct waker waker;
    waker_start(&waker, live.core);
    struct log_close close = {.flow = &waker.flow, .remove = true};
    struct rlimit limit = leave(0);
    log_close_start(live.log, &close);
    live_until(&live, &close.done);
    lift(limit);
    waker_stop(&live, &waker);
    cr_assert_eq(close.error, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    cr_assert_not(log_dir_is_failed(&live.dir), "%s", live.dir.failure_reason);
    cr_assert(fixture_has(&live.fixture, "orders-0"));
    struct log_remove removal = {&live.dir, "orders", 0};
    limit = leave(0);
    cr_assert_eq(log_remove_run(live.fixture.host, &removal), KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    lift(limit);
    cr_assert_not(log_dir_is_failed(&live.dir), "%s", live.dir.failure_reason);
    cr_assert_eq(log_remove_run(live.fixture.host, &removal), KAFKA_ERROR_NONE);
    cr_assert_not(fixture_has(&live.fixture, "orders-0"));
    live.log = NULL;
    live_close(&live);
}

// The first attempt may have found no room for the name and no descriptor to delete the directory, and the next one
// room: then there is a directory to be deleted.
Test(shortage, a_directory_that_is_renamed_in_the_end_is_not_deleted_yet) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    fixture_mkdir(&live.fixture, "gone-0");
    const char *from = fixture_path(&live.fixture, "gone-0");
    const char *to = fixture_path(&live.fixture, "gone-0.0123456789abcdef0123456789abcdef-delete");
    const char *parent = fixture_path(&live.fixture, ".");
    bool is_deleted = true;
    cr_assert_eq(deletion_mark_directory(live.fixture.host, parent, from, to, &is_deleted), 0);
    cr_assert_not(is_deleted);
    cr_assert(fixture_has(&live.fixture, "gone-0.0123456789abcdef0123456789abcdef-delete"));
    live_close(&live);
}

Test(shortage, a_file_is_replaced_as_a_whole_or_not_at_all) {
    struct fixture f;
    fixture_open(&f);
    fixture_write_text(&f, "file", "old");
    int done = 0;
    for (int count = 0; count < DESCRIPTORS_TRIED && !done; count++) {
        struct rlimit limit = leave(count);
        int error = file_replace(f.host, f.path, "file", "new", 3);
        lift(limit);
        size_t size;
        char *text = fixture_read(&f, "file", &size);
        cr_assert(error == 0 || error == -EMFILE);
        cr_assert_str_eq(text, error == 0 ? "new" : "old");
        cr_assert_not(fixture_has(&f, "file.tmp"));
        free(text);
        done = error == 0;
    }
    cr_assert(done);
    fixture_close(&f);
}

Test(shortage, a_checkpoint_file_stays_as_it_was) {
    struct fixture f;
    fixture_open(&f);
    struct log_dir dir = {.path = f.path};
    struct checkpoint_entry entry = {(char *)(uintptr_t) "orders", 0, 7};
    struct checkpoint checkpoint = {.entries = &entry, .count = 1};
    struct rlimit limit = leave(0);
    cr_assert_eq(checkpoint_write(f.host, &dir, CHECKPOINT_RECOVERY_POINT, &checkpoint), -EMFILE);
    lift(limit);
    cr_assert_not(log_dir_is_failed(&dir), "%s", dir.failure_reason);
    cr_assert_eq(checkpoint_write(f.host, &dir, CHECKPOINT_RECOVERY_POINT, &checkpoint), 0);
    fixture_close(&f);
}
