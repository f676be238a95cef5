// SPDX-License-Identifier: Apache-2.0
// log/load: what every kind of interrupted, damaged or incomplete partition directory becomes; and that loading it a
// second time changes nothing any more. Here the log and index files; test_load_state.c has the rest.
#include "base/bits.h"
#include "load_checks.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { STORAGE_ERROR = KAFKA_ERROR_KAFKA_STORAGE_ERROR };

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
        {"no index", true, 240, 240},
        {"bad index", true, 240, 240},
        {"wrong index", true, 240, 240},
        {"garbage behind", true, 240, 240},
        {"torn", true, 240, -1},
        {"torn", false, 240, 238},
        {"no index below", true, 240, 240},
        {"no last segment", true, 240, -1},
        {"no last segment", false, 240, 160},
        {"no last segment", true, 160, 160},
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
        if (strcmp(what, "no last segment") == 0) os_unlink(r.f.host, fixture_path(&r.f, log_file));
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

// The .log of a segment in the middle is gone, which no crash does; of one at an end it may be.
Test(load, a_missing_segment_is_told) {
    for (int base = 0; base <= 80; base += 80) {
        struct replica r;
        three_recovered(&r);
        os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, base, ".log")));
        struct log_load load = replica_load(&r);
        load.clean = true;
        log_free(replica_load_with(&r, &load, 0));
        cr_assert_str_eq(load.reason, base == 0 ? ""
                                                : "00000000000000000080.log is missing, though it has an index: its "
                                                  "records are lost");
        replica_close(&r);
    }
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
