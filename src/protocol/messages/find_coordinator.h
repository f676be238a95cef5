// SPDX-License-Identifier: Apache-2.0
// FindCoordinator: which broker coordinates a group or transactional id; several keys at once from version 4.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define FIND_COORDINATOR_API 10, 0, 6, 3

#define find_coordinator_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, key,               0,   3) \
    FIELD(S, int8,   key_type,          1, ALL) \
    LIST(S, string,  coordinator_keys,  4, ALL)

#define find_coordinator_response_coordinator_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, key,            4, ALL)                              \
    FIELD(S, int32,  node_id,        4, ALL)                              \
    FIELD(S, string, host,           4, ALL)                              \
    FIELD(S, int32,  port,           4, ALL)                              \
    FIELD(S, int16,  error_code,     4, ALL)                              \
    FIELD(S, string, error_message,  4, ALL, NULLABLE(4, ALL), IGNORABLE)

#define find_coordinator_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                 throttle_time_ms,  1, ALL, IGNORABLE)                 \
    FIELD(S, int16,                                 error_code,        0,   3)                            \
    FIELD(S, string,                                error_message,     1,   3, NULLABLE(1, 3), IGNORABLE) \
    FIELD(S, int32,                                 node_id,           0,   3)                            \
    FIELD(S, string,                                host,              0,   3)                            \
    FIELD(S, int32,                                 port,              0,   3)                            \
    ARRAY(S, find_coordinator_response_coordinator, coordinators,      4, ALL)

#define FIND_COORDINATOR_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(find_coordinator_request, "FindCoordinatorRequest", REQUEST, FIND_COORDINATOR_API)    \
    NESTED(find_coordinator_response_coordinator)                                                 \
    MESSAGE(find_coordinator_response, "FindCoordinatorResponse", RESPONSE, FIND_COORDINATOR_API)
// clang-format on

FIND_COORDINATOR_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
