// SPDX-License-Identifier: Apache-2.0
// CreateTopics and the automatic creation of topics.
//
//   check    every row by itself, in the order of Kafka's checks; the accepted ones get their topic, replicas and
//   leaders write    the nodes of all accepted topics, in flight together (each topic of usual size is one write)
//   written  a topic whose configuration node was left over is written again; the work of an impatient request is
//            answered here
//   become   the replicas of this broker make their directories (trap 49: not before the nodes are durable)
//   publish, seated   the image that has the topics reaches every core
//
// Failure: a crash after `write` leaves a topic with all or (above 1,000 partitions) some of its nodes; the next start
// finishes it. A replica whose directory fails becomes offline; the topic is there all the same.
#include "base/hashmap.h"
#include "config/topic_name.h"
#include "controller/internal.h"
#include <stdlib.h>

#define CREATE_STEPS(STEP)                                                                                             \
    STEP(create, check)                                                                                                \
    STEP(create, write)                                                                                                \
    STEP(create, written) STEP(create, become) STEP(create, publish) STEP(create, seated) STEP(create, release)
FLOW_DEFINE(create, CREATE_STEPS)

#define RESERVED_TOPIC "__cluster_metadata" // a KRaft controller's log has this name

struct creation {
    struct creation *next;
    struct image_topic *topic; // NULL: failed, or in the image
    struct topic_nodes nodes;
    size_t row;
    bool is_written;
};
// A topic's name with '.' as '_': names that are equal then may not live beside each other.
struct folded {
    struct hash_node node;
    struct str name;
};
struct create_topics {
    struct procedure p;
    struct creation *first, *last;
    size_t partitions_total;
    struct hashmap folded; // of the image's topics (made when it is first needed) and of the accepted rows
};

static struct create_topics *create_of(struct flow *flow) {
    return container_of(flow, struct create_topics, p.flow);
}

// ---- rows of both kinds

static bool is_automatic(const struct controller_request *request) {
    return request->kind == CONTROLLER_AUTO_CREATE_TOPICS;
}

static void row_result(struct controller_request *request, size_t row, int16_t error, struct str message) {
    if (is_automatic(request)) {
        request->auto_create_topics[row].error = error;
        request->auto_create_topics[row].message = message;
        return;
    }
    struct controller_create_topic *r = &request->create_topics[row];
    r->error = error;
    r->message = message;
    if (error == KAFKA_ERROR_NONE) return;
    r->partition_count_out = r->replication_factor_out = -1;
    r->entries = NULL;
    r->entry_count = 0;
    if (error != KAFKA_ERROR_REQUEST_TIMED_OUT) r->topic_id = (struct uuid){{0}};
}

static int16_t row_refuse(struct controller_request *request, size_t row, int16_t error, struct str message) {
    row_result(request, row, error, message);
    return error;
}
#define REFUSE(request, row, error, ...)                                                                               \
    row_refuse(request, row, KAFKA_ERROR_##error, arena_format((request)->arena, __VA_ARGS__))

// ---- checks

static int compare_rows(const void *a, const void *b) {
    return str_compare((*(struct controller_create_topic *const *)a)->name,
                       (*(struct controller_create_topic *const *)b)->name);
}

// A name that comes twice is refused in every row that has it, whatever else is wrong with them.
static void refuse_repetitions(struct create_topics *t, struct controller_request *request) {
    const struct controller_create_topic **rows = arena_alloc_array(&t->p.arena, request->row_count, sizeof *rows);
    ASSERT(rows != NULL);
    for (size_t i = 0; i < request->row_count; i++)
        rows[i] = &request->create_topics[i];
    qsort(rows, request->row_count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < request->row_count; i++) {
        bool twice = (i > 0 && str_equal(rows[i]->name, rows[i - 1]->name)) ||
                     (i + 1 < request->row_count && str_equal(rows[i]->name, rows[i + 1]->name));
        if (str_is(rows[i]->name, RESERVED_TOPIC)) {
            row_refuse(request, (size_t)(rows[i] - request->create_topics), KAFKA_ERROR_INVALID_REQUEST,
                       str_of("Creation of internal topic " RESERVED_TOPIC " is prohibited."));
        } else if (twice && rows[i]->error == KAFKA_ERROR_NONE) {
            row_refuse(request, (size_t)(rows[i] - request->create_topics), KAFKA_ERROR_INVALID_REQUEST,
                       str_of("Found multiple entries for this topic."));
        }
    }
}

static bool names_collide(struct str a, struct str b) {
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; i++) {
        char x = a.data[i] == '.' ? '_' : a.data[i], y = b.data[i] == '.' ? '_' : b.data[i];
        if (x != y) return false;
    }
    return true;
}

