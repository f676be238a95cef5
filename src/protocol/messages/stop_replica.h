// SPDX-License-Identifier: Apache-2.0
// StopReplica: the controller stops (and deletes) replicas.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define STOP_REPLICA_API 5, 0, 4, 2

#define stop_replica_request_partition_v0_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic_name,       0,   0) \
    FIELD(S, int32,  partition_index,  0,   0)

#define stop_replica_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,               1,   2) \
    LIST(S, int32,   partition_indexes,  1,   2)

#define stop_replica_request_partition_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,   3, ALL)              \
    FIELD(S, int32, leader_epoch,      3, ALL, DEFAULT(-1)) \
    FIELD(S, bool,  delete_partition,  3, ALL)

#define stop_replica_request_topic_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                               topic_name,        3, ALL) \
    ARRAY(S, stop_replica_request_partition_state, partition_states,  3, ALL)

#define stop_replica_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                             controller_id,         0, ALL)                         \
    FIELD(S, bool,                              is_k_raft_controller,  4, ALL)                         \
    FIELD(S, int32,                             controller_epoch,      0, ALL)                         \
    FIELD(S, int64,                             broker_epoch,          1, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, bool,                              delete_partitions,     0,   2)                         \
    ARRAY(S, stop_replica_request_partition_v0, ungrouped_partitions,  0,   0)                         \
    ARRAY(S, stop_replica_request_topic,        topics,                1,   2)                         \
    ARRAY(S, stop_replica_request_topic_state,  topic_states,          3, ALL)

#define stop_replica_response_partition_error_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic_name,       0, ALL) \
    FIELD(S, int32,  partition_index,  0, ALL) \
    FIELD(S, int16,  error_code,       0, ALL)

#define stop_replica_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                                 error_code,        0, ALL) \
    ARRAY(S, stop_replica_response_partition_error, partition_errors,  0, ALL)

#define STOP_REPLICA_STRUCTS(NESTED, MESSAGE) \
    NESTED(stop_replica_request_partition_v0)                                         \
    NESTED(stop_replica_request_topic)                                                \
    NESTED(stop_replica_request_partition_state)                                      \
    NESTED(stop_replica_request_topic_state)                                          \
    MESSAGE(stop_replica_request, "StopReplicaRequest", REQUEST, STOP_REPLICA_API)    \
    NESTED(stop_replica_response_partition_error)                                     \
    MESSAGE(stop_replica_response, "StopReplicaResponse", RESPONSE, STOP_REPLICA_API)
// clang-format on

STOP_REPLICA_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
