// SPDX-License-Identifier: Apache-2.0
// ApiVersions: which requests and versions a broker serves. Its response header is version 0 always.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define API_VERSIONS_API 18, 0, 4, 3

#define api_versions_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, client_software_name,     3, ALL, IGNORABLE) \
    FIELD(S, string, client_software_version,  3, ALL, IGNORABLE)

#define api_versions_response_api_key_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16, api_key,      0, ALL) \
    FIELD(S, int16, min_version,  0, ALL) \
    FIELD(S, int16, max_version,  0, ALL)

#define api_versions_response_supported_feature_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,         3, ALL) \
    FIELD(S, int16,  min_version,  3, ALL) \
    FIELD(S, int16,  max_version,  3, ALL)

#define api_versions_response_finalized_feature_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,               3, ALL) \
    FIELD(S, int16,  max_version_level,  3, ALL) \
    FIELD(S, int16,  min_version_level,  3, ALL)

#define api_versions_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int16,                                   error_code,                0, ALL)                                 \
    ARRAY(S, api_versions_response_api_key,           api_keys,                  0, ALL)                                 \
    FIELD(S, int32,                                   throttle_time_ms,          1, ALL, IGNORABLE)                      \
    ARRAY(S, api_versions_response_supported_feature, supported_features,        3, ALL, TAG(0), IGNORABLE)              \
    FIELD(S, int64,                                   finalized_features_epoch,  3, ALL, TAG(1), DEFAULT(-1), IGNORABLE) \
    ARRAY(S, api_versions_response_finalized_feature, finalized_features,        3, ALL, TAG(2), IGNORABLE)              \
    FIELD(S, bool,                                    zk_migration_ready,        3, ALL, TAG(3), IGNORABLE)

#define API_VERSIONS_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(api_versions_request, "ApiVersionsRequest", REQUEST, API_VERSIONS_API)    \
    NESTED(api_versions_response_api_key)                                             \
    NESTED(api_versions_response_supported_feature)                                   \
    NESTED(api_versions_response_finalized_feature)                                   \
    MESSAGE(api_versions_response, "ApiVersionsResponse", RESPONSE, API_VERSIONS_API)
// clang-format on

API_VERSIONS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
