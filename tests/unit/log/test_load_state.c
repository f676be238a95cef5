// SPDX-License-Identifier: Apache-2.0
// log/load: what comes from other files than those of segments (leader epochs, producers, transactions, the topic's
// id), where a log starts and ends, creating it, and random damage to anything.
#include "base/bits.h"
#include "load_checks.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { STORAGE_ERROR = KAFKA_ERROR_KAFKA_STORAGE_ERROR };

// ---- epochs
// -----------------------------------------------------------------------------------------------------------------------------
Test(load, epoch_file) {
    static const struct {
        const char *text; // NULL: none
        int64_t recovery_point;
        bool clean;
        const char *after;
    } cases[] = {
        {"0\n1\n0 0\n", 80, false, "0\n3\n0 0\n2 80\n4 160\n"},               // it lags: past the point, rebuilt
        {NULL, 0, false, "0\n3\n0 0\n2 80\n4 160\n"},                         //
        {"0\n7\n0 0\n", 240, false, "0\n3\n0 0\n2 80\n4 160\n"},              // damaged: rebuilt from all headers
        {"\1\2\3", 240, true, "0\n3\n0 0\n2 80\n4 160\n"},                    //
        {"0\n3\n0 0\n2 80\n4 150\n", 150, false, "0\n3\n0 0\n2 80\n4 160\n"}, // ahead of what came to be
        {"0\n2\n2 100\n4 160\n", 240, false, "0\n3\n0 0\n2 80\n4 160\n"},     // of a log start that was taken back
        {"0\n2\n2 81\n4 160\n", 240, false, "0\n3\n0 0\n2 80\n4 160\n"},      // in the middle of a batch
        {"0\n4\n0 0\n2 80\n4 160\n9 240\n", 240, true, NULL},                 // of no batch: forgotten, not rewritten
        {"0\n4\n0 0\n2 80\n4 160\n9 240\n", 240, false, NULL},                //
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct replica r;
        three_recovered(&r);
        const char *file = "t-0/leader-epoch-checkpoint";
        if (cases[i].text)
            fixture_write_text(&r.f, file, cases[i].text);
        else
            os_unlink(r.f.host, fixture_path(&r.f, file));
        struct log_load load = replica_load(&r);
        load.recovery_point = cases[i].recovery_point;
        load.clean = cases[i].clean;
        struct log *log = replica_load_with(&r, &load, 0);
        cr_assert_eq(log->epochs.count, 3, "case %zu", i);
        cr_assert_eq(epochs_latest(&log->epochs), 4);
        cr_assert_eq(epochs_at(&log->epochs, 159), 2);
        char *after = fixture_read(&r.f, file, NULL);
        cr_assert_str_eq(after, cases[i].after ? cases[i].after : cases[i].text, "case %zu", i);
        cr_assert_eq(log->epochs.version == log->epochs.written_version, cases[i].after != NULL, "case %zu", i);
        free(after);
        log_free(log);
        check_load(&r, &load, 0, 240);
        replica_close(&r);
    }
}

// ---- producers
// --------------------------------------------------------------------------------------------------------------------------
static struct batch_options producer(int64_t id, int32_t sequence, bool transactional) {
    struct batch_options o = BATCH_OPTIONS_PLAIN;
    o.producer_id = id;
    o.producer_epoch = 1;
    o.base_sequence = sequence;
    o.is_transactional = transactional;
    return o;
}

// Producers 1 and 2 write in turn, 2 in transactions; snapshots stand at 100 and at the end.
static void with_producers(struct replica *r) {
    replica_open(r);
    for (int i = 0; i < 50; i++) {
        if (i == 25) replica_roll(r);
        replica_append(r, 2, 100, producer(1, i * 2, false));
        replica_append(r, 1, 100, producer(2, i, true));
        if (i % 2) replica_marker(r, 2, 1, i % 4 == 3);
    }
    cr_assert_eq(r->next_offset, 175);
    struct log_load load = replica_load(r);
    log_free(replica_load_with(r, &load, 0));
}

static void check_producers(const struct log *log) {
    const struct producer *one = producers_find(&log->producers, 1), *two = producers_find(&log->producers, 2);
    cr_assert_not_null(one);
    cr_assert_not_null(two);
    cr_assert_eq(producer_last_sequence_of(one), 99);
    cr_assert_eq(one->batch_count, PRODUCER_BATCHES_KEPT);
    cr_assert_eq(producer_last_sequence_of(two), 49);
    cr_assert_eq(two->coordinator_epoch, 9);
    cr_assert_eq(two->transaction_start, -1);
    cr_assert_eq(two->last_timestamp_ms, log->segments[1]->max_timestamp_ms); // the marker was the last
}

