// SPDX-License-Identifier: Apache-2.0
// Metadata: brokers, topics, partitions and their leaders; what every client asks first.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define METADATA_API 3, 0, 12, 9

#define metadata_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, uuid,   topic_id, 10, ALL, IGNORABLE)         \
    FIELD(S, string, name,      0, ALL, NULLABLE(10, ALL))

#define metadata_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, metadata_request_topic, topics,                                 0, ALL, NULLABLE(1, ALL)) \
    FIELD(S, bool,                   allow_auto_topic_creation,              4, ALL, DEFAULT(1))       \
    FIELD(S, bool,                   include_cluster_authorized_operations,  8,  10)                   \
    FIELD(S, bool,                   include_topic_authorized_operations,    8, ALL)

#define metadata_response_broker_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  node_id,  0, ALL)                                            \
    FIELD(S, string, host,     0, ALL)                                            \
    FIELD(S, int32,  port,     0, ALL)                                            \
    FIELD(S, string, rack,     1, ALL, NULLABLE(1, ALL), DEFAULT_NULL, IGNORABLE)

#define metadata_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16, error_code,        0, ALL)                         \
    FIELD(S, int32, partition_index,   0, ALL)                         \
    FIELD(S, int32, leader_id,         0, ALL)                         \
    FIELD(S, int32, leader_epoch,      7, ALL, DEFAULT(-1), IGNORABLE) \
    LIST(S, int32,  replica_nodes,     0, ALL)                         \
    LIST(S, int32,  isr_nodes,         0, ALL)                         \
    LIST(S, int32,  offline_replicas,  5, ALL, IGNORABLE)

#define metadata_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                       error_code,                   0, ALL)                     \
    FIELD(S, string,                      name,                         0, ALL, NULLABLE(12, ALL))  \
    FIELD(S, uuid,                        topic_id,                    10, ALL, IGNORABLE)          \
    FIELD(S, bool,                        is_internal,                  1, ALL, IGNORABLE)          \
    ARRAY(S, metadata_response_partition, partitions,                   0, ALL)                     \
    FIELD(S, int32,                       topic_authorized_operations,  8, ALL, DEFAULT(INT32_MIN))

#define metadata_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                    throttle_time_ms,               3, ALL, IGNORABLE)                                 \
    ARRAY(S, metadata_response_broker, brokers,                        0, ALL)                                            \
    FIELD(S, string,                   cluster_id,                     2, ALL, NULLABLE(2, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, int32,                    controller_id,                  1, ALL, DEFAULT(-1), IGNORABLE)                    \
    ARRAY(S, metadata_response_topic,  topics,                         0, ALL)                                            \
    FIELD(S, int32,                    cluster_authorized_operations,  8,  10, DEFAULT(INT32_MIN))

#define METADATA_STRUCTS(NESTED, MESSAGE) \
    NESTED(metadata_request_topic)                                         \
    MESSAGE(metadata_request, "MetadataRequest", REQUEST, METADATA_API)    \
    NESTED(metadata_response_broker)                                       \
    NESTED(metadata_response_partition)                                    \
    NESTED(metadata_response_topic)                                        \
    MESSAGE(metadata_response, "MetadataResponse", RESPONSE, METADATA_API)
// clang-format on

METADATA_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
