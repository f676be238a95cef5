// SPDX-License-Identifier: Apache-2.0
// DescribeCluster: brokers, controller and cluster id for admin clients.
#pragma once

#include "protocol/schema.h"

// clang-format off
//      key, first and last version, first flexible version
#define DESCRIBE_CLUSTER_API 60, 0, 1, 0

#define describe_cluster_request_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, bool, include_cluster_authorized_operations,  0, ALL)             \
    FIELD(S, int8, endpoint_type,                          1, ALL, DEFAULT(1))

#define describe_cluster_response_broker_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,  broker_id,  0, ALL)                                 \
    FIELD(S, string, host,       0, ALL)                                 \
    FIELD(S, int32,  port,       0, ALL)                                 \
    FIELD(S, string, rack,       0, ALL, NULLABLE(0, ALL), DEFAULT_NULL)

#define describe_cluster_response_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int32,                            throttle_time_ms,               0, ALL)                                 \
    FIELD(S, int16,                            error_code,                     0, ALL)                                 \
    FIELD(S, string,                           error_message,                  0, ALL, NULLABLE(0, ALL), DEFAULT_NULL) \
    FIELD(S, int8,                             endpoint_type,                  1, ALL, DEFAULT(1))                     \
    FIELD(S, string,                           cluster_id,                     0, ALL)                                 \
    FIELD(S, int32,                            controller_id,                  0, ALL, DEFAULT(-1))                    \
    ARRAY(S, describe_cluster_response_broker, brokers,                        0, ALL)                                 \
    FIELD(S, int32,                            cluster_authorized_operations,  0, ALL, DEFAULT(INT32_MIN))

#define DESCRIBE_CLUSTER_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(describe_cluster_request, "DescribeClusterRequest", REQUEST, DESCRIBE_CLUSTER_API)    \
    NESTED(describe_cluster_response_broker)                                                      \
    MESSAGE(describe_cluster_response, "DescribeClusterResponse", RESPONSE, DESCRIBE_CLUSTER_API)
// clang-format on

DESCRIBE_CLUSTER_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
