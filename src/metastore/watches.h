// SPDX-License-Identifier: Apache-2.0
// The watches of a tree: which path has which, and what each kind of change fires. Private to metastore/.
#pragma once

#include "metastore/tree.h"

// What the changes of one write have in common.
struct tree_write {
    int64_t session, now_ms, zxid;
};
struct str tree_parent_path(struct str path);

// Sets a watch; one that is armed already is moved.
void watches_set_watch(struct tree *tree, struct str path, bool of_children, struct metastore_watch *watch);
// A change of the node at `path` happened. fired == NULL: nobody watches.
void watches_created(struct tree *tree, struct str path, struct list *fired);
void watches_set(struct tree *tree, struct str path, struct list *fired);
void watches_deleted(struct tree *tree, struct str path, struct list *fired);
void watches_lose(struct tree *tree, struct list *fired);
// Frees everything; armed watches become unarmed without firing.
void watches_forget(struct tree *tree);
// Calls the watches of the list in order; their owners may set them again or cancel others.
void watches_deliver(struct list *fired);
