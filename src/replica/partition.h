// SPDX-License-Identifier: Apache-2.0
// A partition's replica on the core that owns it: its role, its log, who waits for it. And the table of a core's
// partitions.
//
// The controller decides roles (become.c); append.c, fetch_share.c and the other flows of this folder use partitions; a
// partition goes away (stop.c) only after every flow that uses it has let go.
#pragma once

#include "base/hashmap.h"
#include "core/core.h"
#include "core/waitlist.h"
#include "log/log.h"
#include "metadata/image.h"
#include "metadata/publish.h"

enum partition_state {
    PARTITION_LOADING, // the log is being loaded: appends wait, other requests get NOT_LEADER_OR_FOLLOWER
    PARTITION_ONLINE,
    PARTITION_OFFLINE,  // its directory failed or the log could not be loaded: KAFKA_STORAGE_ERROR
    PARTITION_STOPPING, // deleted or moved away: as if it were not here
};
struct replicas;
struct partition {
    struct hash_node node; // in replicas->by_key
    struct list all_link;  // in replicas->all
    struct replicas *replicas;
    struct uuid topic_id;
    char *topic;
    int32_t index;
    enum partition_state state;
    struct log *log; // NULL unless it could be loaded
    int dir;         // where it is, or should be: index in log.dirs
    // As the checkpoints had it when the broker started: stays in the checkpoint files as long as there is no log. 0,
    // -1, -1: nothing.
    int64_t kept_recovery_point, kept_log_start, kept_high_watermark;
    struct log_listener listener;
    bool durable;                         // class fsync: acknowledged and visible is only what is flushed
    const struct image_topic *seen_topic; // whose configuration the log has; only compared

    // Role, as the controller last said.
    int32_t leader, leader_epoch, partition_epoch;
    int32_t *isr, *assigned;
    int32_t isr_count, assigned_count;

    struct list arrivals;    // appends that wait for the log to be loaded, in order
    struct waitlist commits; // appends that wait for the high watermark
    struct list watches;     // of partition_watch: fetches that wait for data
    uint32_t users;          // flows that hold a pointer to the partition
    struct flow *stop_flow;  // waits for users == 0
};
// The partitions of one core.
struct replicas {
    struct core *core;
    int32_t broker_id;
    bool durable_by_default;
    struct hashmap by_key;
    struct list all; // in order of creation
    uint32_t count;
    struct log_dir **dirs;
    int dir_count;
    int64_t producer_expiration_ms;
    struct image_listener image_listener; // topic configurations that change
};
void replicas_init(struct replicas *replicas, struct core *core, int32_t broker_id, bool durable, struct log_dir **dirs,
                   int dir_count, int64_t producer_expiration_ms);
// A log directory has failed: those of its partitions that are on this core go offline, and whoever waits for them is
// woken.
void replicas_dir_failed(struct replicas *replicas, int dir);
// On the core, once: follows changes of topic configurations from now on.
void replicas_follow_image(struct replicas *replicas);
// NULL: not on this core (or on its way out).
struct partition *replicas_find(struct replicas *replicas, struct uuid topic_id, int32_t index);
struct partition *partition_create(struct replicas *replicas, const char *topic, struct uuid topic_id, int32_t index,
                                   int dir);
void partition_free(struct partition *p); // nobody uses it, its log is closed

static inline void partition_hold(struct partition *p) {
    p->users++;
}
void partition_release(struct partition *p);

// NONE, or why this broker cannot serve the partition as its leader: NOT_LEADER_OR_FOLLOWER (p NULL too: whoever asks
// has seen it in the image, so it is on its way in or out), KAFKA_STORAGE_ERROR, and for current_epoch != -1
// FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH (trap 14).
int16_t partition_check_leader(const struct partition *p, int32_t current_epoch);
void partition_set_role(struct partition *p, int32_t leader, int32_t leader_epoch, int32_t partition_epoch,
                        const int32_t *isr, int32_t isr_count, const int32_t *assigned, int32_t assigned_count);
void partition_wake_waiters(struct partition *p);
// Recomputes the high watermark from the in-sync replicas' ends, and wakes whoever waits for it.
void partition_update_watermark(struct partition *p);
// What a consumer may read up to (exclusive).
int64_t partition_visible_end(const struct partition *p, bool read_committed);

// A fetch that waits for more data.
struct partition_watch {
    struct list link;
    struct flow *flow;
};
static inline void partition_watch_add(struct partition *p, struct partition_watch *watch, struct flow *flow) {
    watch->flow = flow;
    list_init(&watch->link);
    list_push_back(&p->watches, &watch->link);
}
static inline void partition_watch_remove(struct partition_watch *watch) {
    if (watch->link.next) list_remove(&watch->link);
}
