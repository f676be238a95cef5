// SPDX-License-Identifier: Apache-2.0
// DescribeGroups: state and members of classic groups.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_GROUPS_API 15, 0, 5, 5

#define describe_groups_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    LIST(S, string, groups,                         0, ALL) \
    FIELD(S, bool,  include_authorized_operations,  3, ALL)

#define describe_groups_response_member_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, member_id,          0, ALL)                                            \
    FIELD(S, string, group_instance_id,  4, ALL, NULLABLE(4, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, string, client_id,          0, ALL)                                            \
    FIELD(S, string, client_host,        0, ALL)                                            \
    FIELD(S, bytes,  member_metadata,    0, ALL)                                            \
    FIELD(S, bytes,  member_assignment,  0, ALL)

#define describe_groups_response_group_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                           error_code,             0, ALL)                     \
    FIELD(S, string,                          group_id,               0, ALL)                     \
    FIELD(S, string,                          group_state,            0, ALL)                     \
    FIELD(S, string,                          protocol_type,          0, ALL)                     \
    FIELD(S, string,                          protocol_data,          0, ALL)                     \
    ARRAY(S, describe_groups_response_member, members,                0, ALL)                     \
    FIELD(S, int32,                           authorized_operations,  3, ALL, DEFAULT(INT32_MIN))

#define describe_groups_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                          throttle_time_ms,  1, ALL, IGNORABLE) \
    ARRAY(S, describe_groups_response_group, groups,            0, ALL)

#define DESCRIBE_GROUPS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(describe_groups_request, "DescribeGroupsRequest", REQUEST, DESCRIBE_GROUPS_API)    \
    NESTED(describe_groups_response_member)                                                    \
    NESTED(describe_groups_response_group)                                                     \
    MESSAGE(describe_groups_response, "DescribeGroupsResponse", RESPONSE, DESCRIBE_GROUPS_API)
// clang-format on

DESCRIBE_GROUPS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
