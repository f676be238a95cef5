// SPDX-License-Identifier: Apache-2.0
// EndTxn: commit or abort.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define END_TXN_API 26, 0, 4, 3

#define end_txn_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, transactional_id,  0, ALL) \
    FIELD(S, int64,  producer_id,       0, ALL) \
    FIELD(S, int16,  producer_epoch,    0, ALL) \
    FIELD(S, bool,   committed,         0, ALL)

#define end_txn_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, throttle_time_ms,  0, ALL) \
    FIELD(S, int16, error_code,        0, ALL)

#define END_TXN_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(end_txn_request, "EndTxnRequest", REQUEST, END_TXN_API)    \
    MESSAGE(end_txn_response, "EndTxnResponse", RESPONSE, END_TXN_API)
// clang-format on

END_TXN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
