// SPDX-License-Identifier: Apache-2.0
// Building images. A draft collects topics that are new, changed or gone; finishing merges them with the image before
// in order of names, takes a reference on every topic that stays, and builds the two look-up tables.
//
// Ownership: a topic owns its texts, partitions and settings, and is counted by the images that have it. An image owns
// its arrays, tables and brokers. Settings are counted by the images that have them.
#include "metadata/build.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/hashmap.h"
#include "config/topic_name.h"
#include <stdlib.h>

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size ? size : 1);
    ASSERT(memory != NULL);
    return memory;
}

// A copy that is terminated by NUL; null stays null.
static struct str copy_text(struct str s) {
    if (str_is_null(s)) return s;
    char *copy = allocate(s.size + 1, 1);
    if (s.size > 0) memcpy(copy, s.data, s.size);
    return (struct str){copy, s.size};
}
static void free_text(struct str s) {
    free((void *)(uintptr_t)s.data);
}

// ---- settings maps

static int compare_entries(const void *a, const void *b) {
    return str_compare(((const struct config_entry *)a)->key, ((const struct config_entry *)b)->key);
}

static struct config_map copy_map(struct config_map map) {
    struct config_entry *entries = allocate(map.count, sizeof *entries);
    for (size_t i = 0; i < map.count; i++)
        entries[i] = (struct config_entry){copy_text(map.entries[i].key), copy_text(map.entries[i].value)};
    qsort(entries, map.count, sizeof *entries, compare_entries);
    return (struct config_map){entries, map.count};
}

static void free_map(struct config_map map) {
    for (size_t i = 0; i < map.count; i++) {
        free_text(map.entries[i].key);
        free_text(map.entries[i].value);
    }
    free((void *)(uintptr_t)map.entries);
}

// ---- topics

struct image_topic *image_topic_create(struct str name, struct uuid id, int32_t partition_count) {
    ASSERT(partition_count >= 0 && name.size > 0);
    struct image_topic *topic = allocate(1, sizeof *topic);
    topic->name = copy_text(name);
    topic->id = id;
    topic->is_internal = topic_name_is_internal(name);
    topic->references = 1;
    topic->partition_count = partition_count;
    struct image_partition *partitions = allocate((size_t)partition_count, sizeof *partitions);
    for (int32_t p = 0; p < partition_count; p++)
        partitions[p] = (struct image_partition){.leader = -1, .owner_core = -1, .log_dir = -1};
    topic->partitions = partitions;
    return topic;
}

struct image_partition *image_partition_edit(struct image_topic *topic, int32_t partition) {
    ASSERT(partition >= 0 && partition < topic->partition_count && topic->references == 1);
    return (struct image_partition *)(uintptr_t)&topic->partitions[partition];
}

static int32_t *copy_ids(const int32_t *ids, int32_t count) {
    ASSERT(count >= 0);
    int32_t *copy = allocate((size_t)count, sizeof *copy);
    if (count > 0) memcpy(copy, ids, (size_t)count * sizeof *copy);
    return copy;
}

void image_partition_set_replicas(struct image_partition *partition, const int32_t *ids, int32_t count) {
    int32_t *copy = copy_ids(ids, count);
    free((void *)(uintptr_t)partition->replicas);
    partition->replicas = copy;
    partition->replica_count = count;
}

void image_partition_set_isr(struct image_partition *partition, const int32_t *ids, int32_t count) {
    int32_t *copy = copy_ids(ids, count);
    free((void *)(uintptr_t)partition->isr);
    partition->isr = copy;
    partition->isr_count = count;
}

