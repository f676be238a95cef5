// SPDX-License-Identifier: Apache-2.0
// Every node of Kafka's tree that we use: its path, and the JSON (or text) in it, exactly as Kafka 3.9 writes it.
//
// What comes from the store is hostile: decoding checks every field that we use, ignores those that it does not know,
// and says in `reason` what is wrong. Results live in the arena; texts are terminated by NUL. An arena over its limit
// is such an error, too (in encoding: null bytes).
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "metastore/metastore.h"

// ---- paths
// -------------------------------------------------------------------------------------------------------------------------------
#define ZNODE_BROKER_IDS        "/brokers/ids"
#define ZNODE_TOPICS            "/brokers/topics"
#define ZNODE_TOPIC_CONFIGS     "/config/topics"
#define ZNODE_BROKER_CONFIGS    "/config/brokers"
#define ZNODE_CONFIG_CHANGES    "/config/changes"
#define ZNODE_CONFIG_CHANGE     "/config/changes/config_change_"
#define ZNODE_DELETE_TOPICS     "/admin/delete_topics"
#define ZNODE_CONTROLLER        "/controller"
#define ZNODE_CONTROLLER_EPOCH  "/controller_epoch"
#define ZNODE_CLUSTER           "/cluster"
#define ZNODE_CLUSTER_ID        "/cluster/id"
#define ZNODE_FEATURE           "/feature"
#define ZNODE_PRODUCER_ID_BLOCK "/latest_producer_id_block"
#define ZNODE_DEFAULT_ENTITY    "<default>"
// As the first controller seeds ZNODE_FEATURE: features are enabled, and none has a finalized level.
#define ZNODE_FEATURE_SEED "{\"features\":{},\"version\":2,\"status\":1}"
// Made at start if missing, persistent, with null data; parents come first.
extern const char *const znode_persistent_roots[];
extern const size_t znode_persistent_root_count;

// Paths go into an array of this size; names that do not fit give an empty path (which no store accepts).
enum { ZNODE_PATH_SIZE = METASTORE_PATH_MAX + 1 };
void znode_path(char path[static ZNODE_PATH_SIZE], const char *parent, struct str name);
void znode_topic_path(char path[static ZNODE_PATH_SIZE], struct str topic);
void znode_partitions_path(char path[static ZNODE_PATH_SIZE], struct str topic);
void znode_partition_path(char path[static ZNODE_PATH_SIZE], struct str topic, int32_t partition);
void znode_state_path(char path[static ZNODE_PATH_SIZE], struct str topic, int32_t partition);
void znode_broker_path(char path[static ZNODE_PATH_SIZE], int32_t broker);
void znode_offset_path(char path[static ZNODE_PATH_SIZE], struct str group, struct str topic, int32_t partition);

// ---- values
// ------------------------------------------------------------------------------------------------------------------------------
enum { ZNODE_ID_SIZE = 22, ZNODE_CLUSTER_ID_MAX = 63 }; // topic and cluster ids, as base64url

struct znode_replicas {
    int32_t partition;
    const int32_t *brokers;
    int32_t count;
};
struct znode_topic {
    char id[ZNODE_ID_SIZE + 1];              // "": written without one
    const struct znode_replicas *partitions; // by partition
    size_t partition_count;
    const struct znode_replicas *adding, *removing; // under reassignment
    size_t adding_count, removing_count;
};
struct bytes znode_topic_encode(struct arena *a, const struct znode_topic *topic);
bool znode_topic_decode(struct arena *a, struct bytes data, struct znode_topic *topic, struct text *reason);

struct znode_state {
    int32_t leader; // -1: none
    int32_t leader_epoch, controller_epoch;
    const int32_t *isr;
    int32_t isr_count;
    bool recovering; // from an unclean election
};
struct bytes znode_state_encode(struct arena *a, const struct znode_state *state);
bool znode_state_decode(struct arena *a, struct bytes data, struct znode_state *state, struct text *reason);

struct znode_setting {
    struct str key, value;
};
struct znode_settings {
    const struct znode_setting *settings;
    size_t count;
};
struct bytes znode_settings_encode(struct arena *a, const struct znode_settings *settings);
// Null data is no settings. Values that are no strings are an error.
bool znode_settings_decode(struct arena *a, struct bytes data, struct znode_settings *settings, struct text *reason);
// entity: "topics/foo", "brokers/1", "brokers/<default>".
struct bytes znode_config_change_encode(struct arena *a, struct str entity);

struct znode_endpoint {
    struct str listener, protocol, host; // null host: "" in the endpoint
    int32_t port;
};
struct znode_broker {
    const struct znode_endpoint *endpoints;
    size_t endpoint_count;
    struct str rack; // null: none
    int64_t timestamp_ms;
};
struct bytes znode_broker_encode(struct arena *a, const struct znode_broker *broker);
bool znode_broker_decode(struct arena *a, struct bytes data, struct znode_broker *broker, struct text *reason);

struct bytes znode_controller_encode(struct arena *a, int32_t broker, int64_t timestamp_ms);
bool znode_controller_decode(struct arena *a, struct bytes data, int32_t *broker, struct text *reason);

struct bytes znode_number_encode(struct arena *a, int64_t number); // /controller_epoch, offsets: decimal text
bool znode_number_decode(struct bytes data, int64_t min, int64_t max, int64_t *number, struct text *reason);

struct bytes znode_cluster_id_encode(struct arena *a, struct str id);
bool znode_cluster_id_decode(struct arena *a, struct bytes data, struct str *id, struct text *reason);

struct znode_producer_block {
    int32_t broker;
    int64_t first, last;
};
struct bytes znode_producer_block_encode(struct arena *a, const struct znode_producer_block *block);
bool znode_producer_block_decode(struct arena *a, struct bytes data, struct znode_producer_block *block,
                                 struct text *reason);
