// SPDX-License-Identifier: Apache-2.0
// How many connections there may be: max.connections, max.connections.per.ip and its overrides. One gate for all
// listeners, on the core that accepts; a connection on any core holds an admission, which goes home when it ends.
//
//   full: listeners do not accept until a connection has ended     address full: the new connection is closed
#pragma once

#include "base/hashmap.h"
#include "base/list.h"
#include "core/core.h"

struct net_gate_limits {
    uint32_t connections_max;        // max.connections
    uint32_t connections_per_ip_max; // max.connections.per.ip
    struct str per_ip_overrides;     // max.connections.per.ip.overrides: numeric addresses
};
struct net_gate {
    struct core *core;
    // The limits as they are now: they may change at run time. The texts are good until the next call.
    struct net_gate_limits (*limits)(struct core *core);
    uint32_t count;
    struct hashmap by_address; // of gate_address: those with connections
    struct list waiting;       // of gate_wait
};
struct gate_wait { // a listener that waits for a place
    struct list link;
    struct flow *flow;
};
struct gate_address;
// A new connection on its way to its core, and its place as long as it lives.
struct admission {
    struct message message;
    struct net_gate *gate;
    struct gate_address *address;
    struct net *net;
    int socket;
    struct os_address peer;
    const char *listener_name;
};

void net_gate_init(struct net_gate *gate, struct core *core, struct net_gate_limits (*limits)(struct core *core));
// After the last admission has come home, or the cores have ended.
void net_gate_free(struct net_gate *gate);
// On the gate's core. False: the flow is woken when a connection has ended (or gate_wait_end()).
bool net_gate_has_room(struct net_gate *gate, struct gate_wait *wait, struct flow *flow);
void gate_wait_end(struct gate_wait *wait);
// On the gate's core. NULL: there are as many from this address as there may be; *limit says how many.
struct admission *net_gate_enter(struct net_gate *gate, const struct os_address *peer, uint32_t *limit);
// On any core: the connection has ended.
void net_gate_leave(struct core *core, struct admission *admission);
