// SPDX-License-Identifier: Apache-2.0
// log/log_dir: opening a log directory: lock, ids, names, checkpoints, the clean-shutdown marker; and closing it.
#include "fixture.h"
#include "log/log_dir.h"
#include "log/meta.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct log_dir_open open_dir(struct fixture *f, int64_t expected) {
    static char path[1024];
    snprintf(path, sizeof path, "%s", fixture_path(f, "data"));
    struct log_dir_open open = {.path = path, .index = 1, .broker_id = -1, .cluster_id = ""};
    int64_t result = log_dir_open_run(f->host, &open);
    cr_assert_eq(result, expected, "%lld: %s", (long long)result, open.reason);
    cr_assert_eq(open.dir != NULL, result == 0);
    return open;
}

Test(log_dir, a_new_one) {
    struct fixture f;
    fixture_open(&f);
    struct log_dir_open open = open_dir(&f, 0);
    cr_assert_eq(open.dir->index, 1);
    cr_assert_not(open.dir->was_clean);
    cr_assert_eq(open.found_broker_id, -1);
    cr_assert_str_eq(open.found_cluster_id, "");
    cr_assert_eq(open.partition_count, 0);
    cr_assert(fixture_has(&f, "data/.lock"));
    cr_assert_eq(log_dir_write_meta(f.host, open.dir, 3, "AAAAAAAAAAAAAAAAAAAAAQ"), 0);
    cr_assert_eq(log_dir_close(f.host, open.dir, true), 0);
    char *marker = fixture_read(&f, "data/.kafka_cleanshutdown", NULL);
    cr_assert_str_eq(marker, "{\"version\":0,\"brokerEpoch\":-1}");
    free(marker);

    open = open_dir(&f, 0);
    cr_assert(open.dir->was_clean);
    cr_assert_eq(open.found_broker_id, 3);
    cr_assert_str_eq(open.found_cluster_id, "AAAAAAAAAAAAAAAAAAAAAQ");
    cr_assert_not(fixture_has(&f, "data/.kafka_cleanshutdown"));
    cr_assert_eq(log_dir_close(f.host, open.dir, false), 0);
    open = open_dir(&f, 0);
    cr_assert_not(open.dir->was_clean);
    log_dir_close(f.host, open.dir, false);
    fixture_close(&f);
}

Test(log_dir, one_user_at_a_time) {
    struct fixture f;
    fixture_open(&f);
    struct log_dir_open open = open_dir(&f, 0);
    struct log_dir_open second = open_dir(&f, -EAGAIN);
    cr_assert_not_null(strstr(second.reason, "in use"));
    log_dir_close(f.host, open.dir, false);
    open = open_dir(&f, 0);
    log_dir_close(f.host, open.dir, false);
    fixture_close(&f);
}

// A partition's directory that is a link, as operators make them to move it to another disk.
Test(log_dir, the_deletion_of_a_linked_partition_is_finished) {
    struct fixture f;
    fixture_open(&f);
    fixture_mkdir(&f, "data");
    fixture_mkdir(&f, "disk");
    fixture_write_text(&f, "disk/00000000000000000000.log", "x");
    const char *name = "data/orders-3.0123456789abcdef0123456789abcdef-delete";
    cr_assert_eq(symlink(fixture_path(&f, "disk"), fixture_path(&f, name)), 0);
    struct log_dir_open open = open_dir(&f, 0);
    cr_assert_not(fixture_has(&f, name) || fixture_has(&f, "disk/00000000000000000000.log"));
    log_dir_close(f.host, open.dir, false);
    fixture_close(&f);
}

// It is told apart, and what a kill left there is flushed too.
Test(log_dir, a_partition_on_another_file_system) {
    struct fixture f;
    char other[] = "/dev/shm/tailrace-test-XXXXXX";
    struct os_stat here, there;
    fixture_open(&f);
    fixture_mkdir(&f, "data");
    fixture_mkdir(&f, "data/a-0");
    cr_assert_eq(os_stat(f.host, fixture_path(&f, "data"), &here), 0);
    bool is_other = mkdtemp(other) && os_stat(f.host, other, &there) == 0 && there.device != here.device;
    const char *target = is_other ? other : fixture_path(&f, "data/a-0"), *link = fixture_path(&f, "data/b-0");
    cr_assert_eq(symlink(target, link), 0);
    struct log_dir_open open = open_dir(&f, 0);
    cr_assert_eq(open.partition_count, 2);
    cr_assert_not(open.dir->was_clean || open.partitions[0].is_elsewhere);
    cr_assert_eq(open.partitions[1].is_elsewhere, is_other);
    log_dir_close(f.host, open.dir, false);
    cr_assert_eq(unlink(link), 0);
    rmdir(other);
    fixture_close(&f);
}

