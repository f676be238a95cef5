// SPDX-License-Identifier: Apache-2.0
// Partitions of one core: found by topic id and index, held by the flows that use them, told by their logs when ends
// move.
#include "replica/partition.h"
#include "replica/append.h"
#include "replica/watermark.h"
#include <stdlib.h>

struct partition_key {
    struct uuid topic_id;
    int32_t index;
};

// A new image: topics are shared by images as long as they do not change, so another pointer means another
// configuration (or leader). A broker's own setting is in force for all of its logs at once.
static void image_changed(struct image_listener *listener, struct core *core, const struct image *before,
                          const struct image *now) {
    (void)before;
    (void)core;
    struct replicas *replicas = container_of(listener, struct replicas, image_listener);
    if (now->config) replicas->producer_expiration_ms = config_i64(now->config, CONFIG_PRODUCER_ID_EXPIRATION_MS);
    LIST_FOREACH (link, &replicas->all) {
        struct partition *p = container_of(link, struct partition, all_link);
        if (p->log) log_set_producer_expiration(p->log, replicas->producer_expiration_ms);
        const struct image_topic *topic = p->log ? image_topic_by_id(now, p->topic_id) : NULL;
        if (!topic || topic == p->seen_topic) continue;
        p->seen_topic = topic;
        log_set_config(p->log, &topic->config);
    }
}

void replicas_init(struct replicas *replicas, struct core *core, int32_t broker_id, bool durable, struct log_dir **dirs,
                   int dir_count, int64_t producer_expiration_ms) {
    *replicas = (struct replicas){.core = core,
                                  .broker_id = broker_id,
                                  .durable_by_default = durable,
                                  .dirs = dirs,
                                  .dir_count = dir_count,
                                  .producer_expiration_ms = producer_expiration_ms};
    hashmap_init(&replicas->by_key);
    list_init(&replicas->all);
    replicas->image_listener.changed = image_changed;
}

void replicas_follow_image(struct replicas *replicas) {
    image_listen(replicas->core, &replicas->image_listener);
}

static uint64_t key_hash(const struct replicas *replicas, const struct partition_key *key) {
    return hash_bytes(replicas->core->hash_seed + (uint64_t)key->index, key->topic_id.bytes,
                      sizeof key->topic_id.bytes);
}

static bool key_equal(const struct hash_node *node, const void *key) {
    const struct partition *p = container_of(node, struct partition, node);
    const struct partition_key *k = key;
    return p->index == k->index && uuid_equal(p->topic_id, k->topic_id);
}

struct partition *replicas_find(struct replicas *replicas, struct uuid topic_id, int32_t index) {
    struct partition_key key = {topic_id, index};
    struct hash_node *node = hashmap_find(&replicas->by_key, key_hash(replicas, &key), key_equal, &key);
    if (!node) return NULL;
    struct partition *p = container_of(node, struct partition, node);
    return p->state == PARTITION_STOPPING ? NULL : p;
}

// The log tells that its end moved: class replicated acknowledges what was written.
static void partition_appended(struct log_listener *listener) {
    struct partition *p = container_of(listener, struct partition, listener);
    if (!p->durable) partition_update_watermark(p);
}
static void partition_flushed(struct log_listener *listener) {
    struct partition *p = container_of(listener, struct partition, listener);
    if (p->durable) partition_update_watermark(p);
}
void partition_wake_waiters(struct partition *p) {
    append_wake_first(p); // one wakes the next
    waitlist_wake_all(&p->commits);
    LIST_FOREACH (link, &p->watches)
        flow_wake(container_of(link, struct partition_watch, link)->flow);
}
static void partition_failed(struct log_listener *listener) {
    struct partition *p = container_of(listener, struct partition, listener);
    if (p->state == PARTITION_ONLINE) p->state = PARTITION_OFFLINE;
    partition_wake_waiters(p);
}

void replicas_dir_failed(struct replicas *replicas, int dir) {
    LIST_FOREACH (link, &replicas->all) {
        struct partition *p = container_of(link, struct partition, all_link);
        if (p->dir == dir) partition_failed(&p->listener);
    }
}

