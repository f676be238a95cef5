// SPDX-License-Identifier: Apache-2.0
// The image of the cluster: brokers, topics, leaders, configuration. Immutable once published. The control core builds
// the next image from the present one (build.h; topics that did not change are shared) and publishes it to every core
// by message (publish.h); the old one is freed when every core has let it go. A core reads its own pointer
// (image_of(core)), and pointers into it are good until the core's present flow step or callback returns; to keep them
// across a wait: image_hold().
#pragma once

#include "base/list.h"
#include "base/slice.h"
#include "config/topic.h"
#include "protocol/uuid.h"
#include "tailrace/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_endpoint {
    struct str listener; // name, as in listeners=NAME://...
    struct str protocol; // PLAINTEXT, SSL, ...
    struct str host;
    int32_t port;
};
struct image_broker {
    int32_t id;
    int64_t epoch;   // czxid of its registration
    struct str rack; // null: none
    const struct image_endpoint *endpoints;
    size_t endpoint_count;
};
struct image_partition {
    int32_t leader; // -1: none
    int32_t leader_epoch;
    int32_t controller_epoch;
    int32_t partition_epoch; // version of the state node
    const int32_t *replicas; // assignment order
    int32_t replica_count;
    const int32_t *isr;
    int32_t isr_count;
    int16_t owner_core; // data core of this broker that owns the replica; -1: none here
    int16_t log_dir;    // index in log.dirs; -1: not here, or not known
    bool offline;       // here, but its directory failed or it could not be loaded
};
struct image_topic {
    struct str name;
    struct uuid id;
    bool is_internal; // __consumer_offsets, __transaction_state
    bool deleting;    // a deletion was asked for: nothing may be created under this name yet
    const struct image_partition *partitions;
    int32_t partition_count;
    struct topic_config config;  // resolved
    struct config_map overrides; // as written in the store, by key
    // private
    uint64_t name_hash, id_hash;
    uint32_t references; // images that share it; the control core's
};
struct image_settings;
struct image {
    uint64_t version; // grows with each published image; 0: nothing is known yet
    struct str cluster_id;
    int32_t broker_id;                  // this broker
    int32_t controller_id;              // -1: none
    int32_t controller_epoch;           //
    const struct image_broker *brokers; // by id
    size_t broker_count;
    const struct image_topic *const *topics; // by name, bytewise; those being deleted too
    size_t topic_count;
    // The configuration with everything that was changed at run time, and those changes: of this broker and of all.
    const struct config *config; // NULL in version 0
    struct config_map broker_overrides, cluster_overrides;
    // private
    struct image_settings *settings;
    uint64_t seed;
    uint32_t *name_table, *id_table; // 1 + index in topics, open addressing
    size_t table_size;
    struct image_copy *copies; // of publish.c
    uint32_t copies_held;      // the control core's, like the link
    struct list link;
};

// NULL: no such topic.
const struct image_topic *image_topic_by_name(const struct image *image, struct str name);
const struct image_topic *image_topic_by_id(const struct image *image, struct uuid id);
// Whether clients may know of it: not one that is being deleted, nor one of whose partitions none ever had a leader
// (all their replicas were given to brokers that are not there).
bool image_topic_is_visible(const struct image_topic *topic);
static inline bool image_partition_had_leader(const struct image_partition *partition) {
    return partition->leader_epoch >= 0;
}
// NULL: no such partition.
const struct image_partition *image_partition(const struct image_topic *topic, int32_t partition);
// NULL: no such broker is alive.
const struct image_broker *image_broker_by_id(const struct image *image, int32_t id);
// NULL: the broker has no such listener.
const struct image_endpoint *image_endpoint(const struct image_broker *broker, struct str listener);
