// SPDX-License-Identifier: Apache-2.0
// DescribeProducers: the producers that a partition's leader knows.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_PRODUCERS_API 61, 0, 0, 0

#define describe_producers_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,               0, ALL) \
    LIST(S, int32,   partition_indexes,  0, ALL)

#define describe_producers_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, describe_producers_request_topic, topics,  0, ALL)

#define describe_producers_response_active_producer_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int64, producer_id,               0, ALL)              \
    FIELD(S, int32, producer_epoch,            0, ALL)              \
    FIELD(S, int32, last_sequence,             0, ALL, DEFAULT(-1)) \
    FIELD(S, int64, last_timestamp,            0, ALL, DEFAULT(-1)) \
    FIELD(S, int32, coordinator_epoch,         0, ALL)              \
    FIELD(S, int64, current_txn_start_offset,  0, ALL, DEFAULT(-1))

#define describe_producers_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                       partition_index,   0, ALL)                                 \
    FIELD(S, int16,                                       error_code,        0, ALL)                                 \
    FIELD(S, string,                                      error_message,     0, ALL, NULLABLE(0, ALL), DEFAULT_NULL) \
    ARRAY(S, describe_producers_response_active_producer, active_producers,  0, ALL)

#define describe_producers_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                name,        0, ALL) \
    ARRAY(S, describe_producers_response_partition, partitions,  0, ALL)

#define describe_producers_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                             throttle_time_ms,  0, ALL) \
    ARRAY(S, describe_producers_response_topic, topics,            0, ALL)

#define DESCRIBE_PRODUCERS_STRUCTS(NESTED, MESSAGE) \
    NESTED(describe_producers_request_topic)                                                            \
    MESSAGE(describe_producers_request, "DescribeProducersRequest", REQUEST, DESCRIBE_PRODUCERS_API)    \
    NESTED(describe_producers_response_active_producer)                                                 \
    NESTED(describe_producers_response_partition)                                                       \
    NESTED(describe_producers_response_topic)                                                           \
    MESSAGE(describe_producers_response, "DescribeProducersResponse", RESPONSE, DESCRIBE_PRODUCERS_API)
// clang-format on

DESCRIBE_PRODUCERS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
