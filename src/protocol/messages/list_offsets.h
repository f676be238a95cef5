// SPDX-License-Identifier: Apache-2.0
// ListOffsets: offsets by timestamp, or by the special timestamps -1 to -5.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define LIST_OFFSETS_API 2, 0, 9, 6

#define list_offsets_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,       0, ALL)                         \
    FIELD(S, int32, current_leader_epoch,  4, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int64, timestamp,             0, ALL)                         \
    FIELD(S, int32, max_num_offsets,       0,   0, DEFAULT(1))

#define list_offsets_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                         name,        0, ALL) \
    ARRAY(S, list_offsets_request_partition, partitions,  0, ALL)

#define list_offsets_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                      replica_id,       0, ALL) \
    FIELD(S, int8,                       isolation_level,  2, ALL) \
    ARRAY(S, list_offsets_request_topic, topics,           0, ALL)

#define list_offsets_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,    0, ALL)              \
    FIELD(S, int16, error_code,         0, ALL)              \
    LIST(S, int64,  old_style_offsets,  0,   0)              \
    FIELD(S, int64, timestamp,          1, ALL, DEFAULT(-1)) \
    FIELD(S, int64, offset,             1, ALL, DEFAULT(-1)) \
    FIELD(S, int32, leader_epoch,       4, ALL, DEFAULT(-1))

#define list_offsets_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                          name,        0, ALL) \
    ARRAY(S, list_offsets_response_partition, partitions,  0, ALL)

#define list_offsets_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                       throttle_time_ms,  2, ALL, IGNORABLE) \
    ARRAY(S, list_offsets_response_topic, topics,            0, ALL)

#define LIST_OFFSETS_STRUCTS(NESTED, MESSAGE) \
    NESTED(list_offsets_request_partition)                                            \
    NESTED(list_offsets_request_topic)                                                \
    MESSAGE(list_offsets_request, "ListOffsetsRequest", REQUEST, LIST_OFFSETS_API)    \
    NESTED(list_offsets_response_partition)                                           \
    NESTED(list_offsets_response_topic)                                               \
    MESSAGE(list_offsets_response, "ListOffsetsResponse", RESPONSE, LIST_OFFSETS_API)
// clang-format on

LIST_OFFSETS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
