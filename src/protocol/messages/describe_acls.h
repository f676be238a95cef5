// SPDX-License-Identifier: Apache-2.0
// DescribeAcls: the access control entries that match a filter.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_ACLS_API 29, 0, 3, 2

#define describe_acls_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,   resource_type_filter,  0, ALL)                   \
    FIELD(S, string, resource_name_filter,  0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,   pattern_type_filter,   1, ALL, DEFAULT(3))       \
    FIELD(S, string, principal_filter,      0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, string, host_filter,           0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int8,   operation,             0, ALL)                   \
    FIELD(S, int8,   permission_type,       0, ALL)

#define describe_acls_response_acl_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, principal,        0, ALL) \
    FIELD(S, string, host,             0, ALL) \
    FIELD(S, int8,   operation,        0, ALL) \
    FIELD(S, int8,   permission_type,  0, ALL)

#define describe_acls_response_resource_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,                       resource_type,  0, ALL)             \
    FIELD(S, string,                     resource_name,  0, ALL)             \
    FIELD(S, int8,                       pattern_type,   1, ALL, DEFAULT(3)) \
    ARRAY(S, describe_acls_response_acl, acls,           0, ALL)

#define describe_acls_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                           throttle_time_ms,  0, ALL)                   \
    FIELD(S, int16,                           error_code,        0, ALL)                   \
    FIELD(S, string,                          error_message,     0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, describe_acls_response_resource, resources,         0, ALL)

#define DESCRIBE_ACLS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(describe_acls_request, "DescribeAclsRequest", REQUEST, DESCRIBE_ACLS_API)    \
    NESTED(describe_acls_response_acl)                                                   \
    NESTED(describe_acls_response_resource)                                              \
    MESSAGE(describe_acls_response, "DescribeAclsResponse", RESPONSE, DESCRIBE_ACLS_API)
// clang-format on

DESCRIBE_ACLS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
