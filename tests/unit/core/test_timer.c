// SPDX-License-Identifier: Apache-2.0
// The timer wheel against a model that looks at every timer.
#include "base/bits.h"
#include "core/timer.h"
#include <criterion/criterion.h>
#include <string.h>

enum { TIMERS = 200, STEPS = 30000 };

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
// Up to 2^bits, every magnitude equally likely.
static uint64_t random_span(uint64_t *state, unsigned bits) {
    unsigned shift = (unsigned)(next_random(state) % bits);
    return next_random(state) & ((2ull << shift) - 1);
}

struct model {
    struct timer_wheel wheel;
    struct {
        struct timer timer;
        struct model *model;
        bool set, due, fired;
        uint64_t at_ms; // when it must fire: the deadline, or the next tick if that had passed
    } items[TIMERS];
    uint64_t last_fired_ms;
};

static void model_fire(struct timer *timer) {
    __typeof__(((struct model *)0)->items[0]) *item = (void *)container_of(timer, __typeof__(*item), timer);
    cr_assert(item->set && item->due, "fired early, twice or after a cancel");
    cr_assert_geq(item->at_ms, item->model->last_fired_ms, "out of order");
    item->model->last_fired_ms = item->at_ms;
    item->set = false;
    item->fired = true;
}

static void model_advance(struct model *m, uint64_t to_ms) {
    for (int i = 0; i < TIMERS; i++) {
        m->items[i].due = m->items[i].set && m->items[i].at_ms <= to_ms;
        m->items[i].fired = false;
    }
    m->last_fired_ms = 0;
    timer_wheel_advance(&m->wheel, to_ms);
    cr_assert_eq(m->wheel.now_ms, to_ms);
    for (int i = 0; i < TIMERS; i++)
        cr_assert_eq(m->items[i].fired, m->items[i].due, "late");
}

static void model_check_next(struct model *m) {
    uint64_t earliest = UINT64_MAX, count = 0;
    for (int i = 0; i < TIMERS; i++) {
        cr_assert_eq(timer_is_set(&m->items[i].timer), m->items[i].set);
        if (!m->items[i].set) continue;
        count++;
        if (m->items[i].at_ms < earliest) earliest = m->items[i].at_ms;
    }
    cr_assert_eq(m->wheel.count, count);
    uint64_t next = timer_wheel_next_ms(&m->wheel);
    cr_assert_leq(next, earliest);
    cr_assert_eq(next == UINT64_MAX, earliest == UINT64_MAX);
    cr_assert_gt(next, m->wheel.now_ms, "no progress");
}

static void model_run(uint64_t seed, uint64_t start_ms, unsigned span_bits) {
    struct model *m = calloc(1, sizeof *m);
    timer_wheel_init(&m->wheel, start_ms);
    for (int i = 0; i < TIMERS; i++) {
        m->items[i].model = m;
        timer_init(&m->items[i].timer, model_fire);
    }
    for (int step = 0; step < STEPS; step++) {
        int i = (int)(next_random(&seed) % TIMERS);
        uint64_t now = m->wheel.now_ms;
        switch (next_random(&seed) % 8) {
        case 0:
        case 1:
        case 2: // set, or move
        case 3: {
            bool past = next_random(&seed) % 16 == 0;
            uint64_t span = random_span(&seed, span_bits);
            uint64_t deadline = past ? now - (span < now ? span : now) : now + span;
            timer_wheel_set(&m->wheel, &m->items[i].timer, deadline);
            m->items[i].set = true;
            m->items[i].at_ms = deadline > now ? deadline : now + 1;
            break;
        }
        case 4:
            timer_wheel_cancel(&m->wheel, &m->items[i].timer);
            m->items[i].set = false;
            break;
        case 5: model_advance(m, now + random_span(&seed, span_bits)); break;
        case 6: model_advance(m, now + 1); break;
        default: {
            uint64_t next = timer_wheel_next_ms(&m->wheel);
            if (next != UINT64_MAX) model_advance(m, next);
        }
        }
        if (step % 16 == 0) model_check_next(m);
    }
    free(m);
}

Test(timer, behaves_like_the_model_on_short_spans) {
    model_run(1, 0, 8);
}
Test(timer, behaves_like_the_model_on_middle_spans) {
    model_run(2, 63, 20);
}
Test(timer, behaves_like_the_model_over_decades) {
    model_run(3, (1ull << 36) - 3, 38);
}
Test(timer, behaves_like_the_model_on_one_long_timer_at_a_time) {
    model_run(4, 4095, 30);
}

Test(timer, a_deadline_beyond_the_end_of_time_just_waits) {
    struct model *m = calloc(1, sizeof *m);
    timer_wheel_init(&m->wheel, 5);
    timer_init(&m->items[0].timer, model_fire);
    timer_wheel_set(&m->wheel, &m->items[0].timer, UINT64_MAX);
    timer_wheel_advance(&m->wheel, 1ull << 47);
    cr_assert(timer_is_set(&m->items[0].timer));
    timer_wheel_cancel(&m->wheel, &m->items[0].timer);
    cr_assert_eq(timer_wheel_next_ms(&m->wheel), UINT64_MAX);
    free(m);
}

struct chain {
    struct timer_wheel wheel;
    struct timer first, second, third;
    int fired_first, fired_second, fired_third;
};
static void chain_first(struct timer *timer) {
    struct chain *c = container_of(timer, struct chain, first);
    c->fired_first++;
    timer_wheel_cancel(&c->wheel, &c->second);      // due in the same advance: must not fire
    timer_wheel_set(&c->wheel, &c->third, 1000000); // due too: moved away
    timer_wheel_set(&c->wheel, timer, 0);           // itself, in the past: the next advance
}
static void chain_second(struct timer *timer) {
    container_of(timer, struct chain, second)->fired_second++;
}
static void chain_third(struct timer *timer) {
    container_of(timer, struct chain, third)->fired_third++;
}

Test(timer, one_that_fires_may_cancel_and_move_others) {
    struct chain c;
    memset(&c, 0, sizeof c);
    timer_wheel_init(&c.wheel, 100);
    timer_init(&c.first, chain_first);
    timer_init(&c.second, chain_second);
    timer_init(&c.third, chain_third);
    timer_wheel_set(&c.wheel, &c.first, 110);
    timer_wheel_set(&c.wheel, &c.second, 110);
    timer_wheel_set(&c.wheel, &c.third, 111);
    timer_wheel_advance(&c.wheel, 109);
    cr_assert_eq(c.fired_first, 0);
    timer_wheel_advance(&c.wheel, 200);
    cr_assert_eq(c.fired_first, 1);
    cr_assert_eq(c.fired_second, 0);
    cr_assert_eq(c.fired_third, 0);
    cr_assert_eq(c.wheel.count, 2);
    timer_wheel_advance(&c.wheel, 201);
    cr_assert_eq(c.fired_first, 2);
    timer_wheel_cancel(&c.wheel, &c.first);
    timer_wheel_advance(&c.wheel, 999999);
    cr_assert_eq(c.fired_third, 0);
    timer_wheel_advance(&c.wheel, 1000000);
    cr_assert_eq(c.fired_third, 1);
    cr_assert_eq(c.wheel.count, 0);
}
