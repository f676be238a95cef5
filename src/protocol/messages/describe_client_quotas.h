// SPDX-License-Identifier: Apache-2.0
// DescribeClientQuotas: quotas by user, client id and address.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_CLIENT_QUOTAS_API 48, 0, 1, 1

#define describe_client_quotas_request_component_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, entity_type,  0, ALL)                   \
    FIELD(S, int8,   match_type,   0, ALL)                   \
    FIELD(S, string, match,        0, ALL, NULLABLE(0, ALL))

#define describe_client_quotas_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, describe_client_quotas_request_component, components,  0, ALL) \
    FIELD(S, bool,                                     strict,      0, ALL)

#define describe_client_quotas_response_entity_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, entity_type,  0, ALL)                   \
    FIELD(S, string, entity_name,  0, ALL, NULLABLE(0, ALL))

#define describe_client_quotas_response_value_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,  key,    0, ALL) \
    FIELD(S, float64, value,  0, ALL)

#define describe_client_quotas_response_entry_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, describe_client_quotas_response_entity, entity,  0, ALL) \
    ARRAY(S, describe_client_quotas_response_value,  values,  0, ALL)

#define describe_client_quotas_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                 throttle_time_ms,  0, ALL)                   \
    FIELD(S, int16,                                 error_code,        0, ALL)                   \
    FIELD(S, string,                                error_message,     0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, describe_client_quotas_response_entry, entries,           0, ALL, NULLABLE(0, ALL))

#define DESCRIBE_CLIENT_QUOTAS_STRUCTS(NESTED, MESSAGE) \
    NESTED(describe_client_quotas_request_component)                                                               \
    MESSAGE(describe_client_quotas_request, "DescribeClientQuotasRequest", REQUEST, DESCRIBE_CLIENT_QUOTAS_API)    \
    NESTED(describe_client_quotas_response_entity)                                                                 \
    NESTED(describe_client_quotas_response_value)                                                                  \
    NESTED(describe_client_quotas_response_entry)                                                                  \
    MESSAGE(describe_client_quotas_response, "DescribeClientQuotasResponse", RESPONSE, DESCRIBE_CLIENT_QUOTAS_API)
// clang-format on

DESCRIBE_CLIENT_QUOTAS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
