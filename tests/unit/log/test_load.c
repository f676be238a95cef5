// SPDX-License-Identifier: Apache-2.0
// log/load: what every kind of interrupted, damaged or incomplete partition directory becomes; and that loading it a
// second time changes nothing any more.
#include "base/bits.h"
#include "log/load.h"
#include "replica.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { STORAGE_ERROR = KAFKA_ERROR_KAFKA_STORAGE_ERROR };

// Loads, checks start and end, and that a second load of what is there now changes no byte.
static void check_load(struct replica *r, struct log_load *load, int64_t start, int64_t end) {
    struct log *log = replica_load_with(r, load, 0);
    cr_assert_eq(log->start_offset, start, "start %lld: %s", (long long)log->start_offset, load->reason);
    cr_assert_eq(log->end_offset, end, "end %lld: %s", (long long)log->end_offset, load->reason);
    cr_assert_eq(log->flushed_end, end);
    cr_assert_eq(log->recovery_point, end);
    cr_assert_leq(log->high_watermark, end);
    log_free(log);
    uint64_t digest = replica_digest(r);
    struct log_load again = *load;
    log = replica_load_with(r, &again, 0);
    cr_assert_eq(log->end_offset, end, "the second time");
    log_free(log);
    cr_assert_eq(replica_digest(r), digest, "a second load changes bytes");
}

// 3 segments, 40 batches of about 500 bytes each: offsets 0-79, 80-159, 160-239.
static void three_segments(struct replica *r) {
    replica_open(r);
    for (int i = 0; i < 3; i++) {
        if (i > 0) replica_roll(r);
        r->epoch = i * 2;
        replica_fill(r, 40, 200);
    }
    cr_assert_eq(r->next_offset, 240);
}

// The same, with everything that recovery makes.
static void three_recovered(struct replica *r) {
    three_segments(r);
    struct log_load load = replica_load(r);
    log_free(replica_load_with(r, &load, 0));
}

Test(load, recovers_from_log_files_alone) {
    struct replica r;
    three_segments(&r);
    struct log_load load = replica_load(&r);
    _Atomic uint64_t progress = 0;
    load.progress_bytes = &progress;
    struct log *log = replica_load_with(&r, &load, 0);
    cr_assert_str_eq(load.reason, "00000000000000000000.index is missing: the segment is recovered; "
                                  "00000000000000000080.index is missing: the segment is recovered; "
                                  "00000000000000000160.index is missing: the segment is recovered");
    cr_assert_eq(log->segment_count, 3);
    cr_assert_eq(log->end_offset, 240);
    cr_assert_eq(log->segments[0]->max_timestamp_ms, 1000391);
    cr_assert_eq(log->segments[0]->max_timestamp_offset, 79);
    cr_assert_not(log->segments[0]->indexes_resident);
    cr_assert(log->segments[2]->indexes_resident);
    cr_assert_eq(log->segments[2]->first_timestamp_ms, 1000801);
    cr_assert_eq(log->segments[2]->flushed_bytes, log->segments[2]->size_bytes);
    cr_assert_eq(load.recovered_bytes, (int64_t)(log->segments[0]->size_bytes * 3));
    cr_assert_eq(progress, (uint64_t)load.recovered_bytes);
    cr_assert_eq(load.cut_bytes, 0);
    log_free(log);
    replica_check_indexes(&r, 240);
    char *epochs = fixture_read(&r.f, "t-0/leader-epoch-checkpoint", NULL);
    cr_assert_str_eq(epochs, "0\n3\n0 0\n2 80\n4 160\n");
    free(epochs);
    cr_assert(fixture_has(&r.f, replica_file(&r, 80, ".snapshot")));
    cr_assert(fixture_has(&r.f, replica_file(&r, 160, ".snapshot")));
    cr_assert(fixture_has(&r.f, replica_file(&r, 240, ".snapshot")));
    check_load(&r, &load, 0, 240);
    cr_assert_str_eq(load.reason, "");
    replica_close(&r);
}

