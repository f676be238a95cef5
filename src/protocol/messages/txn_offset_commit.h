// SPDX-License-Identifier: Apache-2.0
// TxnOffsetCommit: offsets that count once the transaction commits.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define TXN_OFFSET_COMMIT_API 28, 0, 4, 3

#define txn_offset_commit_request_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  partition_index,         0, ALL)                         \
    FIELD(S, int64,  committed_offset,        0, ALL)                         \
    FIELD(S, int32,  committed_leader_epoch,  2, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, string, committed_metadata,      0, ALL, NULLABLE(0, ALL))

#define txn_offset_commit_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                              name,        0, ALL) \
    ARRAY(S, txn_offset_commit_request_partition, partitions,  0, ALL)

#define txn_offset_commit_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                          transactional_id,   0, ALL)                                 \
    FIELD(S, string,                          group_id,           0, ALL)                                 \
    FIELD(S, int64,                           producer_id,        0, ALL)                                 \
    FIELD(S, int16,                           producer_epoch,     0, ALL)                                 \
    FIELD(S, int32,                           generation_id,      3, ALL, DEFAULT(-1))                    \
    FIELD(S, string,                          member_id,          3, ALL)                                 \
    FIELD(S, string,                          group_instance_id,  3, ALL, NULLABLE(3, ALL), DEFAULT_NULL) \
    ARRAY(S, txn_offset_commit_request_topic, topics,             0, ALL)

#define txn_offset_commit_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int16, error_code,       0, ALL)

#define txn_offset_commit_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                               name,        0, ALL) \
    ARRAY(S, txn_offset_commit_response_partition, partitions,  0, ALL)

#define txn_offset_commit_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                            throttle_time_ms,  0, ALL) \
    ARRAY(S, txn_offset_commit_response_topic, topics,            0, ALL)

#define TXN_OFFSET_COMMIT_STRUCTS(NESTED, MESSAGE) \
    NESTED(txn_offset_commit_request_partition)                                                     \
    NESTED(txn_offset_commit_request_topic)                                                         \
    MESSAGE(txn_offset_commit_request, "TxnOffsetCommitRequest", REQUEST, TXN_OFFSET_COMMIT_API)    \
    NESTED(txn_offset_commit_response_partition)                                                    \
    NESTED(txn_offset_commit_response_topic)                                                        \
    MESSAGE(txn_offset_commit_response, "TxnOffsetCommitResponse", RESPONSE, TXN_OFFSET_COMMIT_API)
// clang-format on

TXN_OFFSET_COMMIT_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
