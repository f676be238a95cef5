// SPDX-License-Identifier: Apache-2.0
// OffsetForLeaderEpoch: where a leader epoch ended, for truncation by followers and its detection by consumers.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define OFFSET_FOR_LEADER_EPOCH_API 23, 0, 4, 4

#define offset_for_leader_epoch_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition,             0, ALL)                         \
    FIELD(S, int32, current_leader_epoch,  2, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int32, leader_epoch,          0, ALL)

#define offset_for_leader_epoch_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                    topic,       0, ALL) \
    ARRAY(S, offset_for_leader_epoch_request_partition, partitions,  0, ALL)

#define offset_for_leader_epoch_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                 replica_id,  3, ALL, DEFAULT(-2), IGNORABLE) \
    ARRAY(S, offset_for_leader_epoch_request_topic, topics,      0, ALL)

#define offset_for_leader_epoch_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16, error_code,    0, ALL)                         \
    FIELD(S, int32, partition,     0, ALL)                         \
    FIELD(S, int32, leader_epoch,  1, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int64, end_offset,    0, ALL, DEFAULT(-1))

#define offset_for_leader_epoch_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                     topic,       0, ALL) \
    ARRAY(S, offset_for_leader_epoch_response_partition, partitions,  0, ALL)

#define offset_for_leader_epoch_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                  throttle_time_ms,  2, ALL, IGNORABLE) \
    ARRAY(S, offset_for_leader_epoch_response_topic, topics,            0, ALL)

#define OFFSET_FOR_LEADER_EPOCH_STRUCTS(NESTED, MESSAGE) \
    NESTED(offset_for_leader_epoch_request_partition)                                                                \
    NESTED(offset_for_leader_epoch_request_topic)                                                                    \
    MESSAGE(offset_for_leader_epoch_request, "OffsetForLeaderEpochRequest", REQUEST, OFFSET_FOR_LEADER_EPOCH_API)    \
    NESTED(offset_for_leader_epoch_response_partition)                                                               \
    NESTED(offset_for_leader_epoch_response_topic)                                                                   \
    MESSAGE(offset_for_leader_epoch_response, "OffsetForLeaderEpochResponse", RESPONSE, OFFSET_FOR_LEADER_EPOCH_API)
// clang-format on

OFFSET_FOR_LEADER_EPOCH_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
