// SPDX-License-Identifier: Apache-2.0
// Messages between real cores on real threads: order, overflow, and the race between going to sleep and being woken.
#include "base/bits.h"
#include "fixture.h"

struct stop_message {
    struct message message;
};
static void stop_deliver(struct core *core, struct message *message) {
    (void)message;
    core_stop(core);
}

// ---- order and overflow: more messages in one turn than the queue has slots
enum { BURST = 3 * CORE_QUEUE_SLOTS + 17 };
struct burst {
    struct flow flow;
    int to;
    int back; // of the messages that came home
    struct {
        struct message message;
        struct burst *burst;
        int number;
    } items[BURST];
    int expected; // on the receiving core
    struct stop_message stop;
};

#define BURST_STEPS(STEP) STEP(burst, send) STEP(burst, gather) STEP(burst, release)
FLOW_DEFINE(burst, BURST_STEPS)

static void burst_return(struct core *core, struct message *message) {
    (void)core;
    __typeof__(((struct burst *)0)->items[0]) *item = (void *)message;
    cr_assert_eq(item->number, item->burst->back, "the way back is in order too");
    item->burst->back++;
    flow_wake(&item->burst->flow);
}
static void burst_deliver(struct core *core, struct message *message) {
    __typeof__(((struct burst *)0)->items[0]) *item = (void *)message;
    cr_assert_eq(core->id, item->burst->to);
    cr_assert_eq(item->number, item->burst->expected);
    item->burst->expected++;
    core_send(core, item->burst->flow.core->id, message, burst_return);
}
static flow_next burst_step_send(struct flow *flow) {
    struct burst *b = container_of(flow, struct burst, flow);
    for (int i = 0; i < BURST; i++) {
        b->items[i].burst = b;
        b->items[i].number = i;
        core_send(flow->core, b->to, &b->items[i].message, burst_deliver);
    }
    return FLOW_NEXT;
}
static flow_next burst_step_gather(struct flow *flow) {
    struct burst *b = container_of(flow, struct burst, flow);
    return b->back == BURST ? FLOW_NEXT : FLOW_WAIT;
}
static flow_next burst_step_release(struct flow *flow) {
    struct burst *b = container_of(flow, struct burst, flow);
    core_send(flow->core, b->to, &b->stop.message, stop_deliver);
    return FLOW_END;
}

// Both cores send to each other at once; each one stops the other when it has everything back.
Test(messages, arrive_in_order_even_when_the_queue_overflows) {
    struct core_set *set = cores_open(1);
    struct burst *bursts = calloc(2, sizeof *bursts);
    for (int i = 0; i < 2; i++) {
        bursts[i].to = 1 - i;
        flow_start(&bursts[i].flow, &burst_flow, set->cores[i]);
    }
    cores_run(set);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(bursts[i].expected, BURST);
        cr_assert_eq(bursts[i].back, BURST);
    }
    free(bursts);
    cores_close(set);
}

Test(messages, to_oneself_arrive_in_the_next_turn) {
    struct core_set *set = cores_open(1);
    struct stop_message stop;
    core_send(set->cores[0], 0, &stop.message, stop_deliver);
    cr_assert_not(set->cores[0]->stopping);
    cr_assert_not(core_turn(set->cores[0]));
    cores_close(set);
}

// ---- a ball that goes round three cores, each of which sleeps without a deadline in between: a lost wake would hang
enum { BALLS = 3, HOPS = 4000 };
struct ball {
    struct message message;
    int hops;
    _Atomic int *alive;
    struct stop_message stops[CORES_MAX];
};
static void ball_deliver(struct core *core, struct message *message) {
    struct ball *ball = container_of(message, struct ball, message);
    int count = core->set->count;
    if (--ball->hops > 0) {
        core_send(core, (core->id + 1 + ball->hops % 2) % count, message, ball_deliver);
        return;
    }
    if (atomic_fetch_sub(ball->alive, 1) > 1) return;
    for (int to = 0; to < count; to++)
        core_send(core, to, &ball->stops[to].message, stop_deliver);
}

Test(messages, no_wake_is_lost_between_sleeping_cores) {
    struct core_set *set = cores_open(2);
    _Atomic int alive = BALLS;
    static struct ball balls[BALLS];
    for (int i = 0; i < BALLS; i++) {
        balls[i].hops = HOPS + i;
        balls[i].alive = &alive;
        core_send(set->cores[i], (i + 1) % set->count, &balls[i].message, ball_deliver);
    }
    cores_run(set);
    cr_assert_eq(alive, 0);
    cores_close(set);
}
