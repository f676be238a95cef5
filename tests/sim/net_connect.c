// SPDX-License-Identifier: Apache-2.0
// Names, listeners, and how a connection comes to be.
#include "net_parts.h"
#include <errno.h>
#include <stdio.h>

// ---- making connections
// --------------------------------------------------------------------------------------------------------
static struct os_host *resolve(struct os_host *from, const char *address) {
    if (strcmp(address, "localhost") == 0 || strcmp(address, "127.0.0.1") == 0) return from;
    for (int i = 0; i < sim.host_count; i++)
        if (strcmp(sim.hosts[i]->name, address) == 0 || strcmp(sim.hosts[i]->address, address) == 0)
            return sim.hosts[i];
    return NULL;
}

static struct listener *listener_at(struct os_host *host, uint16_t port) {
    LIST_FOREACH (link, &host->listeners) {
        struct listener *listener = container_of(link, struct listener, link);
        if (listener->port == port) return listener;
    }
    return NULL;
}

void os_set_socket_buffers(struct os_host *host, int socket, uint32_t receive_bytes, uint32_t send_bytes) {
    (void)host, (void)socket, (void)receive_bytes, (void)send_bytes; // only a matter of speed
}

int os_listen(struct os *os, const char *address, uint16_t port, int backlog, struct os_address *bound) {
    struct os_host *host = os->host;
    bool any = *address == 0 || strcmp(address, "0.0.0.0") == 0;
    if (!any && resolve(host, address) != host) return -EADDRNOTAVAIL;
    if (port != 0 && listener_at(host, port)) return -EADDRINUSE;
    while (port == 0) {
        uint16_t next = host->next_port++;
        if (!listener_at(host, next)) port = next;
    }
    int descriptor = handle_new(host, HANDLE_LISTENER);
    if (descriptor < 0) return descriptor;
    struct listener *listener = calloc(1, sizeof *listener);
    ASSERT(listener != NULL);
    listener->host = host;
    listener->port = port;
    listener->backlog = backlog;
    list_init(&listener->link);
    list_push_back(&host->listeners, &listener->link);
    host->handles[descriptor].listener = listener;
    *bound = (struct os_address){.port = port};
    snprintf(bound->text, sizeof bound->text, "%s", any ? "0.0.0.0" : host->address);
    return descriptor;
}

static int socket_for(struct endpoint *endpoint) {
    int descriptor = handle_new(endpoint->host, HANDLE_SOCKET);
    if (descriptor >= 0) endpoint->host->handles[descriptor].endpoint = endpoint;
    return descriptor;
}

static void try_accept(struct listener *listener) {
    if (!listener->accept_op || listener->waiting_count == 0) return;
    struct endpoint *endpoint = listener->waiting[0];
    snprintf(listener->accept_peer->text, sizeof listener->accept_peer->text, "%s", listener->waiting_from[0]);
    listener->accept_peer->port = (uint16_t)(40000 + endpoint->id % 20000);
    listener->waiting_count--;
    memmove(&listener->waiting[0], &listener->waiting[1],
            (size_t)listener->waiting_count * sizeof listener->waiting[0]);
    memmove(&listener->waiting_from[0], &listener->waiting_from[1],
            (size_t)listener->waiting_count * sizeof listener->waiting_from[0]);
    struct os_op *op = listener->accept_op;
    listener->accept_op = NULL;
    net_trace(endpoint, "accept", listener->port);
    op_complete(listener->accept_os, op, socket_for(endpoint));
}

void os_accept_start(struct os *os, struct os_op *op, int listener_handle, struct os_address *peer) {
    struct handle *handle = handle_get(os->host, listener_handle);
    SIM_CHECK(handle && handle->kind == HANDLE_LISTENER, "os_accept_start(%d): not a listener", listener_handle);
    struct listener *listener = handle->listener;
    SIM_CHECK(!listener->accept_op, "os_accept_start(%d): an accept is in flight on it", listener_handle);
    op_begin(os, op);
    if (listener->shut) {
        op_complete(os, op, -EINVAL);
        return;
    }
    listener->accept_op = op;
    listener->accept_os = os;
    listener->accept_peer = peer;
    try_accept(listener);
}

static struct endpoint *endpoint_create(struct os_host *host, uint64_t id) {
    struct endpoint *endpoint = calloc(1, sizeof *endpoint);
    ASSERT(endpoint != NULL);
    endpoint->host = host;
    endpoint->id = id;
    endpoint->open = true;
    endpoint->window = sim.net.window_bytes;
    list_init(&endpoint->link);
    list_push_back(&host->endpoints, &endpoint->link);
    return endpoint;
}

struct dial {
    struct os *os;
    struct os_op *op;
    struct os_host *to;
    uint16_t port;
    uint64_t since_ns;
};
static void connected(struct event *event) {
    struct endpoint *endpoint = event->b;
    struct dial *dial = event->a;
    op_complete(dial->os, dial->op, socket_for(endpoint));
    free(dial);
}
static void dial_arrives(struct event *event) {
    struct dial *dial = event->a;
    struct os_host *from = event->host, *to = dial->to;
    struct listener *listener = listener_at(to, dial->port);
    bool silent = net_is_unreachable(from, to) ||
                  (listener && !listener->shut && listener->waiting_count >= listener->backlog) ||
                  (listener && listener->waiting_count == (int)ARRAY_LENGTH(listener->waiting));
    if (silent) {
        if (sim.now_ns - dial->since_ns > TIMEOUT_NS) {
            op_complete(dial->os, dial->op, -ETIMEDOUT);
            free(dial);
        } else {
            event_add(RETRY_NS + sim_range(SIM_NETWORK, 0, 20 * RETRY_NS), dial_arrives, from, dial, NULL, 0);
        }
        return;
    }
    if (!listener || listener->shut) {
        op_complete_after(dial->os, dial->op, -ECONNREFUSED, net_travel_ns(from, to));
        free(dial);
        return;
    }
    uint64_t id = ++sim.next_connection;
    struct endpoint *near = endpoint_create(from, id), *far = endpoint_create(to, id);
    near->peer = far;
    far->peer = near;
    snprintf(listener->waiting_from[listener->waiting_count], sizeof listener->waiting_from[0], "%s",
             from == to ? "127.0.0.1" : from->address);
    listener->waiting[listener->waiting_count++] = far;
    event_add(net_travel_ns(from, to), connected, from, dial, near, 0);
    try_accept(listener);
}

void os_connect_start(struct os *os, struct os_op *op, const char *address, uint16_t port) {
    op_begin(os, op);
    struct os_host *to = resolve(os->host, address);
    if (!to) {
        op_complete_after(os, op, -EHOSTUNREACH, sim_range(SIM_NETWORK, 10 * SIM_US, 5 * SIM_MS));
        return;
    }
    struct dial *dial = malloc(sizeof *dial);
    ASSERT(dial != NULL);
    *dial = (struct dial){os, op, to, port, sim.now_ns};
    event_add(net_travel_ns(os->host, to), dial_arrives, os->host, dial, NULL, 0);
}
