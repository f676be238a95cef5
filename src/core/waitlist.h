// SPDX-License-Identifier: Apache-2.0
// Flows that wait for an offset (a high watermark, a flushed end) to be
// reached. Waiters need not come in order.
#pragma once

#include "core/flow.h"

struct waiter {
    struct list link;
    struct flow *flow;
    int64_t until; // woken when the reached offset is >= until
};
struct waitlist {
    struct list waiters; // by until, ascending
};

static inline void waitlist_init(struct waitlist *w) {
    list_init(&w->waiters);
}
static inline void waiter_init(struct waiter *waiter, struct flow *flow) {
    list_init(&waiter->link);
    waiter->flow = flow;
    waiter->until = 0;
}
// Appends are mostly in order, so the search starts at the back.
static inline void waitlist_add(struct waitlist *w, struct waiter *waiter, int64_t until) {
    struct list *place = &w->waiters;
    while (place->prev != &w->waiters && container_of(place->prev, struct waiter, link)->until > until)
        place = place->prev;
    waiter->until = until;
    list_insert_before(place, &waiter->link);
}
static inline void waitlist_remove(struct waiter *waiter) {
    list_remove(&waiter->link);
}
// Wakes everything that waits for `reached` or less.
static inline void waitlist_advance(struct waitlist *w, int64_t reached) {
    struct list *first = list_front(&w->waiters);
    while (first && container_of(first, struct waiter, link)->until <= reached) {
        list_remove(first);
        flow_wake(container_of(first, struct waiter, link)->flow);
        first = list_front(&w->waiters);
    }
}
// Wakes all: the partition is going away, or changes its role.
static inline void waitlist_wake_all(struct waitlist *w) {
    waitlist_advance(w, INT64_MAX);
}
