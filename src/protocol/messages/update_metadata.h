// SPDX-License-Identifier: Apache-2.0
// UpdateMetadata: the controller's view of the cluster for every broker.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define UPDATE_METADATA_API 6, 0, 8, 6

#define update_metadata_request_partition_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic_name,        0,   4, IGNORABLE) \
    FIELD(S, int32,  partition_index,   0, ALL)            \
    FIELD(S, int32,  controller_epoch,  0, ALL)            \
    FIELD(S, int32,  leader,            0, ALL)            \
    FIELD(S, int32,  leader_epoch,      0, ALL)            \
    LIST(S, int32,   isr,               0, ALL)            \
    FIELD(S, int32,  zk_version,        0, ALL)            \
    LIST(S, int32,   replicas,          0, ALL)            \
    LIST(S, int32,   offline_replicas,  4, ALL, IGNORABLE)

#define update_metadata_request_topic_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                  topic_name,        5, ALL)            \
    FIELD(S, uuid,                                    topic_id,          7, ALL, IGNORABLE) \
    ARRAY(S, update_metadata_request_partition_state, partition_states,  5, ALL)

#define update_metadata_request_endpoint_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  port,               1, ALL)            \
    FIELD(S, string, host,               1, ALL)            \
    FIELD(S, string, listener,           3, ALL, IGNORABLE) \
    FIELD(S, int16,  security_protocol,  1, ALL)

#define update_metadata_request_broker_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                            id,         0, ALL)                              \
    FIELD(S, string,                           v0_host,    0,   0, IGNORABLE)                   \
    FIELD(S, int32,                            v0_port,    0,   0, IGNORABLE)                   \
    ARRAY(S, update_metadata_request_endpoint, endpoints,  1, ALL, IGNORABLE)                   \
    FIELD(S, string,                           rack,       2, ALL, NULLABLE(0, ALL), IGNORABLE)

#define update_metadata_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                   controller_id,               0, ALL)                         \
    FIELD(S, bool,                                    is_k_raft_controller,        8, ALL)                         \
    FIELD(S, int8,                                    type,                        8, ALL, TAG(0))                 \
    FIELD(S, int32,                                   controller_epoch,            0, ALL)                         \
    FIELD(S, int64,                                   broker_epoch,                5, ALL, DEFAULT(-1), IGNORABLE) \
    ARRAY(S, update_metadata_request_partition_state, ungrouped_partition_states,  0,   4)                         \
    ARRAY(S, update_metadata_request_topic_state,     topic_states,                5, ALL)                         \
    ARRAY(S, update_metadata_request_broker,          live_brokers,                0, ALL)

#define update_metadata_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16, error_code,  0, ALL)

#define UPDATE_METADATA_STRUCTS(NESTED, MESSAGE) \
    NESTED(update_metadata_request_partition_state)                                            \
    NESTED(update_metadata_request_topic_state)                                                \
    NESTED(update_metadata_request_endpoint)                                                   \
    NESTED(update_metadata_request_broker)                                                     \
    MESSAGE(update_metadata_request, "UpdateMetadataRequest", REQUEST, UPDATE_METADATA_API)    \
    MESSAGE(update_metadata_response, "UpdateMetadataResponse", RESPONSE, UPDATE_METADATA_API)
// clang-format on

UPDATE_METADATA_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
