// SPDX-License-Identifier: Apache-2.0
// ExpireDelegationToken: an earlier expiry, or the end.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define EXPIRE_DELEGATION_TOKEN_API 40, 0, 2, 2

#define expire_delegation_token_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, bytes, hmac,                   0, ALL) \
    FIELD(S, int64, expiry_time_period_ms,  0, ALL)

#define expire_delegation_token_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16, error_code,           0, ALL) \
    FIELD(S, int64, expiry_timestamp_ms,  0, ALL) \
    FIELD(S, int32, throttle_time_ms,     0, ALL)

#define EXPIRE_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(expire_delegation_token_request, "ExpireDelegationTokenRequest", REQUEST, EXPIRE_DELEGATION_TOKEN_API)    \
    MESSAGE(expire_delegation_token_response, "ExpireDelegationTokenResponse", RESPONSE, EXPIRE_DELEGATION_TOKEN_API)
// clang-format on

EXPIRE_DELEGATION_TOKEN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
