// SPDX-License-Identifier: Apache-2.0
// Fetch: records for consumers and followers, with incremental sessions. Hot path in fetch_codec.c; this table is what
// holds it.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define FETCH_API 1, 0, 17, 12

#define fetch_request_replica_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, replica_id,    15, ALL, DEFAULT(-1)) \
    FIELD(S, int64, replica_epoch, 15, ALL, DEFAULT(-1))

#define fetch_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition,             0, ALL)                         \
    FIELD(S, int32, current_leader_epoch,  9, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int64, fetch_offset,          0, ALL)                         \
    FIELD(S, int32, last_fetched_epoch,   12, ALL, DEFAULT(-1))            \
    FIELD(S, int64, log_start_offset,      5, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int32, partition_max_bytes,   0, ALL)                         \
    FIELD(S, uuid,  replica_directory_id, 17, ALL, TAG(0), IGNORABLE)

#define fetch_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                  topic,       0,  12, IGNORABLE) \
    FIELD(S, uuid,                    topic_id,   13, ALL, IGNORABLE) \
    ARRAY(S, fetch_request_partition, partitions,  0, ALL)

#define fetch_request_forgotten_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic,       7,  12, IGNORABLE) \
    FIELD(S, uuid,   topic_id,   13, ALL, IGNORABLE) \
    LIST(S, int32,   partitions,  7, ALL)

#define fetch_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                        cluster_id,            12, ALL, TAG(0), NULLABLE(12, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, int32,                         replica_id,             0,  14, DEFAULT(-1))                                        \
    STRUCT(S, fetch_request_replica_state,  replica_state,         15, ALL, TAG(1))                                             \
    FIELD(S, int32,                         max_wait_ms,            0, ALL)                                                     \
    FIELD(S, int32,                         min_bytes,              0, ALL)                                                     \
    FIELD(S, int32,                         max_bytes,              3, ALL, DEFAULT(INT32_MAX), IGNORABLE)                      \
    FIELD(S, int8,                          isolation_level,        4, ALL, IGNORABLE)                                          \
    FIELD(S, int32,                         session_id,             7, ALL, IGNORABLE)                                          \
    FIELD(S, int32,                         session_epoch,          7, ALL, DEFAULT(-1), IGNORABLE)                             \
    ARRAY(S, fetch_request_topic,           topics,                 0, ALL)                                                     \
    ARRAY(S, fetch_request_forgotten_topic, forgotten_topics_data,  7, ALL)                                                     \
    FIELD(S, string,                        rack_id,               11, ALL, IGNORABLE)

#define fetch_response_diverging_epoch_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, epoch,      12, ALL, DEFAULT(-1)) \
    FIELD(S, int64, end_offset, 12, ALL, DEFAULT(-1))

#define fetch_response_current_leader_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, leader_id,    12, ALL, DEFAULT(-1)) \
    FIELD(S, int32, leader_epoch, 12, ALL, DEFAULT(-1))

#define fetch_response_snapshot_id_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int64, end_offset,  0, ALL, DEFAULT(-1)) \
    FIELD(S, int32, epoch,       0, ALL, DEFAULT(-1))

#define fetch_response_aborted_transaction_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int64, producer_id,   4, ALL) \
    FIELD(S, int64, first_offset,  4, ALL)

#define fetch_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                              partition_index,         0, ALL)                              \
    FIELD(S, int16,                              error_code,              0, ALL)                              \
    FIELD(S, int64,                              high_watermark,          0, ALL)                              \
    FIELD(S, int64,                              last_stable_offset,      4, ALL, DEFAULT(-1), IGNORABLE)      \
    FIELD(S, int64,                              log_start_offset,        5, ALL, DEFAULT(-1), IGNORABLE)      \
    STRUCT(S, fetch_response_diverging_epoch,    diverging_epoch,        12, ALL, TAG(0))                      \
    STRUCT(S, fetch_response_current_leader,     current_leader,         12, ALL, TAG(1))                      \
    STRUCT(S, fetch_response_snapshot_id,        snapshot_id,            12, ALL, TAG(2))                      \
    ARRAY(S, fetch_response_aborted_transaction, aborted_transactions,    4, ALL, NULLABLE(4, ALL), IGNORABLE) \
    FIELD(S, int32,                              preferred_read_replica, 11, ALL, DEFAULT(-1))                 \
    FIELD(S, records,                            records,                 0, ALL, NULLABLE(0, ALL))

#define fetch_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                   topic,       0,  12, IGNORABLE) \
    FIELD(S, uuid,                     topic_id,   13, ALL, IGNORABLE) \
    ARRAY(S, fetch_response_partition, partitions,  0, ALL)

#define fetch_response_node_endpoint_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  node_id, 16, ALL)                                  \
    FIELD(S, string, host,    16, ALL)                                  \
    FIELD(S, int32,  port,    16, ALL)                                  \
    FIELD(S, string, rack,    16, ALL, NULLABLE(16, ALL), DEFAULT_NULL)

#define fetch_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                        throttle_time_ms,  1, ALL, IGNORABLE) \
    FIELD(S, int16,                        error_code,        7, ALL, IGNORABLE) \
    FIELD(S, int32,                        session_id,        7, ALL)            \
    ARRAY(S, fetch_response_topic,         responses,         0, ALL)            \
    ARRAY(S, fetch_response_node_endpoint, node_endpoints,   16, ALL, TAG(0))

#define FETCH_STRUCTS(NESTED, MESSAGE) \
    NESTED(fetch_request_replica_state)                           \
    NESTED(fetch_request_partition)                               \
    NESTED(fetch_request_topic)                                   \
    NESTED(fetch_request_forgotten_topic)                         \
    MESSAGE(fetch_request, "FetchRequest", REQUEST, FETCH_API)    \
    NESTED(fetch_response_diverging_epoch)                        \
    NESTED(fetch_response_current_leader)                         \
    NESTED(fetch_response_snapshot_id)                            \
    NESTED(fetch_response_aborted_transaction)                    \
    NESTED(fetch_response_partition)                              \
    NESTED(fetch_response_topic)                                  \
    NESTED(fetch_response_node_endpoint)                          \
    MESSAGE(fetch_response, "FetchResponse", RESPONSE, FETCH_API)
// clang-format on

FETCH_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
