// SPDX-License-Identifier: Apache-2.0
// ListGroups: the groups that a broker coordinates.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define LIST_GROUPS_API 16, 0, 5, 3

#define list_groups_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    LIST(S, string, states_filter,  4, ALL) \
    LIST(S, string, types_filter,   5, ALL)

#define list_groups_response_group_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, group_id,       0, ALL)            \
    FIELD(S, string, protocol_type,  0, ALL)            \
    FIELD(S, string, group_state,    4, ALL, IGNORABLE) \
    FIELD(S, string, group_type,     5, ALL, IGNORABLE)

#define list_groups_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                      throttle_time_ms,  1, ALL, IGNORABLE) \
    FIELD(S, int16,                      error_code,        0, ALL)            \
    ARRAY(S, list_groups_response_group, groups,            0, ALL)

#define LIST_GROUPS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(list_groups_request, "ListGroupsRequest", REQUEST, LIST_GROUPS_API)    \
    NESTED(list_groups_response_group)                                             \
    MESSAGE(list_groups_response, "ListGroupsResponse", RESPONSE, LIST_GROUPS_API)
// clang-format on

LIST_GROUPS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