// Every length of the last batch that is not all of it, with nothing behind it, and with zeros behind it.
Test(load, torn_tail_at_every_byte) {
    struct replica r;
    replica_open(&r);
    replica_fill(&r, 3, 20);
    const struct replica_batch *last = &r.batches[2];
    size_t size;
    char *whole = fixture_read(&r.f, replica_file(&r, 0, ".log"), &size);
    for (size_t keep = 0; keep < last->size_bytes; keep++) {
        for (size_t zeros = 0; zeros <= 100; zeros += 50) {
            fixture_write(&r.f, replica_file(&r, 0, ".log"), whole, last->position + keep);
            if (zeros) replica_truncate(&r, replica_file(&r, 0, ".log"), last->position + keep + zeros);
            bool same =
                zeros &&
                memcmp(whole + last->position + keep, (char[200]){0}, min_size(zeros, last->size_bytes - keep)) == 0 &&
                zeros >= last->size_bytes - keep;
            struct log_load load = replica_load(&r);
            load.recovery_point = load.high_watermark = 4;
            check_load(&r, &load, 0, same ? 6 : 4);
            cr_assert_eq(strstr(load.reason, "was cut") != NULL,
                         keep + zeros > 0 && !(same && keep + zeros == last->size_bytes), "%zu bytes, %zu zeros: %s",
                         keep, zeros, load.reason);
            free(fixture_read(&r.f, replica_file(&r, 0, ".log"), &size));
            cr_assert_eq(size, last->position + (same ? last->size_bytes : 0));
        }
    }
    free(whole);
    replica_close(&r);
}

Test(load, a_whole_file_of_zeros) {
    struct replica r;
    replica_open(&r);
    fixture_write_text(&r.f, replica_file(&r, 0, ".log"), "");
    replica_truncate(&r, replica_file(&r, 0, ".log"), 1 << 20);
    struct log_load load = replica_load(&r);
    check_load(&r, &load, 0, 0);
    replica_close(&r);
}

// A bad byte in the second segment: above what was durable and committed it is the end of the log.
Test(load, damage_above_what_was_durable_is_cut) {
    struct replica r;
    three_recovered(&r);
    const struct replica_batch *bad = &r.batches[50]; // offsets 100, 101
    replica_flip(&r, replica_file(&r, 80, ".log"), bad->position + 70, 1);
    struct log_load load = replica_load(&r);
    load.recovery_point = 80;
    load.high_watermark = 100;
    check_load(&r, &load, 0, 100);
    cr_assert_eq(load.cut_bytes, (int64_t)(70 * r.batches[0].size_bytes));
    cr_assert_not(fixture_has(&r.f, replica_file(&r, 160, ".log")));
    cr_assert_not(fixture_has(&r.f, replica_file(&r, 160, ".index")));
    cr_assert_not(fixture_has(&r.f, replica_file(&r, 240, ".snapshot")));
    cr_assert(fixture_has(&r.f, replica_file(&r, 100, ".snapshot")));
    replica_check_indexes(&r, 100);
    replica_close(&r);
}

