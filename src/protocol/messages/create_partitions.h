// SPDX-License-Identifier: Apache-2.0
// CreatePartitions: more partitions for existing topics.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define CREATE_PARTITIONS_API 37, 0, 3, 2

#define create_partitions_request_assignment_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    LIST(S, int32, broker_ids,  0, ALL)

#define create_partitions_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                               name,         0, ALL)                   \
    FIELD(S, int32,                                count,        0, ALL)                   \
    ARRAY(S, create_partitions_request_assignment, assignments,  0, ALL, NULLABLE(0, ALL))

#define create_partitions_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, create_partitions_request_topic, topics,         0, ALL) \
    FIELD(S, int32,                           timeout_ms,     0, ALL) \
    FIELD(S, bool,                            validate_only,  0, ALL)

#define create_partitions_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,           0, ALL)                                 \
    FIELD(S, int16,  error_code,     0, ALL)                                 \
    FIELD(S, string, error_message,  0, ALL, NULLABLE(0, ALL), DEFAULT_NULL)

#define create_partitions_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                             throttle_time_ms,  0, ALL) \
    ARRAY(S, create_partitions_response_result, results,           0, ALL)

#define CREATE_PARTITIONS_STRUCTS(NESTED, MESSAGE) \
    NESTED(create_partitions_request_assignment)                                                     \
    NESTED(create_partitions_request_topic)                                                          \
    MESSAGE(create_partitions_request, "CreatePartitionsRequest", REQUEST, CREATE_PARTITIONS_API)    \
    NESTED(create_partitions_response_result)                                                        \
    MESSAGE(create_partitions_response, "CreatePartitionsResponse", RESPONSE, CREATE_PARTITIONS_API)
// clang-format on

CREATE_PARTITIONS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
