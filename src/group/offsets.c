// SPDX-License-Identifier: Apache-2.0
#include "group/offsets.h"
#include <stdlib.h>

enum { OFFSET_OVERHEAD_BYTES = sizeof(struct offset) + 24, TOPIC_OVERHEAD_BYTES = sizeof(struct offset_topic) + 48 };

// ---- topic names

void offset_topics_init(struct offset_topics *topics, uint64_t hash_seed, struct group_memory *memory) {
    *topics = (struct offset_topics){.hash_seed = hash_seed, .memory = memory};
    hashmap_init(&topics->by_name);
}

void offset_topics_free(struct offset_topics *topics) {
    ASSERT(topics->by_name.count == 0);
    hashmap_free(&topics->by_name);
}

static bool topic_has_name(const struct hash_node *node, const void *name) {
    return str_equal(container_of(node, struct offset_topic, node)->name, *(const struct str *)name);
}

struct offset_topic *offset_topic_find(struct offset_topics *topics, struct str name) {
    struct hash_node *node = hashmap_find(&topics->by_name, hash_str(topics->hash_seed, name), topic_has_name, &name);
    return node ? container_of(node, struct offset_topic, node) : NULL;
}

static struct offset_topic *topic_find_or_create(struct offset_topics *topics, struct str name) {
    struct offset_topic *topic = offset_topic_find(topics, name);
    if (topic) return topic;
    topic = calloc(1, sizeof *topic);
    ASSERT(topic != NULL);
    topic->name = str_duplicate(name);
    list_init(&topic->offsets);
    hashmap_insert(&topics->by_name, &topic->node, hash_str(topics->hash_seed, name));
    group_memory_take(topics->memory, TOPIC_OVERHEAD_BYTES + name.size);
    return topic;
}

static void topic_release(struct offset_topics *topics, struct offset_topic *topic) {
    if (!list_is_empty(&topic->offsets)) return;
    group_memory_give(topics->memory, TOPIC_OVERHEAD_BYTES + topic->name.size);
    hashmap_remove(&topics->by_name, &topic->node);
    str_free(&topic->name);
    free(topic);
}

// ---- offsets

void offsets_init(struct offsets *offsets, struct offset_topics *topics) {
    *offsets = (struct offsets){.topics = topics};
    hashmap_init(&offsets->by_partition);
    list_init(&offsets->all);
}

struct offset_key {
    struct str topic;
    int32_t partition;
};

static uint64_t key_hash(const struct offsets *offsets, const struct offset_key *key) {
    return hash_str(offsets->topics->hash_seed + (uint64_t)(uint32_t)key->partition * 0x9e3779b97f4a7c15u, key->topic);
}

static bool offset_has_key(const struct hash_node *node, const void *key) {
    const struct offset *offset = container_of(node, struct offset, node);
    const struct offset_key *k = key;
    return offset->partition == k->partition && str_equal(offset->topic->name, k->topic);
}

struct offset *offsets_find(const struct offsets *offsets, struct str topic, int32_t partition) {
    struct offset_key key = {topic, partition};
    struct hash_node *node = hashmap_find(&offsets->by_partition, key_hash(offsets, &key), offset_has_key, &key);
    return node ? container_of(node, struct offset, node) : NULL;
}

static struct offset *offset_create(struct offsets *offsets, struct str topic, int32_t partition) {
    struct offset_key key = {topic, partition};
    struct offset *offset = calloc(1, sizeof *offset);
    ASSERT(offset != NULL);
    offset->owner = offsets;
    offset->topic = topic_find_or_create(offsets->topics, topic);
    offset->partition = partition;
    offset->record_offset = -1;
    list_init(&offset->owner_link);
    list_init(&offset->topic_link);
    list_push_back(&offsets->all, &offset->owner_link);
    list_push_back(&offset->topic->offsets, &offset->topic_link);
    hashmap_insert(&offsets->by_partition, &offset->node, key_hash(offsets, &key));
    group_memory_take(offsets->topics->memory, OFFSET_OVERHEAD_BYTES);
    return offset;
}

// Most have none, which costs nothing.
static void metadata_set(struct offset *offset, struct str metadata) {
    struct group_memory *memory = offset->owner->topics->memory;
    if (offset->value.metadata.size > 0) {
        group_memory_give(memory, offset->value.metadata.size);
        str_free(&offset->value.metadata);
    }
    group_memory_take(memory, metadata.size);
    offset->value.metadata = metadata.size > 0 ? str_duplicate(metadata) : str_of("");
}

void offset_remove(struct offset *offset) {
    struct offsets *offsets = offset->owner;
    struct offset_topics *topics = offsets->topics;
    if (offset->is_committed) offsets->committed_count--;
    if (offset->pending) offsets->pending_count--;
    hashmap_remove(&offsets->by_partition, &offset->node);
    list_remove(&offset->owner_link);
    list_remove(&offset->topic_link);
    metadata_set(offset, (struct str){0});
    group_memory_give(topics->memory, OFFSET_OVERHEAD_BYTES);
    topic_release(topics, offset->topic);
    free(offset);
}

void offsets_free(struct offsets *offsets) {
    LIST_FOREACH_SAFE (link, &offsets->all) {
        offset_remove(container_of(link, struct offset, owner_link));
    }
    ASSERT(offsets->committed_count == 0 && offsets->pending_count == 0);
    hashmap_free(&offsets->by_partition);
}

bool offsets_prepare(struct offsets *offsets, struct str topic, int32_t partition, uint64_t commit) {
    ASSERT(commit != 0);
    struct offset *offset = offsets_find(offsets, topic, partition);
    if (!offset) {
        if (!group_memory_fits(offsets->topics->memory, OFFSET_OVERHEAD_BYTES + TOPIC_OVERHEAD_BYTES + topic.size))
            return false;
        offset = offset_create(offsets, topic, partition);
        offset->born = commit;
    }
    if (!offset->pending) offsets->pending_count++;
    offset->pending = commit;
    return true;
}

static void offset_set(struct offset *offset, int64_t record_offset, const struct offset_value *value) {
    metadata_set(offset, value->metadata);
    struct str metadata = offset->value.metadata;
    offset->value = *value;
    offset->value.metadata = metadata;
    offset->record_offset = record_offset;
    if (!offset->is_committed) offset->owner->committed_count++;
    offset->is_committed = true;
}

static void offset_settle(struct offset *offset, uint64_t commit) {
    if (offset->pending == commit) {
        offset->owner->pending_count--;
        offset->pending = 0;
    }
}

void offsets_committed(struct offsets *offsets, struct str topic, int32_t partition, uint64_t commit,
                       int64_t record_offset, const struct offset_value *value) {
    struct offset *offset = offsets_find(offsets, topic, partition);
    // Deleted while the record was on its way, with a tombstone behind it; perhaps committed anew since.
    if (!offset || commit < offset->born) return;
    if (!offset->is_committed || offset->record_offset <= record_offset) offset_set(offset, record_offset, value);
    offset_settle(offset, commit);
}

void offsets_failed(struct offsets *offsets, struct str topic, int32_t partition, uint64_t commit) {
    struct offset *offset = offsets_find(offsets, topic, partition);
    if (!offset || commit < offset->born) return;
    offset_settle(offset, commit);
    if (!offset->is_committed && !offset->pending) offset_remove(offset);
}

void offsets_load(struct offsets *offsets, struct str topic, int32_t partition, int64_t record_offset,
                  const struct offset_value *value) {
    struct offset *offset = offsets_find(offsets, topic, partition);
    if (!offset) offset = offset_create(offsets, topic, partition);
    offset_set(offset, record_offset, value);
}
