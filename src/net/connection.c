// SPDX-License-Identifier: Apache-2.0
// The life of a connection: opened, two flows (reader, writer), closed when both have ended and no request is left.
//
// Closing can be asked for at any moment and by anybody: it shuts the socket down, so that operations in flight
// complete, stops both flows and the flows of the requests in progress. Answers that come later are dropped.
//
// When the broker stops, a connection ends in order: no more frames are taken, requests in progress are answered, the
// stream is ended, and what the client still sends is thrown away until it closes too or has been quiet for a while.
// (Closing with bytes unread would make the kernel reset the connection, and drop the answers that are on their way.)
#include "net/connection.h"
#include "base/text.h"
#include "core/line.h"
#include "net/gate.h"
#include <stdlib.h>

static void stop_is_over(struct timer *timer);

void net_init(struct net *net, struct core *core, const struct net_handler *handler, const struct net_limits *limits) {
    *net = (struct net){.core = core, .handler = *handler, .limits = *limits};
    budget_init(&net->budget, limits->budget_bytes);
    list_init(&net->connections);
    pressure_init(net);
    timer_init(&net->stop, stop_is_over);
}

static uint64_t connection_idle_ms_max(const struct connection *c) {
    uint64_t idle_ms_max = c->net->limits.idle_ms_max;
    bool lingers = c->end_of_stream && (idle_ms_max == 0 || idle_ms_max > CONNECTION_LINGER_MS);
    return lingers ? CONNECTION_LINGER_MS : idle_ms_max;
}

// When the broker stops. It looks in small steps, so that a core that has not run for a while does not take that for
// its client's silence. While a receive is in flight, all that has come is read.
static void connection_quiet(struct connection *c) {
    c->quiet_ms = c->active_ms == c->active_seen_ms ? c->quiet_ms + CONNECTION_QUIET_LOOK_MS : 0;
    c->active_seen_ms = c->active_ms;
    bool is_quiet = c->quiet_ms >= CONNECTION_QUIET_MS && c->request_count == 0 && c->receive.in_flight;
    if (is_quiet) return connection_close(c, NULL);
    core_timer_set(c->net->core, &c->idle_timer, CONNECTION_QUIET_LOOK_MS);
}

// A connection is closed as idle only when nothing is in flight (trap 45), or when an answer has not moved for that
// time. A half-received frame is nothing, but one that waits for the budget is not its client's fault. A client that
// has ended its stream may be gone: what it left waiting (a Fetch, a JoinGroup) is given up much sooner.
static void connection_idle(struct timer *timer) {
    struct connection *c = container_of(timer, struct connection, idle_timer);
    struct core *core = c->net->core;
    if (c->stopping) return connection_quiet(c);
    bool is_sending = c->send.op.in_flight;
    if (is_sending && c->send.sent_bytes != c->sent_seen) {
        c->sent_seen = c->send.sent_bytes;
        c->active_ms = core_now_ms(core);
    }
    uint64_t idle_ms = core_now_ms(core) - c->active_ms, idle_ms_max = connection_idle_ms_max(c);
    bool waits_for_budget = c->claim.flow && !c->claim.granted;
    if (idle_ms >= idle_ms_max && !waits_for_budget && (c->request_count == 0 || c->end_of_stream)) {
        connection_close(c, NULL);
        return;
    }
    if (is_sending && idle_ms >= idle_ms_max) {
        connection_close(c, "the client does not read its answer");
        return;
    }
    core_timer_set(core, timer, idle_ms >= idle_ms_max ? idle_ms_max : idle_ms_max - idle_ms);
}

void connection_stream_ended(struct connection *c) {
    c->end_of_stream = true;
    core_timer_set(c->net->core, &c->idle_timer, connection_idle_ms_max(c));
}

void connection_open(struct net *net, struct admission *admission) {
    if (net->closing || net->connection_count >= net->limits.connections_max) {
        if (!net->closing) {
            line(net->core, LINE_WARN, "net", admission->peer.text, "refused", "reason=\"too many connections\"");
        }
        os_close(net->core->host, admission->socket);
        net_gate_leave(net->core, admission);
        return;
    }
    struct connection *c = calloc(1, sizeof *c);
    ASSERT(c != NULL);
    c->net = net;
    c->admission = admission;
    c->socket = admission->socket;
    c->peer = admission->peer;
    c->listener_name = admission->listener_name;
    c->active_ms = core_now_ms(net->core);
    c->cut_off_behind = UINT64_MAX;
    list_init(&c->link);
    list_init(&c->requests);
    list_push_back(&net->connections, &c->link);
    net->connection_count++;
    timer_init(&c->idle_timer, connection_idle);
    if (net->limits.idle_ms_max > 0) core_timer_set(net->core, &c->idle_timer, net->limits.idle_ms_max);
    connection_reader_start(c);
    connection_writer_start(c);
}

static void connection_tell(struct connection *c, const char *reason) {
    if (c->told || !reason) return;
    c->told = true;
    char subject[96];
    struct text text = TEXT_IN(subject);
    text_addf(&text, "%s:%u", c->peer.text, c->peer.port);
    line(c->net->core, LINE_INFO, "net", subject, "closed", "listener=%s reason=\"%s\"", c->listener_name, reason);
}

static void connection_stop_requests(struct connection *c) {
    LIST_FOREACH (link, &c->requests) {
        struct request *request = container_of(link, struct request, link);
        if (request->flow) flow_stop(request->flow);
    }
}

