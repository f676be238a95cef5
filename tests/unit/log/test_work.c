// SPDX-License-Identifier: Apache-2.0
// Maintenance: truncation, retention, deletion of records, checkpoints, lookups by time, removal.
#include "live.h"
#include "log/files.h"
#include "log/save.h"
#include "log/shard.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(work, .timeout = 60);

static const struct batch_spec five = {.count = 5, .value_bytes = 100, .time_ms = 10000};

Test(work, truncation_then_more) {
    struct live live;
    struct topic_config config = live_config(5000);
    live_open(&live, &config);
    static const int64_t cuts[] = {180, 177, 90, 45, 10, 0}; // 177: in the middle of a batch
    live_fill(&live, 40, &five);
    for (size_t i = 0; i < ARRAY_LENGTH(cuts); i++) {
        cr_assert_eq(live_work(&live, LOG_TRUNCATE, cuts[i]), 0);
        int64_t end = cuts[i] - cuts[i] % 5;
        cr_assert_eq(log_end_offset(live.log), end);
        cr_assert_leq(log_flushed_end(live.log), end);
        live_check_all(&live);
        live_fill(&live, 8, &five);
        cr_assert_eq(log_end_offset(live.log), end + 40);
        live_flush(&live);
        live_check_all(&live);
    }
    live_reopen(&live);
    cr_assert_eq(log_end_offset(live.log), 40);
    live_check_all(&live);
    live_close(&live);
}

Test(work, truncation_takes_producers_back) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    struct batch_spec spec = {.count = 5, .value_bytes = 100, .producer_id = 3};
    struct log_append append;
    for (spec.sequence = 0; spec.sequence < 50; spec.sequence += 5)
        live_append(&live, &append, LOG_FROM_CLIENT, &spec);
    cr_assert_eq(live_work(&live, LOG_TRUNCATE, 25), 0);
    spec.sequence = 50;
    live_append(&live, &append, LOG_FROM_CLIENT, &spec);
    cr_assert_eq(append.error, KAFKA_ERROR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    spec.sequence = 25;
    live_append(&live, &append, LOG_FROM_CLIENT, &spec);
    cr_assert_eq(append.error, 0);
    cr_assert_eq(append.base_offset, 25);
    live_close(&live);
}

Test(work, restart_at_another_offset) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    live_fill(&live, 20, &five);
    cr_assert_eq(live_work(&live, LOG_RESTART, 1000), 0);
    cr_assert_eq(log_start_offset(live.log), 1000);
    cr_assert_eq(log_end_offset(live.log), 1000);
    live_reopen(&live); // with nothing in it
    cr_assert_eq(log_end_offset(live.log), 1000);
    live_fill(&live, 10, &five);
    live_check_all(&live);
    live_flush(&live);
    live_reopen(&live);
    cr_assert_eq(log_end_offset(live.log), 1050);
    live_check_all(&live);
    live_close(&live);
}

