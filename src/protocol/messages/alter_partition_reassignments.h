// SPDX-License-Identifier: Apache-2.0
// AlterPartitionReassignments: new replica sets, or the end of moves under way.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ALTER_PARTITION_REASSIGNMENTS_API 45, 0, 0, 0

#define alter_partition_reassignments_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL)                                 \
    LIST(S, int32,  replicas,         0, ALL, NULLABLE(0, ALL), DEFAULT_NULL)

#define alter_partition_reassignments_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                          name,        0, ALL) \
    ARRAY(S, alter_partition_reassignments_request_partition, partitions,  0, ALL)

#define alter_partition_reassignments_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                       timeout_ms,  0, ALL, DEFAULT(60000)) \
    ARRAY(S, alter_partition_reassignments_request_topic, topics,      0, ALL)

#define alter_partition_reassignments_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  partition_index,  0, ALL)                   \
    FIELD(S, int16,  error_code,       0, ALL)                   \
    FIELD(S, string, error_message,    0, ALL, NULLABLE(0, ALL))

#define alter_partition_reassignments_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                           name,        0, ALL) \
    ARRAY(S, alter_partition_reassignments_response_partition, partitions,  0, ALL)

#define alter_partition_reassignments_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                           throttle_time_ms,  0, ALL)                   \
    FIELD(S, int16,                                           error_code,        0, ALL)                   \
    FIELD(S, string,                                          error_message,     0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, alter_partition_reassignments_response_topic, responses,         0, ALL)

#define ALTER_PARTITION_REASSIGNMENTS_STRUCTS(NESTED, MESSAGE) \
    NESTED(alter_partition_reassignments_request_partition)                                                                             \
    NESTED(alter_partition_reassignments_request_topic)                                                                                 \
    MESSAGE(alter_partition_reassignments_request, "AlterPartitionReassignmentsRequest", REQUEST, ALTER_PARTITION_REASSIGNMENTS_API)    \
    NESTED(alter_partition_reassignments_response_partition)                                                                            \
    NESTED(alter_partition_reassignments_response_topic)                                                                             \
    MESSAGE(alter_partition_reassignments_response, "AlterPartitionReassignmentsResponse", RESPONSE, ALTER_PARTITION_REASSIGNMENTS_API)
// clang-format on

ALTER_PARTITION_REASSIGNMENTS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
