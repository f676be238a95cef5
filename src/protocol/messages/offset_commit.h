// SPDX-License-Identifier: Apache-2.0
// OffsetCommit: a group stores how far it has read.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define OFFSET_COMMIT_API 8, 0, 9, 8

#define offset_commit_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  partition_index,         0, ALL)                         \
    FIELD(S, int64,  committed_offset,        0, ALL)                         \
    FIELD(S, int32,  committed_leader_epoch,  6, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int64,  commit_timestamp,        1,   1, DEFAULT(-1))            \
    FIELD(S, string, committed_metadata,      0, ALL, NULLABLE(0, ALL))

#define offset_commit_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                          name,        0, ALL) \
    ARRAY(S, offset_commit_request_partition, partitions,  0, ALL)

#define offset_commit_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                      group_id,                       0, ALL)                                 \
    FIELD(S, int32,                       generation_id_or_member_epoch,  1, ALL, DEFAULT(-1), IGNORABLE)         \
    FIELD(S, string,                      member_id,                      1, ALL, IGNORABLE)                      \
    FIELD(S, string,                      group_instance_id,              7, ALL, NULLABLE(7, ALL), DEFAULT_NULL) \
    FIELD(S, int64,                       retention_time_ms,              2,   4, DEFAULT(-1), IGNORABLE)         \
    ARRAY(S, offset_commit_request_topic, topics,                         0, ALL)

#define offset_commit_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int16, error_code,       0, ALL)

#define offset_commit_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                           name,        0, ALL) \
    ARRAY(S, offset_commit_response_partition, partitions,  0, ALL)

#define offset_commit_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                        throttle_time_ms,  3, ALL, IGNORABLE) \
    ARRAY(S, offset_commit_response_topic, topics,            0, ALL)

#define OFFSET_COMMIT_STRUCTS(NESTED, MESSAGE) \
    NESTED(offset_commit_request_partition)                                              \
    NESTED(offset_commit_request_topic)                                                  \
    MESSAGE(offset_commit_request, "OffsetCommitRequest", REQUEST, OFFSET_COMMIT_API)    \
    NESTED(offset_commit_response_partition)                                             \
    NESTED(offset_commit_response_topic)                                                 \
    MESSAGE(offset_commit_response, "OffsetCommitResponse", RESPONSE, OFFSET_COMMIT_API)
// clang-format on

OFFSET_COMMIT_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