Test(load, damage_below_what_was_committed_changes_nothing) {
    static const struct {
        int64_t recovery_point, high_watermark;
        bool durable;
        int64_t end; // -1: refused
    } cases[] = {
        {80, 101, true, -1}, {80, 240, true, -1}, {80, 240, false, 100}, {0, 100, true, 100}, {80, -1, true, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct replica r;
        three_recovered(&r);
        replica_flip(&r, replica_file(&r, 80, ".log"), r.batches[50].position + 70, 1);
        struct log_load load = replica_load(&r);
        load.recovery_point = cases[i].recovery_point;
        load.high_watermark = cases[i].high_watermark;
        load.durable = cases[i].durable;
        uint64_t before = replica_digest(&r);
        if (cases[i].end >= 0) {
            check_load(&r, &load, 0, cases[i].end);
        } else {
            replica_load_with(&r, &load, STORAGE_ERROR);
            cr_assert_not_null(strstr(load.reason, "00000000000000000080.log: byte"), "%s", load.reason);
            cr_assert_not_null(strstr(load.reason, "CRC"), "%s", load.reason);
            cr_assert_not_null(strstr(load.reason, "committed up to"), "%s", load.reason);
            cr_assert_eq(replica_digest(&r), before);
            cr_assert_not(log_dir_is_failed(&r.dir)); // only this partition
        }
        replica_close(&r);
    }
}

// What is below the recovery point is not read, only its headers near it.
Test(load, reads_from_the_recovery_point_only) {
    struct replica r;
    three_recovered(&r);
    replica_flip(&r, replica_file(&r, 0, ".log"), r.batches[3].position + 70, 1);
    replica_flip(&r, replica_file(&r, 160, ".log"), r.batches[85].position + 70, 1);
    struct log_load load = replica_load(&r);
    load.recovery_point = 220;
    load.high_watermark = 220;
    check_load(&r, &load, 0, 240);
    cr_assert_eq(load.recovered_bytes, (int64_t)(10 * r.batches[0].size_bytes));
    replica_check_indexes(&r, 240);
    replica_close(&r);
}

Test(load, every_recovery_point_gives_the_same_bytes) {
    struct replica r;
    three_recovered(&r);
    uint64_t digest = replica_digest(&r);
    for (int64_t point = 0; point <= 240; point += 2) {
        struct log_load load = replica_load(&r);
        load.recovery_point = point;
        log_free(replica_load_with(&r, &load, 0));
        cr_assert_str_eq(load.reason, "");
        cr_assert_eq(replica_digest(&r), digest, "recovery point %lld", (long long)point);
    }
    replica_close(&r);
}

Test(load, a_log_that_is_too_short_was_damaged) {
    struct replica r;
    three_recovered(&r);
    replica_truncate(&r, replica_file(&r, 160, ".log"), r.batches[100].position); // up to offset 200
    struct log_load load = replica_load(&r);
    load.recovery_point = 160;
    load.high_watermark = 210;
    replica_load_with(&r, &load, STORAGE_ERROR);
    cr_assert_not_null(strstr(load.reason, "too short"), "%s", load.reason);
    load.recovery_point = 210;
    load.high_watermark = 160;
    replica_load_with(&r, &load, STORAGE_ERROR);
    load.durable = false;
    check_load(&r, &load, 0, 200);
    replica_close(&r);
}

Test(load, damage_below_the_recovery_point) {
    struct replica r;
    three_recovered(&r);
    // a header, so that walking to the recovery point meets it; no index entry leads past it
    replica_flip(&r, replica_file(&r, 160, ".log"), r.batches[99].position + 8, 0x40);
    struct log_load load = replica_load(&r);
    load.recovery_point = 200;
    replica_load_with(&r, &load, STORAGE_ERROR);
    cr_assert_not_null(strstr(load.reason, "restore the file"), "%s", load.reason);
    load.durable = false;
    check_load(&r, &load, 0, 198);
    replica_close(&r);
}

// ---- clean
// -----------------------------------------------------------------------------------------------------------------------------
Test(load, clean_reads_next_to_nothing) {
    struct replica r;
    three_recovered(&r);
    uint64_t digest = replica_digest(&r);
    struct log_load load = replica_load(&r);
    load.clean = true;
    load.recovery_point = load.high_watermark = 240;
    struct log *log = replica_load_with(&r, &load, 0);
    cr_assert_eq(log->end_offset, 240);
    cr_assert_eq(log->high_watermark, 240);
    cr_assert_eq(log->segments[0]->max_timestamp_ms, 1000391);
    cr_assert_not(log->segments[0]->indexes_resident);
    cr_assert_eq(log->segments[0]->first_timestamp_ms, SEGMENT_UNKNOWN);
    cr_assert_eq(log->segments[2]->max_timestamp_ms, 1001191);
    cr_assert(log->segments[2]->indexes_durable);
    cr_assert_eq(load.recovered_bytes, 0);
    cr_assert_eq(log->epochs.version, log->epochs.written_version);
    log_free(log);
    cr_assert_eq(replica_digest(&r), digest);
    replica_flip(&r, replica_file(&r, 160, ".log"), r.batches[81].position + 70, 1); // nobody looks
    check_load(&r, &load, 0, 240);
    cr_assert_str_eq(load.reason, "");
    replica_close(&r);
}

Test(load, clean_but_not_true) {
    static const struct {
        const char *what;
        bool durable;
        int64_t recovery_point, end; // -1: refused
    } cases[] = {
        {"no index", true, 240, 240},       {"bad index", true, 240, 240}, {"wrong index", true, 240, 240},
        {"garbage behind", true, 240, 240}, {"torn", true, 240, -1},       {"torn", false, 240, 238},
        {"no index below", true, 240, 240},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct replica r;
        three_recovered(&r);
        struct log_load load = replica_load(&r);
        const char *what = cases[i].what, *log_file = replica_file(&r, 160, ".log");
        const char *index = replica_file(&r, 160, ".index");
        const struct replica_batch *last = &r.batches[119];
        if (strcmp(what, "no index") == 0) os_unlink(r.f.host, fixture_path(&r.f, index));
        if (strcmp(what, "no index below") == 0)
            os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, 80, ".index")));
        if (strcmp(what, "bad index") == 0) fixture_write_text(&r.f, index, "12345");
        if (strcmp(what, "wrong index") == 0) replica_flip(&r, index, 31, 3);
        if (strcmp(what, "garbage behind") == 0) replica_truncate(&r, log_file, last->position + last->size_bytes + 77);
        if (strcmp(what, "torn") == 0) replica_truncate(&r, log_file, last->position + 30);
        load.clean = true;
        load.durable = cases[i].durable;
        load.recovery_point = load.high_watermark = cases[i].recovery_point;
        if (cases[i].end < 0) {
            replica_load_with(&r, &load, STORAGE_ERROR);
        } else {
            check_load(&r, &load, 0, cases[i].end);
            replica_check_indexes(&r, cases[i].end);
        }
        replica_close(&r);
    }
}

