// SPDX-License-Identifier: Apache-2.0
// LeaveGroup: members (from version 3 several) leave a classic group.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define LEAVE_GROUP_API 13, 0, 5, 4

#define leave_group_request_member_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, member_id,          3, ALL)                                            \
    FIELD(S, string, group_instance_id,  3, ALL, NULLABLE(3, ALL), DEFAULT_NULL)            \
    FIELD(S, string, reason,             5, ALL, NULLABLE(5, ALL), DEFAULT_NULL, IGNORABLE)

#define leave_group_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                     group_id,   0, ALL) \
    FIELD(S, string,                     member_id,  0,   2) \
    ARRAY(S, leave_group_request_member, members,    3, ALL)

#define leave_group_response_member_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, member_id,          3, ALL)                   \
    FIELD(S, string, group_instance_id,  3, ALL, NULLABLE(3, ALL)) \
    FIELD(S, int16,  error_code,         3, ALL)

#define leave_group_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                       throttle_time_ms,  1, ALL, IGNORABLE) \
    FIELD(S, int16,                       error_code,        0, ALL)            \
    ARRAY(S, leave_group_response_member, members,           3, ALL)

#define LEAVE_GROUP_STRUCTS(NESTED, MESSAGE) \
    NESTED(leave_group_request_member)                                             \
    MESSAGE(leave_group_request, "LeaveGroupRequest", REQUEST, LEAVE_GROUP_API)    \
    NESTED(leave_group_response_member)                                            \
    MESSAGE(leave_group_response, "LeaveGroupResponse", RESPONSE, LEAVE_GROUP_API)
// clang-format on

LEAVE_GROUP_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
