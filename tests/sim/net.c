// SPDX-License-Identifier: Apache-2.0
// The simulated network: listeners and TCP-like connections. Each direction of a connection is a pipe of bounded size:
// bytes leave the sender's memory (or file) when they enter the pipe, travel for a while, and are received at any
// split. A process that dies says good-bye (end of stream, or a reset if it left bytes unread); a machine that dies
// does not: its peers learn it when they send and the machine is up again, or after a time-out. Between partitioned
// hosts bytes wait and are delivered after healing, unless the time-out ends the connection first.
#include "world.h"
#include <errno.h>
#include <stdio.h>

enum { RETRY_NS = 50 * SIM_MS, SEGMENTS_A_PUSH_MAX = 3 };
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

void net_host_init(struct os_host *host) {
    list_init(&host->listeners);
    list_init(&host->endpoints);
    host->next_port = 30000;
}

void sim_partition(struct os_host *a, struct os_host *b, bool cut) {
    sim.cut[a->id][b->id] = sim.cut[b->id][a->id] = cut;
    sim_trace(a, -1, cut ? "partition" : "heal", b->name, 0);
}

static uint64_t travel_ns(const struct os_host *a, const struct os_host *b) {
    if (a == b) return sim_range(SIM_NETWORK, 3 * SIM_US, 60 * SIM_US);
    return sim_range(SIM_NETWORK, sim.net.latency_min_ns, sim.net.latency_max_ns);
}

static void trace_net(struct endpoint *endpoint, const char *what, uint64_t number) {
    char detail[32];
    snprintf(detail, sizeof detail, "connection %llu", (unsigned long long)endpoint->id);
    sim_trace(endpoint->host, -1, what, detail, number);
}

// ---- receiving
// ---------------------------------------------------------------------------------------------------------------
static void push(struct endpoint *endpoint);

static void push_event(struct event *event) {
    push(event->a);
}

static void recv_finish(struct endpoint *endpoint, int64_t result) {
    struct os_op *op = endpoint->recv_op;
    endpoint->recv_op = NULL;
    op_complete(endpoint->recv_os, op, result);
}

static void try_recv(struct endpoint *endpoint) {
    if (!endpoint->recv_op) return;
    struct pipe *in = &endpoint->in;
    size_t there = in->arrived - in->start;
    if (endpoint->error) {
        recv_finish(endpoint, endpoint->error);
    } else if (there > 0) {
        size_t n = min_size(there, endpoint->recv_size);
        if (n > 1 && sim_chance(SIM_NETWORK, sim.net.split)) n = sim_range(SIM_NETWORK, 1, n - 1);
        memcpy(endpoint->recv_buffer, in->bytes + in->start, n);
        in->start += n;
        trace_net(endpoint, "recv", n);
        recv_finish(endpoint, (int64_t)n);
        if (endpoint->peer->send)
            event_add(travel_ns(endpoint->host, endpoint->peer->host), push_event, NULL, endpoint->peer, NULL, 0);
    } else if (in->fin_arrived || endpoint->shut) {
        recv_finish(endpoint, 0);
    }
}

static void send_finish(struct endpoint *endpoint, int64_t result) {
    struct os_send *send = endpoint->send;
    endpoint->send = NULL;
    op_complete(endpoint->send_os, &send->op, result);
}

// The connection is over for this side.
static void end_with(struct endpoint *endpoint, int error) {
    if (endpoint->error || !endpoint->open) return;
    endpoint->error = error;
    trace_net(endpoint, "broken", (uint64_t)-error);
    if (endpoint->recv_op) recv_finish(endpoint, error);
    if (endpoint->send) send_finish(endpoint, error);
}

// ---- what travels
// --------------------------------------------------------------------------------------------------------------
// Nothing gets through: partition, or the machine is off.
static bool is_unreachable(const struct os_host *from, const struct os_host *to) {
    return sim.cut[from->id][to->id] || to->powered_off;
}

static void reset_event(struct event *event) {
    struct endpoint *to = event->a;
    if (to->open && !to->vanished) end_with(to, -ECONNRESET);
}

static void send_reset(struct endpoint *from) {
    event_add(travel_ns(from->host, from->peer->host), reset_event, NULL, from->peer, NULL, 0);
}

static void arrive(struct event *event) {
    struct endpoint *to = event->a;
    struct endpoint *from = to->peer;
    bool fin = event->b != NULL;
    struct pipe *in = &to->in;
    if (is_unreachable(from->host, to->host)) {
        if (in->stuck_since_ns == 0) in->stuck_since_ns = sim.now_ns;
        if (sim.now_ns - in->stuck_since_ns > TIMEOUT_NS) {
            end_with(from, -ETIMEDOUT);
        } else {
            event_add(RETRY_NS + sim_range(SIM_NETWORK, 0, RETRY_NS), arrive, NULL, to, event->b, event->n);
        }
        return;
    }
    in->stuck_since_ns = 0;
    if (to->vanished || !to->open) { // nobody knows this connection
        if (!fin) send_reset(to);
        return;
    }
    in->arrived += event->n;
    if (fin) in->fin = true;
    if (in->fin && in->arrived == in->end) in->fin_arrived = true;
    trace_net(to, fin ? "fin" : "arrive", event->n);
    try_recv(to);
}

