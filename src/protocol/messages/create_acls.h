// SPDX-License-Identifier: Apache-2.0
// CreateAcls: new access control entries.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define CREATE_ACLS_API 30, 0, 3, 2

#define create_acls_request_creation_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,   resource_type,          0, ALL)             \
    FIELD(S, string, resource_name,          0, ALL)             \
    FIELD(S, int8,   resource_pattern_type,  1, ALL, DEFAULT(3)) \
    FIELD(S, string, principal,              0, ALL)             \
    FIELD(S, string, host,                   0, ALL)             \
    FIELD(S, int8,   operation,              0, ALL)             \
    FIELD(S, int8,   permission_type,        0, ALL)

#define create_acls_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, create_acls_request_creation, creations,  0, ALL)

#define create_acls_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,  error_code,     0, ALL)                   \
    FIELD(S, string, error_message,  0, ALL, NULLABLE(0, ALL))

#define create_acls_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                       throttle_time_ms,  0, ALL) \
    ARRAY(S, create_acls_response_result, results,           0, ALL)

#define CREATE_ACLS_STRUCTS(NESTED, MESSAGE) \
    NESTED(create_acls_request_creation)                                           \
    MESSAGE(create_acls_request, "CreateAclsRequest", REQUEST, CREATE_ACLS_API)    \
    NESTED(create_acls_response_result)                                            \
    MESSAGE(create_acls_response, "CreateAclsResponse", RESPONSE, CREATE_ACLS_API)
// clang-format on

CREATE_ACLS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
