// SPDX-License-Identifier: Apache-2.0
// Produce: record batches from producers. Decoded and answered by hand in produce_codec.c; this table is what holds it.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define PRODUCE_API 0, 0, 11, 9

#define produce_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,   index,    0, ALL)                   \
    FIELD(S, records, records,  0, ALL, NULLABLE(0, ALL))

#define produce_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                    name,            0, ALL) \
    ARRAY(S, produce_request_partition, partition_data,  0, ALL)

#define produce_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                transactional_id,  3, ALL, NULLABLE(3, ALL), DEFAULT_NULL) \
    FIELD(S, int16,                 acks,              0, ALL)                                 \
    FIELD(S, int32,                 timeout_ms,        0, ALL)                                 \
    ARRAY(S, produce_request_topic, topic_data,        0, ALL)

#define produce_response_record_error_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  batch_index,                8, ALL)                                 \
    FIELD(S, string, batch_index_error_message,  8, ALL, NULLABLE(8, ALL), DEFAULT_NULL)

#define produce_response_current_leader_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, leader_id,    10, ALL, DEFAULT(-1)) \
    FIELD(S, int32, leader_epoch, 10, ALL, DEFAULT(-1))

#define produce_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                            index,               0, ALL)                                            \
    FIELD(S, int16,                            error_code,          0, ALL)                                            \
    FIELD(S, int64,                            base_offset,         0, ALL)                                            \
    FIELD(S, int64,                            log_append_time_ms,  2, ALL, DEFAULT(-1), IGNORABLE)                    \
    FIELD(S, int64,                            log_start_offset,    5, ALL, DEFAULT(-1), IGNORABLE)                    \
    ARRAY(S, produce_response_record_error,    record_errors,       8, ALL, IGNORABLE)                                 \
    FIELD(S, string,                           error_message,       8, ALL, NULLABLE(8, ALL), DEFAULT_NULL, IGNORABLE) \
    STRUCT(S, produce_response_current_leader, current_leader,     10, ALL, TAG(0))

#define produce_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                     name,                 0, ALL) \
    ARRAY(S, produce_response_partition, partition_responses,  0, ALL)

#define produce_response_node_endpoint_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  node_id, 10, ALL)                                  \
    FIELD(S, string, host,    10, ALL)                                  \
    FIELD(S, int32,  port,    10, ALL)                                  \
    FIELD(S, string, rack,    10, ALL, NULLABLE(10, ALL), DEFAULT_NULL)

#define produce_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, produce_response_topic,         responses,         0, ALL)            \
    FIELD(S, int32,                          throttle_time_ms,  1, ALL, IGNORABLE) \
    ARRAY(S, produce_response_node_endpoint, node_endpoints,   10, ALL, TAG(0))

#define PRODUCE_STRUCTS(NESTED, MESSAGE) \
    NESTED(produce_request_partition)                                   \
    NESTED(produce_request_topic)                                       \
    MESSAGE(produce_request, "ProduceRequest", REQUEST, PRODUCE_API)    \
    NESTED(produce_response_record_error)                               \
    NESTED(produce_response_current_leader)                             \
    NESTED(produce_response_partition)                                  \
    NESTED(produce_response_topic)                                      \
    NESTED(produce_response_node_endpoint)                              \
    MESSAGE(produce_response, "ProduceResponse", RESPONSE, PRODUCE_API)
// clang-format on

PRODUCE_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
