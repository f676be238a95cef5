// SPDX-License-Identifier: Apache-2.0
// The order of a flow's steps, wakes, stops, timers, operations, and the one release.
#include "core/waitlist.h"
#include "fixture.h"
#include <string.h>

struct story {
    struct flow flow;
    char log[128];
    bool ready, wake_in_step;
    int rounds, released;
    struct flow_timer timer;
    struct flow_op op;
    struct story *other; // woken by a step
};

#define STORY_STEPS(STEP)                                                                                              \
    STEP(story, begin) STEP(story, await) STEP(story, round) STEP(story, skipped) STEP(story, release)
FLOW_DEFINE_COUNTED(story, STORY_STEPS, FLOW_STATS_FETCH)

static struct story *story_of(struct flow *flow) {
    return (struct story *)flow;
}
static void story_log(struct flow *flow, const char *text) {
    strcat(story_of(flow)->log, text);
}

static flow_next story_step_begin(struct flow *flow) {
    story_log(flow, "b");
    return FLOW_NEXT;
}
static flow_next story_step_await(struct flow *flow) {
    struct story *s = story_of(flow);
    story_log(flow, "a");
    if (flow->stop) return FLOW_DONE(flow, 7);
    if (s->wake_in_step) { // a wake while it runs is not lost
        s->wake_in_step = false;
        flow_wake(flow);
        return FLOW_WAIT;
    }
    return s->ready ? FLOW_NEXT : FLOW_WAIT;
}
static flow_next story_step_round(struct flow *flow) {
    struct story *s = story_of(flow);
    story_log(flow, "r");
    return s->rounds-- > 0 ? FLOW_GOTO(story, await) : FLOW_DONE(flow, 0);
}
static flow_next story_step_skipped(struct flow *flow) {
    story_log(flow, "!");
    return FLOW_NEXT;
}
static flow_next story_step_release(struct flow *flow) {
    story_log(flow, "e");
    story_of(flow)->released++;
    cr_assert_not(flow_is_active(flow));
    flow_wake(flow); // harmless: it has ended
    flow_stop(flow);
    return FLOW_END;
}

static void turn(struct core *core) {
    os_ring_doorbell(core->os); // never sleeps
    cr_assert(core_turn(core));
}

Test(flow, steps_run_in_order_and_wait_runs_the_same_step_again) {
    struct core_set *set = cores_open(1);
    struct core *core = set->cores[0];
    struct story s = {.rounds = 2};
    flow_start(&s.flow, &story_flow, core);
    cr_assert_str_eq(s.log, ""); // never inside the starter
    turn(core);
    cr_assert_str_eq(s.log, "ba");
    turn(core);
    cr_assert_str_eq(s.log, "ba"); // nobody woke it
    flow_wake(&s.flow);
    flow_wake(&s.flow); // two wakes are one
    cr_assert_str_eq(s.log, "ba");
    turn(core);
    cr_assert_str_eq(s.log, "baa");
    s.ready = true;
    flow_wake(&s.flow);
    turn(core);
    cr_assert_str_eq(s.log, "baaararare");
    cr_assert_eq(s.released, 1);
    cr_assert_eq(s.flow.error, 0);
    flow_wake(&s.flow);
    turn(core);
    cr_assert_eq(s.released, 1);
    cr_assert_eq(core->stats[FLOW_STATS_FETCH].count[story_at_begin], 1);
    cr_assert_eq(core->stats[FLOW_STATS_FETCH].count[story_at_await], 5);
    cr_assert_eq(core->stats[FLOW_STATS_FETCH].count[story_at_skipped], 0);
    cr_assert_eq(core->stats[FLOW_STATS_FETCH].count[story_at_release], 1);
    cores_close(set);
}

Test(flow, a_wake_while_a_step_runs_is_not_lost) {
    struct core_set *set = cores_open(1);
    struct story s = {.ready = true, .wake_in_step = true};
    flow_start(&s.flow, &story_flow, set->cores[0]);
    turn(set->cores[0]);
    cr_assert_str_eq(s.log, "baare");
    cores_close(set);
}

