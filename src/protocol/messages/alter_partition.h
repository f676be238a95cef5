// SPDX-License-Identifier: Apache-2.0
// AlterPartition: a leader changes its in-sync set through the controller.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ALTER_PARTITION_API 56, 0, 3, 0

#define alter_partition_request_broker_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, broker_id,     3, ALL)              \
    FIELD(S, int64, broker_epoch,  3, ALL, DEFAULT(-1))

#define alter_partition_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                partition_index,        0, ALL) \
    FIELD(S, int32,                                leader_epoch,           0, ALL) \
    LIST(S, int32,                                 new_isr,                0,   2) \
    ARRAY(S, alter_partition_request_broker_state, new_isr_with_epochs,    3, ALL) \
    FIELD(S, int8,                                 leader_recovery_state,  1, ALL) \
    FIELD(S, int32,                                partition_epoch,        0, ALL)

#define alter_partition_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                            topic_name,  0,   1, IGNORABLE) \
    FIELD(S, uuid,                              topic_id,    2, ALL, IGNORABLE) \
    ARRAY(S, alter_partition_request_partition, partitions,  0, ALL)

#define alter_partition_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                         broker_id,     0, ALL)              \
    FIELD(S, int64,                         broker_epoch,  0, ALL, DEFAULT(-1)) \
    ARRAY(S, alter_partition_request_topic, topics,        0, ALL)

#define alter_partition_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,        0, ALL)            \
    FIELD(S, int16, error_code,             0, ALL)            \
    FIELD(S, int32, leader_id,              0, ALL)            \
    FIELD(S, int32, leader_epoch,           0, ALL)            \
    LIST(S, int32,  isr,                    0, ALL)            \
    FIELD(S, int8,  leader_recovery_state,  1, ALL, IGNORABLE) \
    FIELD(S, int32, partition_epoch,        0, ALL)

#define alter_partition_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                             topic_name,  0,   1, IGNORABLE) \
    FIELD(S, uuid,                               topic_id,    2, ALL, IGNORABLE) \
    ARRAY(S, alter_partition_response_partition, partitions,  0, ALL)

#define alter_partition_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                          throttle_time_ms,  0, ALL) \
    FIELD(S, int16,                          error_code,        0, ALL) \
    ARRAY(S, alter_partition_response_topic, topics,            0, ALL)

#define ALTER_PARTITION_STRUCTS(NESTED, MESSAGE) \
    NESTED(alter_partition_request_broker_state)                                               \
    NESTED(alter_partition_request_partition)                                                  \
    NESTED(alter_partition_request_topic)                                                      \
    MESSAGE(alter_partition_request, "AlterPartitionRequest", REQUEST, ALTER_PARTITION_API)    \
    NESTED(alter_partition_response_partition)                                                 \
    NESTED(alter_partition_response_topic)                                                     \
    MESSAGE(alter_partition_response, "AlterPartitionResponse", RESPONSE, ALTER_PARTITION_API)
// clang-format on

ALTER_PARTITION_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
