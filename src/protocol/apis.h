// SPDX-License-Identifier: Apache-2.0
// The APIs that we can decode, by key. Which of them a broker serves is decided above, in api/.
#pragma once

#include "protocol/schema.h"

enum api_key {
    API_KEY_PRODUCE = 0,
    API_KEY_FETCH = 1,
    API_KEY_LIST_OFFSETS = 2,
    API_KEY_METADATA = 3,
    API_KEY_LEADER_AND_ISR = 4,
    API_KEY_STOP_REPLICA = 5,
    API_KEY_UPDATE_METADATA = 6,
    API_KEY_CONTROLLED_SHUTDOWN = 7,
    API_KEY_OFFSET_COMMIT = 8,
    API_KEY_OFFSET_FETCH = 9,
    API_KEY_FIND_COORDINATOR = 10,
    API_KEY_JOIN_GROUP = 11,
    API_KEY_HEARTBEAT = 12,
    API_KEY_LEAVE_GROUP = 13,
    API_KEY_SYNC_GROUP = 14,
    API_KEY_DESCRIBE_GROUPS = 15,
    API_KEY_LIST_GROUPS = 16,
    API_KEY_SASL_HANDSHAKE = 17,
    API_KEY_API_VERSIONS = 18,
    API_KEY_CREATE_TOPICS = 19,
    API_KEY_DELETE_TOPICS = 20,
    API_KEY_DELETE_RECORDS = 21,
    API_KEY_INIT_PRODUCER_ID = 22,
    API_KEY_OFFSET_FOR_LEADER_EPOCH = 23,
    API_KEY_ADD_PARTITIONS_TO_TXN = 24,
    API_KEY_ADD_OFFSETS_TO_TXN = 25,
    API_KEY_END_TXN = 26,
    API_KEY_WRITE_TXN_MARKERS = 27,
    API_KEY_TXN_OFFSET_COMMIT = 28,
    API_KEY_DESCRIBE_ACLS = 29,
    API_KEY_CREATE_ACLS = 30,
    API_KEY_DELETE_ACLS = 31,
    API_KEY_DESCRIBE_CONFIGS = 32,
    API_KEY_ALTER_CONFIGS = 33,
    API_KEY_ALTER_REPLICA_LOG_DIRS = 34,
    API_KEY_DESCRIBE_LOG_DIRS = 35,
    API_KEY_SASL_AUTHENTICATE = 36,
    API_KEY_CREATE_PARTITIONS = 37,
    API_KEY_CREATE_DELEGATION_TOKEN = 38,
    API_KEY_RENEW_DELEGATION_TOKEN = 39,
    API_KEY_EXPIRE_DELEGATION_TOKEN = 40,
    API_KEY_DESCRIBE_DELEGATION_TOKEN = 41,
    API_KEY_DELETE_GROUPS = 42,
    API_KEY_ELECT_LEADERS = 43,
    API_KEY_INCREMENTAL_ALTER_CONFIGS = 44,
    API_KEY_ALTER_PARTITION_REASSIGNMENTS = 45,
    API_KEY_LIST_PARTITION_REASSIGNMENTS = 46,
    API_KEY_OFFSET_DELETE = 47,
    API_KEY_DESCRIBE_CLIENT_QUOTAS = 48,
    API_KEY_ALTER_CLIENT_QUOTAS = 49,
    API_KEY_DESCRIBE_USER_SCRAM_CREDENTIALS = 50,
    API_KEY_ALTER_USER_SCRAM_CREDENTIALS = 51,
    API_KEY_ALTER_PARTITION = 56,
    API_KEY_UPDATE_FEATURES = 57,
    API_KEY_ENVELOPE = 58,
    API_KEY_DESCRIBE_CLUSTER = 60,
    API_KEY_DESCRIBE_PRODUCERS = 61,
    API_KEY_DESCRIBE_TRANSACTIONS = 65,
    API_KEY_LIST_TRANSACTIONS = 66,
    API_KEY_ALLOCATE_PRODUCER_IDS = 67,
};

struct api_info {
    int16_t key;
    int16_t min_version, max_version; // Kafka 3.9's
    int16_t first_flexible;           // SCHEMA_NEVER_FLEXIBLE if none
    const char *name;                 // Kafka's: "Fetch"
    const struct schema *request, *response;
};

// NULL if we know no such API.
const struct api_info *api_by_key(int16_t key);
// All of them, keys rising.
size_t api_count(void);
const struct api_info *api_at(size_t index);

static inline bool api_has_version(const struct api_info *api, int16_t version) {
    return version >= api->min_version && version <= api->max_version;
}
static inline bool api_is_flexible(const struct api_info *api, int16_t version) {
    return version >= api->first_flexible;
}