Test(flow, stop_sets_the_flag_and_wakes) {
    struct core_set *set = cores_open(1);
    struct core *core = set->cores[0];
    struct story s = {0};
    flow_start(&s.flow, &story_flow, core);
    turn(core);
    flow_stop(&s.flow);
    cr_assert(flow_is_active(&s.flow));
    turn(core);
    cr_assert_str_eq(s.log, "baae");
    cr_assert_eq(s.flow.error, 7);
    flow_start(&s.flow, &story_flow, core); // an ended flow can be started again, without the flag
    cr_assert_not(s.flow.stop);
    flow_stop(&s.flow);
    turn(core);
    cr_assert_eq(s.released, 2);
    cores_close(set);
}

#define SLEEP_STEPS(STEP) STEP(sleep, begin) STEP(sleep, timed) STEP(sleep, helped) STEP(sleep, release)
FLOW_DEFINE(sleep, SLEEP_STEPS)

static int64_t sleep_helper(struct os_host *host, void *argument) {
    (void)host;
    return *(int *)argument + 1;
}
static flow_next sleep_step_begin(struct flow *flow) {
    struct story *s = story_of(flow);
    flow_timer_set(&s->timer, flow, 20);
    return FLOW_NEXT;
}
static flow_next sleep_step_timed(struct flow *flow) {
    struct story *s = story_of(flow);
    if (!s->timer.fired) return FLOW_WAIT;
    flow_op_init(&s->op, flow);
    os_offload(flow->core->os, &s->op.op, sleep_helper, &s->rounds);
    return FLOW_NEXT;
}
static flow_next sleep_step_helped(struct flow *flow) {
    struct story *s = story_of(flow);
    if (s->op.op.in_flight) return FLOW_WAIT;
    s->rounds = (int)s->op.op.result;
    return FLOW_NEXT;
}
static flow_next sleep_step_release(struct flow *flow) {
    struct story *s = story_of(flow);
    flow_timer_cancel(&s->timer);
    s->released++;
    core_stop(flow->core);
    return FLOW_END;
}

Test(flow, timers_and_operations_wake_it) {
    struct core_set *set = cores_open(1);
    struct core *core = set->cores[0];
    struct story s = {.rounds = 41};
    core->now_ns = os_now_ns(core->os);
    uint64_t start_ms = core_now_ms(core);
    flow_start(&s.flow, &sleep_flow, core);
    while (core_turn(core)) {
    }
    cr_assert_eq(s.rounds, 42);
    cr_assert_eq(s.released, 1);
    cr_assert_geq(core_now_ms(core), start_ms + 20);
    cores_close(set);
}

Test(flow, a_wait_list_wakes_those_whose_offset_is_reached) {
    struct core_set *set = cores_open(1);
    struct core *core = set->cores[0];
    struct story s[4] = {0};
    struct waiter waiters[4];
    struct waitlist list;
    waitlist_init(&list);
    static const int64_t offsets[] = {30, 10, 20, 10};
    for (int i = 0; i < 4; i++) {
        flow_start(&s[i].flow, &story_flow, core);
        waiter_init(&waiters[i], &s[i].flow);
        waitlist_add(&list, &waiters[i], offsets[i]);
        s[i].ready = true;
    }
    for (int i = 0; i < 4; i++)
        s[i].ready = false;
    turn(core);
    for (int i = 0; i < 4; i++)
        s[i].ready = true;
    waitlist_advance(&list, 9);
    turn(core);
    cr_assert_eq(s[1].released, 0);
    waitlist_advance(&list, 19);
    turn(core);
    cr_assert(s[1].released == 1 && s[3].released == 1 && s[2].released == 0);
    waitlist_remove(&waiters[2]);
    waitlist_wake_all(&list);
    turn(core);
    cr_assert(s[0].released == 1 && s[2].released == 0);
    flow_stop(&s[2].flow);
    turn(core);
    cores_close(set);
}
