// SPDX-License-Identifier: Apache-2.0
// LeaderAndIsr: the controller tells brokers who leads and who follows.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define LEADER_AND_ISR_API 4, 0, 7, 4

#define leader_and_isr_request_partition_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic_name,             0,   1, IGNORABLE) \
    FIELD(S, int32,  partition_index,        0, ALL)            \
    FIELD(S, int32,  controller_epoch,       0, ALL)            \
    FIELD(S, int32,  leader,                 0, ALL)            \
    FIELD(S, int32,  leader_epoch,           0, ALL)            \
    LIST(S, int32,   isr,                    0, ALL)            \
    FIELD(S, int32,  partition_epoch,        0, ALL)            \
    LIST(S, int32,   replicas,               0, ALL)            \
    LIST(S, int32,   adding_replicas,        3, ALL, IGNORABLE) \
    LIST(S, int32,   removing_replicas,      3, ALL, IGNORABLE) \
    FIELD(S, bool,   is_new,                 1, ALL, IGNORABLE) \
    FIELD(S, int8,   leader_recovery_state,  6, ALL)

#define leader_and_isr_request_topic_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                 topic_name,        2, ALL)            \
    FIELD(S, uuid,                                   topic_id,          5, ALL, IGNORABLE) \
    ARRAY(S, leader_and_isr_request_partition_state, partition_states,  2, ALL)

#define leader_and_isr_request_live_leader_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  broker_id,  0, ALL) \
    FIELD(S, string, host_name,  0, ALL) \
    FIELD(S, int32,  port,       0, ALL)

#define leader_and_isr_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                  controller_id,               0, ALL)                         \
    FIELD(S, bool,                                   is_k_raft_controller,        7, ALL)                         \
    FIELD(S, int32,                                  controller_epoch,            0, ALL)                         \
    FIELD(S, int64,                                  broker_epoch,                2, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, int8,                                   type,                        5, ALL)                         \
    ARRAY(S, leader_and_isr_request_partition_state, ungrouped_partition_states,  0,   1)                         \
    ARRAY(S, leader_and_isr_request_topic_state,     topic_states,                2, ALL)                         \
    ARRAY(S, leader_and_isr_request_live_leader,     live_leaders,                0, ALL)

#define leader_and_isr_response_partition_error_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic_name,       0,   4, IGNORABLE) \
    FIELD(S, int32,  partition_index,  0, ALL)            \
    FIELD(S, int16,  error_code,       0, ALL)

#define leader_and_isr_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, uuid,                                    topic_id,          5, ALL) \
    ARRAY(S, leader_and_isr_response_partition_error, partition_errors,  5, ALL)

#define leader_and_isr_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                                   error_code,        0, ALL) \
    ARRAY(S, leader_and_isr_response_partition_error, partition_errors,  0,   4) \
    ARRAY(S, leader_and_isr_response_topic,           topics,            5, ALL)

#define LEADER_AND_ISR_STRUCTS(NESTED, MESSAGE) \
    NESTED(leader_and_isr_request_partition_state)                                         \
    NESTED(leader_and_isr_request_topic_state)                                             \
    NESTED(leader_and_isr_request_live_leader)                                             \
    MESSAGE(leader_and_isr_request, "LeaderAndIsrRequest", REQUEST, LEADER_AND_ISR_API)    \
    NESTED(leader_and_isr_response_partition_error)                                        \
    NESTED(leader_and_isr_response_topic)                                                  \
    MESSAGE(leader_and_isr_response, "LeaderAndIsrResponse", RESPONSE, LEADER_AND_ISR_API)
// clang-format on

LEADER_AND_ISR_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
