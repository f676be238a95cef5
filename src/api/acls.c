// SPDX-License-Identifier: Apache-2.0
// DescribeAcls, CreateAcls, DeleteAcls without an authorizer: SECURITY_DISABLED, on every row where there are rows
// (trap 66). A request with an element of code 0, which stands for "unknown", is not well-formed: Kafka closes the
// connection.
#include "api/handlers.h"
#include "protocol/message.h"
#include "protocol/messages/create_acls.h"
#include "protocol/messages/delete_acls.h"
#include "protocol/messages/describe_acls.h"

static const char NO_AUTHORIZER[] = "No Authorizer is configured.";
static const char NO_AUTHORIZER_TO_ASK[] = "No Authorizer is configured on the broker";

static const char UNKNOWN_ELEMENTS[] = "the request has unknown elements (code 0)";

static bool any_is_unknown(int8_t resource, int8_t pattern, int8_t operation, int8_t permission) {
    return resource == 0 || pattern == 0 || operation == 0 || permission == 0;
}

void handle_describe_acls(struct api_call *call) {
    const struct describe_acls_request *request = call->body;
    if (any_is_unknown(request->resource_type_filter, request->pattern_type_filter, request->operation,
                       request->permission_type))
        return respond_close(call, UNKNOWN_ELEMENTS);
    struct describe_acls_response response;
    message_default(call->api->response, &response);
    response.error_code = KAFKA_ERROR_SECURITY_DISABLED;
    response.error_message = str_of(NO_AUTHORIZER_TO_ASK);
    respond(call, &response);
}

void handle_create_acls(struct api_call *call) {
    const struct create_acls_request *request = call->body;
    struct create_acls_response response;
    message_default(call->api->response, &response);
    response.results = call_alloc_array(call, request->creations_count, sizeof *response.results);
    if (!response.results) return;
    for (int32_t i = 0; i < request->creations_count; i++) {
        const struct create_acls_request_creation *asked = &request->creations[i];
        if (any_is_unknown(asked->resource_type, asked->resource_pattern_type, asked->operation,
                           asked->permission_type))
            return respond_close(call, UNKNOWN_ELEMENTS);
        response.results[response.results_count++] =
            (struct create_acls_response_result){KAFKA_ERROR_SECURITY_DISABLED, str_of(NO_AUTHORIZER)};
    }
    respond(call, &response);
}

void handle_delete_acls(struct api_call *call) {
    const struct delete_acls_request *request = call->body;
    struct delete_acls_response response;
    message_default(call->api->response, &response);
    response.filter_results = call_alloc_array(call, request->filters_count, sizeof *response.filter_results);
    if (!response.filter_results) return;
    for (int32_t i = 0; i < request->filters_count; i++) {
        const struct delete_acls_request_filter *asked = &request->filters[i];
        if (any_is_unknown(asked->resource_type_filter, asked->pattern_type_filter, asked->operation,
                           asked->permission_type))
            return respond_close(call, UNKNOWN_ELEMENTS);
        response.filter_results[response.filter_results_count++] = (struct delete_acls_response_filter_result){
            .error_code = KAFKA_ERROR_SECURITY_DISABLED, .error_message = str_of(NO_AUTHORIZER)};
    }
    respond(call, &response);
}
