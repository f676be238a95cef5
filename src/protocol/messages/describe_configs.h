// SPDX-License-Identifier: Apache-2.0
// DescribeConfigs: configuration of topics and brokers with sources, synonyms and documentation.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_CONFIGS_API 32, 0, 4, 4

#define describe_configs_request_resource_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,   resource_type,       0, ALL)                   \
    FIELD(S, string, resource_name,       0, ALL)                   \
    LIST(S, string,  configuration_keys,  0, ALL, NULLABLE(0, ALL))

#define describe_configs_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, describe_configs_request_resource, resources,              0, ALL) \
    FIELD(S, bool,                              include_synonyms,       1, ALL) \
    FIELD(S, bool,                              include_documentation,  3, ALL)

#define describe_configs_response_synonym_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,    1, ALL)                   \
    FIELD(S, string, value,   1, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,   source,  1, ALL)

#define describe_configs_response_config_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                            name,           0, ALL)                              \
    FIELD(S, string,                            value,          0, ALL, NULLABLE(0, ALL))            \
    FIELD(S, bool,                              read_only,      0, ALL)                              \
    FIELD(S, bool,                              is_default,     0,   0)                              \
    FIELD(S, int8,                              config_source,  1, ALL, DEFAULT(-1), IGNORABLE)      \
    FIELD(S, bool,                              is_sensitive,   0, ALL)                              \
    ARRAY(S, describe_configs_response_synonym, synonyms,       1, ALL, IGNORABLE)                   \
    FIELD(S, int8,                              config_type,    3, ALL, IGNORABLE)                   \
    FIELD(S, string,                            documentation,  3, ALL, NULLABLE(0, ALL), IGNORABLE)

#define describe_configs_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                            error_code,     0, ALL)                   \
    FIELD(S, string,                           error_message,  0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,                             resource_type,  0, ALL)                   \
    FIELD(S, string,                           resource_name,  0, ALL)                   \
    ARRAY(S, describe_configs_response_config, configs,        0, ALL)

#define describe_configs_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                            throttle_time_ms,  0, ALL) \
    ARRAY(S, describe_configs_response_result, results,           0, ALL)

#define DESCRIBE_CONFIGS_STRUCTS(NESTED, MESSAGE) \
    NESTED(describe_configs_request_resource)                                                     \
    MESSAGE(describe_configs_request, "DescribeConfigsRequest", REQUEST, DESCRIBE_CONFIGS_API)    \
    NESTED(describe_configs_response_synonym)                                                     \
    NESTED(describe_configs_response_config)                                                      \
    NESTED(describe_configs_response_result)                                                      \
    MESSAGE(describe_configs_response, "DescribeConfigsResponse", RESPONSE, DESCRIBE_CONFIGS_API)
// clang-format on

DESCRIBE_CONFIGS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
