// SPDX-License-Identifier: Apache-2.0
// Looking things up in an image: open addressing over hashes that the topics keep.
#include "metadata/image.h"
#include "base/assert.h"
#include "base/hashmap.h"

static const struct image_topic *table_find(const struct image *image, const uint32_t *table, uint64_t hash,
                                            bool (*equal)(const struct image_topic *, const void *), const void *key) {
    if (image->table_size == 0) return NULL;
    size_t slot = hash & (image->table_size - 1);
    // The table is never full: an empty slot ends the search.
    while (table[slot] != 0) {
        const struct image_topic *topic = image->topics[table[slot] - 1];
        if (equal(topic, key)) return topic;
        slot = (slot + 1) & (image->table_size - 1);
    }
    return NULL;
}

static bool topic_has_name(const struct image_topic *topic, const void *key) {
    return str_equal(topic->name, *(const struct str *)key);
}
static bool topic_has_id(const struct image_topic *topic, const void *key) {
    return uuid_equal(topic->id, *(const struct uuid *)key);
}

const struct image_topic *image_topic_by_name(const struct image *image, struct str name) {
    if (str_is_null(name)) return NULL;
    return table_find(image, image->name_table, hash_str(image->seed, name), topic_has_name, &name);
}

const struct image_topic *image_topic_by_id(const struct image *image, struct uuid id) {
    return table_find(image, image->id_table, hash_bytes(image->seed, &id, sizeof id), topic_has_id, &id);
}

bool image_topic_is_visible(const struct image_topic *topic) {
    if (topic->deleting) return false;
    for (int32_t i = 0; i < topic->partition_count; i++)
        if (image_partition_had_leader(&topic->partitions[i])) return true;
    return false;
}

const struct image_partition *image_partition(const struct image_topic *topic, int32_t partition) {
    if (partition < 0 || partition >= topic->partition_count) return NULL;
    return &topic->partitions[partition];
}

const struct image_broker *image_broker_by_id(const struct image *image, int32_t id) {
    size_t low = 0, high = image->broker_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->brokers[middle].id == id) return &image->brokers[middle];
        if (image->brokers[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const struct image_endpoint *image_endpoint(const struct image_broker *broker, struct str listener) {
    for (size_t i = 0; i < broker->endpoint_count; i++)
        if (str_equal(broker->endpoints[i].listener, listener)) return &broker->endpoints[i];
    return NULL;
}
