// SPDX-License-Identifier: Apache-2.0
// RenewDelegationToken: a later expiry.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define RENEW_DELEGATION_TOKEN_API 39, 0, 2, 2

#define renew_delegation_token_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, bytes, hmac,             0, ALL) \
    FIELD(S, int64, renew_period_ms,  0, ALL)

#define renew_delegation_token_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16, error_code,           0, ALL) \
    FIELD(S, int64, expiry_timestamp_ms,  0, ALL) \
    FIELD(S, int32, throttle_time_ms,     0, ALL)

#define RENEW_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(renew_delegation_token_request, "RenewDelegationTokenRequest", REQUEST, RENEW_DELEGATION_TOKEN_API)    \
    MESSAGE(renew_delegation_token_response, "RenewDelegationTokenResponse", RESPONSE, RENEW_DELEGATION_TOKEN_API)
// clang-format on

RENEW_DELEGATION_TOKEN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
