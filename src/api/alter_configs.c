// SPDX-License-Identifier: Apache-2.0
// AlterConfigs (all settings of a resource at once) and IncrementalAlterConfigs (single changes): rows for the
// controller (trap 16).
#include "protocol/messages/alter_configs.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "protocol/message.h"
#include "protocol/messages/incremental_alter_configs.h"
#include <stddef.h>

struct alter_configs_call {
    struct api_call *call;
    struct controller_request controller;
};

// The two responses have the same fields in the same order, so that the structs of one are those of the other.
#define SAME_PLACE(type, other, field)                                                                                 \
    _Static_assert(offsetof(struct type, field) == offsetof(struct other, field), "one answer serves both")
SAME_PLACE(alter_configs_response, incremental_alter_configs_response, responses);
SAME_PLACE(alter_configs_response, incremental_alter_configs_response, responses_count);
SAME_PLACE(alter_configs_response_resource, incremental_alter_configs_response_resource, error_code);
SAME_PLACE(alter_configs_response_resource, incremental_alter_configs_response_resource, error_message);
SAME_PLACE(alter_configs_response_resource, incremental_alter_configs_response_resource, resource_type);
SAME_PLACE(alter_configs_response_resource, incremental_alter_configs_response_resource, resource_name);
_Static_assert(sizeof(struct alter_configs_response) == sizeof(struct incremental_alter_configs_response) &&
                   sizeof(struct alter_configs_response_resource) ==
                       sizeof(struct incremental_alter_configs_response_resource),
               "one answer serves both");

static void answered(struct core *core, struct controller_request *request) {
    (void)core;
    struct alter_configs_call *a = container_of(request, struct alter_configs_call, controller);
    struct alter_configs_response response;
    message_default(a->call->api->response, &response);
    response.responses = call_alloc_array(a->call, (int32_t)request->row_count, sizeof *response.responses);
    if (!response.responses) return;
    for (size_t i = 0; i < request->row_count; i++) {
        const struct controller_alter_config *row = &request->alter_configs[i];
        int16_t error = request->error != KAFKA_ERROR_NONE ? request->error : row->error;
        response.responses[response.responses_count++] =
            (struct alter_configs_response_resource){error, row->message, row->resource_type, row->name};
    }
    respond(a->call, &response);
}

static struct alter_configs_call *call_make(struct api_call *call, enum controller_request_kind kind, int32_t count,
                                            bool validate_only) {
    struct alter_configs_call *a = call_alloc(call, sizeof *a);
    if (!a) return NULL;
    a->call = call;
    a->controller = (struct controller_request){
        .kind = kind,
        .arena = &call->request->arena,
        .validate_only = validate_only,
        .answered = answered,
        .alter_configs = call_alloc_array(call, count, sizeof *a->controller.alter_configs),
        .row_count = count > 0 ? (size_t)count : 0,
    };
    return a->controller.alter_configs ? a : NULL;
}

static struct controller_setting *settings_make(struct api_call *call, struct controller_alter_config *row, int8_t type,
                                                struct str name, int32_t count) {
    struct controller_setting *settings = call_alloc_array(call, count, sizeof *settings);
    *row = (struct controller_alter_config){
        .resource_type = type, .name = name, .settings = settings, .setting_count = count > 0 ? (size_t)count : 0};
    return settings;
}

void handle_alter_configs(struct api_call *call) {
    const struct alter_configs_request *request = call->body;
    struct alter_configs_call *a =
        call_make(call, CONTROLLER_ALTER_CONFIGS, request->resources_count, request->validate_only);
    if (!a) return;
    for (int32_t i = 0; i < request->resources_count; i++) {
        const struct alter_configs_request_resource *r = &request->resources[i];
        struct controller_setting *settings =
            settings_make(call, &a->controller.alter_configs[i], r->resource_type, r->resource_name, r->configs_count);
        if (!settings) return;
        for (int32_t s = 0; s < r->configs_count; s++) {
            settings[s] = (struct controller_setting){.key = r->configs[s].name, .value = r->configs[s].value};
        }
    }
    controller_send(call->core, facts_of(call->core)->controller, &a->controller);
}

void handle_incremental_alter_configs(struct api_call *call) {
    const struct incremental_alter_configs_request *request = call->body;
    struct alter_configs_call *a =
        call_make(call, CONTROLLER_INCREMENTAL_ALTER_CONFIGS, request->resources_count, request->validate_only);
    if (!a) return;
    for (int32_t i = 0; i < request->resources_count; i++) {
        const struct incremental_alter_configs_request_resource *r = &request->resources[i];
        struct controller_setting *settings =
            settings_make(call, &a->controller.alter_configs[i], r->resource_type, r->resource_name, r->configs_count);
        if (!settings) return;
        for (int32_t s = 0; s < r->configs_count; s++) {
            settings[s] =
                (struct controller_setting){.key = r->configs[s].name,
                                            .value = r->configs[s].value,
                                            .operation = (enum config_operation)r->configs[s].config_operation};
        }
    }
    controller_send(call->core, facts_of(call->core)->controller, &a->controller);
}