struct image_topic *image_topic_clone(const struct image_topic *from, int32_t partition_count) {
    ASSERT(partition_count >= from->partition_count);
    struct image_topic *topic = image_topic_create(from->name, from->id, partition_count);
    topic->deleting = from->deleting;
    topic->overrides = copy_map(from->overrides);
    topic->config = from->config;
    for (int32_t p = 0; p < from->partition_count; p++) {
        struct image_partition *partition = image_partition_edit(topic, p);
        *partition = from->partitions[p];
        partition->replicas = NULL;
        partition->isr = NULL;
        image_partition_set_replicas(partition, from->partitions[p].replicas, from->partitions[p].replica_count);
        image_partition_set_isr(partition, from->partitions[p].isr, from->partitions[p].isr_count);
    }
    return topic;
}

static void topic_resolve(struct image_topic *topic, const struct config *config) {
    struct arena scratch;
    arena_init(&scratch, CONFIG_ARENA_BYTES);
    topic_config_resolve(&scratch, config, topic->overrides, &topic->config);
    arena_drop(&scratch);
}

void image_topic_set_overrides(struct image_topic *topic, struct config_map overrides, const struct config *config) {
    ASSERT(topic->references == 1);
    struct config_map copy = copy_map(overrides);
    free_map(topic->overrides);
    topic->overrides = copy;
    topic_resolve(topic, config);
}

const struct image_topic *image_topic_hold(const struct image_topic *shared) {
    ((struct image_topic *)(uintptr_t)shared)->references++;
    return shared;
}

void image_topic_release(const struct image_topic *shared) {
    struct image_topic *topic = (struct image_topic *)(uintptr_t)shared;
    ASSERT(topic->references > 0);
    if (--topic->references > 0) return;
    for (int32_t p = 0; p < topic->partition_count; p++) {
        free((void *)(uintptr_t)topic->partitions[p].replicas);
        free((void *)(uintptr_t)topic->partitions[p].isr);
    }
    free((void *)(uintptr_t)topic->partitions);
    free_map(topic->overrides);
    free_text(topic->name);
    free(topic);
}

// ---- settings changed at run time

struct image_settings {
    uint32_t references;
    struct arena arena;
    const struct config *config;
    struct config_map cluster, broker;
};

struct image_settings *image_settings_create(const struct config *base, struct config_map cluster,
                                             struct config_map broker, struct config_report *report) {
    struct image_settings *settings = allocate(1, sizeof *settings);
    struct config_report ignored = {0};
    settings->references = 1;
    settings->cluster = copy_map(cluster);
    settings->broker = copy_map(broker);
    arena_init(&settings->arena, CONFIG_ARENA_BYTES);
    settings->config =
        config_with_dynamic(&settings->arena, base, settings->cluster, settings->broker, report ? report : &ignored);
    ASSERT(settings->config != NULL);
    return settings;
}

void image_settings_release(struct image_settings *settings) {
    ASSERT(settings->references > 0);
    if (--settings->references > 0) return;
    arena_drop(&settings->arena);
    free_map(settings->cluster);
    free_map(settings->broker);
    free(settings);
}

const struct config *image_settings_config(const struct image_settings *settings) {
    return settings->config;
}

// ---- drafts

struct image_edit {
    struct str name;           // the topic's own, or a copy (removal)
    struct image_topic *topic; // NULL: removed
    size_t order;
};

void image_draft_begin(struct image_draft *draft, const struct image *before) {
    *draft = (struct image_draft){.before = before,
                                  .cluster_id = before->cluster_id,
                                  .broker_id = before->broker_id,
                                  .controller_id = before->controller_id,
                                  .controller_epoch = before->controller_epoch,
                                  .brokers = before->brokers,
                                  .broker_count = before->broker_count};
}

static void draft_add(struct image_draft *draft, struct str name, struct image_topic *topic) {
    if (draft->edit_count == draft->edit_capacity) {
        draft->edit_capacity = draft->edit_capacity ? draft->edit_capacity * 2 : 16;
        draft->edits = realloc(draft->edits, draft->edit_capacity * sizeof *draft->edits);
        ASSERT(draft->edits != NULL);
    }
    draft->edits[draft->edit_count] = (struct image_edit){name, topic, draft->edit_count};
    draft->edit_count++;
}