struct partition *partition_create(struct replicas *replicas, const char *topic, struct uuid topic_id, int32_t index,
                                   int dir) {
    struct partition *p = calloc(1, sizeof *p);
    ASSERT(p != NULL);
    p->replicas = replicas;
    p->topic_id = topic_id;
    p->topic = strdup(topic);
    ASSERT(p->topic != NULL);
    p->index = index;
    p->dir = dir;
    p->state = PARTITION_LOADING;
    p->kept_log_start = p->kept_high_watermark = -1;
    p->durable = replicas->durable_by_default;
    p->listener = (struct log_listener){partition_appended, partition_flushed, partition_failed};
    p->leader = -1;
    p->leader_epoch = -1;
    list_init(&p->arrivals);
    waitlist_init(&p->commits);
    list_init(&p->watches);
    list_init(&p->all_link);
    struct partition_key key = {topic_id, index};
    ASSERT(replicas_find(replicas, topic_id, index) == NULL);
    hashmap_insert(&replicas->by_key, &p->node, key_hash(replicas, &key));
    list_push_back(&replicas->all, &p->all_link);
    replicas->count++;
    return p;
}

void partition_free(struct partition *p) {
    ASSERT(p->users == 0 && p->log == NULL);
    ASSERT(list_is_empty(&p->arrivals) && list_is_empty(&p->commits.waiters) && list_is_empty(&p->watches));
    hashmap_remove(&p->replicas->by_key, &p->node);
    list_remove(&p->all_link);
    p->replicas->count--;
    free(p->isr);
    free(p->assigned);
    free(p->topic);
    free(p);
}

void partition_release(struct partition *p) {
    ASSERT(p->users > 0);
    p->users--;
    if (p->users == 0 && p->stop_flow) flow_wake(p->stop_flow);
}

int16_t partition_check_leader(const struct partition *p, int32_t current_epoch) {
    if (!p || p->state == PARTITION_STOPPING) return KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    if (p->state == PARTITION_OFFLINE || (p->log && log_dir_is_failed(log_directory(p->log))))
        return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    if (p->state == PARTITION_LOADING) return KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    if (current_epoch != -1 && current_epoch < p->leader_epoch) return KAFKA_ERROR_FENCED_LEADER_EPOCH;
    if (current_epoch != -1 && current_epoch > p->leader_epoch) return KAFKA_ERROR_UNKNOWN_LEADER_EPOCH;
    if (p->leader != p->replicas->broker_id) return KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    return KAFKA_ERROR_NONE;
}

static int32_t *copy_ids(int32_t *old, const int32_t *ids, int32_t count) {
    free(old);
    int32_t *copy = malloc((size_t)count * sizeof *copy + 1);
    ASSERT(copy != NULL);
    if (count > 0) memcpy(copy, ids, (size_t)count * sizeof *copy);
    return copy;
}

void partition_set_role(struct partition *p, int32_t leader, int32_t leader_epoch, int32_t partition_epoch,
                        const int32_t *isr, int32_t isr_count, const int32_t *assigned, int32_t assigned_count) {
    ASSERT(leader_epoch >= p->leader_epoch);
    p->leader = leader;
    p->leader_epoch = leader_epoch;
    p->partition_epoch = partition_epoch;
    p->isr = copy_ids(p->isr, isr, isr_count);
    p->isr_count = isr_count;
    p->assigned = copy_ids(p->assigned, assigned, assigned_count);
    p->assigned_count = assigned_count;
    if (p->log && leader == p->replicas->broker_id) log_set_leader_epoch(p->log, leader_epoch);
    partition_wake_waiters(p); // whoever waits looks at its epoch again
}

void partition_update_watermark(struct partition *p) {
    if (!p->log || p->leader != p->replicas->broker_id || p->isr_count == 0) return;
    // The leader's own end. Followers' ends come with their fetches, once there can be any: until then a partition
    // whose stored ISR names others cannot move.
    if (p->isr_count != 1 || p->isr[0] != p->replicas->broker_id) return;
    struct replica_end own = {p->replicas->broker_id, p->durable ? log_flushed_end(p->log) : log_end_offset(p->log)};
    int64_t present = log_high_watermark(p->log), next = watermark_of(present, &own, 1);
    ASSERT(next <= log_end_offset(p->log));
    if (next == present) return;
    log_set_high_watermark(p->log, next);
    core_trace(p->replicas->core, "watermark", p->topic, (uint64_t)next);
    waitlist_advance(&p->commits, next);
    LIST_FOREACH (link, &p->watches)
        flow_wake(container_of(link, struct partition_watch, link)->flow);
}

int64_t partition_visible_end(const struct partition *p, bool read_committed) {
    return read_committed ? log_last_stable_offset(p->log) : log_high_watermark(p->log);
}
