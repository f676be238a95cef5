// SPDX-License-Identifier: Apache-2.0
// When frames wait for the budget: look -> close the half-received frame that has held most memory unused for longest
// -> look again a little later, until nobody waits.
//
// Every client has at least PRESSURE_GRACE_MS, and what counts is bytes that were declared and have not come, times the
// time since the frame began: an honest client on a slow line loses to one that says much and sends nothing.
#include "base/text.h"
#include "net/connection.h"
#include <stdio.h>

enum { PRESSURE_LOOK_MS = 100, PRESSURE_GRACE_MS = 1000 };

static uint64_t unused_byte_ms(const struct connection *c, uint64_t now_ms) {
    if (!c->incoming || c->closing || c->incoming_have == c->incoming->frame_size) return 0;
    uint64_t age_ms = now_ms - c->incoming_since_ms;
    return age_ms < PRESSURE_GRACE_MS ? 0 : (c->incoming->frame_size - c->incoming_have) * age_ms;
}

static void pressure_look(struct timer *timer) {
    struct net *net = container_of(timer, struct net, pressure);
    if (!budget_is_short(&net->budget)) return;
    uint64_t now_ms = core_now_ms(net->core), worst = 0;
    struct connection *victim = NULL;
    LIST_FOREACH (link, &net->connections) {
        struct connection *c = container_of(link, struct connection, link);
        uint64_t unused = unused_byte_ms(c, now_ms);
        if (unused <= worst) continue;
        worst = unused;
        victim = c;
    }
    if (victim) {
        char reason[128];
        snprintf(reason, sizeof reason, "others wait for memory, and of a frame of %u bytes only %u came in %llu ms",
                 victim->incoming->frame_size, victim->incoming_have,
                 (unsigned long long)(now_ms - victim->incoming_since_ms));
        connection_close(victim, reason);
    }
    core_timer_set(net->core, timer, PRESSURE_LOOK_MS);
}

void pressure_init(struct net *net) {
    timer_init(&net->pressure, pressure_look);
}

void pressure_watch(struct net *net) {
    if (!timer_is_set(&net->pressure) && !net->closing) core_timer_set(net->core, &net->pressure, PRESSURE_LOOK_MS);
}
