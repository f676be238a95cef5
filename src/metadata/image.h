// SPDX-License-Identifier: Apache-2.0
// The image of the cluster: brokers, topics, leaders, configuration. Immutable once published. The control core builds
// the next image from the present one (topics that did not change are shared), publishes it to every core by message,
// and frees the old one when every core has acknowledged its successor. A core reads its own pointer (image_of(core))
// and must not keep pointers into it across a wait without image_hold().
#pragma once

#include "base/hashmap.h"
#include "base/slice.h"
#include "config/topic_config.h"
#include "protocol/uuid.h"
#include "tailrace/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_broker {
    int32_t id;
    int64_t epoch;    // czxid of its registration
    const char *host; // of the listener that clients use (advertised)
    int32_t port;
    const char *rack; // NULL: none
};
struct image_partition {
    int32_t leader; // -1: none
    int32_t leader_epoch;
    int32_t partition_epoch; // version of the state node
    const int32_t *replicas; // assignment order
    int32_t replica_count;
    const int32_t *isr;
    int32_t isr_count;
    int16_t owner_core; // data core of this broker that owns the replica; -1: none here
    int16_t log_dir;    // index in log.dirs; -1: not here, or offline
    bool offline;       // here, but its directory failed or it could not be loaded
};
struct image_topic {
    struct hash_node by_name, by_id; // private
    uint32_t references;             // images that share it; the control core's
    struct str name;
    struct uuid id;
    bool is_internal; // __consumer_offsets, __transaction_state
    bool deleting;
    struct image_partition *partitions;
    int32_t partition_count;
    struct topic_config config; // resolved
    // The overrides as written in the store, for DescribeConfigs: alternating key, value.
    const struct str *overrides;
    size_t override_count; // of pairs
};
struct image {
    uint64_t version; // grows with each published image
    struct str cluster_id;
    int32_t broker_id;                  // this broker
    int32_t controller_id;              // -1: none
    const struct image_broker *brokers; // by id
    size_t broker_count;
    struct image_topic **topics; // by name, bytewise
    size_t topic_count;
    // Dynamic broker configuration: per-broker and cluster-wide, alternating key, value.
    const struct str *broker_overrides;
    size_t broker_override_count;
    const struct str *cluster_overrides;
    size_t cluster_override_count;
};

// NULL: no such topic.
const struct image_topic *image_topic_by_name(const struct image *image, struct str name);
const struct image_topic *image_topic_by_id(const struct image *image, struct uuid id);
// NULL: no such partition.
const struct image_partition *image_partition(const struct image_topic *topic, int32_t partition);