Test(load, producers_come_from_snapshot_and_log) {
    struct replica r;
    with_producers(&r);
    uint64_t digest = replica_digest(&r);
    static const int64_t points[] = {0, 50, 87, 88, 120, 175};
    int64_t base = r.batches[r.batch_count - 1].segment_base;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct log_load load = replica_load(&r);
        load.recovery_point = points[i];
        struct log *log = replica_load_with(&r, &load, 0);
        check_producers(log);
        cr_assert_eq(log->producers.snapshot_offset, 175);
        log_free(log);
        cr_assert_eq(replica_digest(&r), digest, "recovery point %lld", (long long)points[i]);
    }
    // damaged: the next older one is taken, and the rest replayed
    for (int bad = 0; bad < 3; bad++) {
        if (bad > 0) replica_flip(&r, replica_file(&r, 175, ".snapshot"), 12, 1);
        if (bad > 1) replica_truncate(&r, replica_file(&r, base, ".snapshot"), 33);
        for (int clean = 0; clean < 2; clean++) {
            if (clean && bad == 2) continue; // clean and no snapshot at all: below
            struct log_load load = replica_load(&r);
            load.recovery_point = 175;
            load.clean = clean;
            struct log *log = replica_load_with(&r, &load, 0);
            check_producers(log);
            cr_assert_eq(strstr(load.reason, "was damaged") != NULL, bad > 0 && !clean, "%s", load.reason);
            log_free(log);
        }
    }
    replica_close(&r);
}

// Clients send again what a kill left without an answer: up to five batches each, also if a clean stop came in between.
static void check_recalled(bool clean) {
    for (int large = 0; large < 2; large++) {
        struct replica r;
        replica_open(&r);
        if (large) // so much that the index has to tell where to begin
            for (int i = 0; i < 150; i++)
                replica_append(&r, 2, 30000, producer(1, i * 2, false));
        for (int i = 0; i < 20; i++) {
            if (i == 10 && !large) replica_roll(&r);
            replica_append(&r, 2, 100, producer(1, 300 + i * 2, false));
            replica_append(&r, 1, 100, producer(2, i, true));
            if (i % 2) replica_marker(&r, 2, 1, i % 4 == 3);
        }
        struct log_load load = replica_load(&r);
        struct log *whole = replica_load_with(&r, &load, 0); // every batch has been read
        int64_t end = whole->end_offset;
        load = replica_load(&r);
        load.recovery_point = end;
        load.clean = clean;
        struct log *log = replica_load_with(&r, &load, 0); // from the snapshot at the end
        for (int64_t id = 1; id <= 2; id++) {
            const struct producer *a = producers_find(&whole->producers, id);
            const struct producer *b = producers_find(&log->producers, id);
            cr_assert_eq(b->batch_count, PRODUCER_BATCHES_KEPT);
            for (int i = 0; i < PRODUCER_BATCHES_KEPT; i++) {
                cr_assert_eq(a->batches[i].last_offset, b->batches[i].last_offset);
                cr_assert_eq(a->batches[i].last_sequence, b->batches[i].last_sequence);
                cr_assert_eq(a->batches[i].offset_delta, b->batches[i].offset_delta);
                cr_assert_eq(a->batches[i].max_timestamp_ms, b->batches[i].max_timestamp_ms);
            }
        }
        log_free(log);
        log_free(whole);
        // a file that was idle for hours is not read for that
        const char *last = replica_file(&r, r.batches[r.batch_count - 1].segment_base, ".log");
        int64_t now_ms = os_host_wall_ms(r.f.host);
        cr_assert_eq(os_set_modified(r.f.host, fixture_path(&r.f, last), now_ms - 2 * 60 * 60 * 1000), 0);
        log = replica_load_with(&r, &load, 0);
        cr_assert_eq(producers_find(&log->producers, 1)->batch_count, 1);
        log_free(log);
        replica_close(&r);
    }
}

Test(load, batches_before_the_snapshot_are_known_after_a_kill) {
    check_recalled(false);
}

Test(load, batches_before_the_snapshot_are_known_after_a_clean_stop) {
    check_recalled(true);
}

Test(load, clean_without_any_snapshot_replays_nothing) {
    struct replica r;
    with_producers(&r);
    int64_t base = r.batches[r.batch_count - 1].segment_base;
    os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, 175, ".snapshot")));
    os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, base, ".snapshot")));
    struct log_load load = replica_load(&r);
    load.clean = true;
    struct log *log = replica_load_with(&r, &load, 0);
    cr_assert_eq(producers_count(&log->producers), 0);
    log_free(log);
    size_t size;
    free(fixture_read(&r.f, replica_file(&r, 175, ".snapshot"), &size));
    cr_assert_eq(size, 10);
    free(fixture_read(&r.f, replica_file(&r, base, ".snapshot"), &size));
    cr_assert_eq(size, 10);
    check_load(&r, &load, 0, 175);
    replica_close(&r);
}

