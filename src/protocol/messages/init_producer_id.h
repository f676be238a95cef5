// SPDX-License-Identifier: Apache-2.0
// InitProducerId: a producer id and epoch for an idempotent or transactional producer.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define INIT_PRODUCER_ID_API 22, 0, 5, 2

#define init_producer_id_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, transactional_id,        0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, int32,  transaction_timeout_ms,  0, ALL)                   \
    FIELD(S, int64,  producer_id,             3, ALL, DEFAULT(-1))      \
    FIELD(S, int16,  producer_epoch,          3, ALL, DEFAULT(-1))

#define init_producer_id_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, throttle_time_ms,  0, ALL, IGNORABLE)   \
    FIELD(S, int16, error_code,        0, ALL)              \
    FIELD(S, int64, producer_id,       0, ALL, DEFAULT(-1)) \
    FIELD(S, int16, producer_epoch,    0, ALL)

#define INIT_PRODUCER_ID_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(init_producer_id_request, "InitProducerIdRequest", REQUEST, INIT_PRODUCER_ID_API)    \
    MESSAGE(init_producer_id_response, "InitProducerIdResponse", RESPONSE, INIT_PRODUCER_ID_API)
// clang-format on

INIT_PRODUCER_ID_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
