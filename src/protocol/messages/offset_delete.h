// SPDX-License-Identifier: Apache-2.0
// OffsetDelete: forgets committed offsets of single partitions. Never flexible.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define OFFSET_DELETE_API 47, 0, 0, NEVER

#define offset_delete_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL)

#define offset_delete_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                          name,        0, ALL) \
    ARRAY(S, offset_delete_request_partition, partitions,  0, ALL)

#define offset_delete_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                      group_id,  0, ALL) \
    ARRAY(S, offset_delete_request_topic, topics,    0, ALL)

#define offset_delete_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int16, error_code,       0, ALL)

#define offset_delete_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                           name,        0, ALL) \
    ARRAY(S, offset_delete_response_partition, partitions,  0, ALL)

#define offset_delete_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                        error_code,        0, ALL)            \
    FIELD(S, int32,                        throttle_time_ms,  0, ALL, IGNORABLE) \
    ARRAY(S, offset_delete_response_topic, topics,            0, ALL)

#define OFFSET_DELETE_STRUCTS(NESTED, MESSAGE) \
    NESTED(offset_delete_request_partition)                                              \
    NESTED(offset_delete_request_topic)                                                  \
    MESSAGE(offset_delete_request, "OffsetDeleteRequest", REQUEST, OFFSET_DELETE_API)    \
    NESTED(offset_delete_response_partition)                                             \
    NESTED(offset_delete_response_topic)                                                 \
    MESSAGE(offset_delete_response, "OffsetDeleteResponse", RESPONSE, OFFSET_DELETE_API)
// clang-format on

OFFSET_DELETE_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