static void launch(struct endpoint *from, uint64_t bytes, bool fin) {
    struct pipe *in = &from->peer->in;
    uint64_t at = sim.now_ns + travel_ns(from->host, from->peer->host) + bytes * SIM_MS / sim.net.bytes_per_ms;
    if (at < in->last_arrival_ns) at = in->last_arrival_ns;
    in->last_arrival_ns = at;
    event_add(at - sim.now_ns, arrive, NULL, from->peer, fin ? (void *)from : NULL, bytes);
}

// ---- sending
// -----------------------------------------------------------------------------------------------------------------
static void pipe_make_room(struct pipe *in, size_t size) {
    if (in->start > 0 && in->start * 2 >= in->end) {
        memmove(in->bytes, in->bytes + in->start, in->end - in->start);
        in->end -= in->start;
        in->arrived -= in->start;
        in->start = 0;
    }
    if (in->end + size <= in->capacity) return;
    in->capacity = max_size(in->end + size, in->capacity * 2);
    in->bytes = realloc(in->bytes, in->capacity);
    ASSERT(in->bytes != NULL);
}

// Moves bytes of the present slice into the pipe; false: the file was shorter than the slice.
static bool push_slice(struct endpoint *endpoint, struct os_send *send, size_t n) {
    const struct os_slice *slice = &send->slices[send->index];
    struct pipe *in = &endpoint->peer->in;
    pipe_make_room(in, n);
    if (slice->memory) {
        memcpy(in->bytes + in->end, (const uint8_t *)slice->memory + send->done_bytes, n);
    } else {
        uint64_t position = slice->position + send->done_bytes;
        if (disk_peek(endpoint->host, slice->file, in->bytes + in->end, n, position) != (int64_t)n) return false;
    }
    in->end += n;
    send->done_bytes += n;
    send->sent_bytes += (int64_t)n;
    return true;
}

static void launch_in_segments(struct endpoint *endpoint, size_t bytes) {
    for (int i = 1; i < SEGMENTS_A_PUSH_MAX && bytes > 1 && sim_chance(SIM_NETWORK, sim.net.split); i++) {
        size_t part = sim_range(SIM_NETWORK, 1, bytes - 1);
        launch(endpoint, part, false);
        bytes -= part;
    }
    if (bytes > 0) launch(endpoint, bytes, false);
}

static void push(struct endpoint *endpoint) {
    struct os_send *send = endpoint->send;
    if (!send || endpoint->error) return;
    if (sim_chance(SIM_FAULTS, sim.net.reset)) {
        send_reset(endpoint);
        end_with(endpoint, -ECONNRESET);
        return;
    }
    struct pipe *in = &endpoint->peer->in;
    size_t pushed = 0;
    bool whole = true;
    while (send->index < send->count && whole) {
        const struct os_slice *slice = &send->slices[send->index];
        size_t left = slice->size - send->done_bytes;
        if (left == 0) {
            send->index++;
            send->done_bytes = 0;
            continue;
        }
        size_t held = in->end - in->start, room = held >= endpoint->window ? 0 : endpoint->window - held;
        if (room == 0) break;
        size_t n = min_size(left, room);
        whole = push_slice(endpoint, send, n);
        if (whole) pushed += n;
    }
    launch_in_segments(endpoint, pushed);
    if (!whole) {
        send_finish(endpoint, -EIO);
    } else if (send->index == send->count) {
        trace_net(endpoint, "sent", (uint64_t)send->sent_bytes);
        send_finish(endpoint, send->sent_bytes);
    }
}

static struct endpoint *endpoint_of(struct os_host *host, int socket, const char *what) {
    struct handle *handle = handle_get(host, socket);
    SIM_CHECK(handle && handle->kind == HANDLE_SOCKET, "%s(%d): not an open socket", what, socket);
    return handle->endpoint;
}

void os_send_start(struct os *os, struct os_send *send, int socket, const struct os_slice *slices, size_t count) {
    struct endpoint *endpoint = endpoint_of(os->host, socket, "os_send_start");
    SIM_CHECK(!endpoint->send, "os_send_start(%d): a send is in flight on it", socket);
    op_begin(os, &send->op);
    send->slices = slices;
    send->count = count;
    send->socket = socket;
    send->index = send->done_bytes = 0;
    send->sent_bytes = 0;
    endpoint->send = send;
    endpoint->send_os = os;
    if (endpoint->error || endpoint->ended) {
        send_finish(endpoint, endpoint->error ? endpoint->error : -EPIPE);
        return;
    }
    push(endpoint);
}

