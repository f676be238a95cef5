// SPDX-License-Identifier: Apache-2.0
// DeleteRecords: raises the log start offset of partitions.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DELETE_RECORDS_API 21, 0, 2, 2

#define delete_records_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int64, offset,           0, ALL)

#define delete_records_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                           name,        0, ALL) \
    ARRAY(S, delete_records_request_partition, partitions,  0, ALL)

#define delete_records_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, delete_records_request_topic, topics,      0, ALL) \
    FIELD(S, int32,                        timeout_ms,  0, ALL)

#define delete_records_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int64, low_watermark,    0, ALL) \
    FIELD(S, int16, error_code,       0, ALL)

#define delete_records_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                            name,        0, ALL) \
    ARRAY(S, delete_records_response_partition, partitions,  0, ALL)

#define delete_records_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                         throttle_time_ms,  0, ALL) \
    ARRAY(S, delete_records_response_topic, topics,            0, ALL)

#define DELETE_RECORDS_STRUCTS(NESTED, MESSAGE) \
    NESTED(delete_records_request_partition)                                                \
    NESTED(delete_records_request_topic)                                                    \
    MESSAGE(delete_records_request, "DeleteRecordsRequest", REQUEST, DELETE_RECORDS_API)    \
    NESTED(delete_records_response_partition)                                               \
    NESTED(delete_records_response_topic)                                                   \
    MESSAGE(delete_records_response, "DeleteRecordsResponse", RESPONSE, DELETE_RECORDS_API)
// clang-format on

DELETE_RECORDS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
