// SPDX-License-Identifier: Apache-2.0
// DescribeTransactions: state and partitions of transactions.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_TRANSACTIONS_API 65, 0, 0, 0

#define describe_transactions_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    LIST(S, string, transactional_ids,  0, ALL)

#define describe_transactions_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic,       0, ALL) \
    LIST(S, int32,   partitions,  0, ALL)

#define describe_transactions_response_transaction_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                                error_code,                 0, ALL) \
    FIELD(S, string,                               transactional_id,           0, ALL) \
    FIELD(S, string,                               transaction_state,          0, ALL) \
    FIELD(S, int32,                                transaction_timeout_ms,     0, ALL) \
    FIELD(S, int64,                                transaction_start_time_ms,  0, ALL) \
    FIELD(S, int64,                                producer_id,                0, ALL) \
    FIELD(S, int16,                                producer_epoch,             0, ALL) \
    ARRAY(S, describe_transactions_response_topic, topics,                     0, ALL)

#define describe_transactions_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                            throttle_time_ms,    0, ALL) \
    ARRAY(S, describe_transactions_response_transaction_state, transaction_states,  0, ALL)

#define DESCRIBE_TRANSACTIONS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(describe_transactions_request, "DescribeTransactionsRequest", REQUEST, DESCRIBE_TRANSACTIONS_API)    \
    NESTED(describe_transactions_response_topic)                                                                 \
    NESTED(describe_transactions_response_transaction_state)                                                     \
    MESSAGE(describe_transactions_response, "DescribeTransactionsResponse", RESPONSE, DESCRIBE_TRANSACTIONS_API)
// clang-format on

DESCRIBE_TRANSACTIONS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