void os_recv_start(struct os *os, struct os_op *op, int socket, void *buffer, size_t size) {
    struct endpoint *endpoint = endpoint_of(os->host, socket, "os_recv_start");
    SIM_CHECK(!endpoint->recv_op, "os_recv_start(%d): a recv is in flight on it", socket);
    SIM_CHECK(size > 0, "os_recv_start(%d) of no bytes", socket);
    op_begin(os, op);
    endpoint->recv_op = op;
    endpoint->recv_os = os;
    endpoint->recv_buffer = buffer;
    endpoint->recv_size = size;
    try_recv(endpoint);
}

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
    trace_net(endpoint, "accept", listener->port);
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
    bool silent = is_unreachable(from, to) ||
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
        op_complete_after(dial->os, dial->op, -ECONNREFUSED, travel_ns(from, to));
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
    event_add(travel_ns(from, to), connected, from, dial, near, 0);
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
    event_add(travel_ns(os->host, to), dial_arrives, os->host, dial, NULL, 0);
}

// ---- ending
// --------------------------------------------------------------------------------------------------------------------
static void listener_shutdown(struct listener *listener) {
    listener->shut = true;
    if (listener->accept_op) {
        struct os_op *op = listener->accept_op;
        listener->accept_op = NULL;
        op_complete(listener->accept_os, op, -EINVAL);
    }
}

static void send_end(struct endpoint *endpoint) {
    if (endpoint->ended) return;
    endpoint->ended = true;
    if (!endpoint->error) launch(endpoint, 0, true);
    if (endpoint->send) send_finish(endpoint, -EPIPE);
}

void os_shutdown_send(struct os *os, int socket) {
    send_end(endpoint_of(os->host, socket, "os_shutdown_send"));
}

void os_shutdown(struct os *os, int socket) {
    struct handle *handle = handle_get(os->host, socket);
    SIM_CHECK(handle && handle->kind != HANDLE_FILE, "os_shutdown(%d): not a socket", socket);
    if (handle->kind == HANDLE_LISTENER) {
        listener_shutdown(handle->listener);
        return;
    }
    struct endpoint *endpoint = handle->endpoint;
    if (endpoint->shut) return;
    endpoint->shut = true;
    send_end(endpoint);
    try_recv(endpoint);
}

// The kernel's part when the last descriptor of a socket is gone.
static void endpoint_close(struct endpoint *endpoint) {
    ASSERT(endpoint->open);
    endpoint->open = false;
    endpoint->recv_op = NULL;
    endpoint->send = NULL;
    list_remove(&endpoint->link);
    bool unread = endpoint->in.arrived > endpoint->in.start;
    if (endpoint->error) return;
    if (unread) {
        send_reset(endpoint);
    } else if (!endpoint->ended) {
        launch(endpoint, 0, true);
    }
}

static void listener_close(struct listener *listener) {
    for (int i = 0; i < listener->waiting_count; i++) {
        send_reset(listener->waiting[i]);
        endpoint_close(listener->waiting[i]);
    }
    list_remove(&listener->link);
    free(listener);
}

int net_close(struct os_host *host, struct handle *handle) {
    int descriptor = (int)(handle - host->handles);
    if (handle->kind == HANDLE_LISTENER) {
        SIM_CHECK(!handle->listener->accept_op, "os_close(%d): an accept is in flight on it", descriptor);
        listener_close(handle->listener);
        return 0;
    }
    struct endpoint *endpoint = handle->endpoint;
    SIM_CHECK(!endpoint->recv_op && !endpoint->send, "os_close(%d): an operation is in flight on it", descriptor);
    endpoint_close(endpoint);
    return 0;
}

void net_process_died(struct os_host *host, bool orderly) {
    for (struct list *link; (link = list_front(&host->listeners));) {
        struct listener *listener = container_of(link, struct listener, link);
        if (!orderly) {
            for (int i = 0; i < listener->waiting_count; i++)
                listener->waiting[i]->vanished = true;
            listener->waiting_count = 0;
        }
        listener_close(listener);
    }
    for (struct list *link; (link = list_front(&host->endpoints));) {
        struct endpoint *endpoint = container_of(link, struct endpoint, link);
        endpoint->vanished = !orderly;
        if (!orderly) endpoint->error = -ENETDOWN; // says nothing to anybody
        endpoint_close(endpoint);
    }
}

void sim_reset_connections(struct os_host *host) {
    LIST_FOREACH_SAFE (link, &host->endpoints) {
        struct endpoint *endpoint = container_of(link, struct endpoint, link);
        send_reset(endpoint);
        end_with(endpoint, -ECONNRESET);
    }
}