Test(work, a_read_keeps_its_bytes_through_deletion) {
    struct live live;
    struct topic_config config = live_config(2000);
    config.file_delete_delay_ms = 0;
    live_open(&live, &config);
    live_fill(&live, 20, &five);
    log_set_high_watermark(live.log, 100);
    struct log_read read;
    live_read(&live, &read, 0, 100, 500);
    cr_assert_eq(live_work(&live, LOG_DELETE_RECORDS, 101), KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
    cr_assert_eq(live_work(&live, LOG_DELETE_RECORDS, 62), 0);
    cr_assert_eq(log_start_offset(live.log), 62);
    cr_assert_leq(live.log->segments[0]->base_offset, 62);
    cr_assert_gt(live.log->segments[0]->base_offset, 40);
    check_range(&live, &read, 0, 100);
    log_read_release(live.log, &read);
    live_read(&live, &read, 61, 100, 500);
    cr_assert_eq(read.error, KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
    live_check_all(&live);
    while (fixture_has(&live.fixture, "orders-0/00000000000000000000.log.deleted")) {
        os_ring_doorbell(live.core->os);
        live_turn(&live);
    }
    cr_assert_not(fixture_has(&live.fixture, "orders-0/00000000000000000000.log"));
    cr_assert_not(fixture_has(&live.fixture, "orders-0/00000000000000000000.index"));
    live_close(&live);
}

Test(work, retention_by_size_and_by_time) {
    struct live live;
    struct topic_config config = live_config(2000);
    config.file_delete_delay_ms = 60000;
    live_open(&live, &config);
    live_fill(&live, 30, &five); // about 700 bytes each, two a segment
    config.retention_bytes = 8000;
    log_set_config(live.log, &config);
    cr_assert_eq(live_work(&live, LOG_APPLY_RETENTION, 0), 0); // nothing is below the high watermark
    cr_assert_eq(log_start_offset(live.log), 0);
    log_set_high_watermark(live.log, 150);
    cr_assert_eq(live_work(&live, LOG_APPLY_RETENTION, 0), 0);
    cr_assert_gt(log_start_offset(live.log), 0);
    cr_assert_leq(log_size_bytes(live.log), 8000 + 2000);
    cr_assert(fixture_has(&live.fixture, "orders-0/00000000000000000000.log.deleted"));
    live_check_all(&live);
    config.retention_bytes = -1;
    config.retention_ms = 1000; // everything is of 1970: a new segment, and the rest goes
    log_set_config(live.log, &config);
    cr_assert_eq(live_work(&live, LOG_APPLY_RETENTION, 0), 0);
    cr_assert_eq(live.log->segment_count, 1);
    cr_assert_eq(log_start_offset(live.log), 150);
    cr_assert_eq(log_end_offset(live.log), 150);
    live_fill(&live, 2, &five);
    live_check_all(&live);
    live_close(&live);
}

Test(work, idle_producers_are_forgotten_after_the_time_in_force) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    const struct batch_spec batch = {.count = 5, .value_bytes = 100, .time_ms = 10000, .producer_id = 7}; // of 1970
    live_fill(&live, 1, &batch);
    log_set_producer_expiration(live.log, INT64_MAX);
    cr_assert_eq(live_work(&live, LOG_EXPIRE_PRODUCERS, 0), 0);
    cr_assert_eq(producers_count(&live.log->producers), 1);
    log_set_producer_expiration(live.log, 1000);
    cr_assert_eq(live_work(&live, LOG_APPLY_RETENTION, 0), 0); // that is another's work
    cr_assert_eq(producers_count(&live.log->producers), 1);
    cr_assert_eq(live_work(&live, LOG_EXPIRE_PRODUCERS, 0), 0);
    cr_assert_eq(producers_count(&live.log->producers), 0);
    live_close(&live);
}

Test(work, a_checkpoint_moves_the_recovery_point) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    live_fill(&live, 20, &five);
    cr_assert_eq(log_recovery_point(live.log), 0);
    cr_assert_eq(live_work(&live, LOG_CHECKPOINT, 0), 0);
    cr_assert_eq(log_recovery_point(live.log), 100);
    cr_assert_eq(log_flushed_end(live.log), 100);
    cr_assert(fixture_has(&live.fixture, "orders-0/00000000000000000100.snapshot"));
    live_fill(&live, 1, &five);
    cr_assert_eq(live_work(&live, LOG_CHECKPOINT, 0), 0);
    cr_assert(fixture_has(&live.fixture, "orders-0/00000000000000000105.snapshot"));
    cr_assert_not(fixture_has(&live.fixture, "orders-0/00000000000000000100.snapshot"));
    size_t size_bytes;
    free(fixture_read(&live.fixture, "orders-0/00000000000000000000.index", &size_bytes));
    cr_assert_eq(size_bytes, 8 * live.log->segments[0]->index.count);
    cr_assert_gt(size_bytes, 0);
    live_close(&live);
}

