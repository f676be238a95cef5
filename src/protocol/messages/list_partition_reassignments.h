// SPDX-License-Identifier: Apache-2.0
// ListPartitionReassignments: replica moves under way.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define LIST_PARTITION_REASSIGNMENTS_API 46, 0, 0, 0

#define list_partition_reassignments_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,               0, ALL) \
    LIST(S, int32,   partition_indexes,  0, ALL)

#define list_partition_reassignments_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                      timeout_ms,  0, ALL, DEFAULT(60000))                 \
    ARRAY(S, list_partition_reassignments_request_topic, topics,      0, ALL, NULLABLE(0, ALL), DEFAULT_NULL)

#define list_partition_reassignments_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,    0, ALL) \
    LIST(S, int32,  replicas,           0, ALL) \
    LIST(S, int32,  adding_replicas,    0, ALL) \
    LIST(S, int32,  removing_replicas,  0, ALL)

#define list_partition_reassignments_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                          name,        0, ALL) \
    ARRAY(S, list_partition_reassignments_response_partition, partitions,  0, ALL)

#define list_partition_reassignments_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                       throttle_time_ms,  0, ALL)                   \
    FIELD(S, int16,                                       error_code,        0, ALL)                   \
    FIELD(S, string,                                      error_message,     0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, list_partition_reassignments_response_topic, topics,            0, ALL)

#define LIST_PARTITION_REASSIGNMENTS_STRUCTS(NESTED, MESSAGE) \
    NESTED(list_partition_reassignments_request_topic)                                                                               \
    MESSAGE(list_partition_reassignments_request, "ListPartitionReassignmentsRequest", REQUEST, LIST_PARTITION_REASSIGNMENTS_API)    \
    NESTED(list_partition_reassignments_response_partition)                                                                          \
    NESTED(list_partition_reassignments_response_topic)                                                                              \
    MESSAGE(list_partition_reassignments_response, "ListPartitionReassignmentsResponse", RESPONSE, LIST_PARTITION_REASSIGNMENTS_API)
// clang-format on

LIST_PARTITION_REASSIGNMENTS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
