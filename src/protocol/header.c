// SPDX-License-Identifier: Apache-2.0
// See header.h. By hand, because these few bytes are read and written for every request.
#include "protocol/header.h"
#include "protocol/wire.h"

static bool has_client_id(int16_t key, int16_t version) {
    return key != API_KEY_CONTROLLED_SHUTDOWN || version != 0;
}

bool request_header_decode(struct bytes frame, struct frame_header *header, const char **reason) {
    struct reader r = reader_of(frame);
    *header = (struct frame_header){0};
    header->api_key = read_int16(&r);
    header->api_version = read_int16(&r);
    header->correlation_id = read_int32(&r);
    header->api = r.error ? NULL : api_by_key(header->api_key);
    // The client id stays classic in flexible headers too.
    if (has_client_id(header->api_key, header->api_version)) header->client_id = read_string(&r, false);
    if (header->api && api_is_flexible(header->api, header->api_version)) skip_tags(&r);
    if (r.error) {
        *reason = r.error;
        return false;
    }
    header->size_bytes = frame.size - reader_left(&r);
    return true;
}

size_t request_header_size(const struct api_info *api, int16_t version, struct str client_id) {
    ASSERT(api_has_version(api, version));
    size_t size = 8;
    if (has_client_id(api->key, version)) size += string_size(false, client_id);
    return size + (api_is_flexible(api, version) ? 1 : 0);
}

void request_header_encode(const struct api_info *api, int16_t version, int32_t correlation_id, struct str client_id,
                           void *memory, size_t size_bytes) {
    struct writer w = writer_of(memory, size_bytes);
    write_int16(&w, api->key);
    write_int16(&w, version);
    write_int32(&w, correlation_id);
    if (has_client_id(api->key, version)) write_string(&w, false, client_id);
    if (api_is_flexible(api, version)) write_uvarint(&w, 0);
    ASSERT(w.at == w.end);
}

static bool response_has_tags(const struct api_info *api, int16_t version) {
    return api->key != API_KEY_API_VERSIONS && api_is_flexible(api, version);
}

size_t response_header_size(const struct api_info *api, int16_t version) {
    return response_has_tags(api, version) ? 5 : 4;
}

void response_header_encode(const struct api_info *api, int16_t version, int32_t correlation_id, void *memory) {
    store_be32(memory, (uint32_t)correlation_id);
    if (response_has_tags(api, version)) ((uint8_t *)memory)[4] = 0;
}

size_t response_header_decode(const struct api_info *api, int16_t version, struct bytes frame, int32_t *correlation_id,
                              const char **reason) {
    struct reader r = reader_of(frame);
    *correlation_id = read_int32(&r);
    if (response_has_tags(api, version)) skip_tags(&r);
    if (r.error) {
        *reason = r.error;
        return 0;
    }
    return frame.size - reader_left(&r);
}
