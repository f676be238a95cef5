// SPDX-License-Identifier: Apache-2.0
// The connection is one flow: connect, then send and receive side by side until something breaks, then fail what was on
// its way, and connect again after a pause. A broker that does not answer in time is a broken connection.
#include "client.h"
#include "protocol/header.h"
#include "protocol/message.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    CLIENT_TIMEOUT_MS = 5000,
    CLIENT_PAUSE_MS = 20,
    CLIENT_RECEIVE_BYTES = 16 << 10,
    CLIENT_ARENA_BYTES = 64 << 20,
    FRAME_BYTES_MAX = 64 << 20,
};

struct client {
    struct flow flow;
    struct core *core;
    char host[64], id[32];
    uint16_t port;
    int socket;
    bool connected, broken;
    struct flow_op connect, recv;
    bool receiving;
    struct os_send send;
    struct os_slice slice;
    struct client_call *sending;
    struct flow_timer timer;
    struct list waiting, on_the_wire; // of client_call
    int32_t next_correlation_id;
    uint8_t *buffer; // received, not yet taken
    size_t buffer_bytes, buffer_capacity;
};
#define CLIENT_STEPS(STEP)                                                                                             \
    STEP(client, connect)                                                                                              \
    STEP(client, connected) STEP(client, exchange) STEP(client, drain) STEP(client, pause) STEP(client, release)
FLOW_DEFINE(client, CLIENT_STEPS)

// ---- calls
void client_call_init(struct client_call *call, const struct api_info *api, int16_t version, struct flow *flow) {
    ASSERT(api != NULL && api_has_version(api, version));
    *call = (struct client_call){.api = api, .version = version, .flow = flow, .timeout_ms = CLIENT_TIMEOUT_MS};
    list_init(&call->link);
    arena_init(&call->arena, CLIENT_ARENA_BYTES);
    call->request = calloc(1, api->request->size_bytes);
    ASSERT(call->request != NULL);
    message_default(api->request, call->request);
}

void *client_request(struct client_call *call) {
    return call->request;
}

void client_call_end(struct client_call *call) {
    ASSERT(!list_is_linked(&call->link));
    arena_drop(&call->arena);
    free(call->request);
    free(call->frame);
    free(call->answer);
    call->request = call->response = call->frame = call->answer = NULL;
}

static void call_finish(struct client_call *call, enum client_outcome outcome) {
    ASSERT(call->outcome == CLIENT_PENDING && outcome != CLIENT_PENDING);
    list_remove(&call->link);
    call->outcome = outcome;
    flow_wake(call->flow);
}

static void call_encode(struct client *client, struct client_call *call) {
    struct message_error error = {0};
    size_t body = 0;
    const struct str id = str_of(client->id);
    SIM_CHECK(message_size(call->api->request, call->version, call->request, &body, &error),
              "the client cannot encode %s version %d: %s (%s)", call->api->name, call->version, error.reason,
              error.field ? error.field : "");
    size_t header = request_header_size(call->api, call->version, id);
    call->frame_bytes = 4 + header + body;
    call->frame = malloc(call->frame_bytes);
    ASSERT(call->frame != NULL);
    store_be32(call->frame, (uint32_t)(header + body));
    request_header_encode(call->api, call->version, call->correlation_id, id, call->frame + 4, header);
    message_encode(call->api->request, call->version, call->request, call->frame + 4 + header, body);
}

void client_send(struct client *client, struct client_call *call) {
    ASSERT(call->outcome == CLIENT_PENDING && !call->frame);
    call->correlation_id = client->next_correlation_id++;
    call_encode(client, call);
    list_push_back(&client->waiting, &call->link);
    flow_wake(&client->flow);
}

bool client_is_connected(const struct client *client) {
    return client->connected && !client->broken;
}

// ---- the connection
static void client_send_done(struct os_op *op) {
    flow_wake(&container_of(op, struct client, send.op)->flow);
}

struct client *client_create(struct core *core, const char *host, uint16_t port, const char *client_id) {
    struct client *client = calloc(1, sizeof *client);
    ASSERT(client != NULL);
    client->core = core;
    client->port = port;
    client->next_correlation_id = 1;
    snprintf(client->host, sizeof client->host, "%s", host);
    snprintf(client->id, sizeof client->id, "%s", client_id);
    list_init(&client->waiting);
    list_init(&client->on_the_wire);
    flow_start(&client->flow, &client_flow, core);
    return client;
}

static flow_next client_step_connect(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    flow_op_init(&client->connect, flow);
    flow_op_init(&client->recv, flow);
    client->send = (struct os_send){.op = OS_OP(client_send_done)};
    client->sending = NULL;
    client->receiving = client->connected = client->broken = false;
    client->buffer_bytes = 0;
    os_connect_start(flow->core->os, &client->connect.op, client->host, client->port);
    return FLOW_NEXT;
}
static flow_next client_step_connected(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    if (client->connect.op.in_flight) return FLOW_WAIT;
    client->socket = (int)client->connect.op.result;
    client->connected = client->socket >= 0;
    return client->connected ? FLOW_NEXT : FLOW_GOTO(client, drain);
}

static void client_sent(struct client *client) {
    struct client_call *call = client->sending;
    if (!call || client->send.op.in_flight) return;
    client->sending = NULL;
    if (client->send.op.result < 0) {
        client->broken = true;
    } else if (call->no_response) {
        call_finish(call, CLIENT_OK);
    }
}

