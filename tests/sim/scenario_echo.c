// SPDX-License-Identifier: Apache-2.0
// An echo server whose connections live on all its cores, and clients that send numbered bytes and compare what comes
// back. Proves the network (order, splits, resets, half-open ends), messages between cores, timers and stopping.
#include "base/bits.h"
#include "scenario.h"
#include <errno.h>
#include <stdlib.h>

enum { ECHO_PORT = 7, SERVER_CORES = 3, CLIENTS = 4, BUFFER_BYTES = 3000 };

// ---- the server: accept on core 0, echo on the core that comes next ------------------------------------------------
struct echo {
    struct message message; // takes it to its core
    struct flow flow;
    struct flow_op recv;
    struct os_send send;
    struct os_slice slice;
    int socket;
    uint8_t buffer[BUFFER_BYTES];
};
#define ECHO_STEPS(STEP) STEP(echo, receive) STEP(echo, received) STEP(echo, sent) STEP(echo, release)
FLOW_DEFINE(echo, ECHO_STEPS)

static void echo_send_done(struct os_op *op) {
    flow_wake(&container_of(op, struct echo, send.op)->flow);
}
static flow_next echo_step_receive(struct flow *flow) {
    struct echo *echo = container_of(flow, struct echo, flow);
    os_recv_start(flow->core->os, &echo->recv.op, echo->socket, echo->buffer, sizeof echo->buffer);
    return FLOW_NEXT;
}
static flow_next echo_step_received(struct flow *flow) {
    struct echo *echo = container_of(flow, struct echo, flow);
    if (echo->recv.op.in_flight) return FLOW_WAIT;
    if (echo->recv.op.result <= 0) return FLOW_DONE(flow, 0);
    echo->slice = (struct os_slice){.memory = echo->buffer, .size = (size_t)echo->recv.op.result};
    os_send_start(flow->core->os, &echo->send, echo->socket, &echo->slice, 1);
    return FLOW_NEXT;
}
static flow_next echo_step_sent(struct flow *flow) {
    struct echo *echo = container_of(flow, struct echo, flow);
    if (echo->send.op.in_flight) return FLOW_WAIT;
    return echo->send.op.result < 0 ? FLOW_DONE(flow, 0) : FLOW_GOTO(echo, receive);
}
static flow_next echo_step_release(struct flow *flow) {
    struct echo *echo = container_of(flow, struct echo, flow);
    os_close(flow->core->host, echo->socket);
    free(echo);
    return FLOW_END;
}
static void echo_arrives(struct core *core, struct message *message) {
    struct echo *echo = container_of(message, struct echo, message);
    flow_start(&echo->flow, &echo_flow, core);
    flow_op_init(&echo->recv, &echo->flow);
    echo->send.op = OS_OP(echo_send_done);
}

struct server {
    struct flow flow;
    struct flow_op accept;
    struct os_address peer;
    int listener, next_core;
};
#define SERVER_STEPS(STEP) STEP(server, listen) STEP(server, accept) STEP(server, accepted) STEP(server, release)
FLOW_DEFINE(server, SERVER_STEPS)

static flow_next server_step_listen(struct flow *flow) {
    struct server *server = container_of(flow, struct server, flow);
    struct os_address bound;
    server->listener = os_listen(flow->core->os, "", ECHO_PORT, 16, &bound);
    ASSERT(server->listener >= 0);
    flow_op_init(&server->accept, flow);
    return FLOW_NEXT;
}
static flow_next server_step_accept(struct flow *flow) {
    struct server *server = container_of(flow, struct server, flow);
    os_accept_start(flow->core->os, &server->accept.op, server->listener, &server->peer);
    return FLOW_NEXT;
}
static flow_next server_step_accepted(struct flow *flow) {
    struct server *server = container_of(flow, struct server, flow);
    if (server->accept.op.in_flight) return FLOW_WAIT;
    if (server->accept.op.result < 0) return FLOW_DONE(flow, 0);
    struct echo *echo = calloc(1, sizeof *echo);
    ASSERT(echo != NULL);
    echo->socket = (int)server->accept.op.result;
    core_send(flow->core, server->next_core, &echo->message, echo_arrives);
    server->next_core = (server->next_core + 1) % SERVER_CORES;
    return FLOW_GOTO(server, accept);
}
static flow_next server_step_release(struct flow *flow) {
    free(container_of(flow, struct server, flow));
    return FLOW_END;
}
static void start_server(struct core *core, void *argument) {
    (void)argument;
    struct server *server = calloc(1, sizeof *server);
    ASSERT(server != NULL);
    flow_start(&server->flow, &server_flow, core);
}

// ---- a client: connects until it works, then sends and compares
// -------------------------------------------------------
struct client {
    struct flow flow;
    struct flow_op connect, recv;
    struct os_send send;
    struct os_slice slice;
    struct flow_timer pause;
    int socket, number;
    uint64_t sent, received, goal;
    uint8_t out[BUFFER_BYTES], in[BUFFER_BYTES];
    int *done;
};
#define CLIENT_STEPS(STEP)                                                                                             \
    STEP(client, connect)                                                                                              \
    STEP(client, connected)                                                                                            \
    STEP(client, send)                                                                                                 \
    STEP(client, receive) STEP(client, compare) STEP(client, broken) STEP(client, pause) STEP(client, release)
FLOW_DEFINE(client, CLIENT_STEPS)

