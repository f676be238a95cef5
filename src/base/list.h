// SPDX-License-Identifier: Apache-2.0
// Doubly linked intrusive list with a sentinel. A node that is in no list points to itself, so removal is always safe.
#pragma once

#include "base/assert.h"
#include "base/bits.h"
#include <stdbool.h>

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *l) {
    l->next = l->prev = l;
}
static inline bool list_is_empty(const struct list *l) {
    return l->next == l;
}
// For a node: whether it is in a list.
static inline bool list_is_linked(const struct list *node) {
    return node->next != node;
}

static inline void list_insert_before(struct list *place, struct list *node) {
    ASSERT(!list_is_linked(node));
    node->prev = place->prev;
    node->next = place;
    place->prev->next = node;
    place->prev = node;
}
static inline void list_push_back(struct list *l, struct list *node) {
    list_insert_before(l, node);
}
static inline void list_push_front(struct list *l, struct list *node) {
    list_insert_before(l->next, node);
}

static inline void list_remove(struct list *node) {
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}
static inline struct list *list_front(struct list *l) {
    return list_is_empty(l) ? NULL : l->next;
}
static inline struct list *list_pop_front(struct list *l) {
    struct list *node = list_front(l);
    if (node) list_remove(node);
    return node;
}

// `item` is a struct list pointer; the _SAFE form allows `item` to be removed in the body.
#define LIST_FOREACH(item, l) for (struct list *item = (l)->next; item != (l); item = item->next)
#define LIST_FOREACH_SAFE(item, l)                                                                                     \
    for (struct list *item = (l)->next, *item##_next = item->next; item != (l);                                        \
         item = item##_next, item##_next = item->next)