// A checkpoint's snapshot goes with the next checkpoint, also if a segment was rolled between them.
Test(work, snapshots_of_checkpoints_do_not_pile_up) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    for (int i = 0; i < 30; i++) {
        live_fill(&live, 2, &five);
        cr_assert_eq(live_work(&live, LOG_CHECKPOINT, 0), 0);
    }
    cr_assert_gt(live.log->segment_count, 3);
    for (int64_t offset = 5, segment = 1; offset < live.log->end_offset; offset += 5) {
        char name[64];
        snprintf(name, sizeof name, "orders-0/%020lld.snapshot", (long long)offset);
        bool is_base = segment < (int64_t)live.log->segment_count && live.log->segments[segment]->base_offset == offset;
        cr_assert_eq(fixture_has(&live.fixture, name), is_base, "%s", name);
        if (is_base) segment++;
    }
    live_close(&live);
}

static struct log_lookup lookup(struct live *live, int64_t time_ms, int64_t max_offset) {
    struct waker waker;
    waker_start(&waker, live->core);
    struct log_lookup asked = {.time_ms = time_ms, .max_offset = max_offset, .flow = &waker.flow};
    log_lookup_start(live->log, &asked);
    live_until(live, &asked.done);
    waker_stop(live, &waker);
    cr_assert_eq(asked.error, 0);
    return asked;
}

Test(work, lookups_by_time) {
    struct live live;
    struct topic_config config = live_config(4000);
    live_open(&live, &config);
    cr_assert_eq(lookup(&live, LOG_TIME_MAX, INT64_MAX).offset, -1);
    for (int i = 0; i < 40; i++) // 5 records a batch, 1 ms apart; batches 100 ms apart
        live_fill(&live, 1,
                  &(struct batch_spec){.count = 5, .value_bytes = 100, .time_ms = 1000 + 100 * i, .epoch = 2});
    for (int round = 0; round < 2; round++) {
        cr_assert_eq(lookup(&live, 0, 200).offset, 0);
        struct log_lookup found = lookup(&live, 2302, 200);
        cr_assert_eq(found.offset, 13 * 5 + 2);
        cr_assert_eq(found.timestamp_ms, 2302);
        cr_assert_eq(found.leader_epoch, 2);
        cr_assert_eq(lookup(&live, 2305, 200).offset, 14 * 5);
        cr_assert_eq(lookup(&live, 4904, 200).offset, 199);
        cr_assert_eq(lookup(&live, 4904, 199).offset, -1);
        cr_assert_eq(lookup(&live, 4905, 200).offset, -1);
        found = lookup(&live, LOG_TIME_MAX, 200);
        cr_assert_eq(found.offset, 199);
        cr_assert_eq(found.timestamp_ms, 4904);
        live_reopen(&live);
    }
    live_close(&live);
}

Test(work, without_times_the_first_record_has_the_largest) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    for (int i = 0; i < 2; i++)
        live_fill(&live, 1, &(struct batch_spec){.count = 1, .value_bytes = 10, .time_ms = -1, .epoch = 2});
    struct log_lookup found = lookup(&live, LOG_TIME_MAX, 2);
    cr_assert_eq(found.offset, 0);
    cr_assert_eq(found.timestamp_ms, -1);
    cr_assert_eq(found.leader_epoch, 2);
    live_close(&live);
}

static void expect_ends(const struct log *log, int64_t time_ms, size_t max, const char *expected) {
    int64_t *offsets;
    size_t count = log_segment_ends(log, time_ms, max, &offsets);
    char memory[200];
    struct text shown = TEXT_IN(memory);
    for (size_t i = 0; i < count; i++)
        text_addf(&shown, "%s%lld", i == 0 ? "" : " ", (long long)offsets[i]);
    cr_assert_str_eq(memory, expected, "%s at %lld", memory, (long long)time_ms);
    free(offsets);
}

