// SPDX-License-Identifier: Apache-2.0
// AlterConfigs: replaces the whole configuration of a resource.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ALTER_CONFIGS_API 33, 0, 2, 2

#define alter_configs_request_config_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,   0, ALL)                   \
    FIELD(S, string, value,  0, ALL, NULLABLE(0, ALL))

#define alter_configs_request_resource_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,                         resource_type,  0, ALL) \
    FIELD(S, string,                       resource_name,  0, ALL) \
    ARRAY(S, alter_configs_request_config, configs,        0, ALL)

#define alter_configs_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, alter_configs_request_resource, resources,      0, ALL) \
    FIELD(S, bool,                           validate_only,  0, ALL)

#define alter_configs_response_resource_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,  error_code,     0, ALL)                   \
    FIELD(S, string, error_message,  0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,   resource_type,  0, ALL)                   \
    FIELD(S, string, resource_name,  0, ALL)

#define alter_configs_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                           throttle_time_ms,  0, ALL) \
    ARRAY(S, alter_configs_response_resource, responses,         0, ALL)

#define ALTER_CONFIGS_STRUCTS(NESTED, MESSAGE) \
    NESTED(alter_configs_request_config)                                                 \
    NESTED(alter_configs_request_resource)                                               \
    MESSAGE(alter_configs_request, "AlterConfigsRequest", REQUEST, ALTER_CONFIGS_API)    \
    NESTED(alter_configs_response_resource)                                              \
    MESSAGE(alter_configs_response, "AlterConfigsResponse", RESPONSE, ALTER_CONFIGS_API)
// clang-format on

ALTER_CONFIGS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
