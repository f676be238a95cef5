// SPDX-License-Identifier: Apache-2.0
// DeleteTopics: by name, or by topic id from version 6.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DELETE_TOPICS_API 20, 0, 6, 4

#define delete_topics_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,      6, ALL, NULLABLE(6, ALL), DEFAULT_NULL) \
    FIELD(S, uuid,   topic_id,  6, ALL)

#define delete_topics_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, delete_topics_request_topic, topics,       6, ALL)            \
    LIST(S, string,                       topic_names,  0,   5, IGNORABLE) \
    FIELD(S, int32,                       timeout_ms,   0, ALL)

#define delete_topics_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,           0, ALL, NULLABLE(6, ALL))                          \
    FIELD(S, uuid,   topic_id,       6, ALL, IGNORABLE)                                 \
    FIELD(S, int16,  error_code,     0, ALL)                                            \
    FIELD(S, string, error_message,  5, ALL, NULLABLE(5, ALL), DEFAULT_NULL, IGNORABLE)

#define delete_topics_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                        throttle_time_ms,  1, ALL, IGNORABLE) \
    ARRAY(S, delete_topics_response_topic, responses,         0, ALL)

#define DELETE_TOPICS_STRUCTS(NESTED, MESSAGE) \
    NESTED(delete_topics_request_topic)                                                  \
    MESSAGE(delete_topics_request, "DeleteTopicsRequest", REQUEST, DELETE_TOPICS_API)    \
    NESTED(delete_topics_response_topic)                                                 \
    MESSAGE(delete_topics_response, "DeleteTopicsResponse", RESPONSE, DELETE_TOPICS_API)
// clang-format on

DELETE_TOPICS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
