// SPDX-License-Identifier: Apache-2.0
// A listening socket: accepts one connection after the other and hands each to the data core that has the fewest.
//
// While there are max.connections, the one that was accepted last waits for a place, and the others in the backlog.
// Out of descriptors (EMFILE, ENFILE) or memory: accepting pauses for a while instead of spinning; those that are
// connected are not affected.
#include "core/line.h"
#include "net/connection.h"
#include "net/gate.h"
#include "tailrace/error.h"
#include <errno.h>
#include <stdlib.h>

enum { ACCEPT_PAUSE_MS = 100, LIMITS_LOOK_MS = 1000 }; // limits may be raised at run time

#define LISTENER_STEPS(STEP)                                                                                           \
    STEP(listener, closed)                                                                                             \
    STEP(listener, accept)                                                                                             \
    STEP(listener, accepted) STEP(listener, hand_over) STEP(listener, pause) STEP(listener, release)
FLOW_DEFINE(listener, LISTENER_STEPS)

struct net_listener {
    struct flow flow;
    struct core *core;
    struct net_listener_options options;
    int socket;
    bool accepting;
    struct flow_op accept;
    struct os_address peer;
    int accepted; // a socket that has no place yet; -1: none
    struct gate_wait wait;
    struct flow_timer pause;
    uint64_t dealt[CORES_MAX]; // connections given to each core, to deal evenly
    struct flow *close_flow;
    bool *close_done;
};

static struct net_listener *self(struct flow *flow) {
    return container_of(flow, struct net_listener, flow);
}

struct net_listener *net_listen(struct core *core, const struct net_listener_options *options, struct os_address *bound,
                                int *error) {
    int socket = os_listen(core->os, options->address, options->port, options->backlog, bound);
    if (socket < 0) {
        *error = socket;
        return NULL;
    }
    os_set_socket_buffers(core->host, socket, options->receive_buffer_bytes, options->send_buffer_bytes);
    struct net_listener *listener = calloc(1, sizeof *listener);
    ASSERT(listener != NULL);
    listener->core = core;
    listener->options = *options;
    listener->socket = socket;
    listener->accepted = -1;
    list_init(&listener->wait.link);
    flow_op_init(&listener->accept, &listener->flow);
    flow_start(&listener->flow, &listener_flow, core);
    return listener;
}

void net_listener_close(struct net_listener *listener, struct flow *flow, bool *done) {
    listener->close_flow = flow;
    listener->close_done = done;
    os_shutdown(listener->core->os, listener->socket);
    flow_stop(&listener->flow);
}

void net_listener_accept(struct net_listener *listener) {
    listener->accepting = true;
    flow_wake(&listener->flow);
}

static flow_next listener_step_closed(struct flow *flow) {
    if (flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    return self(flow)->accepting ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next listener_step_accept(struct flow *flow) {
    struct net_listener *listener = self(flow);
    if (flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    os_accept_start(listener->core->os, &listener->accept.op, listener->socket, &listener->peer);
    return FLOW_NEXT;
}

static void adopt(struct core *core, struct message *message) {
    struct admission *admission = container_of(message, struct admission, message);
    ASSERT(admission->net->core == core);
    connection_open(admission->net, admission);
}

static int listener_choose(struct net_listener *listener) {
    int best = 0;
    for (int i = 1; i < listener->options.net_count; i++) {
        if (listener->dealt[i] < listener->dealt[best]) best = i;
    }
    listener->dealt[best]++;
    return best;
}

static flow_next listener_step_accepted(struct flow *flow) {
    struct net_listener *listener = self(flow);
    if (listener->accept.op.in_flight) return FLOW_WAIT;
    int64_t socket = listener->accept.op.result;
    if (socket < 0 && flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    if (socket == -ECONNABORTED || socket == -EINTR || socket == -EAGAIN) return FLOW_GOTO(listener, accept);
    if (socket < 0) {
        line(listener->core, LINE_WARN, "net", listener->options.name, "accept_paused", "error=\"%s\" pause_ms=%d",
             os_error_text((int)socket), ACCEPT_PAUSE_MS);
        flow_timer_set(&listener->pause, flow, ACCEPT_PAUSE_MS);
        return FLOW_GOTO(listener, pause);
    }
    listener->accepted = (int)socket;
    return FLOW_NEXT;
}

// NULL: refused, and the socket is closed.
static struct admission *listener_admit(struct net_listener *listener) {
    uint32_t limit;
    struct admission *admission = net_gate_enter(listener->options.gate, &listener->peer, &limit);
    if (!admission) {
        line(listener->core, LINE_INFO, "net", listener->peer.text, "refused",
             "listener=%s reason=\"the address has its %u connections (max.connections.per.ip)\"",
             listener->options.name, limit);
        os_close(listener->core->host, listener->accepted);
    } else {
        admission->socket = listener->accepted;
        admission->listener_name = listener->options.name;
    }
    listener->accepted = -1;
    return admission;
}

static flow_next listener_step_hand_over(struct flow *flow) {
    struct net_listener *listener = self(flow);
    if (flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    if (!net_gate_has_room(listener->options.gate, &listener->wait, flow)) {
        flow_timer_set(&listener->pause, flow, LIMITS_LOOK_MS);
        return FLOW_WAIT;
    }
    flow_timer_cancel(&listener->pause);
    struct admission *admission = listener_admit(listener);
    if (admission) {
        admission->net = listener->options.nets[listener_choose(listener)];
        core_send(listener->core, admission->net->core->id, &admission->message, adopt);
    }
    return FLOW_GOTO(listener, accept);
}

static flow_next listener_step_pause(struct flow *flow) {
    struct net_listener *listener = self(flow);
    if (flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    return listener->pause.fired ? FLOW_GOTO(listener, accept) : FLOW_WAIT;
}

static flow_next listener_step_release(struct flow *flow) {
    struct net_listener *listener = self(flow);
    flow_timer_cancel(&listener->pause);
    gate_wait_end(&listener->wait);
    if (listener->accepted >= 0) os_close(listener->core->host, listener->accepted);
    os_close(listener->core->host, listener->socket);
    *listener->close_done = true;
    flow_wake(listener->close_flow);
    free(listener);
    return FLOW_END;
}
