// SPDX-License-Identifier: Apache-2.0
// Timers of one core: a hierarchical wheel of 1 ms ticks. Setting and
// cancelling cost a few instructions and no allocation; a timer fires at its
// deadline or up to 1 ms later (never early), in order of tick, and within a
// tick in the order in which it came into that slot.
#pragma once

#include "base/list.h"
#include <stdbool.h>
#include <stdint.h>

struct timer {
    struct list link;
    uint64_t deadline_ms;              // on the core's monotonic clock
    void (*fire)(struct timer *timer); // may set the timer again
};
enum { TIMER_LEVELS = 8, TIMER_SLOTS = 64 };
struct timer_wheel {
    uint64_t now_ms; // everything due at or before it has fired
    uint64_t count;
    uint64_t occupied[TIMER_LEVELS]; // a bit for each slot that is not empty
    struct list slots[TIMER_LEVELS][TIMER_SLOTS];
};

void timer_wheel_init(struct timer_wheel *wheel, uint64_t now_ms);
static inline void timer_init(struct timer *timer, void (*fire)(struct timer *)) {
    list_init(&timer->link);
    timer->deadline_ms = 0;
    timer->fire = fire;
}
static inline bool timer_is_set(const struct timer *timer) {
    return timer->link.next != NULL && list_is_linked(&timer->link);
}
// A deadline that has passed fires at the next advance. A timer that is set
// already is moved.
void timer_wheel_set(struct timer_wheel *wheel, struct timer *timer, uint64_t deadline_ms);
void timer_wheel_cancel(struct timer_wheel *wheel, struct timer *timer);
// Fires what is due. Timers set by those that fire, with a deadline at or
// before now_ms, fire in the next advance.
void timer_wheel_advance(struct timer_wheel *wheel, uint64_t now_ms);
// A time at or before the earliest deadline (exact within 64 ms, else rounded
// down to its level's slot); UINT64_MAX if none is set.
uint64_t timer_wheel_next_ms(const struct timer_wheel *wheel);
