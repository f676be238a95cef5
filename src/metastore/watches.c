// SPDX-License-Identifier: Apache-2.0
// One-shot watches by path, in the order in which they were set. A point is made by the first watch on its path and
// dropped when a change leaves it empty; points emptied by cancelling stay until then.
#include "metastore/watches.h"
#include <stdlib.h>

struct watch_point {
    struct hash_node by_path;
    struct list on_data, on_children;
    char *path;
};

static bool point_has_path(const struct hash_node *node, const void *key) {
    const struct str *path = key;
    return str_is(*path, container_of(node, struct watch_point, by_path)->path);
}

static struct watch_point *point_find(const struct tree *tree, struct str path) {
    struct hash_node *found = hashmap_find(&tree->watch_points, hash_str(tree->seed, path), point_has_path, &path);
    return found ? container_of(found, struct watch_point, by_path) : NULL;
}

static struct watch_point *point_make(struct tree *tree, struct str path) {
    struct watch_point *point = calloc(1, sizeof *point);
    ASSERT(point != NULL);
    point->path = strndup(path.data, path.size);
    ASSERT(point->path != NULL);
    list_init(&point->on_data);
    list_init(&point->on_children);
    hashmap_insert(&tree->watch_points, &point->by_path, hash_str(tree->seed, path));
    return point;
}

static void point_free(struct watch_point *point) {
    free(point->path);
    free(point);
}

void watches_set_watch(struct tree *tree, struct str path, bool of_children, struct metastore_watch *watch) {
    ASSERT(watch->fired != NULL);
    if (watch->armed) {
        list_remove(&watch->link);
    } else {
        list_init(&watch->link);
    }
    struct watch_point *point = point_find(tree, path);
    if (!point) point = point_make(tree, path);
    watch->armed = true;
    list_push_back(of_children ? &point->on_children : &point->on_data, &watch->link);
}

static void fire_all(struct list *watches, enum metastore_event event, struct list *fired) {
    struct list *link = list_pop_front(watches);
    while (link) {
        container_of(link, struct metastore_watch, link)->event = event;
        list_push_back(fired, link);
        link = list_pop_front(watches);
#ifdef TAILRACE_PLANT_ONE_WATCH_FIRES
        while (link)
            link = list_pop_front(watches);
#endif
    }
}

static void fire(struct tree *tree, struct str path, bool of_data, bool of_children, enum metastore_event event,
                 struct list *fired) {
    struct watch_point *point = fired ? point_find(tree, path) : NULL;
    if (!point) return;
    if (of_data) fire_all(&point->on_data, event, fired);
    if (of_children) fire_all(&point->on_children, event, fired);
    if (!list_is_empty(&point->on_data) || !list_is_empty(&point->on_children)) return;
    hashmap_remove(&tree->watch_points, &point->by_path);
    point_free(point);
}

void watches_created(struct tree *tree, struct str path, struct list *fired) {
    fire(tree, path, true, false, METASTORE_NODE_CREATED, fired);
    fire(tree, tree_parent_path(path), false, true, METASTORE_CHILDREN_CHANGED, fired);
}

void watches_set(struct tree *tree, struct str path, struct list *fired) {
    fire(tree, path, true, false, METASTORE_DATA_CHANGED, fired);
}

void watches_deleted(struct tree *tree, struct str path, struct list *fired) {
    fire(tree, path, true, true, METASTORE_NODE_DELETED, fired);
    fire(tree, tree_parent_path(path), false, true, METASTORE_CHILDREN_CHANGED, fired);
}

static int compare_points(const void *a, const void *b) {
    return strcmp((*(struct watch_point *const *)a)->path, (*(struct watch_point *const *)b)->path);
}

// Sorted, so that the order in which watches are lost does not depend on the hash seed.
static struct watch_point **points_sorted(const struct tree *tree) {
    struct watch_point **points = calloc(tree->watch_points.count + 1, sizeof *points);
    ASSERT(points != NULL);
    size_t n = 0;
    for (struct hash_node *link = hashmap_next(&tree->watch_points, NULL); link;
         link = hashmap_next(&tree->watch_points, link))
        points[n++] = container_of(link, struct watch_point, by_path);
    qsort(points, n, sizeof *points, compare_points);
    return points;
}

void watches_lose(struct tree *tree, struct list *fired) {
    struct watch_point **points = points_sorted(tree);
    size_t count = tree->watch_points.count;
    for (size_t i = 0; i < count; i++) {
        fire_all(&points[i]->on_data, METASTORE_SESSION_LOST, fired);
        fire_all(&points[i]->on_children, METASTORE_SESSION_LOST, fired);
        point_free(points[i]);
    }
    hashmap_free(&tree->watch_points);
    free(points);
}

void watches_forget(struct tree *tree) {
    struct list forgotten;
    list_init(&forgotten);
    watches_lose(tree, &forgotten);
    for (struct list *link = list_pop_front(&forgotten); link; link = list_pop_front(&forgotten))
        container_of(link, struct metastore_watch, link)->armed = false;
}

void watches_deliver(struct list *fired) {
    for (struct list *link = list_pop_front(fired); link; link = list_pop_front(fired)) {
        struct metastore_watch *watch = container_of(link, struct metastore_watch, link);
        ASSERT(watch->armed);
        watch->armed = false;
        watch->fired(watch);
    }
}
