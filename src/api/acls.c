// SPDX-License-Identifier: Apache-2.0
// DescribeAcls, CreateAcls, DeleteAcls without an authorizer: SECURITY_DISABLED, on every row where there are rows
// (trap 66).
#include "api/handlers.h"
#include "protocol/message.h"
#include "protocol/messages/create_acls.h"
#include "protocol/messages/delete_acls.h"
#include "protocol/messages/describe_acls.h"

static const char NO_AUTHORIZER[] = "No Authorizer is configured.";
static const char NO_AUTHORIZER_TO_ASK[] = "No Authorizer is configured on the broker";

void handle_describe_acls(struct api_call *call) {
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
        response.filter_results[response.filter_results_count++] = (struct delete_acls_response_filter_result){
            .error_code = KAFKA_ERROR_SECURITY_DISABLED, .error_message = str_of(NO_AUTHORIZER)};
    }
    respond(call, &response);
}
