// SPDX-License-Identifier: Apache-2.0
// DeleteTopics, and at the start the deletions that were interrupted.
//
//   list    (start only) what is marked in the store
//   check   which topics
//   mark, marked    the request nodes are durable: from here on the deletion will be finished, by a later start if need
//   be hide, hidden    no core serves the topics any more, and no replica of them still loads stop    the replicas
//   rename their directories (durably) and delete them later remove, removed    partitions, topic, settings and the
//   mark go, in that order; a topic of usual size in one write publish, seated    the names are free
//
// Failure: a replica that cannot be removed (its directory has failed) leaves the topic marked and hidden; the name is
// not free, and the next start tries again.
#include "base/hashmap.h"
#include "controller/internal.h"
#include <stdlib.h>

#define DELETE_STEPS(STEP)                                                                                             \
    STEP(deletion, list)                                                                                               \
    STEP(deletion, check)                                                                                              \
    STEP(deletion, mark)                                                                                               \
    STEP(deletion, marked)                                                                                             \
    STEP(deletion, hide)                                                                                               \
    STEP(deletion, hidden)                                                                                             \
    STEP(deletion, stop)                                                                                               \
    STEP(deletion, remove)                                                                                             \
    STEP(deletion, removed) STEP(deletion, publish) STEP(deletion, seated) STEP(deletion, release)
FLOW_DEFINE(deletion, DELETE_STEPS)

struct deletion {
    struct hash_node by_name;
    struct deletion *next;
    struct str name;
    const struct image_topic *topic; // held; NULL: only its settings and its mark are left
    struct write_set writes;
    size_t replicas_failed;
    bool failed; // stays marked
    bool one_by_one, is_removed;
};
struct delete_topics {
    struct procedure p;
    struct metastore_read list; // at the start
    struct deletion *first, *last;
    struct hashmap by_name; // a topic may be named twice
    struct deletion **of_row;
};

static struct delete_topics *delete_of(struct flow *flow) {
    return container_of(flow, struct delete_topics, p.flow);
}

static bool deletion_has_name(const struct hash_node *node, const void *key) {
    return str_equal(container_of(node, struct deletion, by_name)->name, *(const struct str *)key);
}

static struct deletion *deletion_add(struct delete_topics *t, struct str name, const struct image_topic *topic) {
    uint64_t hash = hash_str(t->p.controller->core->hash_seed, name);
    struct hash_node *found = hashmap_find(&t->by_name, hash, deletion_has_name, &name);
    if (found) return container_of(found, struct deletion, by_name);
    struct deletion *d = arena_alloc(&t->p.arena, sizeof *d);
    ASSERT(d != NULL);
    d->name = arena_copy_str(&t->p.arena, name);
    hashmap_insert(&t->by_name, &d->by_name, hash);
    d->topic = topic ? image_topic_hold(topic) : NULL;
    if (t->last) {
        t->last->next = d;
    } else {
        t->first = d;
    }
    t->last = d;
    return d;
}

static flow_next deletion_step_list(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    if (t->p.request) return FLOW_NEXT;
    t->list = (struct metastore_read){.kind = METASTORE_CHILDREN, .path = ZNODE_DELETE_TOPICS, .call.flow = flow};
    metastore_read_start(t->p.controller->options.store, &t->list);
    return FLOW_NEXT;
}

static void row_check(struct delete_topics *t, size_t row) {
    const struct image *image = controller_image(t->p.controller);
    struct controller_delete_topic *r = &t->p.request->delete_topics[row];
    if (r->error != KAFKA_ERROR_NONE) return;
    if (!config_bool(controller_config(t->p.controller), CONFIG_DELETE_TOPIC_ENABLE)) {
        r->error = KAFKA_ERROR_TOPIC_DELETION_DISABLED;
        return;
    }
    bool by_id = !uuid_is_zero(r->topic_id);
    if (!by_id && str_is_null(r->name)) { // Kafka asks its authorizer about the name that is not there
        r->error = KAFKA_ERROR_TOPIC_AUTHORIZATION_FAILED;
        return;
    }
    const struct image_topic *topic =
        by_id ? image_topic_by_id(image, r->topic_id) : image_topic_by_name(image, r->name);
    if (!topic || topic->deleting) {
        r->error = by_id ? KAFKA_ERROR_UNKNOWN_TOPIC_ID : KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
        return;
    }
    if (by_id) r->name = arena_copy_str(t->p.request->arena, topic->name);
    t->of_row[row] = deletion_add(t, topic->name, topic);
}

