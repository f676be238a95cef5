// SPDX-License-Identifier: Apache-2.0
// ControlledShutdown: a stopping broker asks for its leaderships to be moved.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define CONTROLLED_SHUTDOWN_API 7, 0, 3, 3

#define controlled_shutdown_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, broker_id,     0, ALL)                         \
    FIELD(S, int64, broker_epoch,  2, ALL, DEFAULT(-1), IGNORABLE)

#define controlled_shutdown_response_remaining_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic_name,       0, ALL) \
    FIELD(S, int32,  partition_index,  0, ALL)

#define controlled_shutdown_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                                            error_code,            0, ALL) \
    ARRAY(S, controlled_shutdown_response_remaining_partition, remaining_partitions,  0, ALL)

#define CONTROLLED_SHUTDOWN_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(controlled_shutdown_request, "ControlledShutdownRequest", REQUEST, CONTROLLED_SHUTDOWN_API)    \
    NESTED(controlled_shutdown_response_remaining_partition)                                               \
    MESSAGE(controlled_shutdown_response, "ControlledShutdownResponse", RESPONSE, CONTROLLED_SHUTDOWN_API)
// clang-format on

CONTROLLED_SHUTDOWN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
