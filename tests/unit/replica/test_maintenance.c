// SPDX-License-Identifier: Apache-2.0
// When the passes come: after the initial delay, then at their intervals, of which 0 means never again.
#include "core/core.h"
#include "os/linux/host.h"
#include "replica/maintenance.h"
#include "replica/replica.h"
#include <criterion/criterion.h>

enum { DAY_MS = 86400000, TURNS_MAX = 10000000 };

struct bench {
    struct core_set *set;
    struct replicas replicas; // none
    struct maintenance maintenance;
};

static void turn(struct bench *b) {
    os_ring_doorbell(b->set->cores[0]->os);
    core_turn(b->set->cores[0]);
}

static void bench_open(struct bench *b, const struct maintenance_intervals *intervals) {
    int error;
    *b = (struct bench){0};
    b->set = core_set_create(os_host_create(), 1, &error);
    cr_assert_not_null(b->set);
    list_init(&b->replicas.all);
    b->replicas.core = b->set->cores[0];
    b->set->cores[0]->replicas = &b->replicas;
    maintenance_start(&b->maintenance, &b->replicas, intervals);
}

static void bench_close(struct bench *b) {
    struct flow nobody = {0};
    bool done = false;
    maintenance_stop(&b->maintenance, &nobody, &done);
    while (!done)
        turn(b);
    core_set_destroy(b->set);
}

static void until_asleep(struct bench *b) {
    struct maintenance *m = &b->maintenance;
    const uint64_t first_retention_ms = m->retention_due_ms, first_checkpoint_ms = m->checkpoint_due_ms;
    int turns = 0;
    while (m->retention_due_ms == first_retention_ms || m->checkpoint_due_ms == first_checkpoint_ms) {
        cr_assert_lt(turns++, TURNS_MAX);
        turn(b);
    }
    for (int i = 0; i < 10; i++)
        turn(b);
}

Test(maintenance, an_interval_of_0_is_once, .timeout = 60) {
    struct bench b;
    const struct maintenance_intervals intervals = {.producers_ms = DAY_MS};
    bench_open(&b, &intervals);
    until_asleep(&b);
    cr_assert_eq(b.maintenance.checkpoint_due_ms, UINT64_MAX);
    cr_assert_eq(b.maintenance.retention_due_ms, UINT64_MAX);
    cr_assert_not(b.maintenance.timer.fired, "the next pass is that of the producers, in a day");
    bench_close(&b);
}

Test(maintenance, all_intervals_of_0, .timeout = 60) {
    struct bench b;
    const struct maintenance_intervals intervals = {0};
    bench_open(&b, &intervals);
    until_asleep(&b);
    cr_assert_not(b.maintenance.timer.fired, "there is nothing more to come");
    bench_close(&b);
}

Test(maintenance, intervals_begin_anew_with_every_pass, .timeout = 60) {
    struct bench b;
    const struct maintenance_intervals intervals = {
        .producers_ms = DAY_MS, .retention_ms = DAY_MS, .checkpoint_ms = 1, .initial_delay_ms = 1};
    bench_open(&b, &intervals);
    const uint64_t first_ms = b.maintenance.checkpoint_due_ms;
    until_asleep(&b);
    const uint64_t second_ms = b.maintenance.checkpoint_due_ms;
    cr_assert_gt(second_ms, first_ms);
    for (int i = 0; i < TURNS_MAX && b.maintenance.checkpoint_due_ms == second_ms; i++)
        turn(&b);
    cr_assert_gt(b.maintenance.checkpoint_due_ms, second_ms);
    bench_close(&b);
}

Test(maintenance, what_has_been_due_for_longest_comes_first, .timeout = 60) {
    struct bench b;
    const struct maintenance_intervals intervals = {.producers_ms = DAY_MS, .retention_ms = 1, .checkpoint_ms = DAY_MS};
    bench_open(&b, &intervals);
    const uint64_t retention_ms = b.maintenance.retention_due_ms, checkpoint_ms = --b.maintenance.checkpoint_due_ms;
    for (int i = 0; i < TURNS_MAX && b.maintenance.checkpoint_due_ms == checkpoint_ms; i++) {
        cr_assert_eq(b.maintenance.retention_due_ms, retention_ms, "retention has not been due for so long");
        turn(&b);
    }
    cr_assert_gt(b.maintenance.checkpoint_due_ms, checkpoint_ms);
    bench_close(&b);
}
