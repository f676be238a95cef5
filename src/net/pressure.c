// SPDX-License-Identifier: Apache-2.0
// When frames wait for the budget: look -> close half-received frames that have held most memory unused for longest ->
// look again a little later, until nobody waits.
//
// Every client has at least PRESSURE_GRACE_MS, and what counts is bytes that were declared and have not come, times the
// time since the frame began: an honest client on a slow line loses to one that says much and sends nothing. Of those
// that still send, the worst goes, one at a look. Those that have stopped sending and are about as bad go together, as
// many as those that wait need, but no more than a quarter of the budget: a crowd would take too long one by one.
#include "base/text.h"
#include "net/connection.h"
#include <stdio.h>

enum { PRESSURE_LOOK_MS = 100, PRESSURE_GRACE_MS = 1000 };

static uint64_t unused_byte_ms(const struct connection *c, uint64_t now_ms) {
    if (!c->incoming || c->closing || c->incoming_have == c->incoming->frame_size) return 0;
    uint64_t age_ms = now_ms - c->incoming_since_ms;
    return age_ms < PRESSURE_GRACE_MS ? 0 : (c->incoming->frame_size - c->incoming_have) * age_ms;
}

static bool has_stopped(const struct connection *c, uint64_t now_ms) {
    return now_ms - c->active_ms >= PRESSURE_GRACE_MS;
}

static struct connection *connection_at(struct list *link) {
    return container_of(link, struct connection, link);
}

static uint64_t worst_of(struct net *net, uint64_t now_ms) {
    uint64_t worst = 0;
    LIST_FOREACH (link, &net->connections) {
        uint64_t unused = unused_byte_ms(connection_at(link), now_ms);
        if (unused > worst) worst = unused;
    }
    return worst;
}

static void close_for_others(struct connection *c, uint64_t now_ms) {
    char reason[128];
    snprintf(reason, sizeof reason, "others wait for memory, and of a frame of %u bytes only %u came in %llu ms",
             c->incoming->frame_size, c->incoming_have, (unsigned long long)(now_ms - c->incoming_since_ms));
    connection_close(c, reason);
}

static void pressure_look(struct timer *timer) {
    struct net *net = container_of(timer, struct net, pressure);
    if (!budget_is_short(&net->budget)) return;
    uint64_t now_ms = core_now_ms(net->core), worst = worst_of(net, now_ms);
    uint64_t wanted_bytes = min_size(net->budget.waiting_bytes, net->budget.limit_bytes / 4), closed_bytes = 0;
    LIST_FOREACH_SAFE (link, &net->connections) {
        struct connection *c = connection_at(link);
        if (worst == 0 || closed_bytes >= wanted_bytes) break;
        uint64_t unused = unused_byte_ms(c, now_ms);
        if (unused < (has_stopped(c, now_ms) ? (worst + 1) / 2 : worst)) continue;
        closed_bytes += c->incoming->frame_size;
        close_for_others(c, now_ms);
    }
    core_timer_set(net->core, timer, PRESSURE_LOOK_MS);
}

void pressure_init(struct net *net) {
    timer_init(&net->pressure, pressure_look);
}

void pressure_watch(struct net *net) {
    if (!timer_is_set(&net->pressure) && !net->closing) core_timer_set(net->core, &net->pressure, PRESSURE_LOOK_MS);
}
