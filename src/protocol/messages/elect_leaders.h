// SPDX-License-Identifier: Apache-2.0
// ElectLeaders: preferred or unclean election for partitions.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ELECT_LEADERS_API 43, 0, 2, 2

#define elect_leaders_request_topic_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic,       0, ALL) \
    LIST(S, int32,   partitions,  0, ALL)

#define elect_leaders_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,                                  election_type,     1, ALL)                   \
    ARRAY(S, elect_leaders_request_topic_partition, topic_partitions,  0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int32,                                 timeout_ms,        0, ALL, DEFAULT(60000))

#define elect_leaders_response_partition_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  partition_id,   0, ALL)                   \
    FIELD(S, int16,  error_code,     0, ALL)                   \
    FIELD(S, string, error_message,  0, ALL, NULLABLE(0, ALL))

#define elect_leaders_response_replica_election_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                  topic,             0, ALL) \
    ARRAY(S, elect_leaders_response_partition_result, partition_result,  0, ALL)

#define elect_leaders_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                          throttle_time_ms,          0, ALL) \
    FIELD(S, int16,                                          error_code,                1, ALL) \
    ARRAY(S, elect_leaders_response_replica_election_result, replica_election_results,  0, ALL)

#define ELECT_LEADERS_STRUCTS(NESTED, MESSAGE) \
    NESTED(elect_leaders_request_topic_partition)                                        \
    MESSAGE(elect_leaders_request, "ElectLeadersRequest", REQUEST, ELECT_LEADERS_API)    \
    NESTED(elect_leaders_response_partition_result)                                      \
    NESTED(elect_leaders_response_replica_election_result)                               \
    MESSAGE(elect_leaders_response, "ElectLeadersResponse", RESPONSE, ELECT_LEADERS_API)
// clang-format on

ELECT_LEADERS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
