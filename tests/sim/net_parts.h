// SPDX-License-Identifier: Apache-2.0
// What net.c (connections, and the bytes in them) and net_connect.c (how they come to be) share.
#pragma once

#include "world.h"

enum { RETRY_NS = 50 * SIM_MS };
#define TIMEOUT_NS (20 * SIM_SECOND)

struct pipe {
    uint8_t *bytes;
    size_t start, arrived, end, capacity; // [start, arrived) can be read, [arrived, end) is on the way
    uint64_t last_arrival_ns, stuck_since_ns;
    bool fin, fin_arrived;
};
struct endpoint {
    struct list link; // of the host
    struct endpoint *peer;
    uint64_t id;
    struct os_host *host;
    bool open;     // a process has it
    bool vanished; // its machine lost its memory
    bool shut;     // by os_shutdown
    bool ended;    // by os_shutdown_send, too: its fin is on the way
    int error;     // what ended it, once and for all
    uint32_t window;
    struct pipe in;
    struct os *recv_os, *send_os;
    struct os_op *recv_op;
    uint8_t *recv_buffer;
    size_t recv_size;
    struct os_send *send;
};
struct listener {
    struct list link;
    struct os_host *host;
    uint16_t port;
    int backlog, waiting_count;
    bool shut;
    struct endpoint *waiting[128];
    char waiting_from[128][24];
    struct os *accept_os;
    struct os_op *accept_op;
    struct os_address *accept_peer;
};

// net.c
uint64_t net_travel_ns(const struct os_host *a, const struct os_host *b);
void net_trace(struct endpoint *endpoint, const char *what, uint64_t number);
bool net_is_unreachable(const struct os_host *from, const struct os_host *to); // partition, or the machine is off
