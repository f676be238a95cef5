// SPDX-License-Identifier: Apache-2.0
// UpdateFeatures: finalized feature levels.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define UPDATE_FEATURES_API 57, 0, 1, 0

#define update_features_request_feature_update_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, feature,            0, ALL)             \
    FIELD(S, int16,  max_version_level,  0, ALL)             \
    FIELD(S, bool,   allow_downgrade,    0,   0)             \
    FIELD(S, int8,   upgrade_type,       1, ALL, DEFAULT(1))

#define update_features_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                                  timeout_ms,       0, ALL, DEFAULT(60000)) \
    ARRAY(S, update_features_request_feature_update, feature_updates,  0, ALL)                 \
    FIELD(S, bool,                                   validate_only,    1, ALL)

#define update_features_response_result_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, feature,        0, ALL)                   \
    FIELD(S, int16,  error_code,     0, ALL)                   \
    FIELD(S, string, error_message,  0, ALL, NULLABLE(0, ALL))

#define update_features_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                           throttle_time_ms,  0, ALL)                   \
    FIELD(S, int16,                           error_code,        0, ALL)                   \
    FIELD(S, string,                          error_message,     0, ALL, NULLABLE(0, ALL)) \
    ARRAY(S, update_features_response_result, results,           0, ALL)

#define UPDATE_FEATURES_STRUCTS(NESTED, MESSAGE) \
    NESTED(update_features_request_feature_update)                                             \
    MESSAGE(update_features_request, "UpdateFeaturesRequest", REQUEST, UPDATE_FEATURES_API)    \
    NESTED(update_features_response_result)                                                    \
    MESSAGE(update_features_response, "UpdateFeaturesResponse", RESPONSE, UPDATE_FEATURES_API)
// clang-format on

UPDATE_FEATURES_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
