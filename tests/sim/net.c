// SPDX-License-Identifier: Apache-2.0
// The simulated network: listeners and TCP-like connections. Each direction of a connection is a pipe of bounded size:
// bytes leave the sender's memory (or file) when they enter the pipe, travel for a while, and are received at any
// split. A process that dies says good-bye (end of stream, or a reset if it left bytes unread); a machine that dies
// does not: its peers learn it when they send and the machine is up again, or after a time-out. Between partitioned
// hosts bytes wait and are delivered after healing, unless the time-out ends the connection first.
#include "net_parts.h"
#include <errno.h>
#include <stdio.h>

enum { SEGMENTS_A_PUSH_MAX = 3 };

void net_host_init(struct os_host *host) {
    list_init(&host->listeners);
    list_init(&host->endpoints);
    host->next_port = 30000;
}

void sim_partition(struct os_host *a, struct os_host *b, bool cut) {
    sim.cut[a->id][b->id] = sim.cut[b->id][a->id] = cut;
    sim_trace(a, -1, cut ? "partition" : "heal", b->name, 0);
}

uint64_t net_travel_ns(const struct os_host *a, const struct os_host *b) {
    if (a == b) return sim_range(SIM_NETWORK, 3 * SIM_US, 60 * SIM_US);
    return sim_range(SIM_NETWORK, sim.net.latency_min_ns, sim.net.latency_max_ns);
}

void net_trace(struct endpoint *endpoint, const char *what, uint64_t number) {
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
        net_trace(endpoint, "recv", n);
        recv_finish(endpoint, (int64_t)n);
        if (endpoint->peer->send)
            event_add(net_travel_ns(endpoint->host, endpoint->peer->host), push_event, NULL, endpoint->peer, NULL, 0);
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
    net_trace(endpoint, "broken", (uint64_t)-error);
    if (endpoint->recv_op) recv_finish(endpoint, error);
    if (endpoint->send) send_finish(endpoint, error);
}

// ---- what travels
// --------------------------------------------------------------------------------------------------------------
// Nothing gets through: partition, or the machine is off.
bool net_is_unreachable(const struct os_host *from, const struct os_host *to) {
    return sim.cut[from->id][to->id] || to->powered_off;
}

static void reset_event(struct event *event) {
    struct endpoint *to = event->a;
    if (to->open && !to->vanished) end_with(to, -ECONNRESET);
}

static void send_reset(struct endpoint *from) {
    event_add(net_travel_ns(from->host, from->peer->host), reset_event, NULL, from->peer, NULL, 0);
}

static void arrive(struct event *event) {
    struct endpoint *to = event->a;
    struct endpoint *from = to->peer;
    bool fin = event->b != NULL;
    struct pipe *in = &to->in;
    if (net_is_unreachable(from->host, to->host)) {
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
    net_trace(to, fin ? "fin" : "arrive", event->n);
    try_recv(to);
}

static void launch(struct endpoint *from, uint64_t bytes, bool fin) {
    struct pipe *in = &from->peer->in;
    uint64_t at = sim.now_ns + net_travel_ns(from->host, from->peer->host) + bytes * SIM_MS / sim.net.bytes_per_ms;
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
        net_trace(endpoint, "sent", (uint64_t)send->sent_bytes);
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