static void client_send_next(struct client *client) {
    struct list *link = client->sending || client->broken ? NULL : list_pop_front(&client->waiting);
    if (!link) return;
    struct client_call *call = container_of(link, struct client_call, link);
    list_push_back(&client->on_the_wire, link);
    call->sent_ms = core_now_ms(client->core);
    client->sending = call;
    client->slice = (struct os_slice){.memory = call->frame, .size = call->frame_bytes};
    os_send_start(client->core->os, &client->send, client->socket, &client->slice, 1);
}

// One response: it must answer the oldest call on the wire.
static void client_take(struct client *client, const uint8_t *frame, size_t size) {
    struct list *front = list_front(&client->on_the_wire);
    while (front && container_of(front, struct client_call, link)->no_response)
        front = front->next == &client->on_the_wire ? NULL : front->next;
    SIM_CHECK(front, "%s: a response that nobody asked for", client->id);
    struct client_call *call = container_of(front, struct client_call, link);
    call->answer = malloc(size + 1);
    ASSERT(call->answer != NULL);
    memcpy(call->answer, frame, size);
    const struct bytes bytes = {call->answer, size};
    int32_t correlation_id = 0;
    const char *reason = "";
    size_t header = response_header_decode(call->api, call->version, bytes, &correlation_id, &reason);
    SIM_CHECK(header > 0, "%s: bad response header: %s", client->id, reason);
    SIM_CHECK(correlation_id == call->correlation_id, "%s: %s: correlation id %d, expected %d", client->id,
              call->api->name, correlation_id, call->correlation_id);
    call->response = calloc(1, call->api->response->size_bytes);
    ASSERT(call->response != NULL);
    struct message_error error = {0};
    size_t consumed = 0;
    bool decoded =
        message_decode(call->api->response, call->version, (struct bytes){bytes.data + header, size - header},
                       &consumed, call->response, &call->arena, &error);
    SIM_CHECK(decoded && consumed == size - header, "%s: response to %s version %d does not decode: %s (%s)",
              client->id, call->api->name, call->version, error.reason ? error.reason : "bytes are left",
              error.field ? error.field : "");
    arena_hold(&call->arena, free, call->response);
    call_finish(call, CLIENT_OK);
}

static void client_received(struct client *client) {
    if (!client->receiving || client->recv.op.in_flight) return;
    client->receiving = false;
    if (client->recv.op.result <= 0) {
        client->broken = true;
        return;
    }
    client->buffer_bytes += (size_t)client->recv.op.result;
    size_t taken = 0;
    while (client->buffer_bytes - taken >= 4) {
        size_t size = load_be32(client->buffer + taken);
        SIM_CHECK(size <= FRAME_BYTES_MAX, "%s: a response of %zu bytes", client->id, size);
        if (client->buffer_bytes - taken - 4 < size) break;
        client_take(client, client->buffer + taken + 4, size);
        taken += 4 + size;
    }
    client->buffer_bytes -= taken;
    memmove(client->buffer, client->buffer + taken, client->buffer_bytes);
}

static void client_receive_next(struct client *client) {
    if (client->receiving || client->broken) return;
    if (client->buffer_capacity - client->buffer_bytes < CLIENT_RECEIVE_BYTES) {
        client->buffer_capacity = client->buffer_bytes * 2 + 2 * CLIENT_RECEIVE_BYTES;
        client->buffer = realloc(client->buffer, client->buffer_capacity);
        ASSERT(client->buffer != NULL);
    }
    client->receiving = true;
    os_recv_start(client->core->os, &client->recv.op, client->socket, client->buffer + client->buffer_bytes,
                  client->buffer_capacity - client->buffer_bytes);
}

static void client_check_time(struct client *client) {
    struct list *front = list_front(&client->on_the_wire);
    if (!front) return;
    struct client_call *oldest = container_of(front, struct client_call, link);
    uint64_t now_ms = core_now_ms(client->core), end_ms = oldest->sent_ms + oldest->timeout_ms;
    if (now_ms >= end_ms) {
        sim_trace(client->core->host, client->core->id, "client-timeout", oldest->api->name, 0);
        client->broken = true;
    } else if (!timer_is_set(&client->timer.timer)) {
        flow_timer_set(&client->timer, &client->flow, end_ms - now_ms);
    }
}

static flow_next client_step_exchange(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    client_sent(client);
    client_received(client);
    client_check_time(client);
    client_send_next(client);
    client_receive_next(client);
    if (!client->broken) return FLOW_WAIT;
    os_shutdown(flow->core->os, client->socket);
    return FLOW_NEXT;
}

static flow_next client_step_drain(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    if (client->connected && (client->send.op.in_flight || client->recv.op.in_flight)) return FLOW_WAIT;
    if (client->connected) os_close(flow->core->host, client->socket);
    client->connected = false;
    flow_timer_cancel(&client->timer);
    for (struct list *link; (link = list_front(&client->on_the_wire));)
        call_finish(container_of(link, struct client_call, link), CLIENT_UNKNOWN);
    for (struct list *link; (link = list_front(&client->waiting));)
        call_finish(container_of(link, struct client_call, link), CLIENT_NOT_SENT);
    flow_timer_set(&client->timer, flow, CLIENT_PAUSE_MS);
    return FLOW_NEXT;
}

static flow_next client_step_pause(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    return client->timer.fired ? FLOW_GOTO(client, connect) : FLOW_WAIT;
}

static flow_next client_step_release(struct flow *flow) {
    (void)flow; // a client lives as long as its process
    return FLOW_END;
}
