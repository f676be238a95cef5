// SPDX-License-Identifier: Apache-2.0
// CreatePartitions.
//
//   check    every row by itself, in the order of Kafka's checks; accepted topics are cloned with their new partitions
//   write, written    the topic's node (guarded by its version) with the new partitions' nodes
//   become   the new replicas of this broker make their directories
//   publish, seated
//
// Failure: a topic of many new partitions takes several writes, the topic's node in the first; what is missing after a
// crash is made by the next start.
#include "controller/internal.h"
#include <stdlib.h>

#define GROW_STEPS(STEP)                                                                                               \
    STEP(grow, check)                                                                                                  \
    STEP(grow, versions)                                                                                               \
    STEP(grow, write) STEP(grow, written) STEP(grow, become) STEP(grow, publish) STEP(grow, seated) STEP(grow, release)
FLOW_DEFINE(grow, GROW_STEPS)

enum { UNKNOWN_NAMED_MAX = 16 }; // brokers in the text of one refusal

struct growth {
    struct growth *next;
    struct image_topic *topic; // NULL: failed, or in the image
    int32_t first;             // of the new partitions
    size_t row;
    struct metastore_read read; // the node's version
    struct write_set writes;
};
struct create_partitions {
    struct procedure p;
    struct growth *first, *last;
    int64_t partitions_total;
};

static struct create_partitions *grow_of(struct flow *flow) {
    return container_of(flow, struct create_partitions, p.flow);
}

