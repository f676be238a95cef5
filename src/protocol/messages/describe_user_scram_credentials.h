// SPDX-License-Identifier: Apache-2.0
// DescribeUserScramCredentials: mechanisms and iterations, never the secrets.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_USER_SCRAM_CREDENTIALS_API 50, 0, 0, 0

#define describe_user_scram_credentials_request_user_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,  0, ALL)

#define describe_user_scram_credentials_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, describe_user_scram_credentials_request_user, users,  0, ALL, NULLABLE(0, ALL))

#define describe_user_scram_credentials_response_credential_info_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int8,  mechanism,   0, ALL) \
    FIELD(S, int32, iterations,  0, ALL)

#define describe_user_scram_credentials_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                                                   user,              0, ALL) \
    FIELD(S, int16,                                                    error_code,        0, ALL) \
    FIELD(S, string,                                                   error_message,     0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, describe_user_scram_credentials_response_credential_info, credential_infos,  0, ALL)

#define describe_user_scram_credentials_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                           throttle_time_ms,  0, ALL) \
    FIELD(S, int16,                                           error_code,        0, ALL) \
    FIELD(S, string,                                          error_message,     0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, describe_user_scram_credentials_response_result, results,           0, ALL)

#define DESCRIBE_USER_SCRAM_CREDENTIALS_STRUCTS(NESTED, MESSAGE) \
    NESTED(describe_user_scram_credentials_request_user) \
    MESSAGE(describe_user_scram_credentials_request, "DescribeUserScramCredentialsRequest", REQUEST, DESCRIBE_USER_SCRAM_CREDENTIALS_API) \
    NESTED(describe_user_scram_credentials_response_credential_info) \
    NESTED(describe_user_scram_credentials_response_result) \
    MESSAGE(describe_user_scram_credentials_response, "DescribeUserScramCredentialsResponse", RESPONSE, DESCRIBE_USER_SCRAM_CREDENTIALS_API)
// clang-format on

DESCRIBE_USER_SCRAM_CREDENTIALS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
