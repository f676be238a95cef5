// SPDX-License-Identifier: Apache-2.0
// CreateTopics: new topics with partitions, assignments and configuration.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define CREATE_TOPICS_API 19, 0, 7, 5

#define create_topics_request_assignment_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32, partition_index,  0, ALL) \
    LIST(S, int32,  broker_ids,       0, ALL)

#define create_topics_request_config_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,   0, ALL)                   \
    FIELD(S, string, value,  0, ALL, NULLABLE(0, ALL))

#define create_topics_request_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                           name,                0, ALL) \
    FIELD(S, int32,                            num_partitions,      0, ALL) \
    FIELD(S, int16,                            replication_factor,  0, ALL) \
    ARRAY(S, create_topics_request_assignment, assignments,         0, ALL) \
    ARRAY(S, create_topics_request_config,     configs,             0, ALL)

#define create_topics_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, create_topics_request_topic, topics,         0, ALL)                 \
    FIELD(S, int32,                       timeout_ms,     0, ALL, DEFAULT(60000)) \
    FIELD(S, bool,                        validate_only,  1, ALL)

#define create_topics_response_config_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, name,           5, ALL)                         \
    FIELD(S, string, value,          5, ALL, NULLABLE(5, ALL))       \
    FIELD(S, bool,   read_only,      5, ALL)                         \
    FIELD(S, int8,   config_source,  5, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, bool,   is_sensitive,   5, ALL)

#define create_topics_response_topic_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                        name,                     0, ALL)                              \
    FIELD(S, uuid,                          topic_id,                 7, ALL, IGNORABLE)                   \
    FIELD(S, int16,                         error_code,               0, ALL)                              \
    FIELD(S, string,                        error_message,            1, ALL, NULLABLE(0, ALL), IGNORABLE) \
    FIELD(S, int16,                         topic_config_error_code,  5, ALL, TAG(0), IGNORABLE)           \
    FIELD(S, int32,                         num_partitions,           5, ALL, DEFAULT(-1), IGNORABLE)      \
    FIELD(S, int16,                         replication_factor,       5, ALL, DEFAULT(-1), IGNORABLE)      \
    ARRAY(S, create_topics_response_config, configs,                  5, ALL, NULLABLE(5, ALL), IGNORABLE)

#define create_topics_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                        throttle_time_ms,  2, ALL, IGNORABLE) \
    ARRAY(S, create_topics_response_topic, topics,            0, ALL)

#define CREATE_TOPICS_STRUCTS(NESTED, MESSAGE) \
    NESTED(create_topics_request_assignment)                                             \
    NESTED(create_topics_request_config)                                                 \
    NESTED(create_topics_request_topic)                                                  \
    MESSAGE(create_topics_request, "CreateTopicsRequest", REQUEST, CREATE_TOPICS_API)    \
    NESTED(create_topics_response_config)                                                \
    NESTED(create_topics_response_topic)                                                 \
    MESSAGE(create_topics_response, "CreateTopicsResponse", RESPONSE, CREATE_TOPICS_API)
// clang-format on

CREATE_TOPICS_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
