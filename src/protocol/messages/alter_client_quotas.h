// SPDX-License-Identifier: Apache-2.0
// AlterClientQuotas: sets and removes quotas.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ALTER_CLIENT_QUOTAS_API 49, 0, 1, 1

#define alter_client_quotas_request_entity_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, entity_type,  0, ALL)                   \
    FIELD(S, string, entity_name,  0, ALL, NULLABLE(0, ALL))

#define alter_client_quotas_request_op_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,  key,     0, ALL) \
    FIELD(S, float64, value,   0, ALL) \
    FIELD(S, bool,    remove,  0, ALL)

#define alter_client_quotas_request_entry_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, alter_client_quotas_request_entity, entity,  0, ALL) \
    ARRAY(S, alter_client_quotas_request_op,     ops,     0, ALL)

#define alter_client_quotas_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, alter_client_quotas_request_entry, entries,        0, ALL) \
    FIELD(S, bool,                              validate_only,  0, ALL)

#define alter_client_quotas_response_entity_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, entity_type,  0, ALL)                   \
    FIELD(S, string, entity_name,  0, ALL, NULLABLE(0, ALL))

#define alter_client_quotas_response_entry_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                               error_code,     0, ALL)                   \
    FIELD(S, string,                              error_message,  0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, alter_client_quotas_response_entity, entity,         0, ALL)

#define alter_client_quotas_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                              throttle_time_ms,  0, ALL) \
    ARRAY(S, alter_client_quotas_response_entry, entries,           0, ALL)

#define ALTER_CLIENT_QUOTAS_STRUCTS(NESTED, MESSAGE) \
    NESTED(alter_client_quotas_request_entity)                                                            \
    NESTED(alter_client_quotas_request_op)                                                                \
    NESTED(alter_client_quotas_request_entry)                                                             \
    MESSAGE(alter_client_quotas_request, "AlterClientQuotasRequest", REQUEST, ALTER_CLIENT_QUOTAS_API)    \
    NESTED(alter_client_quotas_response_entity)                                                           \
    NESTED(alter_client_quotas_response_entry)                                                            \
    MESSAGE(alter_client_quotas_response, "AlterClientQuotasResponse", RESPONSE, ALTER_CLIENT_QUOTAS_API)
// clang-format on

ALTER_CLIENT_QUOTAS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
