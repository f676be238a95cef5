// SPDX-License-Identifier: Apache-2.0
// What stands before every request and response, after the frame's length. Flexible requests have header version 2
// (tagged fields), others 1; flexible responses have 1, others 0. Exceptions: ApiVersions is answered with header 0
// always, and ControlledShutdown version 0 is asked with header 0 (no client id).
#pragma once

#include "base/slice.h"
#include "protocol/apis.h"

struct frame_header {
    const struct api_info *api; // NULL if we know no such key
    int16_t api_key;
    int16_t api_version; // not checked: api_has_version
    int32_t correlation_id;
    struct str client_id; // points into the frame; may be null
    size_t size_bytes;    // where the body begins
};

// False with *reason (static text) if the frame has no complete header. An unknown key or version is no failure: the
// header is read as far as its layout can be known.
bool request_header_decode(struct bytes frame, struct frame_header *header, const char **reason);
// For our own requests to other brokers.
size_t request_header_size(const struct api_info *api, int16_t version, struct str client_id);
void request_header_encode(const struct api_info *api, int16_t version, int32_t correlation_id, struct str client_id,
                           void *memory, size_t size_bytes);

enum { RESPONSE_HEADER_MAX_BYTES = 5 };
size_t response_header_size(const struct api_info *api, int16_t version);
// Writes response_header_size bytes.
void response_header_encode(const struct api_info *api, int16_t version, int32_t correlation_id, void *memory);
// For answers of other brokers: the size of the header, 0 with *reason if it is not complete.
size_t response_header_decode(const struct api_info *api, int16_t version, struct bytes frame, int32_t *correlation_id,
                              const char **reason);
