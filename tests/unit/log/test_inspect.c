// SPDX-License-Identifier: Apache-2.0
// log/inspect: what is there, and whether verification finds every kind of damage, at the right file and byte.
#include "base/bits.h"
#include "log/inspect.h"
#include "log/txn_index.h"
#include "replica.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct found {
    int damages, notes, unreadable;
    char last_file[64];
    int64_t last_byte;
    char all[4096];
};
static void on_finding(void *context, const struct inspect_finding *f) {
    struct found *found = context;
    size_t used = strlen(found->all);
    if (f->is_damage)
        found->damages++;
    else
        found->notes++;
    snprintf(found->last_file, sizeof found->last_file, "%s", f->file);
    found->last_byte = f->byte;
    snprintf(found->all + used, sizeof found->all - used, "%s%s %lld %s; ", f->is_damage ? "" : "note: ", f->file,
             (long long)f->byte, f->text);
}
static void on_progress(void *context, uint64_t bytes) {
    (void)context;
    (void)bytes;
}
static void on_unreadable(void *context, const char *directory, const char *file, int error) {
    struct found *found = context;
    cr_assert_lt(error, 0, "%s/%s", directory, file);
    found->unreadable++;
    snprintf(found->last_file, sizeof found->last_file, "%s", file);
}

static struct found verify(const struct replica *r, struct inspect_totals *totals) {
    struct found found = {0};
    const struct inspect_listener listener = {&found, on_finding, on_progress, on_unreadable};
    struct inspect_dir dir;
    cr_assert_eq(inspect_dir_read(r->f.host, r->f.path, &dir, &listener), 0);
    cr_assert_eq(dir.count, 1);
    struct inspect_verify v = {.host = r->f.host, .dir = &dir, .records = true, .listener = &listener};
    cr_assert_eq(inspect_verify_partition(&v, &dir.partitions[0]), 0);
    if (totals) *totals = v.totals;
    inspect_dir_free(&dir);
    return found;
}

static struct batch_options idempotent(int32_t sequence) {
    struct batch_options o = BATCH_OPTIONS_PLAIN;
    o.producer_id = 5;
    o.producer_epoch = 0;
    o.base_sequence = sequence;
    return o;
}

// Two segments with 30 batches each (offsets 0-59, 60-119), closed cleanly or not.
static void two_segments(struct replica *r, bool clean) {
    replica_open(r);
    for (int i = 0; i < 60; i++) {
        if (i == 30) replica_roll(r);
        r->epoch = i / 20;
        replica_append(r, 2, 200, idempotent(i * 2));
    }
    struct log_load load = replica_load(r);
    log_free(replica_load_with(r, &load, 0));
    if (clean) fixture_write_text(&r->f, ".kafka_cleanshutdown", "");
    fixture_write_text(&r->f, "recovery-point-offset-checkpoint", "0\n1\nt 0 120\n");
    fixture_write_text(&r->f, "replication-offset-checkpoint", "0\n1\nt 0 120\n");
}

Test(inspect, a_sound_log) {
    for (int clean = 0; clean < 2; clean++) {
        struct replica r;
        struct inspect_totals totals;
        two_segments(&r, clean);
        struct found found = verify(&r, &totals);
        cr_assert_str_eq(found.all, "");
        cr_assert_eq(totals.partitions, 1);
        cr_assert_eq(totals.segments, 2);
        cr_assert_eq(totals.batches, 60);
        cr_assert_eq(totals.records, 120);
        cr_assert_eq(totals.damages, 0);
        replica_close(&r);
    }
}

