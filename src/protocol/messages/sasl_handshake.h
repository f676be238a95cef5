// SPDX-License-Identifier: Apache-2.0
// SaslHandshake: the mechanism. Never flexible.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define SASL_HANDSHAKE_API 17, 0, 1, NEVER

#define sasl_handshake_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, mechanism,  0, ALL)

#define sasl_handshake_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16, error_code,  0, ALL) \
    LIST(S, string, mechanisms,  0, ALL)

#define SASL_HANDSHAKE_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(sasl_handshake_request, "SaslHandshakeRequest", REQUEST, SASL_HANDSHAKE_API)    \
    MESSAGE(sasl_handshake_response, "SaslHandshakeResponse", RESPONSE, SASL_HANDSHAKE_API)
// clang-format on

SASL_HANDSHAKE_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
