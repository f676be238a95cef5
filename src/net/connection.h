// SPDX-License-Identifier: Apache-2.0
// One client connection, as the files of net/ see it.
#pragma once

#include "net/net.h"

enum { CONNECTION_BUFFER_MIN_BYTES = 4096, CONNECTION_BUFFER_MAX_BYTES = 65536 };
enum { CONNECTION_LINGER_MS = 5000 }; // after the end of the stream, without an answer that moves
// At a stop: for how long nothing moves on a connection that nothing more is expected of.
enum { CONNECTION_QUIET_MS = 30, CONNECTION_QUIET_LOOK_MS = 10 };
enum { CONNECTION_REQUESTS_MAX = 128, CONNECTION_SLICES_A_SEND = 64 };

struct admission;
struct connection {
    struct list link; // in the net's list
    struct admission *admission;
    struct net *net;
    int socket;
    struct os_address peer;
    const char *listener_name;
    bool closing;
    bool stopping;     // no more frames are taken; what is in progress is answered
    bool sending_over; // the client has been sent the end of the stream
    bool told;         // the reason has been logged
    struct timer idle_timer;
    uint64_t active_ms;                // of the last byte or answer
    uint64_t active_seen_ms, quiet_ms; // at a stop
    int64_t sent_seen;                 // of the send in flight, when the idle timer last looked

    // reader.c
    struct flow reader;
    struct os_op receive;
    uint8_t *buffer; // received and not yet taken: [begin, end)
    uint32_t buffer_size, begin, end;
    struct request *incoming; // its frame is being received
    uint32_t incoming_have;
    uint64_t incoming_since_ms;
    bool receiving_frame; // the receive in flight goes into the frame, not into the buffer
    struct budget_claim claim;
    bool receive_pending; // started, and its result not taken yet
    bool end_of_stream;   // nothing more comes; what has come is still handled and answered

    // writer.c
    struct flow writer;
    struct os_send send;
    struct os_slice slices[CONNECTION_SLICES_A_SEND];
    size_t sending; // requests that the send in flight covers

    struct list requests; // in order of arrival
    uint32_t request_count;
    uint32_t exclusive_count; // those that do not overlap
    uint64_t next_number;
    uint64_t cut_off_behind; // number of the first request that has closed the connection; UINT64_MAX: none has
};

// Begins a connection on the core of `net`; it has the admission's socket and place from now on.
void connection_open(struct net *net, struct admission *admission);
// Ends it as soon as what is in flight has come back. reason NULL: the peer closed it, nothing is logged.
void connection_close(struct connection *c, const char *reason);
// The last part of connection_stop(): the answers are sent.
void connection_end_sending(struct connection *c);
// The client sends nothing more (reader.c). Bounds how long the rest may take.
void connection_stream_ended(struct connection *c);
// The writer's last act: it ends after the reader and after the last request.
void connection_free(struct connection *c);
// Somebody waits for the budget: from now on, until nobody does, half-received frames that hold much of it for long are
// closed (pressure.c).
void pressure_watch(struct net *net);
void pressure_init(struct net *net);
void connection_reader_start(struct connection *c);
void connection_writer_start(struct connection *c);
// Made by the reader; ended by the writer (or with the connection).
struct request *request_create(struct connection *c, uint32_t frame_size);
void request_end(struct request *request);
