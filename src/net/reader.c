// SPDX-License-Identifier: Apache-2.0
// Receiving: bytes come into the connection's buffer; once a frame's length is known and granted by the budget, the
// rest of it goes straight into the request's own buffer. A complete frame is handled as soon as the order of the
// connection allows.
//
// Ends on an error, on a length outside the limits, or when the connection is closed from elsewhere. When the peer has
// ended its stream, the whole frames that came before are handled and answered as ever: a producer with acks=0 sends
// and closes, and a client may shut down its sending side and read on.
#include "base/text.h"
#include "net/connection.h"
#include "tailrace/error.h"
#include <stdio.h>

#define READER_STEPS(STEP)                                                                                             \
    STEP(reader, length)  /* until the buffer holds a frame's length */                                                \
    STEP(reader, reserve) /* until the budget grants it */                                                             \
    STEP(reader, frame)   /* until the whole frame is there */                                                         \
    STEP(reader, order)   /* until the requests before it allow it */                                                  \
    STEP(reader, handle)  /* then the next frame */                                                                    \
    STEP(reader, discard) /* the broker stops: until all is answered and the client has closed */                      \
    STEP(reader, release)
FLOW_DEFINE(reader, READER_STEPS)

enum { FRAME_LENGTH_BYTES = 4 };

static struct connection *self(struct flow *flow) {
    return container_of(flow, struct connection, reader);
}

static void receive_done(struct os_op *op) {
    flow_wake(&container_of(op, struct connection, receive)->reader);
}

void connection_reader_start(struct connection *c) {
    c->receive = OS_OP(receive_done);
    flow_start(&c->reader, &reader_flow, c->net->core);
}

static void receive_start(struct connection *c, void *memory, uint32_t size) {
    ASSERT(size > 0 && !c->receive_pending);
    c->receive_pending = true;
    os_recv_start(c->net->core->os, &c->receive, c->socket, memory, size);
}

// Takes in what a completed receive brought.
static void receive_take(struct connection *c) {
    if (!c->receive_pending || c->receive.in_flight) return;
    c->receive_pending = false;
    if (c->receive.result < 0) return connection_close(c, NULL);
    if (c->receive.result == 0) return connection_stream_ended(c);
    uint32_t n = (uint32_t)c->receive.result;
    c->active_ms = core_now_ms(c->net->core);
    if (c->receiving_frame) {
        c->incoming_have += n;
        ASSERT(c->incoming_have <= c->incoming->frame_size);
    } else {
        c->end += n;
        ASSERT(c->end <= c->buffer_size);
    }
}

// A buffer that was filled by one receive is too small for this client.
static void buffer_make_room(struct connection *c) {
    struct buffers *buffers = &c->net->core->buffers;
    uint32_t used = c->end - c->begin;
    bool full = c->buffer && used == c->buffer_size;
    if (!c->buffer || (full && c->buffer_size < CONNECTION_BUFFER_MAX_BYTES)) {
        uint32_t size = c->buffer ? c->buffer_size * 4 : CONNECTION_BUFFER_MIN_BYTES;
        uint8_t *buffer = buffer_take(buffers, size);
        if (used > 0) memcpy(buffer, c->buffer + c->begin, used);
        if (c->buffer) buffer_give(buffers, c->buffer, c->buffer_size);
        c->buffer = buffer;
        c->buffer_size = size;
    } else if (c->begin > 0) {
        memmove(c->buffer, c->buffer + c->begin, used);
    }
    c->begin = 0;
    c->end = used;
}

// Receives into the buffer, if it has room: also while a request is in progress, so that the end of the stream is seen
// at once.
static void buffer_receive(struct connection *c) {
    if (c->receive_pending || c->end_of_stream) return;
    buffer_make_room(c);
    if (c->end == c->buffer_size) return;
    c->receiving_frame = false;
    receive_start(c, c->buffer + c->end, c->buffer_size - c->end);
}

// For every waiting step: true when no more frames are taken.
static bool reader_must_end(struct connection *c) {
    receive_take(c);
    return c->closing || c->stopping;
}
// Ends after what is in flight has come back.
static flow_next reader_end(struct connection *c) {
    if (!c->closing) return FLOW_GOTO(reader, discard);
    return c->receive.in_flight ? FLOW_WAIT : FLOW_DONE(&c->reader, KAFKA_ERROR_NONE);
}
// The stream has ended and there is no whole frame any more: the writer wakes the reader after each answer.
static flow_next reader_linger(struct connection *c) {
    if (c->request_count > 0) return FLOW_WAIT;
    connection_close(c, NULL);
    return reader_end(c);
}

static flow_next reader_step_length(struct flow *flow) {
    struct connection *c = self(flow);
    if (reader_must_end(c)) return reader_end(c);
    if (c->end - c->begin >= FRAME_LENGTH_BYTES) return FLOW_NEXT;
    if (c->end_of_stream) return reader_linger(c);
    buffer_receive(c);
    return FLOW_WAIT;
}

