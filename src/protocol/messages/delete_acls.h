// SPDX-License-Identifier: Apache-2.0
// DeleteAcls: removes the access control entries that match filters.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DELETE_ACLS_API 31, 0, 3, 2

#define delete_acls_request_filter_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,   resource_type_filter,  0, ALL)                   \
    FIELD(S, string, resource_name_filter,  0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,   pattern_type_filter,   1, ALL, DEFAULT(3))       \
    FIELD(S, string, principal_filter,      0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, string, host_filter,           0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,   operation,             0, ALL)                   \
    FIELD(S, int8,   permission_type,       0, ALL)

#define delete_acls_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, delete_acls_request_filter, filters,  0, ALL)

#define delete_acls_response_matching_acl_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,  error_code,       0, ALL)                   \
    FIELD(S, string, error_message,    0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,   resource_type,    0, ALL)                   \
    FIELD(S, string, resource_name,    0, ALL)                   \
    FIELD(S, int8,   pattern_type,     1, ALL, DEFAULT(3))       \
    FIELD(S, string, principal,        0, ALL)                   \
    FIELD(S, string, host,             0, ALL)                   \
    FIELD(S, int8,   operation,        0, ALL)                   \
    FIELD(S, int8,   permission_type,  0, ALL)

#define delete_acls_response_filter_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                             error_code,     0, ALL)                   \
    FIELD(S, string,                            error_message,  0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, delete_acls_response_matching_acl, matching_acls,  0, ALL)

#define delete_acls_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                              throttle_time_ms,  0, ALL) \
    ARRAY(S, delete_acls_response_filter_result, filter_results,    0, ALL)

#define DELETE_ACLS_STRUCTS(NESTED, MESSAGE) \
    NESTED(delete_acls_request_filter)                                             \
    MESSAGE(delete_acls_request, "DeleteAclsRequest", REQUEST, DELETE_ACLS_API)    \
    NESTED(delete_acls_response_matching_acl)                                      \
    NESTED(delete_acls_response_filter_result)                                     \
    MESSAGE(delete_acls_response, "DeleteAclsResponse", RESPONSE, DELETE_ACLS_API)
// clang-format on

DELETE_ACLS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
