// SPDX-License-Identifier: Apache-2.0
// The tree in memory, its watches, and what a change does to both: pure, without files or time. The embedded store sits
// on it, and so does the simulated one.
#pragma once

#include "base/hashmap.h"
#include "metastore/metastore.h"

struct tree_node {
    struct hash_node by_path;
    struct list in_parent;
    struct list children; // in order of creation
    struct tree_node *parent;
    char *path;
    uint8_t *data; // NULL: null data
    struct metastore_stat stat;
};
struct tree {
    struct hashmap nodes;
    struct hashmap watch_points;
    uint64_t seed;
    struct tree_node *root;
    int64_t zxid;        // of the last write that succeeded
    uint64_t size_bytes; // of all paths and data
};

// Only the root "/" is there.
void tree_init(struct tree *tree, uint64_t seed);
// Watches are forgotten.
void tree_free(struct tree *tree);
struct tree_node *tree_find(const struct tree *tree, struct str path);

// Applies all changes or none, as zxid tree->zxid + 1, and fills their out fields and *failed. Watches that this fires
// are moved to `fired` (may be NULL: nothing watches), with their event.
enum metastore_result tree_write(struct tree *tree, int64_t session, int64_t now_ms, struct metastore_change *changes,
                                 size_t count, size_t *failed, struct list *fired);
// Answers a read and sets its watch.
enum metastore_result tree_read(struct tree *tree, struct metastore_read *read);
void tree_cancel(struct tree *tree, struct metastore_watch *watch);
// The session is over: its ephemeral nodes go, as one write if there are any. session 0: those of every session.
void tree_end_session(struct tree *tree, int64_t session, int64_t now_ms, struct list *fired);
// Every watch fires with METASTORE_SESSION_LOST.
void tree_lose_watches(struct tree *tree, struct list *fired);

// For rebuilding: adds a node as it was, or the root's stat. False: its parent is missing, it is there already, or the
// stat makes no sense.
bool tree_restore(struct tree *tree, struct str path, const struct metastore_stat *stat, struct bytes data);
// All nodes in bytewise order of their paths (parents before children); the caller frees the array.
struct tree_node **tree_sorted(const struct tree *tree);
