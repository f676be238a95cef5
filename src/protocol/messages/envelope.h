// SPDX-License-Identifier: Apache-2.0
// Envelope: a request forwarded to the controller with its principal.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define ENVELOPE_API 58, 0, 0, 0

#define envelope_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, bytes, request_data,         0, ALL)                   \
    FIELD(S, bytes, request_principal,    0, ALL, NULLABLE(0, ALL)) \
    FIELD(S, bytes, client_host_address,  0, ALL)

#define envelope_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, bytes, response_data,  0, ALL, NULLABLE(0, ALL), DEFAULT_NULL) \
    FIELD(S, int16, error_code,     0, ALL)

#define ENVELOPE_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(envelope_request, "EnvelopeRequest", REQUEST, ENVELOPE_API)    \
    MESSAGE(envelope_response, "EnvelopeResponse", RESPONSE, ENVELOPE_API)
// clang-format on

ENVELOPE_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
