// SPDX-License-Identifier: Apache-2.0
// The tree in memory.
//
// A write applies its changes one by one and notes how to take each back; when one fails, the earlier ones are undone
// in reverse order, so that later changes of a write see the earlier ones and a failed write leaves no trace. Watches
// fire only after all have succeeded.
#include "metastore/tree.h"
#include "metastore/watches.h"
#include <stdio.h>
#include <stdlib.h>

static bool node_has_path(const struct hash_node *node, const void *key) {
    const struct str *path = key;
    return str_is(*path, container_of(node, struct tree_node, by_path)->path);
}

struct tree_node *tree_find(const struct tree *tree, struct str path) {
    struct hash_node *found = hashmap_find(&tree->nodes, hash_str(tree->seed, path), node_has_path, &path);
    return found ? container_of(found, struct tree_node, by_path) : NULL;
}

static uint64_t node_size_bytes(const struct tree_node *node) {
    return strlen(node->path) + node->stat.data_size;
}

static uint8_t *copy_data(struct bytes data) {
    if (!data.data) return NULL;
    uint8_t *copy = malloc(data.size + 1);
    ASSERT(copy != NULL);
    if (data.size > 0) memcpy(copy, data.data, data.size);
    copy[data.size] = 0;
    return copy;
}

static struct tree_node *node_new(struct str path, struct bytes data) {
    struct tree_node *node = calloc(1, sizeof *node);
    ASSERT(node != NULL);
    node->path = strndup(path.data, path.size);
    ASSERT(node->path != NULL);
    node->data = copy_data(data);
    node->stat.data_size = (uint32_t)data.size;
    list_init(&node->in_parent);
    list_init(&node->children);
    return node;
}

static void node_free(struct tree_node *node) {
    free(node->path);
    free(node->data);
    free(node);
}

// Attaching and detaching do not touch the versions of the parent.
static void node_attach(struct tree *tree, struct tree_node *parent, struct tree_node *node) {
    node->parent = parent;
    if (parent) {
        list_push_back(&parent->children, &node->in_parent);
        parent->stat.child_count++;
    }
    hashmap_insert(&tree->nodes, &node->by_path, hash_str(tree->seed, str_of(node->path)));
    tree->size_bytes += node_size_bytes(node);
}

static void node_detach(struct tree *tree, struct tree_node *node) {
    ASSERT(list_is_empty(&node->children) && node->parent != NULL);
    ASSERT(node->parent->stat.child_count > 0);
    list_remove(&node->in_parent);
    node->parent->stat.child_count--;
    hashmap_remove(&tree->nodes, &node->by_path);
    tree->size_bytes -= node_size_bytes(node);
}

void tree_init(struct tree *tree, uint64_t seed) {
    *tree = (struct tree){.seed = seed};
    hashmap_init(&tree->nodes);
    hashmap_init(&tree->watch_points);
    tree->root = node_new(str_of("/"), (struct bytes){0});
    node_attach(tree, NULL, tree->root);
}

void tree_free(struct tree *tree) {
    watches_forget(tree);
    struct hash_node *link = hashmap_next(&tree->nodes, NULL);
    while (link) {
        struct hash_node *next = hashmap_next(&tree->nodes, link);
        node_free(container_of(link, struct tree_node, by_path));
        link = next;
    }
    hashmap_free(&tree->nodes);
    tree->root = NULL;
}

struct str tree_parent_path(struct str path) {
    size_t slash = path.size;
    while (slash > 0 && path.data[slash - 1] != '/')
        slash--;
    return (struct str){path.data, slash > 1 ? slash - 1 : 1};
}

// ---- one change

struct undo {
    enum metastore_change_kind kind;
    struct tree_node *node;
    struct metastore_stat stat, parent_stat; // before
    uint8_t *data;                           // before, of a set
};

