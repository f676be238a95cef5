// SPDX-License-Identifier: Apache-2.0
// The headers in front of every request and response (header.h says which version goes with which message).
#pragma once

#include "protocol/schema.h"

// clang-format off
#define request_header_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,  request_api_key,      0, ALL)                                             \
    FIELD(S, int16,  request_api_version,  0, ALL)                                             \
    FIELD(S, int32,  correlation_id,       0, ALL)                                             \
    FIELD(S, string, client_id,            1, ALL, NULLABLE(1, ALL), IGNORABLE, NEVER_COMPACT)

#define response_header_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, correlation_id,  0, ALL)

#define HEADER_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(request_header, "RequestHeader", HEADER, -1, 0, 2, 2)   \
    MESSAGE(response_header, "ResponseHeader", HEADER, -1, 0, 1, 1)
// clang-format on

HEADER_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
