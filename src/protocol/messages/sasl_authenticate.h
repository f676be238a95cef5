// SPDX-License-Identifier: Apache-2.0
// SaslAuthenticate: one step of a SASL exchange.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define SASL_AUTHENTICATE_API 36, 0, 2, 2

#define sasl_authenticate_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, bytes, auth_bytes,  0, ALL)

#define sasl_authenticate_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,  error_code,           0, ALL)                   \
    FIELD(S, string, error_message,        0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, bytes,  auth_bytes,           0, ALL)                   \
    FIELD(S, int64,  session_lifetime_ms,  1, ALL, IGNORABLE)

#define SASL_AUTHENTICATE_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(sasl_authenticate_request, "SaslAuthenticateRequest", REQUEST, SASL_AUTHENTICATE_API)    \
    MESSAGE(sasl_authenticate_response, "SaslAuthenticateResponse", RESPONSE, SASL_AUTHENTICATE_API)
// clang-format on

SASL_AUTHENTICATE_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