static enum metastore_result change_create(struct tree *tree, const struct tree_write *write,
                                           struct metastore_change *change, struct undo *undo) {
    struct str path = str_of(change->path);
    struct tree_node *parent = tree_find(tree, tree_parent_path(path));
    if (!parent) return METASTORE_NO_NODE;
    if (parent->stat.ephemeral_owner != 0) return METASTORE_NO_CHILDREN;
    char numbered[METASTORE_PATH_MAX + 16];
    if (change->flags & METASTORE_SEQUENTIAL) {
        // ZooKeeper numbers by how many children were ever created: creations + deletions, and creations - deletions.
        int64_t creations = ((int64_t)parent->stat.child_version + parent->stat.child_count) / 2;
        snprintf(change->digits, sizeof change->digits, "%010d", (int)(creations & INT32_MAX));
        snprintf(numbered, sizeof numbered, "%s%s", change->path, change->digits);
        path = str_of(numbered);
    }
    if (tree_find(tree, path)) return METASTORE_NODE_EXISTS;
    struct tree_node *node = node_new(path, change->data);
    undo->node = node;
    undo->parent_stat = parent->stat;
    node->stat.czxid = node->stat.mzxid = node->stat.pzxid = write->zxid;
    node->stat.created_ms = node->stat.modified_ms = write->now_ms;
    node->stat.ephemeral_owner = change->flags & METASTORE_EPHEMERAL ? write->session : 0;
    node_attach(tree, parent, node);
    parent->stat.child_version = (int32_t)((uint32_t)parent->stat.child_version + 1);
    parent->stat.pzxid = write->zxid;
    change->stat = node->stat;
    return METASTORE_OK;
}

static bool version_fits(const struct tree_node *node, int32_t version) {
    return version == METASTORE_ANY_VERSION || node->stat.version == version;
}

static enum metastore_result change_set(struct tree *tree, const struct tree_write *write,
                                        struct metastore_change *change, struct undo *undo) {
    struct tree_node *node = tree_find(tree, str_of(change->path));
    if (!node) return METASTORE_NO_NODE;
    if (!version_fits(node, change->version)) return METASTORE_BAD_VERSION;
    *undo = (struct undo){.kind = change->kind, .node = node, .stat = node->stat, .data = node->data};
    tree->size_bytes -= node_size_bytes(node);
    node->data = copy_data(change->data);
    node->stat.data_size = (uint32_t)change->data.size;
    node->stat.version = (int32_t)((uint32_t)node->stat.version + 1);
    node->stat.mzxid = write->zxid;
    node->stat.modified_ms = write->now_ms;
    tree->size_bytes += node_size_bytes(node);
    change->stat = node->stat;
    return METASTORE_OK;
}

static enum metastore_result change_delete(struct tree *tree, const struct tree_write *write,
                                           struct metastore_change *change, struct undo *undo) {
    struct tree_node *node = tree_find(tree, str_of(change->path));
    if (!node) return METASTORE_NO_NODE;
    if (node == tree->root) return METASTORE_INVALID;
    if (!version_fits(node, change->version)) return METASTORE_BAD_VERSION;
    if (!list_is_empty(&node->children)) return METASTORE_NOT_EMPTY;
    undo->node = node;
    undo->parent_stat = node->parent->stat;
    node_detach(tree, node);
    node->parent->stat.child_version = (int32_t)((uint32_t)node->parent->stat.child_version + 1);
    node->parent->stat.pzxid = write->zxid;
    return METASTORE_OK;
}

static enum metastore_result change_check(struct tree *tree, const struct metastore_change *change) {
    struct tree_node *node = tree_find(tree, str_of(change->path));
    if (!node) return METASTORE_NO_NODE;
    return version_fits(node, change->version) ? METASTORE_OK : METASTORE_BAD_VERSION;
}

static bool change_is_valid(const struct metastore_change *change) {
    struct str path = str_of(change->path);
    if (!change->path || change->data.size > METASTORE_DATA_MAX) return false;
    if (change->kind == METASTORE_CREATE && change->flags & METASTORE_SEQUENTIAL) {
        // The name may be nothing but the digits.
        if (path.size > METASTORE_PATH_MAX - 10) return false;
        if (path.size > 1 && path.data[path.size - 1] == '/') path.size--;
    }
    return metastore_path_is_valid(path);
}