static void row_result(struct create_partitions *t, size_t row, int16_t error, struct str message) {
    if (!t->p.request) return;
    t->p.request->create_partitions[row].error = error;
    t->p.request->create_partitions[row].message = message;
}
#define REFUSE(t, row, error, ...)                                                                                     \
    row_result(t, row, KAFKA_ERROR_##error, arena_format((t)->p.request->arena, __VA_ARGS__))

// ---- checks

static int compare_rows(const void *a, const void *b) {
    return str_compare((*(struct controller_create_partitions *const *)a)->name,
                       (*(struct controller_create_partitions *const *)b)->name);
}

static void refuse_repetitions(struct create_partitions *t) {
    struct controller_request *request = t->p.request;
    struct controller_create_partitions **rows = arena_alloc_array(&t->p.arena, request->row_count, sizeof *rows);
    ASSERT(rows != NULL);
    for (size_t i = 0; i < request->row_count; i++)
        rows[i] = &request->create_partitions[i];
    qsort(rows, request->row_count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < request->row_count; i++) {
        bool twice = (i > 0 && str_equal(rows[i]->name, rows[i - 1]->name)) ||
                     (i + 1 < request->row_count && str_equal(rows[i]->name, rows[i + 1]->name));
        rows[i]->is_repeated = i > 0 && str_equal(rows[i]->name, rows[i - 1]->name);
        if (!twice || rows[i]->error != KAFKA_ERROR_NONE) continue;
        rows[i]->error = KAFKA_ERROR_INVALID_REQUEST;
        rows[i]->message = str_of("Duplicate topic in request.");
    }
}

static bool has_repeated_broker(const struct controller_assignment *a) {
    // Known brokers only, so no more than there are plus one before the first repetition.
    for (size_t i = 0; i < a->broker_count; i++) {
        for (size_t j = 0; j < i; j++)
            if (a->brokers[i] == a->brokers[j]) return true;
    }
    return false;
}

// Kafka looks at the brokers of all assignments before it counts these, and names each one that is not alive once.
static bool check_brokers(struct create_partitions *t, size_t row) {
    const struct controller_create_partitions *r = &t->p.request->create_partitions[row];
    const struct image *image = controller_image(t->p.controller);
    int32_t unknown[UNKNOWN_NAMED_MAX];
    size_t count = 0;
    char memory[200];
    struct text names = TEXT_IN(memory);
    for (size_t i = 0; i < r->assignment_count; i++) {
        for (size_t j = 0; j < r->assignments[i].broker_count && count < UNKNOWN_NAMED_MAX; j++) {
            int32_t broker = r->assignments[i].brokers[j];
            bool is_named = false;
            for (size_t k = 0; k < count; k++)
                is_named = is_named || unknown[k] == broker;
            if (is_named || image_broker_by_id(image, broker)) continue;
            text_addf(&names, "%s%d", count > 0 ? ", " : "", broker);
            unknown[count++] = broker;
        }
    }
    if (count > 0) REFUSE(t, row, INVALID_REPLICA_ASSIGNMENT, "Unknown broker(s) in replica assignment: %s.", memory);
    return count == 0;
}

// One new partition's brokers, which are alive: none twice, as many as the topic's others have.
static bool check_assignment(struct create_partitions *t, size_t row, const struct image_topic *topic,
                             const struct controller_assignment *a, int32_t partition) {
    if (a->broker_count == 0) {
        REFUSE(t, row, INVALID_REPLICA_ASSIGNMENT, "Cannot have replication factor of 0 for partition id %d.",
               partition);
        return false;
    }
    if (has_repeated_broker(a)) {
        char memory[512];
        struct text brokers = TEXT_IN(memory);
        for (size_t i = 0; i < a->broker_count && !brokers.truncated; i++)
            text_addf(&brokers, "%s%d", i > 0 ? ", " : "", a->brokers[i]);
        REFUSE(t, row, INVALID_REPLICA_ASSIGNMENT,
               "Duplicate brokers not allowed in replica assignment: %s for partition id %d.", memory, partition);
        return false;
    }
    if ((int64_t)a->broker_count == topic->partitions[0].replica_count) return true;
    REFUSE(t, row, INVALID_REPLICA_ASSIGNMENT,
           "Inconsistent replication factor between partitions, partition 0 has %d while partition id %d has %zu.",
           topic->partitions[0].replica_count, partition, a->broker_count);
    return false;
}

static bool check_assignments(struct create_partitions *t, size_t row, const struct image_topic *topic) {
    const struct controller_create_partitions *r = &t->p.request->create_partitions[row];
    int32_t added = r->count - topic->partition_count;
    if (!r->has_assignments) return true;
    if (!check_brokers(t, row)) return false;
    if (r->assignment_count != (size_t)added) {
        REFUSE(t, row, INVALID_REPLICA_ASSIGNMENT,
               "Increasing the number of partitions by %d but %zu assignments provided.", added, r->assignment_count);
        return false;
    }
    for (int32_t i = 0; i < added; i++)
        if (!check_assignment(t, row, topic, &r->assignments[i], topic->partition_count + i)) return false;
    return true;
}

static bool check_count(struct create_partitions *t, size_t row, const struct image_topic *topic) {
    const struct controller_create_partitions *r = &t->p.request->create_partitions[row];
    if (r->count < topic->partition_count) {
        REFUSE(t, row, INVALID_PARTITIONS, "Topic currently has %d partitions, which is higher than the requested %d.",
               topic->partition_count, r->count);
        return false;
    }
    if (r->count == topic->partition_count) {
        REFUSE(t, row, INVALID_PARTITIONS, "Topic already has %d partitions.", topic->partition_count);
        return false;
    }
    if (r->count <= CONTROLLER_PARTITIONS_MAX && t->partitions_total + r->count <= CONTROLLER_PARTITIONS_MAX)
        return true;
    REFUSE(t, row, INVALID_PARTITIONS, "Number of partitions must not be above %d.", CONTROLLER_PARTITIONS_MAX);
    return false;
}

static void spread(struct create_partitions *t, struct image_topic *topic, int32_t first) {
    const struct image *image = controller_image(t->p.controller);
    int32_t factor = topic->partitions[0].replica_count, added = topic->partition_count - first, start = 0;
    int32_t *brokers = arena_alloc_array(&t->p.arena, image->broker_count, sizeof *brokers);
    int32_t *replicas = arena_alloc_array(&t->p.arena, (size_t)added, (size_t)factor * sizeof *replicas);
    ASSERT(brokers != NULL && replicas != NULL);
    for (size_t i = image->broker_count; i > 0; i--) {
        brokers[i - 1] = image->brokers[i - 1].id;
        if (brokers[i - 1] >= topic->partitions[0].replicas[0]) start = (int32_t)i - 1;
    }
    plan_assign(brokers, (int32_t)image->broker_count, first, added, factor, start, start, replicas);
    for (int32_t i = 0; i < added; i++)
        image_partition_set_replicas(image_partition_edit(topic, first + i), replicas + (int64_t)i * factor, factor);
}

static void row_accept(struct create_partitions *t, size_t row, const struct image_topic *present) {
    const struct controller_create_partitions *r = &t->p.request->create_partitions[row];
    struct growth *g = arena_alloc(&t->p.arena, sizeof *g);
    ASSERT(g != NULL);
    g->row = row;
    g->first = present->partition_count;
    g->topic = image_topic_clone(present, r->count);
    t->partitions_total += r->count;
    if (r->has_assignments) {
        for (size_t i = 0; i < r->assignment_count; i++)
            image_partition_set_replicas(image_partition_edit(g->topic, g->first + (int32_t)i),
                                         r->assignments[i].brokers, (int32_t)r->assignments[i].broker_count);
    } else {
        spread(t, g->topic, g->first);
    }
    struct bytes assignment = topic_encode(&t->p.arena, g->topic);
    if (!assignment.data || assignment.size > METASTORE_DATA_MAX) {
        REFUSE(t, row, INVALID_PARTITIONS, "The assignment of the topic's replicas takes more than %d bytes.",
               METASTORE_DATA_MAX);
        image_topic_release(g->topic);
        return;
    }
    topic_elect_new(t->p.controller, g->topic, g->first);
    if (t->last) {
        t->last->next = g;
    } else {
        t->first = g;
    }
    t->last = g;
}

static void row_check(struct create_partitions *t, size_t row) {
    struct controller_create_partitions *r = &t->p.request->create_partitions[row];
    if (r->error != KAFKA_ERROR_NONE) return;
    const struct image *image = controller_image(t->p.controller);
    const struct image_topic *topic = image_topic_by_name(image, r->name);
    if (!topic) {
        REFUSE(t, row, UNKNOWN_TOPIC_OR_PARTITION, "The topic '%.*s' does not exist.", (int)min_size(r->name.size, 249),
               r->name.data ? r->name.data : "");
        return;
    }
    if (topic->deleting) {
        REFUSE(t, row, INVALID_TOPIC_EXCEPTION, "The topic is queued for deletion.");
        return;
    }
    if (!check_count(t, row, topic) || !check_assignments(t, row, topic)) return;
    if (!r->has_assignments && (size_t)topic->partitions[0].replica_count > image->broker_count) {
        REFUSE(t, row, INVALID_REPLICATION_FACTOR, "Replication factor: %d larger than available brokers: %zu.",
               topic->partitions[0].replica_count, image->broker_count);
        return;
    }
    if (!t->p.request->validate_only) row_accept(t, row, topic);
}

// ZooKeeper refuses the path of a topic without a name, and that ends Kafka's whole request.
static bool lacks_name(const struct create_partitions *t) {
    for (size_t row = 0; row < t->p.request->row_count; row++) {
        const struct controller_create_partitions *r = &t->p.request->create_partitions[row];
        if (r->error == KAFKA_ERROR_NONE && r->name.size == 0) return true;
    }
    return false;
}

static flow_next grow_step_check(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    refuse_repetitions(t);
    if (lacks_name(t)) {
        t->p.request->error = KAFKA_ERROR_UNKNOWN_SERVER_ERROR;
        return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    }
    for (size_t row = 0; row < t->p.request->row_count; row++)
        row_check(t, row);
    for (struct growth *g = t->first; g; g = g->next) {
        char path[ZNODE_PATH_SIZE];
        znode_topic_path(path, g->topic->name);
        g->read =
            (struct metastore_read){.kind = METASTORE_EXISTS, .path = arena_path(&t->p.arena, path), .call.flow = flow};
        metastore_read_start(t->p.controller->options.store, &g->read);
    }
    return t->first ? FLOW_NEXT : FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

// ---- the work

static void grow_time_is_up(struct procedure *p) {
    struct create_partitions *t = container_of(p, struct create_partitions, p);
    for (struct growth *g = t->first; g; g = g->next)
        if (g->topic) row_result(t, g->row, KAFKA_ERROR_REQUEST_TIMED_OUT, (struct str){0});
}

static void growth_fail(struct create_partitions *t, struct growth *g, int16_t error) {
    for (int32_t p = g->first; p < g->topic->partition_count; p++)
        replica_unplace(t->p.controller, &g->topic->partitions[p]);
    row_result(t, g->row, error, (struct str){0});
    image_topic_release(g->topic);
    g->topic = NULL;
}

static flow_next grow_step_versions(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    procedure_look_at_time(&t->p);
    for (struct growth *g = t->first; g; g = g->next)
        if (!g->read.call.done) return FLOW_WAIT;
    for (struct growth *g = t->first; g; g = g->next) {
        if (g->read.call.result == METASTORE_OK) continue;
        controller_fail(t->p.controller, "%s: %s", g->read.path, metastore_result_name(g->read.call.result));
        growth_fail(t, g, KAFKA_ERROR_REQUEST_TIMED_OUT);
    }
    return FLOW_NEXT;
}

static flow_next grow_step_write(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    for (struct growth *g = t->first; g; g = g->next) {
        if (!g->topic) continue;
        struct metastore_write *write = write_begin_fenced(t->p.controller, &t->p.arena, &g->writes, 1);
        write_add(write, metastore_set_node(g->read.path, topic_encode(&t->p.arena, g->topic), g->read.stat.version));
        topic_write_partitions(t->p.controller, &t->p.arena, &g->writes, g->topic, g->first);
        writes_start(&g->writes, t->p.controller, flow);
    }
    return FLOW_NEXT;
}

static flow_next grow_step_written(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    procedure_look_at_time(&t->p);
    for (struct growth *g = t->first; g; g = g->next)
        if (!writes_are_done(&g->writes)) return FLOW_WAIT;
    for (struct growth *g = t->first; g; g = g->next) {
        for (struct write_item *item = g->writes.first; item && g->topic; item = item->next)
            if (item->write.call.result != METASTORE_OK)
                growth_fail(t, g, controller_unexpected(t->p.controller, &item->write, "adding partitions"));
    }
    if (t->p.request && t->p.request->timeout_ms <= 0) {
        grow_time_is_up(&t->p);
        procedure_answer(&t->p);
    }
    for (struct growth *g = t->first; g; g = g->next)
        if (g->topic) replicas_become(t->p.controller, &t->p, g->topic, g->first, true);
    return FLOW_NEXT;
}

static flow_next grow_step_become(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    procedure_look_at_time(&t->p);
    return t->p.replicas_pending > 0 ? FLOW_WAIT : FLOW_NEXT;
}

static flow_next grow_step_publish(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    struct image_draft draft;
    image_draft_begin(&draft, controller_image(t->p.controller));
    for (struct growth *g = t->first; g; g = g->next) {
        if (!g->topic) continue;
        // A replica of the topic may have failed since it was cloned.
        const struct image_topic *present = image_topic_by_name(draft.before, g->topic->name);
        for (int32_t p = 0; p < g->first; p++)
            image_partition_edit(g->topic, p)->offline = present->partitions[p].offline;
        line(t->p.controller->core, LINE_INFO, "controller", g->topic->name.data, "partitions_created",
             "before=%d now=%d", g->first, g->topic->partition_count);
        row_result(t, g->row, KAFKA_ERROR_NONE, (struct str){0});
        if (t->p.request) t->p.request->create_partitions[g->row].lacks_leader = topic_lacks_leader(g->topic);
        image_draft_put(&draft, g->topic);
        g->topic = NULL;
    }
    procedure_publish(&t->p, &draft);
    return FLOW_NEXT;
}

static flow_next grow_step_seated(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    // The work is done: an answer a moment late is better than one that says it was not.
    return procedure_is_seated(&t->p) ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next grow_step_release(struct flow *flow) {
    struct create_partitions *t = grow_of(flow);
    for (struct growth *g = t->first; g; g = g->next)
        metastore_read_free(&g->read);
    procedure_end(&t->p);
    free(t);
    return FLOW_END;
}

void create_partitions_start(struct controller *c, struct controller_request *request) {
    struct create_partitions *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    t->p.time_is_up = grow_time_is_up;
    procedure_start(&t->p, c, request, &grow_flow);
}
