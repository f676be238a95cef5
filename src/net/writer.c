// SPDX-License-Identifier: Apache-2.0
// Sending: finished requests leave in the order in which they arrived, several small answers by one send. A request
// ends (its memory and whatever its slices hold are given back) once its bytes are with the kernel, or when the
// connection is closed.
#include "net/connection.h"
#include "tailrace/error.h"
#include <errno.h>

#define WRITER_STEPS(STEP)                                                                                             \
    STEP(writer, collect) /* until the oldest request is finished */                                                   \
    STEP(writer, send)    /* until its bytes are gone */                                                               \
    STEP(writer, drain)   /* closing: until every request has come back */                                             \
    STEP(writer, release)
FLOW_DEFINE(writer, WRITER_STEPS)

static struct connection *self(struct flow *flow) {
    return container_of(flow, struct connection, writer);
}

static void send_done(struct os_op *op) {
    flow_wake(&container_of(op, struct connection, send.op)->writer);
}

void connection_writer_start(struct connection *c) {
    c->send.op = OS_OP(send_done);
    flow_start(&c->writer, &writer_flow, c->net->core);
}

static void request_leave(struct connection *c, struct request *request) {
    list_remove(&request->link);
    c->request_count--;
    if (!request->overlaps) c->exclusive_count--;
    request_end(request);
}

// Gathers the slices of the finished requests at the head of the list. Returns how many requests; *count is the number
// of slices. A request with more slices than fit is sent alone, from its own array.
static size_t writer_gather(struct connection *c, const struct os_slice **slices, size_t *count) {
    size_t requests = 0;
    *slices = c->slices;
    *count = 0;
    LIST_FOREACH (link, &c->requests) {
        struct request *request = container_of(link, struct request, link);
        if (!request->finished) break;
        if (requests == 0 && request->slice_count > CONNECTION_SLICES_A_SEND) {
            *slices = request->slices;
            *count = request->slice_count;
            return 1;
        }
        if (*count + request->slice_count > CONNECTION_SLICES_A_SEND) break;
        if (request->slice_count > 0)
            memcpy(c->slices + *count, request->slices, request->slice_count * sizeof *c->slices);
        *count += request->slice_count;
        requests++;
    }
    return requests;
}

static flow_next writer_step_collect(struct flow *flow) {
    struct connection *c = self(flow);
    if (c->closing) return FLOW_GOTO(writer, drain);
    const struct os_slice *slices;
    size_t count;
    c->sending = writer_gather(c, &slices, &count);
    if (c->sending == 0) return FLOW_WAIT;
    if (count > 0) os_send_start(c->net->core->os, &c->send, c->socket, slices, count);
    return FLOW_NEXT;
}

static flow_next writer_step_send(struct flow *flow) {
    struct connection *c = self(flow);
    if (c->send.op.in_flight) return FLOW_WAIT;
    if (c->send.op.result < 0)
        connection_close(c, c->send.op.result == -EIO ? "a file was cut while it was being sent" : NULL);
    c->send.op.result = 0;
    c->active_ms = core_now_ms(c->net->core);
    for (; c->sending > 0; c->sending--)
        request_leave(c, container_of(list_front(&c->requests), struct request, link));
    flow_wake(&c->reader);
    return FLOW_GOTO(writer, collect);
}

static flow_next writer_step_drain(struct flow *flow) {
    struct connection *c = self(flow);
    LIST_FOREACH_SAFE (link, &c->requests) {
        struct request *request = container_of(link, struct request, link);
        if (request->finished) request_leave(c, request);
    }
    // The reader may still hand over one more request before it sees that the connection is closing.
    if (c->request_count > 0 || flow_is_active(&c->reader)) return FLOW_WAIT;
    return FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

static flow_next writer_step_release(struct flow *flow) {
    connection_free(self(flow));
    return FLOW_END;
}