static enum metastore_result change_apply(struct tree *tree, const struct tree_write *write,
                                          struct metastore_change *change, struct undo *undo) {
    *undo = (struct undo){.kind = change->kind};
    change->digits[0] = '\0';
    change->stat = (struct metastore_stat){0};
    if (!change_is_valid(change)) return METASTORE_INVALID;
    switch (change->kind) {
    case METASTORE_CREATE: return change_create(tree, write, change, undo);
    case METASTORE_SET: return change_set(tree, write, change, undo);
    case METASTORE_DELETE: return change_delete(tree, write, change, undo);
    case METASTORE_CHECK: return change_check(tree, change);
    }
    return METASTORE_INVALID;
}

static void change_take_back(struct tree *tree, struct undo *undo) {
    struct tree_node *node = undo->node;
    switch (undo->kind) {
    case METASTORE_CREATE: {
        struct tree_node *parent = node->parent;
        node_detach(tree, node);
        parent->stat = undo->parent_stat;
        node_free(node);
        break;
    }
    case METASTORE_SET:
        tree->size_bytes -= node_size_bytes(node);
        free(node->data);
        node->data = undo->data;
        node->stat = undo->stat;
        tree->size_bytes += node_size_bytes(node);
        break;
    case METASTORE_DELETE: {
        struct tree_node *parent = node->parent;
        node_attach(tree, parent, node);
        parent->stat = undo->parent_stat;
        break;
    }
    case METASTORE_CHECK: break;
    }
}

// It happened: what was kept for taking it back goes, and watches fire.
static void change_settle(struct tree *tree, struct undo *undo, struct list *fired) {
    switch (undo->kind) {
    case METASTORE_CREATE: watches_created(tree, str_of(undo->node->path), fired); break;
    case METASTORE_SET:
        watches_set(tree, str_of(undo->node->path), fired);
        free(undo->data);
        break;
    case METASTORE_DELETE: watches_deleted(tree, str_of(undo->node->path), fired); break;
    case METASTORE_CHECK: break;
    }
}

static void write_fail(struct metastore_change *changes, size_t count, size_t failed, enum metastore_result result) {
    for (size_t i = 0; i < count; i++) {
        changes[i].result = i == failed ? result : METASTORE_ROLLED_BACK;
        changes[i].stat = (struct metastore_stat){0};
        changes[i].digits[0] = '\0';
    }
}

enum metastore_result tree_write(struct tree *tree, int64_t session, int64_t now_ms, struct metastore_change *changes,
                                 size_t count, size_t *failed, struct list *fired) {
    *failed = count;
    if (count == 0 || count > METASTORE_CHANGES_MAX) {
        write_fail(changes, count, count, METASTORE_INVALID);
        return METASTORE_INVALID;
    }
    const struct tree_write write = {.session = session, .now_ms = now_ms, .zxid = tree->zxid + 1};
    struct undo *undos = calloc(count, sizeof *undos);
    ASSERT(undos != NULL);
    enum metastore_result result = METASTORE_OK;
    size_t done = 0;
    while (done < count && result == METASTORE_OK) {
        result = change_apply(tree, &write, &changes[done], &undos[done]);
        changes[done].result = result;
        if (result == METASTORE_OK) done++;
    }
    if (result == METASTORE_OK) {
        tree->zxid = write.zxid;
        for (size_t i = 0; i < count; i++)
            change_settle(tree, &undos[i], fired);
        // A node may be created and deleted in one write: nodes go only after all watches have looked at their paths.
        for (size_t i = 0; i < count; i++)
            if (undos[i].kind == METASTORE_DELETE) node_free(undos[i].node);
    } else {
        *failed = done;
        for (size_t i = done; i > 0; i--)
            change_take_back(tree, &undos[i - 1]);
        write_fail(changes, count, done, result);
    }
    free(undos);
    return result;
}

// ---- reads

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_children(const struct tree_node *node, struct metastore_read *read) {
    read->child_count = node->stat.child_count;
    if (read->child_count == 0) return;
    read->children = calloc(read->child_count, sizeof *read->children);
    ASSERT(read->children != NULL);
    size_t n = 0;
    LIST_FOREACH (link, &node->children) {
        const char *path = container_of(link, struct tree_node, in_parent)->path;
        ASSERT(n < read->child_count);
        read->children[n] = strdup(strrchr(path, '/') + 1);
        ASSERT(read->children[n] != NULL);
        n++;
    }
    ASSERT(n == read->child_count);
    qsort(read->children, n, sizeof *read->children, compare_names);
}