static flow_next deletion_step_check(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    const struct image *image = controller_image(t->p.controller);
    if (t->p.request) {
        t->of_row = arena_alloc_array(&t->p.arena, t->p.request->row_count, sizeof(struct deletion *));
        ASSERT(t->of_row != NULL);
        for (size_t row = 0; row < t->p.request->row_count; row++)
            row_check(t, row);
    } else {
        if (!t->list.call.done) return FLOW_WAIT;
        for (size_t i = 0; i < t->list.child_count; i++) {
            struct str name = str_of(t->list.children[i]);
            deletion_add(t, name, image_topic_by_name(image, name));
        }
    }
    return t->first ? FLOW_NEXT : FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

// ---- answers

static void rows_answer(struct delete_topics *t, bool in_time) {
    if (!t->p.request) return;
    for (size_t row = 0; row < t->p.request->row_count; row++) {
        const struct deletion *d = t->of_row[row];
        if (!d) continue;
        bool done = in_time && d->is_removed && !d->failed;
        t->p.request->delete_topics[row].error = done ? KAFKA_ERROR_NONE : KAFKA_ERROR_REQUEST_TIMED_OUT;
    }
}
static void delete_time_is_up(struct procedure *p) {
    rows_answer(container_of(p, struct delete_topics, p), false);
}

// ---- the work

static const char *mark_path(struct delete_topics *t, const struct deletion *d) {
    char path[ZNODE_PATH_SIZE];
    znode_path(path, ZNODE_DELETE_TOPICS, d->name);
    return arena_path(&t->p.arena, path);
}

static flow_next deletion_step_mark(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    if (!t->p.request) return FLOW_GOTO(deletion, hide);
    for (struct deletion *d = t->first; d; d = d->next) {
        struct metastore_write *write = write_begin_fenced(t->p.controller, &t->p.arena, &t->p.writes, 1);
        write_add(write, metastore_create_node(mark_path(t, d), (struct bytes){0}, 0));
    }
    writes_start(&t->p.writes, t->p.controller, flow);
    return FLOW_NEXT;
}

static flow_next deletion_step_marked(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    procedure_look_at_time(&t->p);
    if (!writes_are_done(&t->p.writes)) return FLOW_WAIT;
    for (struct write_item *item = t->p.writes.first; item; item = item->next) {
        enum metastore_result result = item->write.call.result;
        if (result == METASTORE_OK || (result == METASTORE_NODE_EXISTS && item->write.failed == 1)) continue;
        controller_unexpected(t->p.controller, &item->write, "marking a topic for deletion");
        rows_answer(t, false);
        return FLOW_DONE(flow, KAFKA_ERROR_REQUEST_TIMED_OUT);
    }
    if (t->p.request && t->p.request->timeout_ms <= 0) {
        rows_answer(t, false);
        procedure_answer(&t->p);
    }
    return FLOW_NEXT;
}

static flow_next deletion_step_hide(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    struct image_draft draft;
    image_draft_begin(&draft, controller_image(t->p.controller));
    for (struct deletion *d = t->first; d; d = d->next) {
        if (!d->topic || d->topic->deleting) continue;
        struct image_topic *hidden = image_topic_clone(d->topic, d->topic->partition_count);
        hidden->deleting = true;
        image_draft_put(&draft, hidden);
    }
    procedure_publish(&t->p, &draft);
    return FLOW_NEXT;
}

static flow_next deletion_step_hidden(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    procedure_look_at_time(&t->p);
    if (!procedure_is_seated(&t->p)) return FLOW_WAIT;
    for (struct deletion *d = t->first; d; d = d->next)
        if (d->topic && replicas_are_becoming(t->p.controller, d->topic->id)) return FLOW_WAIT;
    for (struct deletion *d = t->first; d; d = d->next)
        if (d->topic) replicas_stop(t->p.controller, &t->p, d->topic, &d->replicas_failed);
    return FLOW_NEXT;
}

static flow_next deletion_step_stop(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    procedure_look_at_time(&t->p);
    if (t->p.replicas_pending > 0) return FLOW_WAIT;
    for (struct deletion *d = t->first; d; d = d->next) {
        if (d->replicas_failed == 0) continue;
        d->failed = true;
        line(t->p.controller->core, LINE_ERROR, "controller", d->name.data, "deletion_stuck",
             "replicas=%zu reason=\"a log directory that may have them is offline or full, or no file could be opened; "
             "the topic stays hidden\" todo=\"repair the directory (the lines directory_failed name it), make space or "
             "raise the limit of open files, then restart the broker: it deletes the rest\"",
             d->replicas_failed);
    }
    return FLOW_NEXT;
}

// Leaves first. Together: the writes fail if a node is missing; one by one: each deletion by itself, so that what an
// interrupted creation or deletion has left can be cleared away.
static void removal_write(struct delete_topics *t, struct deletion *d) {
    struct controller *c = t->p.controller;
    struct arena *a = &t->p.arena;
    char path[ZNODE_PATH_SIZE];
    int32_t partitions = d->topic ? d->topic->partition_count : 0;
    const char **paths = arena_alloc_array(a, (size_t)partitions * 2 + 4, sizeof *paths);
    ASSERT(paths != NULL);
    size_t count = 0;
    for (int32_t p = 0; p < partitions; p++) {
        if (d->one_by_one || d->topic->partitions[p].leader_epoch >= 0)
            paths[count++] = arena_state_path(a, d->name, p);
        paths[count++] = arena_partition_path(a, d->name, p);
    }
    if (d->topic) {
        znode_partitions_path(path, d->name);
        paths[count++] = arena_path(a, path);
        znode_topic_path(path, d->name);
        paths[count++] = arena_path(a, path);
    }
    znode_path(path, ZNODE_TOPIC_CONFIGS, d->name);
    paths[count++] = arena_path(a, path);
    paths[count++] = mark_path(t, d);
    d->writes = (struct write_set){0};
    struct metastore_write *write = NULL;
    const size_t together = d->one_by_one ? 1 : CONTROLLER_CHANGES_A_WRITE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!write || write->count == together + 1)
            write = write_begin_fenced(c, a, &d->writes, min_size(together, count - i));
        write_add(write, metastore_delete_node(paths[i], METASTORE_ANY_VERSION));
    }
    writes_start(&d->writes, c, &t->p.flow);
}

