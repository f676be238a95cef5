// SPDX-License-Identifier: Apache-2.0
// Heartbeat: a member of a classic group is alive.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define HEARTBEAT_API 12, 0, 4, 4

#define heartbeat_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, group_id,           0, ALL)                                 \
    FIELD(S, int32,  generation_id,      0, ALL)                                 \
    FIELD(S, string, member_id,          0, ALL)                                 \
    FIELD(S, string, group_instance_id,  3, ALL, NULLABLE(3, ALL), DEFAULT_NULL)

#define heartbeat_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, throttle_time_ms,  1, ALL, IGNORABLE) \
    FIELD(S, int16, error_code,        0, ALL)

#define HEARTBEAT_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(heartbeat_request, "HeartbeatRequest", REQUEST, HEARTBEAT_API)    \
    MESSAGE(heartbeat_response, "HeartbeatResponse", RESPONSE, HEARTBEAT_API)
// clang-format on

HEARTBEAT_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