Test(work, ends_of_segments_by_the_age_of_their_files) {
    struct live live;
    struct topic_config config = live_config(1000);
    live_open(&live, &config);
    expect_ends(live.log, LOG_TIME_LATEST, 9, "0");
    expect_ends(live.log, INT64_MAX, 9, "0");
    for (int i = 0; i < 3; i++)
        live_fill(&live, 1, &(struct batch_spec){.count = 2, .value_bytes = 400, .time_ms = 1000, .epoch = 2});
    cr_assert_eq(live.log->segment_count, 3);
    expect_ends(live.log, LOG_TIME_LATEST, 9, "6 4 2 0");
    expect_ends(live.log, LOG_TIME_LATEST, 2, "6 4");
    expect_ends(live.log, LOG_TIME_LATEST, 0, "");
    expect_ends(live.log, LOG_TIME_EARLIEST, 9, "0");
    expect_ends(live.log, INT64_MAX, 9, "6 4 2 0");
    expect_ends(live.log, 0, 9, "");
    for (int i = 0; i < 3; i++)
        live.log->segments[i]->modified_ms = 100 + i;
    expect_ends(live.log, 101, 9, "2 0");
    expect_ends(live.log, 102, 1, "4");
    expect_ends(live.log, 99, 9, "");
    live.log->segments[1]->modified_ms = 1; // touched in another order: the first one from the end that is old enough
    expect_ends(live.log, 50, 9, "2 0");
    live_close(&live);
}

Test(work, a_removed_log_is_renamed_then_deleted) {
    struct live live;
    struct topic_config config = live_config(0);
    config.file_delete_delay_ms = 0;
    live_open(&live, &config);
    live_fill(&live, 3, &five);
    live_end_log(&live, live.log, true);
    cr_assert_not(fixture_has(&live.fixture, "orders-0"));
    live.log = live_add_log(&live, "orders", &config); // the name is free at once
    cr_assert_eq(log_end_offset(live.log), 0);
    live_close(&live);
}

enum { MANY = 12 };

// Five records into each, and a flush of all.
static void flush_many(struct live *live, struct log **logs) {
    for (int i = 0; i < MANY; i++) {
        live->log = logs[i];
        live_fill(live, 1, &five);
    }
    for (int i = 0; i < MANY; i++)
        log_flush_start(logs[i]);
    for (int i = 0; i < MANY; i++) {
        live->log = logs[i];
        live_flush(live);
    }
}

static void many_add(struct live *live, struct log **logs, const struct topic_config *config) {
    for (int i = 0; i < MANY; i++) {
        char topic[8] = {'t', (char)('a' + i), '\0'};
        logs[i] = live_add_log(live, topic, config);
    }
}

static void many_open(struct live *live, struct log **logs) {
    struct topic_config config = live_config(0);
    live_open(live, &config);
    many_add(live, logs, &config);
}

static void many_close(struct live *live, struct log **logs, struct log *first) {
    for (int i = 0; i < MANY; i++) {
        live->log = logs[i];
        live_end_log(live, logs[i], false);
    }
    live->log = first;
    live_close(live);
}

Test(work, many_logs_are_flushed_together) {
    struct live live;
    struct log *logs[MANY];
    many_open(&live, logs);
    struct log *first = live.log;
    struct log_shard *shard = first->shard;
    uint64_t alone = shard->flush_count;
    flush_many(&live, logs);
    cr_assert_eq(shard->syncfs_count, 1);
    cr_assert_eq(shard->flush_count, alone);
    many_close(&live, logs, first);
}

// A partition's directory that is a link, or a mount, as operators make them: a syncfs of the directory would not reach
// its bytes.
Test(work, a_log_on_another_file_system_is_flushed_by_itself) {
    struct live live;
    struct log *logs[MANY];
    struct topic_config config = live_config(0);
    char other[] = "/dev/shm/tailrace-test-XXXXXX";
    live_open(&live, &config);
    struct log *first = live.log;
    struct log_shard *shard = first->shard;
    struct os_stat stat;
    bool is_other = mkdtemp(other) && os_stat(live.fixture.host, other, &stat) == 0 && stat.device != live.dir.device;
    if (is_other) cr_assert_eq(symlink(other, fixture_path(&live.fixture, "tf-0")), 0);
    many_add(&live, logs, &config);
    uint64_t alone = shard->flush_count;
    flush_many(&live, logs);
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(logs[i]->is_elsewhere, is_other && i == 5, "log %d", i);
    cr_assert_eq(shard->syncfs_count, 1);
    cr_assert_eq(shard->flush_count, alone + is_other);
    if (is_other) cr_assert_eq(unlink(fixture_path(&live.fixture, "tf-0")), 0);
    directory_delete(live.fixture.host, other);
    many_close(&live, logs, first);
    if (!is_other) cr_skip_test("there is no other file system here");
}

