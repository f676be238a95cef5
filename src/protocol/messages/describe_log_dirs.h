// SPDX-License-Identifier: Apache-2.0
// DescribeLogDirs: log directories with the size of each replica.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_LOG_DIRS_API 35, 0, 4, 2

#define describe_log_dirs_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic,       0, ALL) \
    LIST(S, int32,   partitions,  0, ALL)

#define describe_log_dirs_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, describe_log_dirs_request_topic, topics,  0, ALL, NULLABLE(0, ALL))

#define describe_log_dirs_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int64, partition_size,   0, ALL) \
    FIELD(S, int64, offset_lag,       0, ALL) \
    FIELD(S, bool,  is_future_key,    0, ALL)

#define describe_log_dirs_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                               name,        0, ALL) \
    ARRAY(S, describe_log_dirs_response_partition, partitions,  0, ALL)

#define describe_log_dirs_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                            error_code,    0, ALL)                         \
    FIELD(S, string,                           log_dir,       0, ALL)                         \
    ARRAY(S, describe_log_dirs_response_topic, topics,        0, ALL)                         \
    FIELD(S, int64,                            total_bytes,   4, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int64,                            usable_bytes,  4, ALL, DEFAULT(-1), IGNORABLE)

#define describe_log_dirs_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                             throttle_time_ms,  0, ALL)            \
    FIELD(S, int16,                             error_code,        3, ALL, IGNORABLE) \
    ARRAY(S, describe_log_dirs_response_result, results,           0, ALL)

#define DESCRIBE_LOG_DIRS_STRUCTS(NESTED, MESSAGE) \
    NESTED(describe_log_dirs_request_topic)                                                         \
    MESSAGE(describe_log_dirs_request, "DescribeLogDirsRequest", REQUEST, DESCRIBE_LOG_DIRS_API)    \
    NESTED(describe_log_dirs_response_partition)                                                    \
    NESTED(describe_log_dirs_response_topic)                                                        \
    NESTED(describe_log_dirs_response_result)                                                       \
    MESSAGE(describe_log_dirs_response, "DescribeLogDirsResponse", RESPONSE, DESCRIBE_LOG_DIRS_API)
// clang-format on

DESCRIBE_LOG_DIRS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
