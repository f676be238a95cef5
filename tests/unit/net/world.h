// SPDX-License-Identifier: Apache-2.0
// A data core with a listener on loopback and a handler that echoes, driven turn by turn, and its clients.
#pragma once

#include "net/gate.h"
#include "net/net.h"

enum { TURNS_MAX = 20000, KEY_SLOW = 1, KEY_OVERLAPPING = 0 };

// Fires again and again.
struct tick {
    struct timer timer;
    struct core *core;
};

// A timer keeps a turn from waiting longer than a millisecond.
struct world {
    struct os_host *host;
    struct core_set *set;
    struct core *core;
    struct net net;
    struct net *nets[1];
    struct net_gate gate;
    struct net_gate_limits gate_limits;
    struct net_listener *listener;
    struct os_address address;
    struct tick ticks[2];
    struct request *parked[8];
    int parked_count, handled;
    bool clients_read_little; // they have small buffers
};

// In the handler: a frame whose third byte is 'p' is parked, any other is answered with itself.
void world_begin(struct world *w);
// Closes what is left, and looks that nothing is held any more.
void world_end(struct world *w);
void world_turn(struct world *w);
void echo(struct request *request);

int client_connect(struct world *w);
void client_send(struct world *w, int fd, const void *data, size_t n);
// Takes turns until n bytes have come; returns how many came before the stream ended.
size_t client_receive(struct world *w, int fd, void *buffer, size_t n);
// Sends a frame, which is parked.
void send_parked(struct world *w, int fd);
