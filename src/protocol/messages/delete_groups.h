// SPDX-License-Identifier: Apache-2.0
// DeleteGroups: removes empty groups with their offsets.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DELETE_GROUPS_API 42, 0, 2, 2

#define delete_groups_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    LIST(S, string, groups_names,  0, ALL)

#define delete_groups_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, group_id,    0, ALL) \
    FIELD(S, int16,  error_code,  0, ALL)

#define delete_groups_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                         throttle_time_ms,  0, ALL) \
    ARRAY(S, delete_groups_response_result, results,           0, ALL)

#define DELETE_GROUPS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(delete_groups_request, "DeleteGroupsRequest", REQUEST, DELETE_GROUPS_API)    \
    NESTED(delete_groups_response_result)                                                \
    MESSAGE(delete_groups_response, "DeleteGroupsResponse", RESPONSE, DELETE_GROUPS_API)
// clang-format on

DELETE_GROUPS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