static uint64_t fold_hash(const struct create_topics *t, struct str name) {
    char folded[TOPIC_NAME_MAX];
    ASSERT(name.size <= sizeof folded);
    for (size_t i = 0; i < name.size; i++)
        folded[i] = name.data[i] == '.' ? '_' : name.data[i];
    return hash_bytes(t->p.controller->core->hash_seed, folded, name.size);
}
static bool folded_equal(const struct hash_node *node, const void *key) {
    return names_collide(container_of(node, struct folded, node)->name, *(const struct str *)key);
}
static void fold(struct create_topics *t, struct str name) {
    struct folded *f = arena_alloc(&t->p.arena, sizeof *f);
    ASSERT(f != NULL);
    f->name = name;
    hashmap_insert(&t->folded, &f->node, fold_hash(t, name));
}

// A topic that differs only in '.' and '_' (metrics would mix them up): one of the image or of this request.
static struct str colliding_name(struct create_topics *t, struct str name) {
    const struct image *image = controller_image(t->p.controller);
    if (!memchr(name.data, '.', name.size) && !memchr(name.data, '_', name.size)) return (struct str){0};
    if (t->folded.count == 0) {
        for (size_t i = 0; i < image->topic_count; i++)
            fold(t, image->topics[i]->name);
        for (struct creation *c = t->first; c; c = c->next)
            fold(t, c->topic->name);
    }
    struct hash_node *found = hashmap_find(&t->folded, fold_hash(t, name), folded_equal, &name);
    return found ? container_of(found, struct folded, node)->name : (struct str){0};
}

static int16_t check_name(struct create_topics *t, struct controller_request *request, size_t row, struct str name) {
    if (!topic_name_is_legal(name)) {
        char memory[TOPIC_NAME_PROBLEM_MAX];
        struct text problem = TEXT_IN(memory);
        topic_name_problem(name, &problem);
        return REFUSE(request, row, INVALID_TOPIC_EXCEPTION, "%s", memory);
    }
    struct str other = colliding_name(t, name);
    if (!str_is_null(other))
        return REFUSE(request, row, INVALID_TOPIC_EXCEPTION, "Topic '%.*s' collides with existing topics: %.*s",
                      (int)name.size, name.data, (int)other.size, other.data);
    return KAFKA_ERROR_NONE;
}

// Partition count and replication factor that the controller has to spread.
static int16_t check_counts(struct create_topics *t, struct controller_request *request, size_t row, int64_t partitions,
                            int64_t factor) {
    size_t brokers = controller_image(t->p.controller)->broker_count;
    if (partitions <= 0) return REFUSE(request, row, INVALID_PARTITIONS, "Number of partitions must be larger than 0.");
    if (partitions > CONTROLLER_PARTITIONS_MAX || t->partitions_total + (size_t)partitions > CONTROLLER_PARTITIONS_MAX)
        return REFUSE(request, row, INVALID_PARTITIONS, "Number of partitions must not be above %d in one request.",
                      CONTROLLER_PARTITIONS_MAX);
    if (factor <= 0)
        return REFUSE(request, row, INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.");
    if ((size_t)factor > brokers)
        return REFUSE(request, row, INVALID_REPLICATION_FACTOR,
                      "Replication factor: %d larger than available brokers: %zu.", (int)factor, brokers);
    return KAFKA_ERROR_NONE;
}

static int16_t check_settings(struct create_topics *t, struct controller_request *request, size_t row,
                              struct config_map overrides) {
    char memory[1024];
    struct text reason = TEXT_IN(memory);
    if (topic_config_validate(&t->p.arena, controller_config(t->p.controller), overrides, &reason))
        return KAFKA_ERROR_NONE;
    return REFUSE(request, row, INVALID_CONFIG, "%s", memory);
}

// ---- accepted rows

static struct creation *creation_add(struct create_topics *t, size_t row, struct str name, int32_t partitions) {
    struct controller *c = t->p.controller;
    struct creation *creation = arena_alloc(&t->p.arena, sizeof *creation);
    ASSERT(creation != NULL);
    struct uuid id;
    do { // as Kafka: never zero or one (reserved), never a leading '-' in its text (command lines)
        uint64_t random[2] = {os_random(c->core->os), os_random(c->core->os)};
        memcpy(&id, random, sizeof id);
        id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x40);
        id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80);
    } while ((id.bytes[0] >> 2) == 62);
    creation->row = row;
    creation->topic = image_topic_create(name, id, partitions);
    if (t->folded.count > 0) fold(t, creation->topic->name);
    t->partitions_total += (size_t)partitions;
    if (t->last) {
        t->last->next = creation;
    } else {
        t->first = creation;
    }
    t->last = creation;
    return creation;
}

