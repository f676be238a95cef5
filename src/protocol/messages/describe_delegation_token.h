// SPDX-License-Identifier: Apache-2.0
// DescribeDelegationToken: the tokens of some owners.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_DELEGATION_TOKEN_API 41, 0, 3, 2

#define describe_delegation_token_request_owner_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, principal_type,  0, ALL) \
    FIELD(S, string, principal_name,  0, ALL)

#define describe_delegation_token_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, describe_delegation_token_request_owner, owners,  0, ALL, NULLABLE(0, ALL))

#define describe_delegation_token_response_renewer_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, principal_type,  0, ALL) \
    FIELD(S, string, principal_name,  0, ALL)

#define describe_delegation_token_response_token_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                     principal_type,                  0, ALL) \
    FIELD(S, string,                                     principal_name,                  0, ALL) \
    FIELD(S, string,                                     token_requester_principal_type,  3, ALL) \
    FIELD(S, string,                                     token_requester_principal_name,  3, ALL) \
    FIELD(S, int64,                                      issue_timestamp,                 0, ALL) \
    FIELD(S, int64,                                      expiry_timestamp,                0, ALL) \
    FIELD(S, int64,                                      max_timestamp,                   0, ALL) \
    FIELD(S, string,                                     token_id,                        0, ALL) \
    FIELD(S, bytes,                                      hmac,                            0, ALL) \
    ARRAY(S, describe_delegation_token_response_renewer, renewers,                        0, ALL)

#define describe_delegation_token_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                                    error_code,        0, ALL) \
    ARRAY(S, describe_delegation_token_response_token, tokens,            0, ALL) \
    FIELD(S, int32,                                    throttle_time_ms,  0, ALL)

#define DESCRIBE_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    NESTED(describe_delegation_token_request_owner)                                                                         \
    MESSAGE(describe_delegation_token_request, "DescribeDelegationTokenRequest", REQUEST, DESCRIBE_DELEGATION_TOKEN_API)    \
    NESTED(describe_delegation_token_response_renewer)                                                                      \
    NESTED(describe_delegation_token_response_token)                                                                        \
    MESSAGE(describe_delegation_token_response, "DescribeDelegationTokenResponse", RESPONSE, DESCRIBE_DELEGATION_TOKEN_API)
// clang-format on

DESCRIBE_DELEGATION_TOKEN_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