enum metastore_result tree_read(struct tree *tree, struct metastore_read *read) {
    if (!read->path || !metastore_path_is_valid(str_of(read->path))) return METASTORE_INVALID;
    struct tree_node *node = tree_find(tree, str_of(read->path));
    if (read->watch && (node || read->kind == METASTORE_EXISTS))
        watches_set_watch(tree, str_of(read->path), read->kind == METASTORE_CHILDREN, read->watch);
    if (!node) return METASTORE_NO_NODE;
    read->stat = node->stat;
    if (read->kind == METASTORE_GET)
        read->data = (struct bytes){copy_data((struct bytes){node->data, node->stat.data_size}), node->stat.data_size};
    if (read->kind == METASTORE_CHILDREN) read_children(node, read);
    return METASTORE_OK;
}

// ---- sessions and rebuilding

static bool is_left_over(const struct tree_node *node, int64_t session) {
    return node->stat.ephemeral_owner != 0 && (session == 0 || node->stat.ephemeral_owner == session);
}

void tree_end_session(struct tree *tree, int64_t session, int64_t now_ms, struct list *fired) {
    struct tree_node **nodes = tree_sorted(tree);
    size_t count = tree->nodes.count, gone = 0;
    const int64_t zxid = tree->zxid + 1;
    (void)now_ms;
    for (size_t i = 0; i < count; i++) {
        struct tree_node *node = nodes[i];
        if (!is_left_over(node, session)) continue;
        ASSERT(list_is_empty(&node->children));
        node_detach(tree, node);
        node->parent->stat.child_version = (int32_t)((uint32_t)node->parent->stat.child_version + 1);
        node->parent->stat.pzxid = zxid;
        watches_deleted(tree, str_of(node->path), fired);
        node_free(node);
        gone++;
    }
    if (gone > 0) tree->zxid = zxid;
    free(nodes);
}

void tree_cancel(struct tree *tree, struct metastore_watch *watch) {
    (void)tree;
    if (!watch->armed) return;
    watch->armed = false;
    list_remove(&watch->link);
}

void tree_lose_watches(struct tree *tree, struct list *fired) {
    watches_lose(tree, fired);
}

bool tree_restore(struct tree *tree, struct str path, const struct metastore_stat *stat, struct bytes data) {
    if (!metastore_path_is_valid(path) || stat->child_version < 0 || stat->czxid < 0 || stat->mzxid < 0) return false;
    struct tree_node *node = tree_find(tree, path);
    bool is_root = node && node == tree->root;
    if (node && !is_root) return false;
    struct tree_node *parent = NULL;
    if (!is_root) {
        parent = tree_find(tree, tree_parent_path(path));
        if (!parent || parent->stat.ephemeral_owner != 0) return false;
        node = node_new(path, data);
    } else {
        tree->size_bytes -= node_size_bytes(node);
        free(node->data);
        node->data = copy_data(data);
    }
    uint32_t child_count = node->stat.child_count;
    node->stat = *stat;
    node->stat.child_count = child_count;
    node->stat.data_size = (uint32_t)data.size;
    if (is_root) {
        tree->size_bytes += node_size_bytes(node);
    } else {
        node_attach(tree, parent, node);
    }
    return true;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp((*(struct tree_node *const *)a)->path, (*(struct tree_node *const *)b)->path);
}

struct tree_node **tree_sorted(const struct tree *tree) {
    struct tree_node **nodes = calloc(tree->nodes.count, sizeof *nodes);
    ASSERT(nodes != NULL);
    size_t n = 0;
    for (struct hash_node *link = hashmap_next(&tree->nodes, NULL); link; link = hashmap_next(&tree->nodes, link))
        nodes[n++] = container_of(link, struct tree_node, by_path);
    ASSERT(n == tree->nodes.count);
    qsort(nodes, n, sizeof *nodes, compare_paths);
    return nodes;
}