// Puts new replicas on the brokers as plan.c says.
static void spread(struct create_topics *t, struct image_topic *topic, int32_t factor) {
    struct controller *c = t->p.controller;
    const struct image *image = controller_image(c);
    int32_t *brokers = arena_alloc_array(&t->p.arena, image->broker_count, sizeof *brokers);
    int32_t *replicas =
        arena_alloc_array(&t->p.arena, (size_t)topic->partition_count, (size_t)factor * sizeof *replicas);
    ASSERT(brokers != NULL && replicas != NULL);
    for (size_t i = 0; i < image->broker_count; i++)
        brokers[i] = image->brokers[i].id;
    plan_assign(brokers, (int32_t)image->broker_count, 0, topic->partition_count, factor,
                (int32_t)(os_random(c->core->os) & INT16_MAX), (int32_t)(os_random(c->core->os) & INT16_MAX), replicas);
    for (int32_t p = 0; p < topic->partition_count; p++)
        image_partition_set_replicas(image_partition_edit(topic, p), replicas + (int64_t)p * factor, factor);
}

static void row_accept(struct create_topics *t, struct controller_request *request, size_t row, int32_t partitions,
                       int32_t factor, struct config_map overrides) {
    struct controller_create_topic *r = &request->create_topics[row];
    r->partition_count_out = partitions;
    r->replication_factor_out = (int16_t)factor;
    r->entries = overrides.entries;
    r->entry_count = overrides.count;
    r->topic_id = (struct uuid){{0}};
    if (request->validate_only) return;
    struct creation *creation = creation_add(t, row, r->name, partitions);
    r->topic_id = creation->topic->id;
    image_topic_set_overrides(creation->topic, overrides, controller_config(t->p.controller));
    if (r->assignment_count == 0) {
        spread(t, creation->topic, factor);
        return;
    }
    for (size_t i = 0; i < r->assignment_count; i++)
        image_partition_set_replicas(image_partition_edit(creation->topic, r->assignments[i].partition),
                                     r->assignments[i].brokers, (int32_t)r->assignments[i].broker_count);
}

// In the order of Kafka's checks (trap 64).
static void row_check(struct create_topics *t, struct controller_request *request, size_t row) {
    struct controller_create_topic *r = &request->create_topics[row];
    const struct config *config = controller_config(t->p.controller);
    const int name_size = (int)min_size(r->name.size, TOPIC_NAME_MAX);
    r->partition_count_out = r->replication_factor_out = -1;
    if (r->error != KAFKA_ERROR_NONE) return;
    if (image_topic_by_name(controller_image(t->p.controller), r->name)) {
        REFUSE(request, row, TOPIC_ALREADY_EXISTS, "Topic '%.*s' already exists.", name_size, r->name.data);
        return;
    }
    struct str message;
    int16_t error = create_row_check_nulls(request->arena, r, &message);
    if (error != KAFKA_ERROR_NONE) {
        row_refuse(request, row, error, message);
        return;
    }
    if ((r->partition_count != -1 || r->replication_factor != -1) && r->assignment_count > 0) {
        REFUSE(request, row, INVALID_REQUEST,
               "Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used at the "
               "same time.");
        return;
    }
    int64_t partitions = r->partition_count == -1 ? config_i64(config, CONFIG_NUM_PARTITIONS) : r->partition_count;
    int64_t factor =
        r->replication_factor == -1 ? config_i64(config, CONFIG_DEFAULT_REPLICATION_FACTOR) : r->replication_factor;
    if (r->assignment_count == 0 && check_counts(t, request, row, partitions, factor) != KAFKA_ERROR_NONE) return;
    if (check_name(t, request, row, r->name) != KAFKA_ERROR_NONE) return;
    if (r->assignment_count > 0) {
        if (r->assignment_count > CONTROLLER_PARTITIONS_MAX - t->partitions_total) {
            REFUSE(request, row, INVALID_PARTITIONS, "Number of partitions must not be above %d in one request.",
                   CONTROLLER_PARTITIONS_MAX);
            return;
        }
        error = create_row_check_assignments(&t->p.arena, request->arena, r, &message);
        if (error != KAFKA_ERROR_NONE) {
            row_refuse(request, row, error, message);
            return;
        }
        partitions = (int64_t)r->assignment_count;
        factor = (int64_t)r->assignments[0].broker_count;
    }
    struct config_map overrides = create_row_overrides(request->arena, r);
    if (check_settings(t, request, row, overrides) != KAFKA_ERROR_NONE) return;
    row_accept(t, request, row, (int32_t)partitions, (int32_t)factor, overrides);
}

