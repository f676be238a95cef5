// SPDX-License-Identifier: Apache-2.0
// AddPartitionsToTxn: partitions join a transaction; batched by brokers from version 4.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ADD_PARTITIONS_TO_TXN_API 24, 0, 5, 3

#define add_partitions_to_txn_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,        0, ALL) \
    LIST(S, int32,   partitions,  0, ALL)

#define add_partitions_to_txn_request_transaction_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                              transactional_id,  4, ALL) \
    FIELD(S, int64,                               producer_id,       4, ALL) \
    FIELD(S, int16,                               producer_epoch,    4, ALL) \
    FIELD(S, bool,                                verify_only,       4, ALL) \
    ARRAY(S, add_partitions_to_txn_request_topic, topics,            4, ALL)

#define add_partitions_to_txn_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, add_partitions_to_txn_request_transaction, transactions,                   4, ALL) \
    FIELD(S, string,                                    v3_and_below_transactional_id,  0,   3) \
    FIELD(S, int64,                                     v3_and_below_producer_id,       0,   3) \
    FIELD(S, int16,                                     v3_and_below_producer_epoch,    0,   3) \
    ARRAY(S, add_partitions_to_txn_request_topic,       v3_and_below_topics,            0,   3)

#define add_partitions_to_txn_response_partition_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,       0, ALL) \
    FIELD(S, int16, partition_error_code,  0, ALL)

#define add_partitions_to_txn_response_topic_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                          name,                  0, ALL) \
    ARRAY(S, add_partitions_to_txn_response_partition_result, results_by_partition,  0, ALL)

#define add_partitions_to_txn_response_results_by_transaction_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                      transactional_id,  4, ALL) \
    ARRAY(S, add_partitions_to_txn_response_topic_result, topic_results,     4, ALL)

#define add_partitions_to_txn_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                                 throttle_time_ms,               0, ALL)            \
    FIELD(S, int16,                                                 error_code,                     4, ALL, IGNORABLE) \
    ARRAY(S, add_partitions_to_txn_response_results_by_transaction, results_by_transaction,         4, ALL)            \
    ARRAY(S, add_partitions_to_txn_response_topic_result,           results_by_topic_v3_and_below,  0,   3)

#define ADD_PARTITIONS_TO_TXN_STRUCTS(NESTED, MESSAGE) \
    NESTED(add_partitions_to_txn_request_topic)                                                                \
    NESTED(add_partitions_to_txn_request_transaction)                                                          \
    MESSAGE(add_partitions_to_txn_request, "AddPartitionsToTxnRequest", REQUEST, ADD_PARTITIONS_TO_TXN_API)    \
    NESTED(add_partitions_to_txn_response_partition_result)                                                    \
    NESTED(add_partitions_to_txn_response_topic_result)                                                        \
    NESTED(add_partitions_to_txn_response_results_by_transaction)                                              \
    MESSAGE(add_partitions_to_txn_response, "AddPartitionsToTxnResponse", RESPONSE, ADD_PARTITIONS_TO_TXN_API)
// clang-format on

ADD_PARTITIONS_TO_TXN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
