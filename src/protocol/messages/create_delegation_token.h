// SPDX-License-Identifier: Apache-2.0
// CreateDelegationToken: a token to authenticate with, for its owner or on somebody's behalf.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define CREATE_DELEGATION_TOKEN_API 38, 0, 3, 2

#define create_delegation_token_request_renewer_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, principal_type,  0, ALL) \
    FIELD(S, string, principal_name,  0, ALL)

#define create_delegation_token_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                  owner_principal_type,  3, ALL, NULLABLE(3, ALL)) \
    FIELD(S, string,                                  owner_principal_name,  3, ALL, NULLABLE(3, ALL)) \
    ARRAY(S, create_delegation_token_request_renewer, renewers,              0, ALL)                   \
    FIELD(S, int64,                                   max_lifetime_ms,       0, ALL)

#define create_delegation_token_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,  error_code,                      0, ALL) \
    FIELD(S, string, principal_type,                  0, ALL) \
    FIELD(S, string, principal_name,                  0, ALL) \
    FIELD(S, string, token_requester_principal_type,  3, ALL) \
    FIELD(S, string, token_requester_principal_name,  3, ALL) \
    FIELD(S, int64,  issue_timestamp_ms,              0, ALL) \
    FIELD(S, int64,  expiry_timestamp_ms,             0, ALL) \
    FIELD(S, int64,  max_timestamp_ms,                0, ALL) \
    FIELD(S, string, token_id,                        0, ALL) \
    FIELD(S, bytes,  hmac,                            0, ALL) \
    FIELD(S, int32,  throttle_time_ms,                0, ALL)

#define CREATE_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    NESTED(create_delegation_token_request_renewer)                                                                   \
    MESSAGE(create_delegation_token_request, "CreateDelegationTokenRequest", REQUEST, CREATE_DELEGATION_TOKEN_API)    \
    MESSAGE(create_delegation_token_response, "CreateDelegationTokenResponse", RESPONSE, CREATE_DELEGATION_TOKEN_API)
// clang-format on

CREATE_DELEGATION_TOKEN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
