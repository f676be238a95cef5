// SPDX-License-Identifier: Apache-2.0
// From a frame to a handler, and from a response to slices.
//
// What cannot be answered closes the connection (trap 9): a frame without a header, a key that is not served, a version
// outside the range (but ApiVersions), a body that does not decode. Bytes after the body are ignored.
#include "api/api.h"
#include "protocol/header.h"
#include "protocol/message.h"

enum { FRAME_LENGTH_BYTES = 4 };

bool api_overlaps(int16_t api_key) {
    return api_key == API_KEY_PRODUCE;
}

static bool version_is_served(const struct api_info *api, int16_t version) {
    return api_has_version(api, version) ||
           api->key == API_KEY_API_VERSIONS; // which answers versions that it does not know
}

void api_handle(struct core *core, struct request *request) {
    struct frame_header header;
    const char *reason = NULL;
    struct bytes frame = {request->frame, request->frame_size};
    if (!request_header_decode(frame, &header, &reason)) return request_close(request, reason);
    request->api_key = header.api_key;
    request->api_version = header.api_version;
    request->correlation_id = header.correlation_id;
    request->client_id = header.client_id;
    const struct api_handler *handler = api_handler_by_key(header.api_key);
    if (!handler || !header.api) return request_close(request, "API key is not served");
    if (!version_is_served(header.api, header.api_version)) return request_close(request, "version is not served");

    struct api_call *call = arena_alloc(&request->arena, sizeof *call);
    void *body = arena_alloc(&request->arena, handler->body_bytes);
    if (!call || !body) return request_close(request, "request needs too much memory");
    *call = (struct api_call){
        .request = request,
        .core = core,
        .api = header.api,
        .version = header.api_version,
        .body = body,
        .body_bytes = {frame.data + header.size_bytes, frame.size - header.size_bytes},
    };
    if (!handler->decodes_by_hand) {
        struct message_error error;
        if (!message_decode(header.api->request, call->version, call->body_bytes, NULL, body, &request->arena,
                            &error)) {
            return request_close(request, error.reason);
        }
    }
    handler->handle(call);
}

void *call_alloc(struct api_call *call, size_t size_bytes) {
    void *memory = arena_alloc(&call->request->arena, size_bytes);
    if (!memory) respond_close(call, "request needs too much memory");
    return memory;
}

void *call_alloc_array(struct api_call *call, int32_t count, size_t element_bytes) {
    void *memory = arena_alloc_array(&call->request->arena, count > 0 ? (size_t)count : 0, element_bytes);
    if (!memory) respond_close(call, "request needs too much memory");
    return memory;
}

void respond_as(struct api_call *call, int16_t version, const void *response) {
    struct request *request = call->request;
    struct message_error error;
    size_t body_size;
    if (!message_size(call->api->response, version, response, &body_size, &error))
        return respond_close(call, error.reason);
    size_t header_size = response_header_size(call->api, version);
    size_t size = header_size + body_size;
    uint8_t *memory = arena_alloc(&request->arena, FRAME_LENGTH_BYTES + size);
    struct os_slice *slice = arena_alloc(&request->arena, sizeof *slice);
    if (!memory || !slice || size > INT32_MAX) return respond_close(call, "response needs too much memory");
    store_be32(memory, (uint32_t)size);
    response_header_encode(call->api, version, request->correlation_id, memory + FRAME_LENGTH_BYTES);
    message_encode(call->api->response, version, response, memory + FRAME_LENGTH_BYTES + header_size, body_size);
    *slice = (struct os_slice){.memory = memory, .size = FRAME_LENGTH_BYTES + size};
    request_finish(request, slice, 1, NULL);
}

void respond(struct api_call *call, const void *response) {
    respond_as(call, call->version, response);
}
void respond_nothing(struct api_call *call) {
    request_finish(call->request, NULL, 0, NULL);
}
void respond_close(struct api_call *call, const char *reason) {
    request_close(call->request, reason);
}
