// SPDX-License-Identifier: Apache-2.0
// Requests: one file an API, and the table of them (table.c).
//
//   net -> dispatch.c: header, version, decode -> the handler -> respond() -> net
//
// A handler runs on the connection's core and must not block; one that has to wait embeds a flow in its own state.
// Everything that it allocates comes from the request's arena and goes with it.
#pragma once

#include "metadata/image.h"
#include "net/net.h"
#include "protocol/apis.h"
#include "tailrace/error.h"

struct api_call {
    struct request *request;
    struct core *core;
    const struct api_info *api;
    int16_t version;
    void *body; // the decoded request; NULL for handlers that decode by hand
    struct bytes body_bytes;
};
struct api_handler {
    int16_t key;
    bool decodes_by_hand;
    size_t body_bytes; // of the request's C struct
    void (*handle)(struct api_call *call);
};
// NULL: not served.
const struct api_handler *api_handler_by_key(int16_t key);
size_t api_handler_count(void);
const struct api_handler *api_handler_at(size_t index); // keys rising

// What net/ is given.
void api_handle(struct core *core, struct request *request);
bool api_overlaps(int16_t api_key);

// ---- for handlers
// ------------------------------------------------------------------------------------------------------------------
// Zeroed memory of the request; when the arena is used up, closes the connection and returns NULL: the handler just
// returns.
void *call_alloc(struct api_call *call, size_t size_bytes);
void *call_alloc_array(struct api_call *call, int32_t count, size_t element_bytes);
// Encodes the response in the request's version and finishes the request.
void respond(struct api_call *call, const void *response);
// The same in another version and with another schema (ApiVersions answers v0 to a version that it does not know).
void respond_as(struct api_call *call, int16_t version, const void *response);
// acks=0: finishes without an answer.
void respond_nothing(struct api_call *call);
// Ends the connection, saying why in the log.
void respond_close(struct api_call *call, const char *reason);