Test(log_dir, partitions_and_checkpoints) {
    struct fixture f;
    fixture_open(&f);
    fixture_mkdir(&f, "data");
    fixture_mkdir(&f, "data/orders-0");
    fixture_mkdir(&f, "data/orders-10");
    fixture_mkdir(&f, "data/orders-3.0123456789abcdef0123456789abcdef-delete");
    fixture_write_text(&f, "data/orders-3.0123456789abcdef0123456789abcdef-delete/00000000000000000000.log", "x");
    fixture_mkdir(&f, "data/orders-4.0123456789abcdef0123456789abcdef-stray");
    fixture_mkdir(&f, "data/orders-5.0123456789abcdef0123456789abcdef-future");
    fixture_mkdir(&f, "data/remote-log-index-cache");
    fixture_write_text(&f, "data/some file", "ignored");
    fixture_write_text(&f, "data/recovery-point-offset-checkpoint",
                       "0\n4\norders 10 7\ngone 0 9\nempty 1 0\norders 3 8\n");
    fixture_write_text(&f, "data/log-start-offset-checkpoint", "");
    fixture_write_text(&f, "data/replication-offset-checkpoint", "0\n2\norders 0 5\norders 10 8\n");
    struct log_dir_open open = open_dir(&f, 0);
    cr_assert_eq(open.partition_count, 2);
    cr_assert_str_eq(open.partitions[0].topic, "orders");
    cr_assert_eq(open.partitions[0].partition, 0);
    cr_assert_eq(open.partitions[0].recovery_point, 0);
    cr_assert_eq(open.partitions[0].log_start_offset, -1);
    cr_assert_eq(open.partitions[0].high_watermark, 5);
    cr_assert_eq(open.partitions[1].partition, 10);
    cr_assert_eq(open.partitions[1].recovery_point, 7);
    cr_assert_eq(open.partitions[1].high_watermark, 8);
    cr_assert_not_null(strstr(open.reason, "missing here: 1, first gone-0, which was durable up to offset 9"), "%s",
                       open.reason);
    cr_assert_not(fixture_has(&f, "data/orders-3.0123456789abcdef0123456789abcdef-delete"));
    cr_assert(fixture_has(&f, "data/orders-4.0123456789abcdef0123456789abcdef-stray"));
    cr_assert(fixture_has(&f, "data/orders-5.0123456789abcdef0123456789abcdef-future"));
    log_dir_open_free(&open);
    log_dir_close(f.host, open.dir, false);
    fixture_close(&f);
}

// Somebody has moved it from one directory of the broker to another.
Test(log_dir, a_partition_in_another_directory_is_not_missing) {
    struct fixture f;
    fixture_open(&f);
    fixture_mkdir(&f, "data");
    fixture_mkdir(&f, "other");
    fixture_mkdir(&f, "other/moved-0");
    fixture_write_text(&f, "other/moved-1", "no directory");
    fixture_write_text(&f, "data/recovery-point-offset-checkpoint", "0\n2\nmoved 0 9\nmoved 1 8\n");
    char *paths[] = {strdup(fixture_path(&f, "data")), strdup(fixture_path(&f, "other"))};
    struct log_dir_open open = {
        .path = paths[0], .broker_id = -1, .cluster_id = "", .all_paths = paths, .all_count = ARRAY_LENGTH(paths)};
    cr_assert_eq(log_dir_open_run(f.host, &open), 0, "%s", open.reason);
    cr_assert_not_null(strstr(open.reason, "missing here: 1, first moved-1, "), "%s", open.reason);
    log_dir_open_free(&open);
    log_dir_close(f.host, open.dir, false);
    for (size_t i = 0; i < ARRAY_LENGTH(paths); i++)
        free(paths[i]);
    fixture_close(&f);
}

