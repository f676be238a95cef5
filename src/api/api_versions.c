// SPDX-License-Identifier: Apache-2.0
// ApiVersions: what this broker serves, from the table of handlers (so it never says what it cannot do).
//
// A version that we do not know is answered in the layout of v0 with UNSUPPORTED_VERSION and one row, the range of
// ApiVersions itself; the body is not looked at (trap 1). Rows are sorted; there are no features, and the epoch of the
// finalized ones is 0 (trap 59).
#include "protocol/messages/api_versions.h"
#include "api/handlers.h"
#include "protocol/message.h"

// KIP-511: letters, digits, '.' and '-' inside, letters and digits at both ends.
static bool software_name_is_valid(struct str name) {
    if (name.size == 0) return false;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool inside = i > 0 && i + 1 < name.size;
        if (!alphanumeric && !(inside && (c == '.' || c == '-'))) return false;
    }
    return true;
}

static void answer_unknown_version(struct api_call *call) {
    struct api_versions_response_api_key row = {API_KEY_API_VERSIONS, call->api->min_version, call->api->max_version};
    struct api_versions_response response;
    message_default(call->api->response, &response);
    response.error_code = KAFKA_ERROR_UNSUPPORTED_VERSION;
    response.api_keys = &row;
    response.api_keys_count = 1;
    respond_as(call, 0, &response);
}

void handle_api_versions(struct api_call *call) {
    if (!api_has_version(call->api, call->version)) return answer_unknown_version(call);
    struct api_versions_request *request = call->body;
    struct message_error error;
    if (!message_decode(call->api->request, call->version, call->body_bytes, NULL, request, &call->request->arena,
                        &error)) {
        return respond_close(call, error.reason);
    }
    struct api_versions_response response;
    message_default(call->api->response, &response);
    if (call->version >= 3 && !(software_name_is_valid(request->client_software_name) &&
                                software_name_is_valid(request->client_software_version))) {
        response.error_code = KAFKA_ERROR_INVALID_REQUEST;
        return respond(call, &response);
    }
    int32_t count = (int32_t)api_handler_count();
    struct api_versions_response_api_key *rows = call_alloc_array(call, count, sizeof *rows);
    if (!rows) return;
    for (int32_t i = 0; i < count; i++) {
        const struct api_info *api = api_by_key(api_handler_at((size_t)i)->key);
        rows[i] = (struct api_versions_response_api_key){api->key, api->min_version, api->max_version};
    }
    response.api_keys = rows;
    response.api_keys_count = count;
    response.finalized_features_epoch = 0;
    respond(call, &response);
}