static uint8_t byte_at(int client, uint64_t position) {
    return (uint8_t)((position * 31 + position / 251 + (uint64_t)client * 7) & 255);
}
static void client_send_done(struct os_op *op) {
    flow_wake(&container_of(op, struct client, send.op)->flow);
}
static flow_next client_step_connect(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    flow_op_init(&client->connect, flow);
    flow_op_init(&client->recv, flow);
    client->send.op = OS_OP(client_send_done);
    os_connect_start(flow->core->os, &client->connect.op, "server", ECHO_PORT);
    return FLOW_NEXT;
}
static flow_next client_step_connected(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    if (client->connect.op.in_flight) return FLOW_WAIT;
    client->socket = (int)client->connect.op.result;
    if (client->socket < 0) return FLOW_GOTO(client, pause);
    client->sent = client->received = 0; // what a broken connection held is gone: both ends start again
    return FLOW_NEXT;
}
static flow_next client_step_send(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    size_t n = sim_range(SIM_WORKLOAD, 1, BUFFER_BYTES);
    for (size_t i = 0; i < n; i++)
        client->out[i] = byte_at(client->number, client->sent + i);
    client->sent += n;
    client->slice = (struct os_slice){.memory = client->out, .size = n};
    os_send_start(flow->core->os, &client->send, client->socket, &client->slice, 1);
    return FLOW_NEXT;
}
static flow_next client_step_receive(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    os_recv_start(flow->core->os, &client->recv.op, client->socket, client->in, sizeof client->in);
    return FLOW_NEXT;
}
static flow_next client_step_compare(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    if (client->recv.op.in_flight) return FLOW_WAIT;
    if (client->recv.op.result <= 0) return FLOW_GOTO(client, broken);
    for (int64_t i = 0; i < client->recv.op.result; i++)
        SIM_CHECK(client->in[i] == byte_at(client->number, client->received + (uint64_t)i),
                  "client %d: byte %llu came back wrong", client->number,
                  (unsigned long long)(client->received + (uint64_t)i));
    client->received += (uint64_t)client->recv.op.result;
    SIM_CHECK(client->received <= client->sent, "client %d got more than it sent", client->number);
    if (client->received < client->sent) return FLOW_GOTO(client, receive);
    return client->received >= client->goal ? FLOW_GOTO(client, broken) : FLOW_GOTO(client, send);
}
static flow_next client_step_broken(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    os_shutdown(flow->core->os, client->socket);
    if (client->send.op.in_flight) return FLOW_WAIT;
    os_close(flow->core->host, client->socket);
    if (client->received >= client->goal) return FLOW_DONE(flow, 0);
    return FLOW_NEXT;
}
static flow_next client_step_pause(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    if (!timer_is_set(&client->pause.timer) && !client->pause.fired) flow_timer_set(&client->pause, flow, 5);
    if (!client->pause.fired) return FLOW_WAIT;
    client->pause.fired = false;
    return FLOW_GOTO(client, connect);
}
static flow_next client_step_release(struct flow *flow) {
    struct client *client = container_of(flow, struct client, flow);
    ++*client->done;
    free(client);
    return FLOW_END;
}
static void start_clients(struct core *core, void *argument) {
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = calloc(1, sizeof *client);
        ASSERT(client != NULL);
        client->number = i;
        client->goal = sim_range(SIM_WORKLOAD, 5000, 60000);
        client->done = argument;
        flow_start(&client->flow, &client_flow, core);
    }
}

static bool all_done(void *context) {
    return *(int *)context == CLIENTS;
}

void scenario_echo(void) {
    struct os_host *server = sim_host_create("server", SIM_HOST_DEFAULT);
    struct os_host *clients = sim_host_create("clients", SIM_HOST_DEFAULT);
    int done = 0;
    struct sim_program serve = {.start = start_server, .data_cores = SERVER_CORES};
    struct sim_program call = {.start = start_clients, .argument = &done, .data_cores = 1};
    sim_net()->reset = (uint32_t)sim_range(SIM_FAULTS, 0, 20000);
    sim_start(server, sim_program_main, &serve);
    sim_start(clients, sim_program_main, &call);
    for (int i = 0; i < 3 && !all_done(&done); i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 40) * SIM_MS, all_done, &done);
        bool power = sim_chance(SIM_FAULTS, 300000);
        switch (sim_range(SIM_FAULTS, 0, 3)) {
        case 0:
            sim_crash(server, power ? SIM_POWER : SIM_KILL);
            sim_run(sim_range(SIM_FAULTS, 1, 200) * SIM_MS, NULL, NULL);
            sim_start(server, sim_program_main, &serve);
            break;
        case 1:
            sim_partition(server, clients, true);
            sim_run(sim_range(SIM_FAULTS, 1, 3000) * SIM_MS, NULL, NULL);
            sim_partition(server, clients, false);
            break;
        case 2: sim_reset_connections(clients); break;
        default: sim_stall(server, sim_range(SIM_FAULTS, 1, 500) * SIM_MS); break;
        }
        // A client whose server lost its power waits for ever if it has nothing to send: it has no time-out.
        if (power) sim_reset_connections(clients);
    }
    sim_net()->reset = 0;
    SIM_CHECK(sim_run(60 * SIM_SECOND, all_done, &done), "clients have not finished: %d of %d", done, CLIENTS);
}
