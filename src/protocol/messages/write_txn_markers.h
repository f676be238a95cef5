// SPDX-License-Identifier: Apache-2.0
// WriteTxnMarkers: the transaction coordinator's control records for partition leaders.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define WRITE_TXN_MARKERS_API 27, 0, 1, 1

#define write_txn_markers_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,               0, ALL) \
    LIST(S, int32,   partition_indexes,  0, ALL)

#define write_txn_markers_request_marker_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int64,                           producer_id,         0, ALL) \
    FIELD(S, int16,                           producer_epoch,      0, ALL) \
    FIELD(S, bool,                            transaction_result,  0, ALL) \
    ARRAY(S, write_txn_markers_request_topic, topics,              0, ALL) \
    FIELD(S, int32,                           coordinator_epoch,   0, ALL)

#define write_txn_markers_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, write_txn_markers_request_marker, markers,  0, ALL)

#define write_txn_markers_response_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    FIELD(S, int16, error_code,       0, ALL)

#define write_txn_markers_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                               name,        0, ALL) \
    ARRAY(S, write_txn_markers_response_partition, partitions,  0, ALL)

#define write_txn_markers_response_marker_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int64,                            producer_id,  0, ALL) \
    ARRAY(S, write_txn_markers_response_topic, topics,       0, ALL)

#define write_txn_markers_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, write_txn_markers_response_marker, markers,  0, ALL)

#define WRITE_TXN_MARKERS_STRUCTS(NESTED, MESSAGE) \
    NESTED(write_txn_markers_request_topic)                                                         \
    NESTED(write_txn_markers_request_marker)                                                        \
    MESSAGE(write_txn_markers_request, "WriteTxnMarkersRequest", REQUEST, WRITE_TXN_MARKERS_API)    \
    NESTED(write_txn_markers_response_partition)                                                    \
    NESTED(write_txn_markers_response_topic)                                                        \
    NESTED(write_txn_markers_response_marker)                                                       \
    MESSAGE(write_txn_markers_response, "WriteTxnMarkersResponse", RESPONSE, WRITE_TXN_MARKERS_API)
// clang-format on

WRITE_TXN_MARKERS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