Test(log_dir, what_it_refuses_leaves_everything_alone) {
    static const struct {
        const char *name, *text; // text NULL: a directory
        const char *says;
    } cases[] = {
        {"data/photos", NULL, "photos"},
        {"data/lost+found", NULL, "lost+found"},
        {"data/a\nb", NULL, "a\\x0ab"},
        {"data/replication-offset-checkpoint", "0\n2\na 0 1\n", "replication-offset-checkpoint"},
        {"data/meta.properties", "version=1\nnode.id=1\n", "KRaft"},
        {"data/meta.properties", "version=7\n", "version=7"},
        {"data/meta.properties", "version=0\nbroker.id=-3\n", "broker.id"},
        {"data/meta.properties", "version=0\nbroker.id=\\u00\n", "line 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_open(&f);
        fixture_mkdir(&f, "data");
        fixture_mkdir(&f, "data/t-0.0123456789abcdef0123456789abcdef-delete");
        fixture_write_text(&f, "data/.kafka_cleanshutdown", "");
        fixture_write_text(&f, "data/.lock", "");
        if (cases[i].text)
            fixture_write_text(&f, cases[i].name, cases[i].text);
        else
            fixture_mkdir(&f, cases[i].name);
        uint64_t before = fixture_digest(&f, "data");
        struct log_dir_open open = open_dir(&f, -EINVAL);
        cr_assert_not_null(strstr(open.reason, cases[i].says), "%s", open.reason);
        cr_assert_eq(fixture_digest(&f, "data"), before, "case %zu", i);
        fixture_close(&f);
    }
}

Test(log_dir, a_damaged_recovery_point_only_warns) {
    struct fixture f;
    fixture_open(&f);
    fixture_mkdir(&f, "data");
    fixture_mkdir(&f, "data/t-0");
    fixture_write_text(&f, "data/recovery-point-offset-checkpoint", "0\n9\nt 0 7\n");
    fixture_write_text(&f, "data/log-start-offset-checkpoint", "0\n1\nt 0 7 8\n");
    struct log_dir_open open = open_dir(&f, 0);
    cr_assert_eq(open.partitions[0].recovery_point, 0);
    cr_assert_eq(open.partitions[0].log_start_offset, -1);
    cr_assert_not_null(strstr(open.reason, "recovery-point-offset-checkpoint is damaged"));
    log_dir_open_free(&open);
    log_dir_close(f.host, open.dir, false);
    fixture_close(&f);
}

Test(log_dir, ids_must_agree) {
    struct fixture f;
    fixture_open(&f);
    fixture_mkdir(&f, "data");
    fixture_write_text(&f, "data/meta.properties", "#\n#x\nbroker.id=5\ndirectory.id=abc\n");
    struct log_dir_open open = {.path = fixture_path(&f, "data"), .broker_id = 6, .cluster_id = "C"};
    cr_assert_eq(log_dir_open_run(f.host, &open), -EINVAL);
    cr_assert_not_null(strstr(open.reason, "broker 5"), "%s", open.reason);
    open.broker_id = 5;
    cr_assert_eq(log_dir_open_run(f.host, &open), 0, "%s", open.reason);
    cr_assert_eq(log_dir_write_meta(f.host, open.dir, 5, "C"), 0); // adds what is missing, keeps the rest
    log_dir_close(f.host, open.dir, false);
    char *meta = fixture_read(&f, "data/meta.properties", NULL);
    cr_assert_not_null(strstr(meta, "\nversion=0\nbroker.id=5\ncluster.id=C\ndirectory.id=abc\n"), "%s", meta);
    free(meta);
    open.cluster_id = "D";
    cr_assert_eq(log_dir_open_run(f.host, &open), -EINVAL);
    cr_assert_not_null(strstr(open.reason, "cluster C"), "%s", open.reason);
    fixture_close(&f);
}

Test(log_dir, checkpoints_are_replaced) {
    struct fixture f;
    fixture_open(&f);
    struct log_dir_open open = open_dir(&f, 0);
    struct checkpoint_entry entries[] = {{(char[]){"t"}, 0, 5}, {(char[]){"t"}, 1, 6}};
    struct checkpoint c = {entries, 2}, back;
    cr_assert_eq(checkpoint_write(f.host, open.dir, CHECKPOINT_HIGH_WATERMARK, &c), 0);
    c.count = 1;
    cr_assert_eq(checkpoint_write(f.host, open.dir, CHECKPOINT_HIGH_WATERMARK, &c), 0);
    cr_assert_eq(checkpoint_read(f.host, open.dir, CHECKPOINT_HIGH_WATERMARK, &back), 0);
    cr_assert_eq(back.count, 1);
    cr_assert_eq(back.entries[0].offset, 5);
    checkpoint_free(&back);
    cr_assert_eq(checkpoint_read(f.host, open.dir, CHECKPOINT_CLEANER, &back), 0);
    cr_assert_eq(back.count, 0);
    cr_assert_not(fixture_has(&f, "data/replication-offset-checkpoint.tmp"));
    // the directory is taken away: the write fails, and the directory has failed for good
    char moved[1024];
    snprintf(moved, sizeof moved, "%s", fixture_path(&f, "moved"));
    cr_assert_eq(os_rename(f.host, open.dir->path, moved), 0);
    cr_assert_eq(checkpoint_write(f.host, open.dir, CHECKPOINT_HIGH_WATERMARK, &c), -ENOENT);
    cr_assert(log_dir_is_failed(open.dir));
    cr_assert_not_null(strstr(open.dir->failure_reason, "replication-offset-checkpoint"));
    log_dir_fail(open.dir, "later", -EIO);
    cr_assert_null(strstr(open.dir->failure_reason, "later"));
    cr_assert_eq(log_dir_close(f.host, open.dir, true), 0); // writes no marker
    cr_assert_not(fixture_has(&f, "moved/.kafka_cleanshutdown"));
    fixture_close(&f);
}

Test(log_dir, dates_of_meta_properties) {
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "#\n#Thu Jan 01 00:00:00 UTC 1970\nversion=0\n"},
        {951782400000, "#\n#Tue Feb 29 00:00:00 UTC 2000\nversion=0\n"},
        {1709251199999, "#\n#Thu Feb 29 23:59:59 UTC 2024\nversion=0\n"},
        {4102444800000, "#\n#Fri Jan 01 00:00:00 UTC 2100\nversion=0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[256];
        struct text t = TEXT_IN(out);
        struct meta_properties none = {.broker_id = -1};
        meta_format(&none, cases[i].ms, &t);
        cr_assert_str_eq(out, cases[i].text);
    }
}