static flow_next deletion_step_remove(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    for (struct deletion *d = t->first; d; d = d->next) {
        if (d->failed || d->is_removed) continue;
        if (!d->topic) d->one_by_one = true;
        removal_write(t, d);
    }
    return FLOW_NEXT;
}

// False: once more, one by one.
static bool removal_written(struct delete_topics *t, struct deletion *d) {
    for (struct write_item *item = d->writes.first; item; item = item->next) {
        enum metastore_result result = item->write.call.result;
        bool missing = result == METASTORE_NO_NODE && item->write.failed > 0;
        if (result == METASTORE_OK || (missing && d->one_by_one)) continue;
        if (missing) {
            d->one_by_one = true;
            return false;
        }
        controller_unexpected(t->p.controller, &item->write, "removing a topic");
        d->failed = true;
        return true;
    }
    d->is_removed = true;
    return true;
}

static flow_next deletion_step_removed(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    bool again = false;
    procedure_look_at_time(&t->p);
    for (struct deletion *d = t->first; d; d = d->next)
        if (!writes_are_done(&d->writes)) return FLOW_WAIT;
    for (struct deletion *d = t->first; d; d = d->next)
        if (!d->failed && !d->is_removed && !removal_written(t, d)) again = true;
    return again ? FLOW_GOTO(deletion, remove) : FLOW_NEXT;
}

static flow_next deletion_step_publish(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    struct controller *c = t->p.controller;
    struct image_draft draft;
    image_draft_begin(&draft, controller_image(c));
    for (struct deletion *d = t->first; d; d = d->next) {
        if (!d->topic || !d->is_removed) continue;
        line(c->core, LINE_INFO, "controller", d->name.data, "topic_deleted", "partitions=%d",
             d->topic->partition_count);
        for (int32_t p = 0; p < d->topic->partition_count; p++)
            replica_unplace(c, &d->topic->partitions[p]);
        image_draft_remove(&draft, d->name);
    }
    procedure_publish(&t->p, &draft);
    return FLOW_NEXT;
}

static flow_next deletion_step_seated(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    procedure_look_at_time(&t->p);
    if (!procedure_is_seated(&t->p)) return FLOW_WAIT;
    rows_answer(t, true);
    return FLOW_NEXT;
}

static flow_next deletion_step_release(struct flow *flow) {
    struct delete_topics *t = delete_of(flow);
    for (struct deletion *d = t->first; d; d = d->next)
        if (d->topic) image_topic_release(d->topic);
    hashmap_free(&t->by_name);
    metastore_read_free(&t->list);
    procedure_end(&t->p);
    free(t);
    return FLOW_END;
}

void delete_topics_start(struct controller *c, struct controller_request *request) {
    struct delete_topics *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    t->p.time_is_up = delete_time_is_up;
    procedure_start(&t->p, c, request, &deletion_flow);
}

void delete_topics_resume(struct controller *c) {
    delete_topics_start(c, NULL);
}