// What an internal topic is made with; others take the broker's defaults.
struct automatic {
    int64_t partitions, factor;
    struct config_entry entries[4];
    size_t entry_count;
};

static struct automatic automatic_defaults(const struct config *config, struct str name) {
    if (str_is(name, "__consumer_offsets")) {
        return (struct automatic){config_i64(config, CONFIG_OFFSETS_TOPIC_NUM_PARTITIONS),
                                  config_i64(config, CONFIG_OFFSETS_TOPIC_REPLICATION_FACTOR),
                                  {{str_of("cleanup.policy"), str_of("compact")},
                                   {str_of("compression.type"), str_of("producer")},
                                   {str_of("segment.bytes"), config_str(config, CONFIG_OFFSETS_TOPIC_SEGMENT_BYTES)}},
                                  3};
    }
    return (struct automatic){config_i64(config, CONFIG_NUM_PARTITIONS),
                              config_i64(config, CONFIG_DEFAULT_REPLICATION_FACTOR),
                              {{{0}, {0}}},
                              0};
}

static void automatic_check(struct create_topics *t, struct controller_request *request, size_t row) {
    struct controller *c = t->p.controller;
    struct str name = request->auto_create_topics[row].name;
    const struct image_topic *present = image_topic_by_name(controller_image(c), name);
    row_result(request, row, KAFKA_ERROR_NONE, (struct str){0});
    if (present && present->deleting) {
        REFUSE(request, row, TOPIC_ALREADY_EXISTS, "Topic '%s' is marked for deletion.", present->name.data);
        return;
    }
    for (struct creation *other = t->first; other; other = other->next)
        if (str_equal(other->topic->name, name)) return;
    if (present) return;
    const struct automatic defaults = automatic_defaults(controller_config(c), name);
    if (check_counts(t, request, row, defaults.partitions, defaults.factor) != KAFKA_ERROR_NONE) return;
    if (check_name(t, request, row, name) != KAFKA_ERROR_NONE) return;
    struct creation *creation = creation_add(t, row, name, (int32_t)defaults.partitions);
    image_topic_set_overrides(creation->topic, (struct config_map){defaults.entries, defaults.entry_count},
                              controller_config(c));
    spread(t, creation->topic, (int32_t)defaults.factor);
}

static void creation_fail(struct create_topics *t, struct creation *c, int16_t error, struct str message) {
    for (int32_t p = 0; p < c->topic->partition_count; p++)
        replica_unplace(t->p.controller, &c->topic->partitions[p]);
    if (t->p.request) row_result(t->p.request, c->row, error, message);
    image_topic_release(c->topic);
    c->topic = NULL;
}

// What the store cannot hold is refused before anything is written.
static void check_sizes(struct create_topics *t, struct creation *c) {
    struct bytes assignment = topic_encode(&t->p.arena, c->topic);
    struct bytes settings = overrides_encode(&t->p.arena, c->topic->overrides);
    struct arena *texts = t->p.request->arena;
    if (!assignment.data || assignment.size > METASTORE_DATA_MAX) {
        creation_fail(t, c, KAFKA_ERROR_INVALID_PARTITIONS,
                      arena_format(texts, "The assignment of the topic's replicas takes more than %d bytes.",
                                   METASTORE_DATA_MAX));
    } else if (!settings.data || settings.size > METASTORE_DATA_MAX) {
        creation_fail(t, c, KAFKA_ERROR_INVALID_CONFIG,
                      arena_format(texts, "The settings of the topic are not valid UTF-8, or take more than %d bytes.",
                                   METASTORE_DATA_MAX));
    }
}

