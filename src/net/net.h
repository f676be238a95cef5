// SPDX-License-Identifier: Apache-2.0
// Client connections: listeners, framing, requests in order, responses in order. What a request means is the handler's
// business.
//
//   accept (listener.c, first data core) -> adopt (connection.c, the core with the fewest connections)
//   reader.c: length -> budget -> frame -> order -> handler        writer.c: finished requests, in order of arrival, to
//   the socket
//
// One request of a connection is in progress at a time, except that requests of an overlapping kind (Produce) may
// follow one another before the earlier ones are answered. Everything of a connection happens on its core.
#pragma once

#include "base/arena.h"
#include "core/buffers.h"
#include "core/core.h"
#include "os/os.h"

struct connection;
struct net_gate; // gate.h
struct request;

struct net_handler {
    // Takes the request: sooner or later it calls request_finish() or request_close(), on the request's core. Must not
    // block.
    void (*handle)(struct core *core, struct request *request);
    // Whether a request with this API key may be handled before earlier ones of the same kind are answered.
    bool (*overlaps)(int16_t api_key);
};
struct net_limits {
    uint32_t frame_bytes_max; // socket.request.max.bytes
    size_t budget_bytes;      // frames that this core may hold
    size_t arena_bytes_max;   // of one request, beside its frame
    uint32_t connections_max; // of this core
    uint64_t idle_ms_max;     // connections.max.idle.ms
    int socket_backlog;
};
// Per core.
struct net {
    struct core *core;
    struct net_handler handler;
    struct net_limits limits;
    struct budget budget;
    struct timer pressure; // pressure.c
    struct timer stop;     // the end of patience, when the broker stops
    struct list connections;
    uint32_t connection_count;
    bool closing;
    struct flow *close_flow;
};
void net_init(struct net *net, struct core *core, const struct net_handler *handler, const struct net_limits *limits);
// Closes every connection: no more frames are taken, requests in progress are answered (those that wait for something,
// early), for NET_STOP_MS at most; then without their answers. Wakes the flow when none is left (look at
// connection_count).
enum { NET_STOP_MS = 1000 };
void net_close_all(struct net *net, struct flow *flow);

// A request lives from its frame's arrival until its response has been sent or dropped.
struct request {
    struct list link; // in the connection's list, in order of arrival
    struct connection *connection;
    struct core *core;
    struct arena arena; // dropped at the end
    uint8_t *frame;     // what followed the length; given back at the end or by request_drop_frame()
    uint32_t frame_size;
    bool is_extra;   // the frame's claim was granted on top of the budget's limit
    uint64_t number; // of its connection
    bool overlaps;
    bool passed; // those behind it may take effect
    // From the header; the handler fills them.
    int16_t api_key;
    int16_t api_version;
    int32_t correlation_id;
    struct str client_id; // points into the frame
    // Stopped (flow_stop) when the connection closes or the broker stops; NULL if nothing waits on this core.
    struct flow *flow;
    // The response.
    bool finished;
    const struct os_slice *slices;
    size_t slice_count;
    void (*sent)(struct request *request); // gives back what the slices hold; called before the arena is dropped
    void *context;                         // the handler's
};
// The response, complete with length and header, in slices that stay until sent() (their array too). No slices: nothing
// is sent (acks=0).
void request_finish(struct request *request, const struct os_slice *slices, size_t count,
                    void (*sent)(struct request *request));
// Closes the connection without an answer, with one log line that gives the reason (static text) and the request's key
// and version. Those behind it that have not taken effect must not (request_is_cut_off).
void request_close(struct request *request, const char *reason);
// Requests of a connection that overlap take effect in the order in which they came: whether all before this one have
// passed; its flow is woken when the last one does. A request that is finished has passed.
bool request_may_pass(const struct request *request);
void request_pass(struct request *request);
// Whether a request before it has closed the connection: it must not take effect any more. (When it is the client that
// has closed, what came whole still does.)
bool request_is_cut_off(const struct request *request);
// The frame's bytes are not needed any more (no view into it is used later).
void request_drop_frame(struct request *request);
const struct os_address *request_peer(const struct request *request);
const char *request_listener(const struct request *request); // the name of the listener that it came in by
bool request_is_orphan(const struct request *request);       // its connection is closing: the answer will be dropped
bool request_may_wait(const struct request *request);        // neither closes its connection, nor does the broker stop

// A listening socket: accepts on the core that opened it and deals connections out to the data cores.
struct net_listener;
struct net_listener_options {
    const char *name; // "PLAINTEXT"
    const char *address;
    uint16_t port;
    int backlog;
    uint32_t receive_buffer_bytes, send_buffer_bytes; // of each connection's socket; 0: the system's
    struct net_gate *gate;                            // of all listeners
    struct net **nets;                                // of the data cores
    int net_count;
};
// On the core that will accept: binds, and lets clients queue up; net_listener_accept() lets them in. NULL and *error
// (a negative errno) if it cannot listen. *bound gets the address in use.
struct net_listener *net_listen(struct core *core, const struct net_listener_options *options, struct os_address *bound,
                                int *error);
void net_listener_accept(struct net_listener *listener);
// Stops accepting; wakes the flow when the listener is closed and freed (then *done is true).
void net_listener_close(struct net_listener *listener, struct flow *flow, bool *done);