static flow_next reader_step_reserve(struct flow *flow) {
    struct connection *c = self(flow);
    bool end = reader_must_end(c);
    if (c->claim.flow == NULL && !end) {
        int32_t size = (int32_t)load_be32(c->buffer + c->begin);
        if (size <= 0 || (uint32_t)size > c->net->limits.frame_bytes_max) {
            char reason[96];
            snprintf(reason, sizeof reason, "frame length %d, allowed are 1 to %u", size,
                     c->net->limits.frame_bytes_max);
            connection_close(c, reason);
            return reader_end(c);
        }
        c->begin += FRAME_LENGTH_BYTES;
        bool is_here = c->end - c->begin >= (size_t)size;
        if (!budget_claim(&c->net->budget, &c->claim, flow, (size_t)size, is_here)) pressure_watch(c->net);
    }
    if (end) return reader_end(c);
    return c->claim.granted ? FLOW_NEXT : FLOW_WAIT;
}

// Moves what the buffer holds of the frame.
static void frame_take_buffered(struct connection *c) {
    uint32_t n = (uint32_t)min_size(c->end - c->begin, c->incoming->frame_size - c->incoming_have);
    if (n == 0) return;
    memcpy(c->incoming->frame + c->incoming_have, c->buffer + c->begin, n);
    c->incoming_have += n;
    c->begin += n;
}

static flow_next reader_step_frame(struct flow *flow) {
    struct connection *c = self(flow);
    bool end = reader_must_end(c);
    if (!c->incoming) {
        c->incoming = request_create(c, (uint32_t)c->claim.size_bytes); // from here on the request owns the claim
        c->incoming->is_extra = c->claim.is_extra;
        c->incoming_have = 0;
        c->incoming_since_ms = core_now_ms(c->net->core);
        c->claim.flow = NULL;
    }
    if (end) return reader_end(c);
    // A receive ahead may be in flight: what it brings comes behind `end`, and is taken when it has come.
    if (!c->receive_pending || !c->receiving_frame) frame_take_buffered(c);
    if (c->incoming_have == c->incoming->frame_size) return FLOW_NEXT;
    if (c->end_of_stream) return reader_linger(c);
    if (!c->receive_pending) {
        c->receiving_frame = true;
        receive_start(c, c->incoming->frame + c->incoming_have, c->incoming->frame_size - c->incoming_have);
    }
    return FLOW_WAIT;
}

static bool order_allows(const struct connection *c) {
    if (c->request_count == 0) return true;
    return c->incoming->overlaps && c->exclusive_count == 0 && c->request_count < CONNECTION_REQUESTS_MAX;
}

static flow_next reader_step_order(struct flow *flow) {
    struct connection *c = self(flow);
    if (reader_must_end(c)) return reader_end(c);
    const struct request *request = c->incoming;
    c->incoming->overlaps = request->frame_size >= 2 && c->net->handler.overlaps((int16_t)load_be16(request->frame));
    if (order_allows(c)) return FLOW_NEXT;
    buffer_receive(c);
    return FLOW_WAIT;
}

static flow_next reader_step_handle(struct flow *flow) {
    struct connection *c = self(flow);
    struct request *request = c->incoming;
    c->incoming = NULL;
    list_push_back(&c->requests, &request->link);
    c->request_count++;
    request->number = c->next_number++;
    if (!request->overlaps) c->exclusive_count++;
    c->net->handler.handle(c->net->core, request);
    return FLOW_GOTO(reader, length);
}

// Gives back what was meant for the next frame.
static void reader_drop_frame(struct connection *c) {
    if (c->incoming) request_end(c->incoming);
    c->incoming = NULL;
    if (c->claim.flow) {
        if (c->claim.granted) {
            budget_return(&c->net->budget, c->claim.size_bytes, c->claim.is_extra);
        } else {
            budget_withdraw(&c->net->budget, &c->claim);
        }
        c->claim.flow = NULL;
    }
}

static flow_next reader_step_discard(struct flow *flow) {
    struct connection *c = self(flow);
    receive_take(c);
    if (c->closing) return reader_end(c);
    if (c->request_count == 0) connection_end_sending(c);
    if (c->receive_pending) return FLOW_WAIT; // it may go into the frame's memory
    reader_drop_frame(c);
    if (c->end_of_stream) return reader_linger(c);
    c->begin = c->end = 0;
    buffer_receive(c);
    return FLOW_WAIT;
}

static flow_next reader_step_release(struct flow *flow) {
    struct connection *c = self(flow);
    reader_drop_frame(c);
    flow_wake(&c->writer); // it ends after the reader
    return FLOW_END;
}