static flow_next create_step_check(struct flow *flow) {
    struct create_topics *t = create_of(flow);
    struct controller_request *request = t->p.request;
    if (!is_automatic(request)) refuse_repetitions(t, request);
    for (size_t row = 0; row < request->row_count; row++) {
        if (is_automatic(request)) {
            automatic_check(t, request, row);
        } else {
            row_check(t, request, row);
        }
    }
    bool any = false;
    for (struct creation *c = t->first; c; c = c->next) {
        check_sizes(t, c);
        if (!c->topic) continue;
        topic_elect_new(t->p.controller, c->topic, 0);
        any = true;
    }
    return any ? FLOW_NEXT : FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

// ---- the work

static void create_time_is_up(struct procedure *p) {
    struct create_topics *t = container_of(p, struct create_topics, p);
    for (struct creation *c = t->first; c; c = c->next)
        if (c->topic) row_result(p->request, c->row, KAFKA_ERROR_REQUEST_TIMED_OUT, (struct str){0});
}

static flow_next create_step_write(struct flow *flow) {
    struct create_topics *t = create_of(flow);
    for (struct creation *c = t->first; c; c = c->next)
        if (c->topic && !c->is_written) topic_write_new(t->p.controller, &t->p.arena, flow, c->topic, &c->nodes);
    return FLOW_NEXT;
}

// False: it has to be written again.
static bool creation_written(struct create_topics *t, struct creation *c) {
    enum { CONFIG_CHANGE = 1, TOPIC_CHANGE = 2 }; // after the check of the epoch
    for (struct write_item *item = c->nodes.writes.first; item; item = item->next) {
        const struct metastore_write *write = &item->write;
        if (write->call.result == METASTORE_OK) continue;
        bool of_topic = item == c->nodes.writes.first;
        if (of_topic && write->failed == CONFIG_CHANGE && !c->nodes.config_exists &&
            write->call.result == METASTORE_NODE_EXISTS) {
            c->nodes.config_exists = true;
            return false;
        }
        if (of_topic && write->failed == TOPIC_CHANGE && write->call.result == METASTORE_NODE_EXISTS) {
            struct str message =
                t->p.request ? arena_format(t->p.request->arena, "Topic '%s' already exists.", c->topic->name.data)
                             : (struct str){0};
            creation_fail(t, c, KAFKA_ERROR_TOPIC_ALREADY_EXISTS, message);
            return true;
        }
        creation_fail(t, c, controller_unexpected(t->p.controller, write, "creating a topic"), (struct str){0});
        return true;
    }
    c->is_written = true;
    return true;
}

static flow_next create_step_written(struct flow *flow) {
    struct create_topics *t = create_of(flow);
    procedure_look_at_time(&t->p);
    for (struct creation *c = t->first; c; c = c->next)
        if (c->topic && !c->is_written && !writes_are_done(&c->nodes.writes)) return FLOW_WAIT;
    bool again = false, any = false;
    for (struct creation *c = t->first; c; c = c->next) {
        if (!c->topic || c->is_written) continue;
        if (!creation_written(t, c)) again = true;
    }
    if (again) return FLOW_GOTO(create, write);
    for (struct creation *c = t->first; c; c = c->next)
        any = any || c->topic;
    if (t->p.request && !is_automatic(t->p.request) && t->p.request->timeout_ms <= 0) {
        create_time_is_up(&t->p);
        procedure_answer(&t->p);
    }
    if (!any) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    for (struct creation *c = t->first; c; c = c->next)
        if (c->topic) replicas_become(t->p.controller, &t->p, c->topic, 0, true);
    return FLOW_NEXT;
}

static flow_next create_step_become(struct flow *flow) {
    struct create_topics *t = create_of(flow);
    procedure_look_at_time(&t->p);
    return t->p.replicas_pending > 0 ? FLOW_WAIT : FLOW_NEXT;
}

static flow_next create_step_publish(struct flow *flow) {
    struct create_topics *t = create_of(flow);
    struct controller *controller = t->p.controller;
    struct image_draft draft;
    image_draft_begin(&draft, controller_image(controller));
    for (struct creation *c = t->first; c; c = c->next) {
        if (!c->topic) continue;
        char id[UUID_TEXT_SIZE + 1];
        uuid_print(c->topic->id, id);
        line(controller->core, LINE_INFO, "controller", c->topic->name.data, "topic_created", "id=%s partitions=%d", id,
             c->topic->partition_count);
        if (t->p.request) {
            row_result(t->p.request, c->row, KAFKA_ERROR_NONE, (struct str){0});
            if (!is_automatic(t->p.request))
                t->p.request->create_topics[c->row].lacks_leader = topic_lacks_leader(c->topic);
        }
        image_draft_put(&draft, c->topic);
    }
    procedure_publish(&t->p, &draft);
    return FLOW_NEXT;
}

static flow_next create_step_seated(struct flow *flow) {
    struct create_topics *t = create_of(flow);
    procedure_look_at_time(&t->p);
    return procedure_is_seated(&t->p) ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next create_step_release(struct flow *flow) {
    struct create_topics *t = create_of(flow);
    hashmap_free(&t->folded);
    procedure_end(&t->p);
    free(t);
    return FLOW_END;
}

void create_topics_start(struct controller *c, struct controller_request *request) {
    struct create_topics *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    t->p.time_is_up = create_time_is_up;
    procedure_start(&t->p, c, request, &create_flow);
}