void connection_close(struct connection *c, const char *reason) {
    connection_tell(c, reason);
    if (c->closing) return;
    c->closing = true;
    os_shutdown(c->net->core->os, c->socket);
    connection_stop_requests(c);
    flow_stop(&c->reader);
    flow_stop(&c->writer);
}

static void net_check_closed(struct net *net) {
    if (!net->closing || net->connection_count > 0) return;
    core_timer_cancel(net->core, &net->stop);
    if (net->close_flow) flow_wake(net->close_flow);
}

static void connection_stop(struct connection *c) {
    if (c->closing) return;
    c->stopping = true;
    connection_stop_requests(c);
    c->active_seen_ms = c->active_ms;
    c->quiet_ms = core_now_ms(c->net->core) - c->active_ms;
    connection_quiet(c);
    flow_wake(&c->reader);
}

void connection_end_sending(struct connection *c) {
    if (c->sending_over) return;
    c->sending_over = true;
    os_shutdown_send(c->net->core->os, c->socket);
}

void connection_free(struct connection *c) {
    ASSERT(c->closing && !flow_is_active(&c->reader) && c->request_count == 0 && !c->incoming);
    ASSERT(!c->receive.in_flight && !c->send.op.in_flight);
    struct net *net = c->net;
    core_timer_cancel(net->core, &c->idle_timer);
    os_close(net->core->host, c->socket);
    if (c->buffer) buffer_give(&net->core->buffers, c->buffer, c->buffer_size);
    list_remove(&c->link);
    net_gate_leave(net->core, c->admission);
    ASSERT(net->connection_count > 0);
    net->connection_count--;
    free(c);
    net_check_closed(net);
}

static void stop_is_over(struct timer *timer) {
    struct net *net = container_of(timer, struct net, stop);
    LIST_FOREACH_SAFE (link, &net->connections) {
        struct connection *c = container_of(link, struct connection, link);
        connection_close(c, c->request_count > 0 ? "the broker stops, and does not wait for its answers" : NULL);
    }
}

void net_close_all(struct net *net, struct flow *flow) {
    net->closing = true;
    net->close_flow = flow;
    core_timer_cancel(net->core, &net->pressure);
    core_timer_set(net->core, &net->stop, NET_STOP_MS);
    LIST_FOREACH_SAFE (link, &net->connections) {
        connection_stop(container_of(link, struct connection, link));
    }
    net_check_closed(net);
}

struct request *request_create(struct connection *c, uint32_t frame_size) {
    struct request *request = calloc(1, sizeof *request);
    ASSERT(request != NULL);
    list_init(&request->link);
    request->connection = c;
    request->core = c->net->core;
    arena_init(&request->arena, c->net->limits.arena_bytes_max);
    request->frame = buffer_take(&c->net->core->buffers, frame_size);
    request->frame_size = frame_size;
    return request;
}

void request_drop_frame(struct request *request) {
    if (!request->frame) return;
    struct net *net = request->connection->net;
    buffer_give(&net->core->buffers, request->frame, request->frame_size);
    budget_return(&net->budget, request->frame_size, request->is_extra);
    request->frame = NULL;
}

void request_end(struct request *request) {
    ASSERT(!list_is_linked(&request->link));
    if (request->sent) request->sent(request);
    request_drop_frame(request);
    arena_drop(&request->arena);
    free(request);
}

const struct os_address *request_peer(const struct request *request) {
    return &request->connection->peer;
}
const char *request_listener(const struct request *request) {
    return request->connection->listener_name;
}
bool request_is_orphan(const struct request *request) {
    return request->connection->closing;
}

bool request_may_wait(const struct request *request) {
    return !request->connection->closing && !request->connection->stopping;
}

bool request_may_pass(const struct request *request) {
    const struct list *before = request->link.prev;
    return before == &request->connection->requests || container_of(before, struct request, link)->passed;
}

void request_pass(struct request *request) {
    if (request->passed) return;
    request->passed = true;
    struct list *behind = request->link.next;
    if (behind == &request->connection->requests) return;
    struct flow *flow = container_of(behind, struct request, link)->flow;
    if (flow) flow_wake(flow);
}

bool request_is_cut_off(const struct request *request) {
    return request->number > request->connection->cut_off_behind;
}

void request_finish(struct request *request, const struct os_slice *slices, size_t count,
                    void (*sent)(struct request *request)) {
    ASSERT(!request->finished);
    request->finished = true;
    request->flow = NULL;
    request->slices = slices;
    request->slice_count = count;
    request->sent = sent;
    request_pass(request);
    flow_wake(&request->connection->writer);
}

void request_close(struct request *request, const char *reason) {
    struct connection *c = request->connection;
    if (!c->told) {
        char subject[96];
        struct text text = TEXT_IN(subject);
        text_addf(&text, "%s:%u", c->peer.text, c->peer.port);
        line(request->core, LINE_INFO, "net", subject, "closed", "listener=%s api_key=%d api_version=%d reason=\"%s\"",
             c->listener_name, request->api_key, request->api_version, reason);
        c->told = true;
    }
    request->flow = NULL;
    if (request->number < c->cut_off_behind) c->cut_off_behind = request->number;
    connection_close(c, reason);
    request_finish(request, NULL, 0, NULL);
}
