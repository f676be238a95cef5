// SPDX-License-Identifier: Apache-2.0
// SyncGroup: the leader hands in the assignment, everybody gets their own.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define SYNC_GROUP_API 14, 0, 5, 4

#define sync_group_request_assignment_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, member_id,   0, ALL) \
    FIELD(S, bytes,  assignment,  0, ALL)

#define sync_group_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                        group_id,           0, ALL)                                            \
    FIELD(S, int32,                         generation_id,      0, ALL)                                            \
    FIELD(S, string,                        member_id,          0, ALL)                                            \
    FIELD(S, string,                        group_instance_id,  3, ALL, NULLABLE(3, ALL), DEFAULT_NULL)            \
    FIELD(S, string,                        protocol_type,      5, ALL, NULLABLE(5, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, string,                        protocol_name,      5, ALL, NULLABLE(5, ALL), DEFAULT_NULL, IGNORABLE) \
    ARRAY(S, sync_group_request_assignment, assignments,        0, ALL)

#define sync_group_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  throttle_time_ms,  1, ALL, IGNORABLE)                                 \
    FIELD(S, int16,  error_code,        0, ALL)                                            \
    FIELD(S, string, protocol_type,     5, ALL, NULLABLE(5, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, string, protocol_name,     5, ALL, NULLABLE(5, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, bytes,  assignment,        0, ALL)

#define SYNC_GROUP_STRUCTS(NESTED, MESSAGE) \
    NESTED(sync_group_request_assignment)                                       \
    MESSAGE(sync_group_request, "SyncGroupRequest", REQUEST, SYNC_GROUP_API)    \
    MESSAGE(sync_group_response, "SyncGroupResponse", RESPONSE, SYNC_GROUP_API)
// clang-format on

SYNC_GROUP_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
