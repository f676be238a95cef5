// SPDX-License-Identifier: Apache-2.0
// AllocateProducerIds: a block of producer ids for a broker.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ALLOCATE_PRODUCER_IDS_API 67, 0, 0, 0

#define allocate_producer_ids_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, broker_id,     0, ALL)              \
    FIELD(S, int64, broker_epoch,  0, ALL, DEFAULT(-1))

#define allocate_producer_ids_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, throttle_time_ms,   0, ALL) \
    FIELD(S, int16, error_code,         0, ALL) \
    FIELD(S, int64, producer_id_start,  0, ALL) \
    FIELD(S, int32, producer_id_len,    0, ALL)

#define ALLOCATE_PRODUCER_IDS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(allocate_producer_ids_request, "AllocateProducerIdsRequest", REQUEST, ALLOCATE_PRODUCER_IDS_API)    \
    MESSAGE(allocate_producer_ids_response, "AllocateProducerIdsResponse", RESPONSE, ALLOCATE_PRODUCER_IDS_API)
// clang-format on

ALLOCATE_PRODUCER_IDS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