// What it was told of may be the bytes of a log that did not wait for it: only a file's own fdatasync can say.
Test(work, no_syncfs_is_believed_after_one_has_failed) {
    struct live live;
    struct log *logs[MANY];
    many_open(&live, logs);
    struct log *first = live.log;
    struct log_shard *shard = first->shard;
    int *sync_file = &live.dir.sync_files[live.core->id];
    os_close(live.fixture.host, *sync_file);
    *sync_file = open(live.dir.path, O_PATH | O_DIRECTORY | O_CLOEXEC); // not good enough for syncfs
    for (int round = 1; round <= 2; round++) {
        uint64_t alone = shard->flush_count;
        flush_many(&live, logs);
        cr_assert_eq(shard->syncfs_count, 1);
        cr_assert_eq(shard->flush_count, alone + MANY);
        cr_assert_eq(*sync_file, -1);
    }
    cr_assert_not(log_dir_is_failed(&live.dir));
    many_close(&live, logs, first);
}

static void be_idle(struct live *live) {
    LIST_FOREACH (link, &live->log->shard->open)
        container_of(link, struct segment, open_link)->used_ms = 0;
    live->log->shard->sweep.fire(&live->log->shard->sweep);
}

Test(work, an_idle_log_has_no_file_and_no_index) {
    struct live live;
    struct topic_config config = live_config(0);
    live_open(&live, &config);
    live_fill(&live, 30, &five);
    struct segment *segment = log_active_segment(live.log);
    be_idle(&live); // dirty, with index entries that no file has
    cr_assert_geq(segment->file, 0);
    cr_assert(segment->indexes_resident);
    cr_assert_eq(live_work(&live, LOG_CHECKPOINT, 0), 0);
    struct log_read read;
    live_read(&live, &read, 0, 150, 500);
    be_idle(&live); // being read
    cr_assert_geq(segment->file, 0);
    log_read_release(live.log, &read);
    be_idle(&live);
    cr_assert_eq(segment->file, -1);
    cr_assert_not(segment->indexes_resident);
    cr_assert_eq(live.log->shard->open_files, 0);
    live_fill(&live, 30, &(struct batch_spec){.count = 5, .value_bytes = 100, .time_ms = 20000});
    live_check_all(&live);
    cr_assert_eq(live_work(&live, LOG_CHECKPOINT, 0), 0);
    be_idle(&live);
    live_end_log(&live, live.log, false);
    live.log = NULL;
    size_t size_bytes;
    char *times = fixture_read(&live.fixture, "orders-0/00000000000000000000.timeindex", &size_bytes);
    cr_assert_gt(size_bytes, 0);
    cr_assert_eq((int32_t)load_be32(times + size_bytes - 4), 299); // the last batch's: written at the close
    free(times);
    live_close(&live);
}

// A checkpoint is under way, and a reader brings the indexes of old segments back: others are dropped for them, which
// the checkpoint is writing.
Test(work, indexes_dropped_while_a_checkpoint_writes_them) {
    struct live live;
    struct topic_config config = live_config(2000);
    live_open(&live, &config);
    live_fill(&live, 3 * (SHARD_SEALED_INDEXES_MAX + 20), &five);
    live_flush(&live);
    live_settle(&live);
    struct save save;
    save_collect(live.log, &save, false);
    for (int64_t offset = 5; offset < 150; offset += 15) { // in the middle of a segment: needs its index
        struct log_read read;
        live_read(&live, &read, offset, 1000, 100);
        check_range(&live, &read, offset, 1000);
        log_read_release(live.log, &read);
    }
    size_t dropped = 0;
    for (size_t i = 0; i < save.index_count; i++)
        dropped += save.indexes[i].is_resident && !save.indexes[i].segment->indexes_resident;
    cr_assert_gt(dropped, 0);
    cr_assert_eq(save_run(live.core->host, &save), 0);
    cr_assert_eq(save_finish(live.log, &save, 0), KAFKA_ERROR_NONE);
    for (size_t i = 0; i + 1 < live.log->segment_count; i++)
        cr_assert(live.log->segments[i]->indexes_durable);
    live_check_all(&live);
    live_close(&live);
}