// ---- files that a crash leaves
// ---------------------------------------------------------------------------------------------------------
Test(load, leftovers) {
    struct replica r;
    three_recovered(&r);
    uint64_t digest = replica_digest(&r);
    static const char *const leftovers[] = {
        "t-0/00000000000000000000.log.deleted", "t-0/00000000000000000000.snapshot.deleted",
        "t-0/00000000000000000080.log.cleaned", "t-0/00000000000000000080.index.cleaned",
        "t-0/00000000000000000080.log.swap",    "t-0/00000000000000000100.timeindex.swap",
        "t-0/00000000000000000500.index",       "t-0/00000000000000000500.timeindex",
        "t-0/00000000000000000500.txnindex",    "t-0/leader-epoch-checkpoint.tmp",
        "t-0/00000000000000000070.snapshot",    "t-0/00000000000000000300.snapshot",
    };
    for (size_t i = 0; i < sizeof leftovers / sizeof leftovers[0]; i++)
        fixture_write_text(&r.f, leftovers[i], "");
    struct log_load load = replica_load(&r);
    load.clean = true;
    check_load(&r, &load, 0, 240);
    cr_assert_eq(replica_digest(&r), digest);
    replica_close(&r);
}

// Compaction had finished the output for the first two segments, and then the crash came: at any of its steps.
Test(load, an_interrupted_swap_is_finished) {
    for (int step = 0; step < 4; step++) {
        struct replica r, compacted;
        three_recovered(&r);
        replica_open(&compacted); // offsets 0-1 and 158-159 are left of 0-159
        replica_fill(&compacted, 1, 200);
        compacted.next_offset = 158;
        replica_fill(&compacted, 1, 200);
        struct log_load load = replica_load(&compacted);
        log_free(replica_load_with(&compacted, &load, 0));
        static const char *const suffixes[] = {".log", ".index", ".timeindex"};
        for (size_t i = 0; i < 3; i++) {
            size_t size;
            char name[128];
            char *data = fixture_read(&compacted.f, replica_file(&r, 0, suffixes[i]), &size);
            snprintf(name, sizeof name, "%s.swap", replica_file(&r, 0, suffixes[i]));
            fixture_write(&r.f, name, data, size);
            free(data);
        }
        for (size_t i = 0; i < 3 && step > 0; i++) // the old ones were on their way out
            os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, 80, suffixes[i])));
        for (size_t i = 0; i < 3 && step > 1; i++)
            os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, 0, suffixes[i])));
        if (step > 2) // the new ones on their way in
            os_rename(r.f.host, fixture_path(&r.f, replica_file(&r, 0, ".index.swap")),
                      fixture_path(&r.f, replica_file(&r, 0, ".index")));
        load = replica_load(&r);
        load.recovery_point = load.high_watermark = 240;
        struct log *log = replica_load_with(&r, &load, 0);
        cr_assert_eq(log->segment_count, 2, "step %d: %zu segments, %s", step, log->segment_count, load.reason);
        cr_assert_eq(log->segments[0]->size_bytes, 2 * r.batches[0].size_bytes);
        cr_assert_eq(log->segments[1]->base_offset, 160);
        log_free(log);
        check_load(&r, &load, 0, 240);
        cr_assert_not(fixture_has(&r.f, replica_file(&r, 0, ".log.swap")));
        replica_close(&compacted);
        replica_close(&r);
    }
}

