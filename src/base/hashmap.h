// SPDX-License-Identifier: Apache-2.0
// Intrusive hash map with chaining. The owner embeds a `struct hash_node`, computes hashes with hash_bytes() and a seed
// from the os layer (so that clients cannot choose colliding keys), and compares keys itself. Iteration order depends
// on seed and history only, never on addresses; where order is visible outside, sort.
#pragma once

#include "base/slice.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_node {
    struct hash_node *next;
    uint64_t hash;
};
struct hashmap {
    struct hash_node **buckets; // NULL until the first insert
    size_t bucket_count;        // power of two, or 0
    size_t count;
};

uint64_t hash_bytes(uint64_t seed, const void *data, size_t size_bytes); // XXH3
static inline uint64_t hash_str(uint64_t seed, struct str s) {
    return hash_bytes(seed, s.data, s.size);
}

void hashmap_init(struct hashmap *m);
// Frees the buckets; the nodes belong to their owner.
void hashmap_free(struct hashmap *m);
// The caller has made sure that the key is not there.
void hashmap_insert(struct hashmap *m, struct hash_node *node, uint64_t hash);
// The node must be in the map.
void hashmap_remove(struct hashmap *m, struct hash_node *node);
// The first node whose hash matches and for which equal(node, key) holds, or NULL.
struct hash_node *hashmap_find(const struct hashmap *m, uint64_t hash,
                               bool (*equal)(const struct hash_node *, const void *key), const void *key);
// Iteration: NULL starts, NULL ends. The current node may be removed only after its successor was fetched.
struct hash_node *hashmap_next(const struct hashmap *m, const struct hash_node *node);