void image_draft_put(struct image_draft *draft, struct image_topic *topic) {
    ASSERT(topic->references == 1);
    draft_add(draft, topic->name, topic);
}

void image_draft_remove(struct image_draft *draft, struct str name) {
    draft_add(draft, copy_text(name), NULL);
}

void image_draft_set_settings(struct image_draft *draft, struct image_settings *settings) {
    if (draft->settings) image_settings_release(draft->settings);
    draft->settings = settings;
}

static void edit_drop(struct image_edit *edit) {
    if (edit->topic) {
        image_topic_release(edit->topic);
    } else {
        free_text(edit->name);
    }
}

void image_draft_drop(struct image_draft *draft) {
    for (size_t i = 0; i < draft->edit_count; i++)
        edit_drop(&draft->edits[i]);
    free(draft->edits);
    if (draft->settings) image_settings_release(draft->settings);
    *draft = (struct image_draft){0};
}

static int compare_edits(const void *a, const void *b) {
    const struct image_edit *x = a, *y = b;
    int order = str_compare(x->name, y->name);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

// Leaves one edit a name: the last one made.
static void draft_sort(struct image_draft *draft) {
    size_t kept = 0;
    if (draft->edit_count > 1) qsort(draft->edits, draft->edit_count, sizeof *draft->edits, compare_edits);
    for (size_t i = 0; i < draft->edit_count; i++) {
        bool last = i + 1 == draft->edit_count || !str_equal(draft->edits[i].name, draft->edits[i + 1].name);
        if (last) {
            draft->edits[kept++] = draft->edits[i];
        } else {
            edit_drop(&draft->edits[i]);
        }
    }
    draft->edit_count = kept;
}

static void draft_merge(struct image_draft *draft, struct image *image) {
    const struct image *before = draft->before;
    const struct image_topic **topics = allocate(before->topic_count + draft->edit_count, sizeof *topics);
    size_t old = 0, edit = 0, count = 0;
    while (old < before->topic_count || edit < draft->edit_count) {
        int order = old == before->topic_count  ? 1
                    : edit == draft->edit_count ? -1
                                                : str_compare(before->topics[old]->name, draft->edits[edit].name);
        if (order < 0) {
            topics[count++] = image_topic_hold(before->topics[old++]);
            continue;
        }
        if (order == 0) old++; // replaced or removed
        if (draft->edits[edit].topic) {
            topics[count++] = draft->edits[edit].topic;
        } else {
            free_text(draft->edits[edit].name);
        }
        edit++;
    }
    image->topics = topics;
    image->topic_count = count;
}

// The configuration beneath all topics has changed: each that is shared is replaced by a copy.
static void resolve_all(struct image *image) {
    const struct image_topic **topics = (const struct image_topic **)(uintptr_t)image->topics;
    for (size_t i = 0; i < image->topic_count; i++) {
        struct image_topic *topic = (struct image_topic *)(uintptr_t)topics[i];
        if (topic->references > 1) {
            struct image_topic *copy = image_topic_clone(topic, topic->partition_count);
            image_topic_release(topic);
            topics[i] = topic = copy;
        }
        topic_resolve(topic, image->config);
    }
}

static void table_put(uint32_t *table, size_t size, uint64_t hash, size_t index) {
    size_t slot = hash & (size - 1);
    while (table[slot] != 0)
        slot = (slot + 1) & (size - 1);
    table[slot] = (uint32_t)index + 1;
}

static void build_tables(struct image *image) {
    image->table_size = 8;
    while (image->table_size < image->topic_count * 2)
        image->table_size *= 2;
    image->name_table = allocate(image->table_size, sizeof *image->name_table);
    image->id_table = allocate(image->table_size, sizeof *image->id_table);
    for (size_t i = 0; i < image->topic_count; i++) {
        struct image_topic *topic = (struct image_topic *)(uintptr_t)image->topics[i];
        if (topic->name_hash == 0) { // not in an image before; a hash that is 0 is computed each time
            topic->name_hash = hash_str(image->seed, topic->name);
            topic->id_hash = hash_bytes(image->seed, &topic->id, sizeof topic->id);
        }
        table_put(image->name_table, image->table_size, topic->name_hash, i);
        if (!uuid_is_zero(topic->id)) table_put(image->id_table, image->table_size, topic->id_hash, i);
    }
}

static int compare_brokers(const void *a, const void *b) {
    const struct image_broker *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void copy_brokers(struct image *image, const struct image_broker *from, size_t count) {
    struct image_broker *brokers = allocate(count, sizeof *brokers);
    for (size_t i = 0; i < count; i++) {
        struct image_endpoint *endpoints = allocate(from[i].endpoint_count, sizeof *endpoints);
        for (size_t j = 0; j < from[i].endpoint_count; j++) {
            const struct image_endpoint *endpoint = &from[i].endpoints[j];
            endpoints[j] = (struct image_endpoint){copy_text(endpoint->listener), copy_text(endpoint->protocol),
                                                   copy_text(endpoint->host), endpoint->port};
        }
        brokers[i] = (struct image_broker){from[i].id, from[i].epoch, copy_text(from[i].rack), endpoints,
                                           from[i].endpoint_count};
    }
    qsort(brokers, count, sizeof *brokers, compare_brokers);
    image->brokers = brokers;
    image->broker_count = count;
}

static void take_settings(struct image *image, struct image_settings *settings) {
    image->settings = settings;
    if (!settings) return;
    image->config = settings->config;
    image->broker_overrides = settings->broker;
    image->cluster_overrides = settings->cluster;
}

struct image *image_draft_finish(struct image_draft *draft) {
    struct image *image = allocate(1, sizeof *image);
    list_init(&image->link);
    image->version = draft->before->version + 1;
    image->seed = draft->before->seed;
    image->cluster_id = copy_text(draft->cluster_id);
    image->broker_id = draft->broker_id;
    image->controller_id = draft->controller_id;
    image->controller_epoch = draft->controller_epoch;
    copy_brokers(image, draft->brokers, draft->broker_count);
    draft_sort(draft);
    draft_merge(draft, image);
    if (draft->settings) {
        take_settings(image, draft->settings);
        resolve_all(image);
    } else {
        if (draft->before->settings) draft->before->settings->references++;
        take_settings(image, draft->before->settings);
    }
    build_tables(image);
    free(draft->edits);
    *draft = (struct image_draft){0};
    return image;
}

struct image *image_create_empty(uint64_t seed) {
    struct image *image = allocate(1, sizeof *image);
    list_init(&image->link);
    image->seed = seed;
    image->cluster_id = copy_text(str_of(""));
    image->broker_id = image->controller_id = -1;
    copy_brokers(image, NULL, 0);
    image->topics = allocate(0, sizeof *image->topics);
    build_tables(image);
    return image;
}

void image_free(struct image *image) {
    for (size_t i = 0; i < image->topic_count; i++)
        image_topic_release(image->topics[i]);
    for (size_t i = 0; i < image->broker_count; i++) {
        for (size_t j = 0; j < image->brokers[i].endpoint_count; j++) {
            free_text(image->brokers[i].endpoints[j].listener);
            free_text(image->brokers[i].endpoints[j].protocol);
            free_text(image->brokers[i].endpoints[j].host);
        }
        free((void *)(uintptr_t)image->brokers[i].endpoints);
        free_text(image->brokers[i].rack);
    }
    if (image->settings) image_settings_release(image->settings);
    free((void *)(uintptr_t)image->brokers);
    free((void *)(uintptr_t)image->topics);
    free(image->name_table);
    free(image->id_table);
    free_text(image->cluster_id);
    free(image);
}
