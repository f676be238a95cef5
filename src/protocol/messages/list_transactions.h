// SPDX-License-Identifier: Apache-2.0
// ListTransactions: the transactions that a broker coordinates.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define LIST_TRANSACTIONS_API 66, 0, 1, 0

#define list_transactions_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    LIST(S, string, state_filters,        0, ALL)              \
    LIST(S, int64,  producer_id_filters,  0, ALL)              \
    FIELD(S, int64, duration_filter,      1, ALL, DEFAULT(-1))

#define list_transactions_response_transaction_state_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, transactional_id,   0, ALL) \
    FIELD(S, int64,  producer_id,        0, ALL) \
    FIELD(S, string, transaction_state,  0, ALL)

#define list_transactions_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                        throttle_time_ms,       0, ALL) \
    FIELD(S, int16,                                        error_code,             0, ALL) \
    LIST(S, string,                                        unknown_state_filters,  0, ALL) \
    ARRAY(S, list_transactions_response_transaction_state, transaction_states,     0, ALL)

#define LIST_TRANSACTIONS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(list_transactions_request, "ListTransactionsRequest", REQUEST, LIST_TRANSACTIONS_API)    \
    NESTED(list_transactions_response_transaction_state)                                             \
    MESSAGE(list_transactions_response, "ListTransactionsResponse", RESPONSE, LIST_TRANSACTIONS_API)
// clang-format on

LIST_TRANSACTIONS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
