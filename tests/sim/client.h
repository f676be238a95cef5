// SPDX-License-Identifier: Apache-2.0
// A Kafka client for scenarios: one connection to one broker, and calls that wake a flow. It reconnects by itself; a
// call that was on the wire when the connection broke ends with CLIENT_UNKNOWN: the broker may have done it or not.
//
//     client_call_init(&call, api_by_key(API_KEY_METADATA), 9, flow);
//     struct metadata_request *request = client_request(&call); ... fill it; what it points to stays until it is sent
//     client_send(client, &call);                               ... return FLOW_WAIT until client_is_done(&call)
//     const struct metadata_response *response = call.response; // if call.outcome == CLIENT_OK
//     client_call_end(&call);
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "protocol/apis.h"

enum client_outcome {
    CLIENT_PENDING,
    CLIENT_OK,       // there is a response
    CLIENT_NOT_SENT, // no connection: nothing has reached the broker
    CLIENT_UNKNOWN,  // sent, at least in part, and no answer came
};
struct client_call {
    // in
    const struct api_info *api;
    int16_t version;
    struct flow *flow; // woken when done
    bool no_response;  // Produce with acks=0: done when it is sent
    uint64_t timeout_ms;
    // out
    enum client_outcome outcome;
    void *response;
    // private
    struct list link;
    void *request;
    uint8_t *frame;
    size_t frame_bytes;
    struct arena arena;
    uint8_t *answer;
    int32_t correlation_id;
    uint64_t sent_ms;
};
void client_call_init(struct client_call *call, const struct api_info *api, int16_t version, struct flow *flow);
void *client_request(struct client_call *call); // with every field at its default
static inline bool client_is_done(const struct client_call *call) {
    return call->outcome != CLIENT_PENDING;
}
void client_call_end(struct client_call *call); // frees request and response

struct client;
// host: a name or address of the simulated network.
struct client *client_create(struct core *core, const char *host, uint16_t port, const char *client_id);
// Encodes the request (what it points to is not needed any more) and sends it when its turn has come.
void client_send(struct client *client, struct client_call *call);
bool client_is_connected(const struct client *client);
