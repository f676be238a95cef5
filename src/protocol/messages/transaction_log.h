// SPDX-License-Identifier: Apache-2.0
// Keys and values of records in __transaction_state, each behind an int16 version.
#pragma once

#include "protocol/schema.h"

// clang-format off
#define transaction_log_key_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, transactional_id,  0,   0)

#define transaction_log_value_transaction_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic,          0, ALL) \
    LIST(S, int32,   partition_ids,  0, ALL)

#define transaction_log_value_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int64,                                       producer_id,                           0, ALL)                   \
    FIELD(S, int16,                                       producer_epoch,                        0, ALL)                   \
    FIELD(S, int32,                                       transaction_timeout_ms,                0, ALL)                   \
    FIELD(S, int8,                                        transaction_status,                    0, ALL)                   \
    ARRAY(S, transaction_log_value_transaction_partition, transaction_partitions,                0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int64,                                       transaction_last_update_timestamp_ms,  0, ALL)                   \
    FIELD(S, int64,                                       transaction_start_timestamp_ms,        0, ALL)

#define TRANSACTION_LOG_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(transaction_log_key, "TransactionLogKey", DATA, -1, 0, 0, NEVER) \
    NESTED(transaction_log_value_transaction_partition)                      \
    MESSAGE(transaction_log_value, "TransactionLogValue", DATA, -1, 0, 1, 1)
// clang-format on

TRANSACTION_LOG_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
