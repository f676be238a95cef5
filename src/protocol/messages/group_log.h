// SPDX-License-Identifier: Apache-2.0
// Keys and values of records in __consumer_offsets, each behind an int16 version. Keys of version 0 and 1 are offsets,
// of 2 groups.
#pragma once

#include "protocol/schema.h"

// clang-format off
#define offset_commit_key_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, group,      0,   1) \
    FIELD(S, string, topic,      0,   1) \
    FIELD(S, int32,  partition,  0,   1)

#define offset_commit_value_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, int64,  offset,            0, ALL)                         \
    FIELD(S, int32,  leader_epoch,      3, ALL, DEFAULT(-1), IGNORABLE) \
    FIELD(S, string, metadata,          0, ALL)                         \
    FIELD(S, int64,  commit_timestamp,  0, ALL)                         \
    FIELD(S, int64,  expire_timestamp,  1,   1, DEFAULT(-1), IGNORABLE)

#define group_metadata_key_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, group,  2,   2)

#define group_metadata_value_member_metadata_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string, member_id,          0, ALL)                                            \
    FIELD(S, string, group_instance_id,  3, ALL, NULLABLE(3, ALL), DEFAULT_NULL, IGNORABLE) \
    FIELD(S, string, client_id,          0, ALL)                                            \
    FIELD(S, string, client_host,        0, ALL)                                            \
    FIELD(S, int32,  rebalance_timeout,  1, ALL, DEFAULT(-1), IGNORABLE)                    \
    FIELD(S, int32,  session_timeout,    0, ALL)                                            \
    FIELD(S, bytes,  subscription,       0, ALL)                                            \
    FIELD(S, bytes,  assignment,         0, ALL)

#define group_metadata_value_FIELDS(S, FIELD, LIST, ARRAY, STRUCT) \
    FIELD(S, string,                               protocol_type,            0, ALL)                         \
    FIELD(S, int32,                                generation,               0, ALL)                         \
    FIELD(S, string,                               protocol,                 0, ALL, NULLABLE(0, ALL))       \
    FIELD(S, string,                               leader,                   0, ALL, NULLABLE(0, ALL))       \
    FIELD(S, int64,                                current_state_timestamp,  2, ALL, DEFAULT(-1), IGNORABLE) \
    ARRAY(S, group_metadata_value_member_metadata, members,                  0, ALL)

#define GROUP_LOG_STRUCTS(NESTED, MESSAGE) \
    MESSAGE(offset_commit_key, "OffsetCommitKey", DATA, -1, 0, 1, NEVER)   \
    MESSAGE(offset_commit_value, "OffsetCommitValue", DATA, -1, 0, 4, 4)   \
    MESSAGE(group_metadata_key, "GroupMetadataKey", DATA, -1, 2, 2, NEVER) \
    NESTED(group_metadata_value_member_metadata)                           \
    MESSAGE(group_metadata_value, "GroupMetadataValue", DATA, -1, 0, 4, 4)
// clang-format on

GROUP_LOG_STRUCTS(SCHEMA_DECLARE_NESTED, SCHEMA_DECLARE_MESSAGE)
