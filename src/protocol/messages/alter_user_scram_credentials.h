// SPDX-License-Identifier: Apache-2.0
// AlterUserScramCredentials: sets and removes SCRAM credentials.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ALTER_USER_SCRAM_CREDENTIALS_API 51, 0, 0, 0

#define alter_user_scram_credentials_request_deletion_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,       0, ALL) \
    FIELD(S, int8,   mechanism,  0, ALL)

#define alter_user_scram_credentials_request_upsertion_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,             0, ALL) \
    FIELD(S, int8,   mechanism,        0, ALL) \
    FIELD(S, int32,  iterations,       0, ALL) \
    FIELD(S, bytes,  salt,             0, ALL) \
    FIELD(S, bytes,  salted_password,  0, ALL)

#define alter_user_scram_credentials_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, alter_user_scram_credentials_request_deletion,  deletions,   0, ALL) \
    ARRAY(S, alter_user_scram_credentials_request_upsertion, upsertions,  0, ALL)

#define alter_user_scram_credentials_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, user,           0, ALL)                   \
    FIELD(S, int16,  error_code,     0, ALL)                   \
    FIELD(S, string, error_message,  0, ALL, NULLABLE(0, ALL))

#define alter_user_scram_credentials_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                        throttle_time_ms,  0, ALL) \
    ARRAY(S, alter_user_scram_credentials_response_result, results,           0, ALL)

#define ALTER_USER_SCRAM_CREDENTIALS_STRUCTS(NESTED, MESSAGE) \
    NESTED(alter_user_scram_credentials_request_deletion)                                                                           \
    NESTED(alter_user_scram_credentials_request_upsertion)                                                                          \
    MESSAGE(alter_user_scram_credentials_request, "AlterUserScramCredentialsRequest", REQUEST, ALTER_USER_SCRAM_CREDENTIALS_API)    \
    NESTED(alter_user_scram_credentials_response_result)                                                                            \
    MESSAGE(alter_user_scram_credentials_response, "AlterUserScramCredentialsResponse", RESPONSE, ALTER_USER_SCRAM_CREDENTIALS_API)
// clang-format on

ALTER_USER_SCRAM_CREDENTIALS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
