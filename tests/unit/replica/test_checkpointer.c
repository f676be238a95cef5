// SPDX-License-Identifier: Apache-2.0
// Who waits for a checkpoint is told whether it was written; on a full disk it is tried again, and what waits to be
// deleted goes at once.
#include "core/core.h"
#include "log/deletion.h"
#include "os/linux/host.h"
#include "replica/checkpointer.h"
#include "replica/replica.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct desk {
    struct core_set *set;
    struct replicas replicas; // none
    struct log_dir dir, *dirs[1];
    struct checkpointer checkpointer;
    char path[64], file[128], temporary[160];
};

static void turn(struct desk *d) {
    for (int i = 0; i < d->set->count; i++) {
        os_ring_doorbell(d->set->cores[i]->os);
        core_turn(d->set->cores[i]);
    }
}

static void desk_open(struct desk *d) {
    int error;
    *d = (struct desk){.path = "/tmp/tailrace-checkpointer-XXXXXX"};
    cr_assert_not_null(mkdtemp(d->path));
    snprintf(d->file, sizeof d->file, "%s/recovery-point-offset-checkpoint", d->path);
    snprintf(d->temporary, sizeof d->temporary, "%s.tmp", d->file);
    d->set = core_set_create(os_host_create(), 1, &error);
    cr_assert_not_null(d->set);
    list_init(&d->replicas.all);
    d->set->cores[0]->replicas = &d->replicas;
    d->dir.path = d->path;
    d->dirs[0] = &d->dir;
    d->replicas.dirs = d->dirs;
    d->replicas.dir_count = 1;
    checkpointer_start(&d->checkpointer, core_control(d->set), d->dirs, 1, 1, 5);
}

static void stop(struct desk *d, struct checkpointer *checkpointer) {
    struct flow nobody = {0};
    bool done = false;
    checkpointer_stop(checkpointer, &nobody, &done);
    while (!done)
        turn(d);
}

static void desk_close(struct desk *d) {
    stop(d, &d->checkpointer);
    core_set_destroy(d->set);
    static const char *const names[] = {"recovery-point-offset-checkpoint", "log-start-offset-checkpoint",
                                        "replication-offset-checkpoint"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", d->path, names[i]);
        unlink(path);
    }
    unlink(d->temporary);
    cr_assert_eq(rmdir(d->path), 0);
}

// The next file that is written meets a full disk.
static void fill_disk(struct desk *d) {
    unlink(d->file);
    unlink(d->temporary);
    cr_assert_eq(symlink("/dev/full", d->temporary), 0);
    memset(d->checkpointer.written, 0, 3 * sizeof *d->checkpointer.written);
}

struct party {
    struct checkpointer_wait wait;
    bool done;
};
static void waiter_done(struct checkpointer_wait *wait) {
    container_of(wait, struct party, wait)->done = true;
}
static int16_t await(struct desk *d, uint32_t tries_left) {
    struct party w = {.wait = {.tries_left = tries_left, .done = waiter_done}};
    checkpointer_await(&d->checkpointer, &w.wait);
    while (!w.done)
        turn(d);
    return w.wait.error;
}

Test(checkpointer, an_interval_of_0_does_not_spin, .timeout = 60) {
    struct desk d;
    struct checkpointer another;
    desk_open(&d);
    checkpointer_start(&another, core_control(d.set), d.dirs, 1, 1, 0);
    cr_assert_geq(another.interval_ms, 1000);
    stop(&d, &another);
    desk_close(&d);
}

Test(checkpointer, tells_whether_it_wrote, .timeout = 60) {
    struct desk d;
    desk_open(&d);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_NONE);
    cr_assert_eq(access(d.file, F_OK), 0);
    fill_disk(&d);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    cr_assert_neq(access(d.file, F_OK), 0);
    unlink(d.temporary);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_NONE);
    cr_assert_not(log_dir_is_failed(&d.dir));
    desk_close(&d);
}

Test(checkpointer, tries_again_on_a_full_disk, .timeout = 60) {
    struct desk d;
    desk_open(&d);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_NONE);
    fill_disk(&d);
    struct party w = {.wait = {.tries_left = 1000, .done = waiter_done}};
    checkpointer_await(&d.checkpointer, &w.wait);
    while (w.wait.tries_left == 1000)
        turn(&d);
    cr_assert_not(w.done);
    cr_assert_eq(d.dir.space_told, LOG_DIR_FULL, "a line says why");
    unlink(d.temporary);
    while (!w.done)
        turn(&d);
    cr_assert_eq(w.wait.error, KAFKA_ERROR_NONE);
    cr_assert_eq(access(d.file, F_OK), 0);
    cr_assert_eq(d.dir.space_told, LOG_DIR_HAS_SPACE);
    desk_close(&d);
}

// Nothing is wrong with the disk, and no line says so.
Test(checkpointer, tries_again_when_there_are_no_descriptors, .timeout = 60) {
    struct desk d;
    struct rlimit before, none;
    desk_open(&d);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_NONE);
    unlink(d.file);
    memset(d.checkpointer.written, 0, 3 * sizeof *d.checkpointer.written);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct party w = {.wait = {.tries_left = 1000, .done = waiter_done}};
    checkpointer_await(&d.checkpointer, &w.wait);
    while (w.wait.tries_left == 1000)
        turn(&d);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_assert_not(w.done);
    cr_assert(d.checkpointer.shortage_told, "a line says why");
    cr_assert_eq(d.dir.space_told, LOG_DIR_HAS_SPACE);
    cr_assert_not(log_dir_is_failed(&d.dir));
    while (!w.done)
        turn(&d);
    cr_assert_eq(w.wait.error, KAFKA_ERROR_NONE);
    cr_assert_eq(access(d.file, F_OK), 0);
    cr_assert_not(d.checkpointer.shortage_told);
    desk_close(&d);
}

Test(checkpointer, deletes_at_once_on_a_full_disk, .timeout = 60) {
    enum { A_DAY_MS = 86400000 };
    struct desk d;
    char old[128], file[160];
    desk_open(&d);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_NONE);
    snprintf(old, sizeof old, "%s/old-0-delete", d.path);
    snprintf(file, sizeof file, "%s/00000000000000000000.log", old);
    cr_assert_eq(mkdir(old, 0755), 0);
    fclose(fopen(file, "w"));
    deletion_of_directory(log_shard_enter(&d.dir, d.set->cores[0]), old, A_DAY_MS);
    log_shard_leave(d.dir.shards[0]);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_NONE);
    cr_assert_eq(access(file, F_OK), 0, "there is space, and it was deleted at once");
    fill_disk(&d);
    struct party w = {.wait = {.tries_left = 1000000, .done = waiter_done}};
    checkpointer_await(&d.checkpointer, &w.wait);
    while (access(old, F_OK) == 0)
        turn(&d);
    unlink(d.temporary); // that was the space
    while (!w.done)
        turn(&d);
    cr_assert_eq(w.wait.error, KAFKA_ERROR_NONE);
    cr_assert_null(d.dir.shards[0], "the deletion has ended");
    desk_close(&d);
}

Test(checkpointer, of_a_broker_that_stops_does_not_try_again, .timeout = 60) {
    struct desk d;
    desk_open(&d);
    cr_assert_eq(await(&d, 0), KAFKA_ERROR_NONE);
    fill_disk(&d);
    checkpointer_hurry(&d.checkpointer);
    cr_assert_eq(await(&d, 1000), KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    desk_close(&d);
}
