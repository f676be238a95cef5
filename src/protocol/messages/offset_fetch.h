// SPDX-License-Identifier: Apache-2.0
// OffsetFetch: what a group (from version 8: several groups) has committed.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define OFFSET_FETCH_API 9, 0, 9, 6

#define offset_fetch_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,               0,   7) \
    LIST(S, int32,   partition_indexes,  0,   7)

#define offset_fetch_request_group_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,               8, ALL) \
    LIST(S, int32,   partition_indexes,  8, ALL)

#define offset_fetch_request_group_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                           group_id,      8, ALL)                                            \
    FIELD(S, string,                           member_id,     9, ALL, NULLABLE(9, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, int32,                            member_epoch,  9, ALL, DEFAULT(-1), IGNORABLE)                    \
    ARRAY(S, offset_fetch_request_group_topic, topics,        8, ALL, NULLABLE(8, ALL))

#define offset_fetch_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                     group_id,        0,   7)                 \
    ARRAY(S, offset_fetch_request_topic, topics,          0,   7, NULLABLE(2, 7)) \
    ARRAY(S, offset_fetch_request_group, groups,          8, ALL)                 \
    FIELD(S, bool,                       require_stable,  7, ALL)

#define offset_fetch_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  partition_index,         0,   7)                         \
    FIELD(S, int64,  committed_offset,        0,   7)                         \
    FIELD(S, int32,  committed_leader_epoch,  5,   7, DEFAULT(-1), IGNORABLE) \
    FIELD(S, string, metadata,                0,   7, NULLABLE(0, 7))         \
    FIELD(S, int16,  error_code,              0,   7)

#define offset_fetch_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                          name,        0,   7) \
    ARRAY(S, offset_fetch_response_partition, partitions,  0,   7)

#define offset_fetch_response_group_topic_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  partition_index,         8, ALL)                         \
    FIELD(S, int64,  committed_offset,        8, ALL)                         \
    FIELD(S, int32,  committed_leader_epoch,  8, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, string, metadata,                8, ALL, NULLABLE(8, ALL))       \
    FIELD(S, int16,  error_code,              8, ALL)

#define offset_fetch_response_group_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                      name,        8, ALL) \
    ARRAY(S, offset_fetch_response_group_topic_partition, partitions,  8, ALL)

#define offset_fetch_response_group_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                            group_id,    8, ALL) \
    ARRAY(S, offset_fetch_response_group_topic, topics,      8, ALL) \
    FIELD(S, int16,                             error_code,  8, ALL)

#define offset_fetch_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                       throttle_time_ms,  3, ALL, IGNORABLE) \
    ARRAY(S, offset_fetch_response_topic, topics,            0,   7)            \
    FIELD(S, int16,                       error_code,        2,   7, IGNORABLE) \
    ARRAY(S, offset_fetch_response_group, groups,            8, ALL)

#define OFFSET_FETCH_STRUCTS(NESTED, MESSAGE) \
    NESTED(offset_fetch_request_topic)                                                \
    NESTED(offset_fetch_request_group_topic)                                          \
    NESTED(offset_fetch_request_group)                                                \
    MESSAGE(offset_fetch_request, "OffsetFetchRequest", REQUEST, OFFSET_FETCH_API)    \
    NESTED(offset_fetch_response_partition)                                           \
    NESTED(offset_fetch_response_topic)                                               \
    NESTED(offset_fetch_response_group_topic_partition)                               \
    NESTED(offset_fetch_response_group_topic)                                         \
    NESTED(offset_fetch_response_group)                                               \
    MESSAGE(offset_fetch_response, "OffsetFetchResponse", RESPONSE, OFFSET_FETCH_API)
// clang-format on

OFFSET_FETCH_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
