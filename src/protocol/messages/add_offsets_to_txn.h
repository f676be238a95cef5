// SPDX-License-Identifier: Apache-2.0
// AddOffsetsToTxn: a group's offsets join a transaction.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ADD_OFFSETS_TO_TXN_API 25, 0, 4, 3

#define add_offsets_to_txn_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, transactional_id,  0, ALL) \
    FIELD(S, int64,  producer_id,       0, ALL) \
    FIELD(S, int16,  producer_epoch,    0, ALL) \
    FIELD(S, string, group_id,          0, ALL)

#define add_offsets_to_txn_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, throttle_time_ms,  0, ALL) \
    FIELD(S, int16, error_code,        0, ALL)

#define ADD_OFFSETS_TO_TXN_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(add_offsets_to_txn_request, "AddOffsetsToTxnRequest", REQUEST, ADD_OFFSETS_TO_TXN_API)    \
    MESSAGE(add_offsets_to_txn_response, "AddOffsetsToTxnResponse", RESPONSE, ADD_OFFSETS_TO_TXN_API)
// clang-format on

ADD_OFFSETS_TO_TXN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