// What concerns this directory alone, and what shows that it is not this broker's.
Test(log_dir, one_that_the_broker_can_do_without) {
    static const struct {
        const char *name, *text; // text NULL: a directory
        bool is_failed;
    } cases[] = {
        {"data", "a plain file", true},
        {"data/.lock", NULL, true},
        {"data/meta.properties", NULL, true},
        {"data/meta.properties", "version=0\nbroker.id=\\u00\n", true},
        {"data/meta.properties", "version=0\nbroker.id=-3\n", true},
        {"data/replication-offset-checkpoint", "0\n2\na 0 1\n", true},
        {"data/meta.properties", "version=0\nbroker.id=9\n", false},
        {"data/meta.properties", "version=0\nbroker.id=5\ncluster.id=D\n", false},
        {"data/meta.properties", "version=1\nnode.id=5\n", false},
        {"data/meta.properties", "version=7\n", false},
        {"data/photos", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_open(&f);
        if (strcmp(cases[i].name, "data") != 0) fixture_mkdir(&f, "data");
        if (cases[i].text)
            fixture_write_text(&f, cases[i].name, cases[i].text);
        else
            fixture_mkdir(&f, cases[i].name);
        struct log_dir_open open = {
            .path = fixture_path(&f, "data"), .index = 1, .broker_id = 5, .cluster_id = "C", .may_fail = true};
        cr_assert_lt(log_dir_open_run(f.host, &open), 0, "case %zu", i);
        cr_assert_not_null(strstr(open.reason, open.path), "case %zu: %s", i, open.reason);
        cr_assert_eq(open.dir != NULL, cases[i].is_failed, "case %zu: %s", i, open.reason);
        if (open.dir) {
            cr_assert(log_dir_is_failed(open.dir));
            cr_assert_str_eq(open.dir->failure_reason, open.reason);
            cr_assert_eq(log_dir_close(f.host, open.dir, true), 0);
            cr_assert_not(fixture_has(&f, "data/.kafka_cleanshutdown"));
            open.may_fail = false;
            cr_assert_lt(log_dir_open_run(f.host, &open), 0);
            cr_assert_null(open.dir);
        }
        fixture_close(&f);
    }
}

Test(log_dir, the_reserve_follows_the_size_of_the_file_system) {
    const uint64_t mib = 1 << 20, gib = 1 << 30;
    cr_assert_eq(log_dir_reserve(0, 64 * gib), 0);
    cr_assert_eq(log_dir_reserve(5, 64 * gib), 5);
    cr_assert_eq(log_dir_reserve(-1, 0), 0);
    cr_assert_eq(log_dir_reserve(-1, 60 * mib), 6 * mib);
    cr_assert_eq(log_dir_reserve(-1, 10 * gib), gib);
    cr_assert_eq(log_dir_reserve(-1, 40 * gib), gib);
    cr_assert_eq(log_dir_reserve(-1, 100 * gib), 2 * gib);
}

Test(log_dir, its_space_is_known_when_it_is_open) {
    struct fixture f;
    fixture_open(&f);
    struct log_dir_open open = {.path = fixture_path(&f, "data"), .broker_id = -1, .reserve_bytes = INT64_MAX};
    cr_assert_eq(log_dir_open_run(f.host, &open), 0, "%s", open.reason);
    cr_assert(open.dir->below_reserve);
    log_dir_close(f.host, open.dir, false);
    open.reserve_bytes = 0;
    cr_assert_eq(log_dir_open_run(f.host, &open), 0, "%s", open.reason);
    cr_assert_not(open.dir->below_reserve);
    log_dir_close(f.host, open.dir, false);
    fixture_close(&f);
}