Test(load, a_missing_time_index_is_made_empty) {
    struct replica r;
    three_recovered(&r);
    os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, 0, ".timeindex")));
    struct log_load load = replica_load(&r);
    load.recovery_point = 160;
    struct log *log = replica_load_with(&r, &load, 0);
    cr_assert_eq(log->segments[0]->max_timestamp_ms, -1);
    cr_assert_gt(log->segments[0]->modified_ms, 0);
    cr_assert(fixture_has(&r.f, replica_file(&r, 0, ".timeindex")));
    log_free(log);
    replica_close(&r);
}

// As a killed Kafka leaves them: 10 MiB, zeros behind the entries.
Test(load, preallocated_indexes) {
    struct replica r;
    three_recovered(&r);
    uint64_t digest = replica_digest(&r);
    for (int64_t point = 160; point <= 240; point += 80) {
        replica_truncate(&r, replica_file(&r, 160, ".index"), 10485760);
        replica_truncate(&r, replica_file(&r, 160, ".timeindex"), 10485756);
        struct log_load load = replica_load(&r);
        load.recovery_point = point;
        check_load(&r, &load, 0, 240);
        cr_assert_eq(replica_digest(&r), digest);
    }
    replica_close(&r);
}

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

static void check_producers(const struct log *log, int batches_1) {
    const struct producer *one = producers_find(&log->producers, 1), *two = producers_find(&log->producers, 2);
    cr_assert_not_null(one);
    cr_assert_not_null(two);
    cr_assert_eq(producer_last_sequence_of(one), 99);
    cr_assert_eq(one->batch_count, batches_1);
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
        check_producers(log, 5);
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
            check_producers(log, clean ? 1 : 5);
            cr_assert_eq(strstr(load.reason, "was damaged") != NULL, bad > 0 && !clean, "%s", load.reason);
            log_free(log);
        }
    }
    replica_close(&r);
}

// Clients send again what a kill left without an answer: up to five batches each.
Test(load, batches_before_the_snapshot_are_known_after_a_kill) {
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
