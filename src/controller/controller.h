// SPDX-License-Identifier: Apache-2.0
// The controller: one broker of the cluster is elected through the metadata store and carries out what changes the
// cluster. It lives on the control core; the others send it requests by message and get them back the same way.
//
//   request -> queue -> its procedure: check -> write the nodes -> replicas -> publish the image -> answer
//
// Procedures run one at a time, in order of arrival. An answer comes after the image that shows the change has reached
// every core, unless the request's time runs out before (then the work goes on, and the rows say REQUEST_TIMED_OUT).
#pragma once

#include "base/arena.h"
#include "config/alter.h"
#include "metadata/publish.h"
#include "metastore/metastore.h"

struct controller;

// ---- requests
// ----------------------------------------------------------------------------------------------------------------------------
// A request is lent to the control core with everything that it points to, its arena included, until answered() runs on
// the core that sent it. Texts of the answer are in the arena or constant; messages are null where there is nothing to
// say.
enum controller_request_kind {
    CONTROLLER_CREATE_TOPICS,
    CONTROLLER_AUTO_CREATE_TOPICS,
    CONTROLLER_DELETE_TOPICS,
    CONTROLLER_CREATE_PARTITIONS,
    CONTROLLER_ALTER_CONFIGS,
    CONTROLLER_INCREMENTAL_ALTER_CONFIGS,
    CONTROLLER_ALLOCATE_PRODUCER_IDS,
    CONTROLLER_LOG_DIR_FAILED,
    CONTROLLER_STORE_OFFSETS, // OffsetCommit v0: offsets kept in the metadata store
    CONTROLLER_LOAD_OFFSETS,  // OffsetFetch v0
};
struct controller_assignment {
    int32_t partition; // CREATE_TOPICS; CREATE_PARTITIONS has no number: the nth new one
    const int32_t *brokers;
    size_t broker_count;
};
struct controller_setting {
    struct str key, value;           // value null: see the request
    enum config_operation operation; // INCREMENTAL_ALTER_CONFIGS
};
// Rows with an error already set (not authorized, say) are left as they are.
struct controller_create_topic {
    // in
    struct str name;
    int32_t partition_count;    // -1: the broker's default, or by the assignments
    int16_t replication_factor; // -1: the same
    const struct controller_assignment *assignments;
    size_t assignment_count;
    const struct controller_setting *settings;
    size_t setting_count;
    // out
    int16_t error;
    struct str message;
    struct uuid topic_id;               // zero if validate_only, or on an error
    int32_t partition_count_out;        // -1 on an error or if time ran out
    int16_t replication_factor_out;     // -1 the same
    bool lacks_leader;                  // made, but some partition has no replica that could lead it
    const struct config_entry *entries; // accepted settings, by key; for the configs of the answer
    size_t entry_count;
};
struct controller_auto_create_topic {
    struct str name; // in; internal topics get their own partition counts and settings
    int16_t error;   // out: NONE: it was made, or is there already
    struct str message;
};
struct controller_delete_topic {
    // in: the name, or (name null) the id, whose topic's name is filled in if it is there
    struct str name;
    struct uuid topic_id;
    int16_t error;
    struct str message;
};
struct controller_create_partitions {
    struct str name;
    int32_t count;                                   // of all partitions, afterwards
    bool has_assignments;                            // false: the controller chooses
    const struct controller_assignment *assignments; // one for each new partition
    size_t assignment_count;
    int16_t error;
    bool is_repeated;  // out: the topic has another row already
    bool lacks_leader; // out: done, but some partition of the topic has no replica that could lead it
    struct str message;
};
enum controller_resource {
    CONTROLLER_RESOURCE_TOPIC = 2,
    CONTROLLER_RESOURCE_BROKER = 4,
    CONTROLLER_RESOURCE_LOGGERS = 8, // of this broker; INCREMENTAL_ALTER_CONFIGS only
    CONTROLLER_RESOURCE_CLIENT_METRICS = 16
};
struct controller_alter_config {
    int8_t resource_type; // as on the wire; others than the above are INVALID_REQUEST
    struct str name;
    const struct controller_setting *settings;
    size_t setting_count;
    int16_t error;
    struct str message;
};
struct controller_offset {
    struct str topic;
    int32_t partition;
    int64_t offset; // STORE: in; LOAD: out
    int16_t error;  // LOAD: UNKNOWN_TOPIC_OR_PARTITION if there is none
};
struct controller_request {
    struct message message;
    enum controller_request_kind kind;
    struct arena *arena;
    int32_t timeout_ms; // CREATE_TOPICS, DELETE_TOPICS, CREATE_PARTITIONS; <= 0: the work is done, the answer is 7
    bool validate_only; // CREATE_TOPICS, CREATE_PARTITIONS, both ALTER_CONFIGS
    void (*answered)(struct core *core, struct controller_request *request);
    void *context; // the sender's own
    union {
        struct controller_create_topic *create_topics;
        struct controller_auto_create_topic *auto_create_topics;
        struct controller_delete_topic *delete_topics;
        struct controller_create_partitions *create_partitions;
        struct controller_alter_config *alter_configs; // both kinds
        int32_t log_dir;                               // LOG_DIR_FAILED
        struct controller_offset *offsets;             // STORE_OFFSETS, LOAD_OFFSETS
    };
    const char *log_dir_path; // LOG_DIR_FAILED
    struct str group;         // STORE_OFFSETS, LOAD_OFFSETS
    size_t row_count;
    // out
    int16_t error;             // of the whole request: NOT_CONTROLLER, ...
    int64_t first_producer_id; // ALLOCATE_PRODUCER_IDS
    int32_t producer_id_count;
    // private
    int from_core;
    struct controller *controller;
    struct list link;
};
// From any core.
void controller_send(struct core *from, struct controller *controller, struct controller_request *request);