Test(load, aborted_transactions) {
    struct replica r;
    with_producers(&r);
    size_t size;
    uint8_t *txn = (uint8_t *)fixture_read(&r.f, replica_file(&r, 0, ".txnindex"), &size);
    cr_assert_not_null(txn);
    cr_assert_eq(size, 6 * 34);
    cr_assert_eq(load_be16(txn), 0);
    cr_assert_eq(load_be64(txn + 2), 2);
    cr_assert_eq(load_be64(txn + 10), 9);  // of the third batch of producer 2
    cr_assert_eq(load_be64(txn + 18), 13); // its marker
    cr_assert_eq(load_be64(txn + 26), 14);
    free(txn);
    uint64_t digest = replica_digest(&r);
    // one that cannot be right makes the segment be recovered, also after a clean stop
    fixture_write_text(&r.f, replica_file(&r, 0, ".txnindex"), "damaged");
    struct log_load load = replica_load(&r);
    load.clean = true;
    check_load(&r, &load, 0, 175);
    cr_assert_eq(replica_digest(&r), digest);
    // an open transaction keeps the stable end down
    replica_append(&r, 1, 100, producer(2, 50, true));
    load = replica_load(&r);
    load.high_watermark = 175;
    struct log *log = replica_load_with(&r, &load, 0);
    cr_assert_eq(producers_first_unstable(&log->producers), 175);
    log_free(log);
    replica_close(&r);
}

// ---- start and end
// ----------------------------------------------------------------------------------------------------------------------
Test(load, log_start) {
    struct replica r;
    three_recovered(&r);
    struct log_load load = replica_load(&r);
    load.clean = true;
    load.log_start_offset = 100;
    struct log *log = replica_load_with(&r, &load, 0);
    cr_assert_eq(log->start_offset, 100);
    cr_assert_eq(log->high_watermark, 100);
    cr_assert_eq(log->segment_count, 3); // retention deletes them
    cr_assert_eq(log->epochs.entries[0].epoch, 2);
    cr_assert_eq(log->epochs.entries[0].start_offset, 100);
    log_free(log);
    cr_assert_not(fixture_has(&r.f, replica_file(&r, 80, ".snapshot")));
    check_load(&r, &load, 100, 240);
    replica_close(&r);
}

Test(load, log_start_above_the_end) {
    struct replica r;
    three_recovered(&r);
    struct log_load load = replica_load(&r);
    load.log_start_offset = 300;
    load.high_watermark = 310;
    replica_load_with(&r, &load, STORAGE_ERROR); // ten records were lost
    load.high_watermark = 300;
    check_load(&r, &load, 300, 300);
    cr_assert_not(fixture_has(&r.f, replica_file(&r, 0, ".log")));
    cr_assert(fixture_has(&r.f, replica_file(&r, 300, ".log")));
    cr_assert(fixture_has(&r.f, replica_file(&r, 300, ".index")));
    replica_close(&r);
}

Test(load, no_segment) {
    struct replica r;
    replica_open(&r);
    struct log_load load = replica_load(&r);
    check_load(&r, &load, 0, 0);
    cr_assert(fixture_has(&r.f, replica_file(&r, 0, ".log")));
    replica_close(&r);
    replica_open(&r);
    load.high_watermark = 5;
    replica_load_with(&r, &load, STORAGE_ERROR);
    replica_close(&r);
}

// ---- creating, and the topic's id
// -----------------------------------------------------------------------------------------------------
static const struct uuid id_a = {{1, 2, 3}}, id_b = {{3, 2, 1}};

Test(load, create) {
    struct replica r;
    replica_open(&r);
    os_rmdir(r.f.host, fixture_path(&r.f, "t-0"));
    struct log_load load = replica_load(&r);
    load.create = true;
    load.topic_id = id_a;
    struct log *log = replica_load_with(&r, &load, 0);
    cr_assert_eq(log->segment_count, 1);
    cr_assert_eq(log->end_offset, 0);
    cr_assert(uuid_equal(log->topic_id, id_a));
    log_free(log);
    char *metadata = fixture_read(&r.f, "t-0/partition.metadata", NULL);
    cr_assert_str_eq(metadata, "version: 0\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA");
    free(metadata);
    replica_load_with(&r, &load, STORAGE_ERROR); // it is there
    cr_assert_not_null(strstr(load.reason, "exists"));
    cr_assert_not(log_dir_is_failed(&r.dir));
    load.create = false;
    check_load(&r, &load, 0, 0);
    replica_close(&r);
}

