// SPDX-License-Identifier: Apache-2.0
// AlterReplicaLogDirs: moves replicas between the log directories of a broker.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ALTER_REPLICA_LOG_DIRS_API 34, 0, 2, 2

#define alter_replica_log_dirs_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,        0, ALL) \
    LIST(S, int32,   partitions,  0, ALL)

#define alter_replica_log_dirs_request_dir_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                               path,    0, ALL) \
    ARRAY(S, alter_replica_log_dirs_request_topic, topics,  0, ALL)

#define alter_replica_log_dirs_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, alter_replica_log_dirs_request_dir, dirs,  0, ALL)

#define alter_replica_log_dirs_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int16, error_code,       0, ALL)

#define alter_replica_log_dirs_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                    topic_name,  0, ALL) \
    ARRAY(S, alter_replica_log_dirs_response_partition, partitions,  0, ALL)

#define alter_replica_log_dirs_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                  throttle_time_ms,  0, ALL) \
    ARRAY(S, alter_replica_log_dirs_response_result, results,           0, ALL)

#define ALTER_REPLICA_LOG_DIRS_STRUCTS(NESTED, MESSAGE) \
    NESTED(alter_replica_log_dirs_request_topic)                                                                  \
    NESTED(alter_replica_log_dirs_request_dir)                                                                    \
    MESSAGE(alter_replica_log_dirs_request, "AlterReplicaLogDirsRequest", REQUEST, ALTER_REPLICA_LOG_DIRS_API)    \
    NESTED(alter_replica_log_dirs_response_partition)                                                             \
    NESTED(alter_replica_log_dirs_response_result)                                                                \
    MESSAGE(alter_replica_log_dirs_response, "AlterReplicaLogDirsResponse", RESPONSE, ALTER_REPLICA_LOG_DIRS_API)
// clang-format on

ALTER_REPLICA_LOG_DIRS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
