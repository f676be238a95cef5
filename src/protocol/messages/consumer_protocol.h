// SPDX-License-Identifier: Apache-2.0
// What consumers put into the opaque parts of JoinGroup and SyncGroup: subscription and assignment, each behind an
// int16 version.
#pragma once

#include "protocol/schema.h"

// clang-format off
#define consumer_protocol_subscription_owned_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic,       1, ALL) \
    LIST(S, int32,   partitions,  1, ALL)

#define consumer_protocol_subscription_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    LIST(S, string,                                          topics,            0, ALL)                                            \
    FIELD(S, bytes,                                          user_data,         0, ALL, NULLABLE(0, ALL), DEFAULT_NULL)            \
    ARRAY(S, consumer_protocol_subscription_owned_partition, owned_partitions,  1, ALL, IGNORABLE)                                 \
    FIELD(S, int32,                                          generation_id,     2, ALL, DEFAULT(-1), IGNORABLE)                    \
    FIELD(S, string,                                         rack_id,           3, ALL, NULLABLE(3, ALL), DEFAULT_NULL, IGNORABLE)

#define consumer_protocol_assignment_assigned_partition_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, topic,       0, ALL) \
    LIST(S, int32,   partitions,  0, ALL)

#define consumer_protocol_assignment_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    ARRAY(S, consumer_protocol_assignment_assigned_partition, assigned_partitions,  0, ALL)                                 \
    FIELD(S, bytes,                                           user_data,            0, ALL, NULLABLE(0, ALL), DEFAULT_NULL)

#define CONSUMER_PROTOCOL_STRUCTS(NESTED, MESSAGE) \
    NESTED(consumer_protocol_subscription_owned_partition)                                         \
    MESSAGE(consumer_protocol_subscription, "ConsumerProtocolSubscription", DATA, -1, 0, 3, NEVER) \
    NESTED(consumer_protocol_assignment_assigned_partition)                                        \
    MESSAGE(consumer_protocol_assignment, "ConsumerProtocolAssignment", DATA, -1, 0, 3, NEVER)
// clang-format on

CONSUMER_PROTOCOL_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
