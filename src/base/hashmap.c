// SPDX-License-Identifier: Apache-2.0
// Power-of-two buckets, doubled at load factor 1, so a search looks at about one node. Never shrinks.
#include "base/hashmap.h"
#include "base/assert.h"
#include <stdlib.h>
#include <xxhash.h>

enum { HASHMAP_BUCKETS_MIN = 8 };

uint64_t hash_bytes(uint64_t seed, const void *data, size_t size_bytes) {
    return XXH3_64bits_withSeed(data, size_bytes, seed);
}

void hashmap_init(struct hashmap *m) {
    *m = (struct hashmap){0};
}

void hashmap_free(struct hashmap *m) {
    free(m->buckets);
    hashmap_init(m);
}

static void hashmap_grow(struct hashmap *m) {
    size_t count = m->bucket_count ? m->bucket_count * 2 : HASHMAP_BUCKETS_MIN;
    struct hash_node **buckets = calloc(count, sizeof *buckets);
    ASSERT(buckets != NULL);
    for (size_t i = 0; i < m->bucket_count; i++) {
        struct hash_node *node = m->buckets[i];
        while (node) {
            struct hash_node *next = node->next;
            struct hash_node **bucket = &buckets[node->hash & (count - 1)];
            node->next = *bucket;
            *bucket = node;
            node = next;
        }
    }
    free(m->buckets);
    m->buckets = buckets;
    m->bucket_count = count;
}

void hashmap_insert(struct hashmap *m, struct hash_node *node, uint64_t hash) {
    if (m->count >= m->bucket_count) hashmap_grow(m);
    node->hash = hash;
    struct hash_node **bucket = &m->buckets[hash & (m->bucket_count - 1)];
    node->next = *bucket;
    *bucket = node;
    m->count++;
}

void hashmap_remove(struct hashmap *m, struct hash_node *node) {
    ASSERT(m->count > 0);
    struct hash_node **link = &m->buckets[node->hash & (m->bucket_count - 1)];
    while (*link != node) {
        ASSERT(*link != NULL);
        link = &(*link)->next;
    }
    *link = node->next;
    node->next = NULL;
    m->count--;
}

struct hash_node *hashmap_find(const struct hashmap *m, uint64_t hash,
                               bool (*equal)(const struct hash_node *, const void *key), const void *key) {
    if (m->bucket_count == 0) return NULL;
    struct hash_node *node = m->buckets[hash & (m->bucket_count - 1)];
    while (node && !(node->hash == hash && equal(node, key)))
        node = node->next;
    return node;
}

struct hash_node *hashmap_next(const struct hashmap *m, const struct hash_node *node) {
    if (node && node->next) return node->next;
    size_t bucket = node ? (node->hash & (m->bucket_count - 1)) + 1 : 0;
    while (bucket < m->bucket_count) {
        if (m->buckets[bucket]) return m->buckets[bucket];
        bucket++;
    }
    return NULL;
}