// ---- replicas of this broker
// -------------------------------------------------------------------------------------------------------------
// What LeaderAndIsr and StopReplica are for other brokers. Called on the control core; answered there by
// controller_replica_answer(), at any later time, exactly once. The struct and what it points to stay until then.
struct controller_replica {
    // in
    struct str topic; // terminated by NUL
    struct uuid topic_id;
    int32_t partition;
    int32_t controller_epoch;
    int32_t leader, leader_epoch, partition_epoch;
    const int32_t *replicas, *isr;
    int32_t replica_count, isr_count;
    int owner_core;
    int log_dir; // index in log.dirs
    bool is_new; // become: the directory must not exist yet: make it (partition.metadata before the answer)
    bool remove; // stop: the log is deleted as well (renamed to -delete, durably, before the answer)
    const struct topic_config *config; // become
    // out, by controller_replica_answer
    int16_t error; // NONE, KAFKA_STORAGE_ERROR, ...
    // private
    void (*answered)(struct controller_replica *replica);
    struct controller *controller;
};
void controller_replica_answer(struct controller_replica *replica, int16_t error);
struct controller_replica_functions {
    void (*become)(void *context, struct controller_replica *replica);
    void (*stop)(void *context, struct controller_replica *replica);
    // The directory (index in log.dirs) in which a replica of this partition was found at start, or -1 if none was or
    // it has become one since.
    int (*find)(void *context, struct str topic, int32_t partition);
};

// ---- life
// --------------------------------------------------------------------------------------------------------------------------------
struct controller_endpoint {
    const char *listener, *protocol, *host;
    int32_t port;
};
struct controller_options {
    struct metastore *store;
    struct image_publisher *publisher;
    const struct config *config; // of the start: without what was changed at run time
    int32_t broker_id;
    const char *cluster_id; // found in meta.properties, or "": whatever the store says, else a new one
    const char *rack;       // NULL: none
    const struct controller_endpoint *endpoints;
    size_t endpoint_count;
    int data_cores;
    int log_dirs;
    bool (*log_dir_works)(void *context, int log_dir); // false: it has failed
    const struct controller_replica_functions *replicas;
    void *context;
    // Told once, on the control core: error NONE, the first image has been seated on every core and the replicas have
    // been told to become leaders or followers (they load on their own); else the broker cannot start, `reason` says
    // why.
    void (*started)(void *context, int16_t error, const char *cluster_id, const char *reason);
    // The store broke, or the session was lost for good: the broker has to stop.
    void (*failed)(void *context, const char *reason);
};
// On the control core, or before its thread runs. The texts are copied; the other pointers stay until it has ended.
struct controller *controller_start(struct core *control, const struct controller_options *options);
// Finishes the procedure that runs, refuses what waits with NOT_CONTROLLER, gives up the nodes of this broker (the
// store stays open), wakes the flow, and is gone.
void controller_stop(struct controller *controller, struct flow *flow, bool *done);