// Every byte of every file: what is not seen is what no checksum and no second place knows of.
Test(inspect, every_flipped_byte) {
    struct replica r;
    two_segments(&r, true);
    static const struct {
        int64_t base;
        const char *suffix;
    } files[] = {{0, ".log"}, {60, ".log"}, {0, ".index"}, {60, ".timeindex"}, {60, ".snapshot"}, {120, ".snapshot"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *file = replica_file(&r, files[i].base, files[i].suffix);
        size_t size, unseen = 0;
        free(fixture_read(&r.f, file, &size));
        for (size_t byte = 0; byte<size; byte += size> 1000 ? 37 : 1) {
            replica_flip(&r, file, byte, 0x10);
            struct found found = verify(&r, NULL);
            unseen += found.damages + found.notes == 0;
            if (found.damages > 0 && strcmp(files[i].suffix, ".index") == 0)
                cr_assert_str_eq(found.last_file, file + 4, "byte %zu: %s", byte, found.all);
            replica_flip(&r, file, byte, 0x10);
        }
        cr_assert_leq(unseen, 0, "%s: %zu bytes unseen", file, unseen);
    }
    cr_assert_str_eq(verify(&r, NULL).all, "");
    replica_close(&r);
}

Test(inspect, names_file_and_byte) {
    struct replica r;
    two_segments(&r, true);
    const struct replica_batch *b = &r.batches[35];
    replica_flip(&r, replica_file(&r, 60, ".log"), b->position + 100, 4);
    struct inspect_totals totals;
    struct found found = verify(&r, &totals);
    cr_assert_eq(found.damages, 1, "%s", found.all); // and the walk went on behind it
    cr_assert_eq(totals.batches, 59);
    cr_assert_str_eq(found.last_file, "00000000000000000060.log");
    cr_assert_eq(found.last_byte, (int64_t)b->position);
    replica_close(&r);
}

Test(inspect, the_end_of_an_open_log) {
    static const struct {
        const char *what;
        bool clean;
        int64_t recovery_point;
        int damages, notes;
    } cases[] = {
        {"torn", true, 120, 2, 0},       {"torn", false, 100, 0, 1},           {"torn", false, 120, 2, 0},
        {"zeros", true, 120, 1, 0},      {"zeros", false, 120, 0, 1},          {"garbage", false, 120, 1, 0},
        {"last CRC", false, 100, 0, 2},  {"middle CRC", false, 60, 1, 0},      {"index ahead", false, 60, 0, 1},
        {"index ahead", true, 60, 1, 0}, {"zeros in index", false, 120, 0, 0}, {"epochs lag", false, 60, 0, 1},
        {"epochs lag", true, 60, 1, 0},  {"epochs lag", false, 120, 1, 0},     {"short", false, 110, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct replica r;
        two_segments(&r, cases[i].clean);
        const char *what = cases[i].what, *log = replica_file(&r, 60, ".log"), *index = replica_file(&r, 60, ".index");
        const struct replica_batch *last = &r.batches[59];
        uint64_t end = last->position + last->size_bytes;
        char text[64];
        snprintf(text, sizeof text, "0\n1\nt 0 %lld\n", (long long)cases[i].recovery_point);
        fixture_write_text(&r.f, "recovery-point-offset-checkpoint", text);
        os_unlink(r.f.host, fixture_path(&r.f, "replication-offset-checkpoint"));
        if (strcmp(what, "torn") == 0 || strcmp(what, "short") == 0)
            os_unlink(r.f.host, fixture_path(&r.f, replica_file(&r, 60, ".timeindex")));
        if (strcmp(what, "torn") == 0 || strcmp(what, "short") == 0)
            fixture_write_text(&r.f, replica_file(&r, 60, ".timeindex"), "");
        if (strcmp(what, "torn") == 0) replica_truncate(&r, log, end - 10);
        if (strcmp(what, "short") == 0) replica_truncate(&r, log, r.batches[50].position);
        if (strcmp(what, "short") == 0) fixture_write_text(&r.f, index, "");
        if (strcmp(what, "zeros") == 0 || strcmp(what, "garbage") == 0) replica_truncate(&r, log, end + 5000);
        if (strcmp(what, "garbage") == 0) replica_flip(&r, log, end + 3000, 1);
        if (strcmp(what, "last CRC") == 0) replica_flip(&r, log, end - 10, 1);
        if (strcmp(what, "middle CRC") == 0) replica_flip(&r, log, end - last->size_bytes - 10, 1);
        if (strcmp(what, "zeros in index") == 0) replica_truncate(&r, index, 10485760);
        if (strcmp(what, "epochs lag") == 0)
            fixture_write_text(&r.f, "t-0/leader-epoch-checkpoint", "0\n2\n0 0\n1 40\n");
        if (strcmp(what, "index ahead") == 0) {
            uint8_t entry[8];
            size_t size;
            char *data = fixture_read(&r.f, index, &size);
            char more[4096];
            memcpy(more, data, size);
            store_be32(entry, 70);
            store_be32(entry + 4, (uint32_t)end);
            memcpy(more + size, entry, 8);
            fixture_write(&r.f, index, more, size + 8);
            free(data);
        }
        struct found found = verify(&r, NULL);
        cr_assert_eq(found.damages, cases[i].damages, "%zu %s: %s", i, what, found.all);
        cr_assert_eq(found.notes, cases[i].notes, "%zu %s: %s", i, what, found.all);
        replica_close(&r);
    }
}

Test(inspect, small_files) {
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"meta.properties", "version=9\n"},
        {"cleaner-offset-checkpoint", "0\n3\n"},
        {"t-0/partition.metadata", "x"},
        {"t-0/leader-epoch-checkpoint", "0\n5\n"},
        {"t-0/00000000000000000060.txnindex", "12345"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct replica r;
        two_segments(&r, true);
        fixture_write_text(&r.f, cases[i].name, cases[i].text);
        struct found found = verify(&r, NULL);
        cr_assert_eq(found.damages, 1, "%s: %s", cases[i].name, found.all);
        cr_assert_not_null(strstr(cases[i].name, found.last_file), "%s: %s", cases[i].name, found.all);
        replica_close(&r);
    }
}

// An entry of the index of aborted transactions is believed no byte of what the log says better: the marker's place and
// producer; and the transaction lies before its marker.
Test(inspect, aborted_transactions) {
    // Of the second entry: version, producer, first offset, marker, last stable offset.
    static const size_t flipped[] = {0, 2, 9, 10, 16, 18, 25, 26, 33};
    for (size_t i = 0; i < sizeof flipped / sizeof flipped[0]; i++) {
        struct replica r;
        struct batch_options options = idempotent(0);
        options.is_transactional = true;
        replica_open(&r);
        for (int transaction = 0; transaction < 4; transaction++) {
            options.base_sequence = transaction * 2;
            replica_append(&r, 2, 200, options);
            replica_marker(&r, 5, 0, transaction != 0); // the first one is committed
        }
        struct log_load load = replica_load(&r);
        log_free(replica_load_with(&r, &load, 0));
        fixture_write_text(&r.f, ".kafka_cleanshutdown", "");
        cr_assert_str_eq(verify(&r, NULL).all, "");
        replica_flip(&r, replica_file(&r, 0, ".txnindex"), TXN_INDEX_ENTRY_BYTES + flipped[i], 0x40);
        struct found found = verify(&r, NULL);
        cr_assert_eq(found.damages, 1, "byte %zu: %s", flipped[i], found.all);
        cr_assert_not_null(strstr(found.last_file, ".txnindex"), "byte %zu: %s", flipped[i], found.all);
        replica_close(&r);
    }
}

// A FIFO stands for every file that cannot be read: it is named, nobody waits for it, and the rest is checked.
Test(inspect, unreadable_files) {
    static const char *const names[] = {"t-0/00000000000000000000.log",
                                        "t-0/00000000000000000060.log",
                                        "t-0/00000000000000000000.index",
                                        "t-0/00000000000000000060.timeindex",
                                        "t-0/00000000000000000060.txnindex",
                                        "t-0/00000000000000000060.snapshot",
                                        "t-0/leader-epoch-checkpoint",
                                        "t-0/partition.metadata",
                                        "meta.properties",
                                        "recovery-point-offset-checkpoint"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct replica r;
        two_segments(&r, true);
        os_unlink(r.f.host, fixture_path(&r.f, names[i]));
        cr_assert_eq(mkfifo(fixture_path(&r.f, names[i]), 0600), 0);
        struct found found = verify(&r, NULL);
        cr_assert_eq(found.unreadable, 1, "%s: %s", names[i], found.all);
        cr_assert_not_null(strstr(names[i], found.last_file), "%s: %s", names[i], found.last_file);
        cr_assert_eq(found.damages + found.notes, 0, "%s: %s", names[i], found.all);
        replica_close(&r);
    }
}

// Of a directory that was closed well: in an open one retention may be at work.
Test(inspect, files_without_their_log) {
    for (int clean = 0; clean < 2; clean++) {
        struct replica r;
        two_segments(&r, clean);
        os_unlink(r.f.host, fixture_path(&r.f, "t-0/00000000000000000000.log"));
        cr_assert_eq(verify(&r, NULL).notes, clean ? 2 : 0);
        cr_assert_eq(symlink("/nowhere", fixture_path(&r.f, "t-0/00000000000000000000.log")), 0);
        cr_assert_eq(verify(&r, NULL).unreadable, clean);
        fixture_write_text(&r.f, "recovery-point-offset-checkpoint", "0\n2\nlost 7 120\nt 0 120\n");
        cr_assert_eq(strstr(verify(&r, NULL).all, "names lost-7") != NULL, clean);
        os_unlink(r.f.host, fixture_path(&r.f, "t-0/00000000000000000000.log"));
        replica_close(&r);
    }
}

// An index between two segments tells of a log that somebody has removed.
Test(inspect, a_segment_missing_in_the_middle) {
    struct replica r;
    two_segments(&r, true);
    fixture_write_text(&r.f, "t-0/00000000000000000042.timeindex", "");
    cr_assert_eq(verify(&r, NULL).damages, 0);
    fixture_write_text(&r.f, "t-0/00000000000000000042.index", "");
    struct found found = verify(&r, NULL);
    cr_assert_eq(found.damages, 1, "%s", found.all);
    cr_assert_not_null(strstr(found.all, "the records of a segment are missing"));
    replica_close(&r);
}

// DeleteRecords moved the start of the log to an offset in the middle of a batch, of an epoch and of a segment.
Test(inspect, epochs_begin_where_the_log_begins) {
    static const struct {
        const char *epochs, *log_start;
        bool is_open;
        int damages;
    } cases[] = {
        {"0\n3\n0 5\n1 40\n2 80\n", "0\n1\nt 0 5\n", false, 0}, {"0\n2\n1 45\n2 80\n", "0\n1\nt 0 45\n", false, 0},
        {"0\n3\n0 5\n1 40\n2 80\n", "0\n0\n", false, 1}, // no record was deleted
        {"0\n3\n0 5\n1 40\n2 80\n", "0\n0\n", true, 0},  // or its checkpoint was not written yet
        {"0\n2\n1 45\n2 85\n", "0\n1\nt 0 45\n", false, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct replica r;
        two_segments(&r, !cases[i].is_open);
        fixture_write_text(&r.f, "t-0/leader-epoch-checkpoint", cases[i].epochs);
        fixture_write_text(&r.f, "log-start-offset-checkpoint", cases[i].log_start);
        struct found found = verify(&r, NULL);
        cr_assert_eq(found.damages, cases[i].damages, "%zu: %s", i, found.all);
        replica_close(&r);
    }
}

Test(inspect, segments) {
    struct replica r;
    two_segments(&r, false);
    replica_truncate(&r, replica_file(&r, 60, ".log"), r.batches[59].position + 33);
    struct inspect_segments s;
    cr_assert_eq(inspect_segments_read(r.f.host, fixture_path(&r.f, "t-0"), &s), 0);
    cr_assert_eq(s.count, 2);
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(inspect_segment_fill(r.f.host, fixture_path(&r.f, "t-0"), &s.items[i]), 0);
    cr_assert_eq(s.items[0].end_offset, 60);
    cr_assert_eq(s.items[0].first_timestamp_ms, 1000000);
    cr_assert_eq(s.items[0].max_timestamp_ms, 1000291);
    cr_assert_eq(s.items[0].tail_bytes, 0);
    cr_assert_eq(s.items[1].end_offset, 118);
    cr_assert_eq(s.items[1].tail_bytes, 33);
    inspect_segments_free(&s);
    replica_close(&r);
}

// What merely looks like one is none: verifying it would find it sound.
Test(inspect, is_log_dir) {
    static const struct {
        const char *folder, *file;
        int is_one;
    } cases[] = {
        {NULL, NULL, 0},
        {NULL, "notes.txt", 0},
        {NULL, "00000000000000000000.log", 0}, // a partition, not a log directory
        {NULL, "meta.properties", 1},
        {NULL, ".kafka_cleanshutdown", 1},
        {NULL, "log-start-offset-checkpoint", 1},
        {"library-2", NULL, 0},
        {"library-2", "library-2/README", 0},
        {"orders-2", "orders-2/00000000000000000000.log", 1},
        {"orders", "orders/00000000000000000000.log", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_open(&f);
        if (cases[i].folder) fixture_mkdir(&f, cases[i].folder);
        if (cases[i].file) fixture_write_text(&f, cases[i].file, "");
        cr_assert_eq(inspect_is_log_dir(f.host, f.path), cases[i].is_one, "%zu", i);
        cr_assert_lt(inspect_is_log_dir(f.host, fixture_path(&f, "nosuch")), 0);
        fixture_close(&f);
    }
}