Test(load, topic_id) {
    static const struct {
        const char *text;
        bool wanted;
        int64_t code;
    } cases[] = {
        {NULL, true, 0},
        {NULL, false, 0},
        {"version: 0\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA", true, 0},
        {"version: 1\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA\nmore: 1\n", true, 0},
        {"version: 0\ntopic_id: AwIBAAAAAAAAAAAAAAAAAA", true, KAFKA_ERROR_INCONSISTENT_TOPIC_ID},
        {"version: 0\ntopic_id: AwIBAAAAAAAAAAAAAAAAAA", false, 0},
        {"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", false, STORAGE_ERROR},
        {"version: -1\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA", true, STORAGE_ERROR},
        {"version: 0\ntopic_id: AQID", true, STORAGE_ERROR},
        {"", true, STORAGE_ERROR},
        {"\0", true, STORAGE_ERROR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct replica r;
        three_recovered(&r);
        if (cases[i].text) fixture_write_text(&r.f, "t-0/partition.metadata", cases[i].text);
        uint64_t digest = replica_digest(&r);
        struct log_load load = replica_load(&r);
        if (cases[i].wanted) load.topic_id = id_a;
        struct log *log = replica_load_with(&r, &load, cases[i].code);
        if (log)
            cr_assert(uuid_equal(log->topic_id, cases[i].wanted ? id_a : cases[i].text ? id_b : (struct uuid){{0}}));
        if (log) log_free(log);
        cr_assert_eq(replica_digest(&r) == digest, cases[i].text || !cases[i].wanted, "case %zu", i);
        cr_assert_eq(load.reason[0] != '\0', cases[i].code != 0, "case %zu: %s", i, load.reason);
        replica_close(&r);
    }
}

Test(load, an_io_error_fails_the_directory) {
    struct replica r;
    three_recovered(&r);
    os_rename(r.f.host, fixture_path(&r.f, "t-0"), fixture_path(&r.f, "u-0"));
    struct log_load load = replica_load(&r);
    replica_load_with(&r, &load, STORAGE_ERROR);
    cr_assert(log_dir_is_failed(&r.dir));
    replica_close(&r);
}

// ---- anything
// ---------------------------------------------------------------------------------------------------------------------------
// Random damage to random files: loading ends, and what it leaves loads again to the same.
Test(load, random_damage) {
    static const char *const suffixes[] = {".log", ".log", ".index", ".timeindex", ".snapshot", ".txnindex"};
    uint64_t state = 12345;
    for (int round = 0; round < 300; round++) {
        struct replica r;
        with_producers(&r);
        int64_t bases[] = {0, r.batches[r.batch_count - 1].segment_base, 175};
        for (int hits = 0; hits < 3; hits++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const char *file = replica_file(&r, bases[(state >> 33) % 3], suffixes[(state >> 40) % 6]);
            struct os_stat stat;
            if (os_stat(r.f.host, fixture_path(&r.f, file), &stat) < 0) continue;
            if ((state >> 50) % 8 == 0)
                os_unlink(r.f.host, fixture_path(&r.f, file));
            else if ((state >> 50) % 8 == 1 && stat.size_bytes > 0)
                replica_truncate(&r, file, (state >> 20) % stat.size_bytes);
            else if ((state >> 50) % 8 == 2)
                replica_truncate(&r, file, stat.size_bytes + (state >> 20) % 5000);
            else if (stat.size_bytes > 0)
                replica_flip(&r, file, (state >> 12) % stat.size_bytes, (uint8_t)(1 + (state >> 55)));
        }
        struct log_load load = replica_load(&r);
        load.recovery_point = (int64_t)((state >> 30) % 176);
        load.high_watermark = (int64_t)((state >> 25) % 176);
        load.clean = (state >> 59) % 4 == 0;
        load.durable = (state >> 61) % 2;
        if (log_load_run(r.f.host, &load) == 0) {
            int64_t end = load.log->end_offset;
            log_free(load.log);
            load.clean = false;
            load.recovery_point = min_i64(load.recovery_point, end);
            if (log_load_run(r.f.host, &load) == 0) { // what the first one trusted may have been wrong
                cr_assert_leq(load.log->end_offset, end, "round %d", round);
                end = load.log->end_offset;
                int64_t start = load.log->start_offset;
                log_free(load.log);
                check_load(&r, &load, start, end);
            }
        } else {
            cr_assert_neq(load.reason[0], '\0');
            cr_assert(load.durable, "round %d: %s", round, load.reason);
        }
        cr_assert_not(log_dir_is_failed(&r.dir), "round %d: %s", round, r.dir.failure_reason);
        replica_close(&r);
    }
}
