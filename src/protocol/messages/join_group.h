// SPDX-License-Identifier: Apache-2.0
// JoinGroup: a member enters a rebalance of a classic group.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define JOIN_GROUP_API 11, 0, 9, 6

#define join_group_request_protocol_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,      0, ALL) \
    FIELD(S, bytes,  metadata,  0, ALL)

#define join_group_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                      group_id,              0, ALL)                                            \
    FIELD(S, int32,                       session_timeout_ms,    0, ALL)                                            \
    FIELD(S, int32,                       rebalance_timeout_ms,  1, ALL, DEFAULT(-1), IGNORABLE)                    \
    FIELD(S, string,                      member_id,             0, ALL)                                            \
    FIELD(S, string,                      group_instance_id,     5, ALL, NULLABLE(5, ALL), DEFAULT_NULL)            \
    FIELD(S, string,                      protocol_type,         0, ALL)                                            \
    ARRAY(S, join_group_request_protocol, protocols,             0, ALL)                                            \
    FIELD(S, string,                      reason,                8, ALL, NULLABLE(8, ALL), DEFAULT_NULL, IGNORABLE)

#define join_group_response_member_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, member_id,          0, ALL)                                            \
    FIELD(S, string, group_instance_id,  5, ALL, NULLABLE(5, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, bytes,  metadata,           0, ALL)

#define join_group_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                      throttle_time_ms,  2, ALL, IGNORABLE)                                 \
    FIELD(S, int16,                      error_code,        0, ALL)                                            \
    FIELD(S, int32,                      generation_id,     0, ALL, DEFAULT(-1))                               \
    FIELD(S, string,                     protocol_type,     7, ALL, NULLABLE(7, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, string,                     protocol_name,     0, ALL, NULLABLE(7, ALL))                          \
    FIELD(S, string,                     leader,            0, ALL)                                            \
    FIELD(S, bool,                       skip_assignment,   9, ALL)                                            \
    FIELD(S, string,                     member_id,         0, ALL)                                            \
    ARRAY(S, join_group_response_member, members,           0, ALL)

#define JOIN_GROUP_STRUCTS(NESTED, MESSAGE) \
    NESTED(join_group_request_protocol)                                         \
    MESSAGE(join_group_request, "JoinGroupRequest", REQUEST, JOIN_GROUP_API)    \
    NESTED(join_group_response_member)                                          \
    MESSAGE(join_group_response, "JoinGroupResponse", RESPONSE, JOIN_GROUP_API)
// clang-format on

JOIN_GROUP_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
