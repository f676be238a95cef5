// SPDX-License-Identifier: Apache-2.0
// AlterConfigs and IncrementalAlterConfigs, for topics, this broker, and all brokers.
//
//   check    every row by itself (trap 16): its new settings, validated as a whole
//   look     which configuration nodes exist
//   write, written    node and change notification in one write a row
//   publish, seated   the image with the new settings is on every core; answered
//   purge... change notifications older than 15 minutes go, as every reader of them does in Kafka
#include "controller/internal.h"
#include <stdlib.h>

#define ALTER_STEPS(STEP)                                                                                              \
    STEP(alter, check)                                                                                                 \
    STEP(alter, look)                                                                                                  \
    STEP(alter, written)                                                                                               \
    STEP(alter, seated) STEP(alter, purge_list) STEP(alter, purge_look) STEP(alter, purge_done) STEP(alter, release)
FLOW_DEFINE(alter, ALTER_STEPS)

enum { CHANGE_KEPT_MS = 15 * 60 * 1000, PURGE_MAX = 100, SETTINGS_MAX = 1000 };

struct alteration {
    struct alteration *next;
    size_t row;
    struct str topic;           // null: a broker's settings
    bool of_cluster;            // of all brokers
    struct config_map settings; // the new ones, in the procedure's arena
    struct str entity;          // "topics/foo"
    struct metastore_read read;
    struct write_set writes;
    bool is_done;
};
struct alter_configs {
    struct procedure p;
    struct alteration *first, *last;
    struct metastore_read list;
    struct metastore_read *looks;
    size_t look_count;
    struct write_set purge;
};

static struct alter_configs *alter_of(struct flow *flow) {
    return container_of(flow, struct alter_configs, p.flow);
}

// ---- checks: false with the row's error set

static bool refuse(struct alter_configs *t, size_t row, int16_t error, struct str message) {
    struct controller_alter_config *r = &t->p.request->alter_configs[row];
    r->error = error;
    r->message = message;
    return false;
}
#define REFUSE(t, row, error, ...) refuse(t, row, KAFKA_ERROR_##error, arena_format((t)->p.request->arena, __VA_ARGS__))

static int compare_keys(const void *a, const void *b) {
    return str_compare((*(const struct controller_setting *const *)a)->key,
                       (*(const struct controller_setting *const *)b)->key);
}

static bool check_keys(struct alter_configs *t, size_t row) {
    const struct controller_alter_config *r = &t->p.request->alter_configs[row];
    bool incremental = t->p.request->kind == CONTROLLER_INCREMENTAL_ALTER_CONFIGS;
    const struct controller_setting **sorted = arena_alloc_array(&t->p.arena, r->setting_count, sizeof *sorted);
    ASSERT(sorted != NULL);
    if (r->setting_count > SETTINGS_MAX)
        return REFUSE(t, row, INVALID_REQUEST, "At most %d settings can be changed at once", SETTINGS_MAX);
    for (size_t i = 0; i < r->setting_count; i++)
        sorted[i] = &r->settings[i];
    qsort(sorted, r->setting_count, sizeof *sorted, compare_keys);
    for (size_t i = 1; i < r->setting_count; i++)
        if (str_equal(sorted[i]->key, sorted[i - 1]->key))
            return REFUSE(t, row, INVALID_REQUEST, "Error due to duplicate config keys");
    char memory[512];
    struct text nulls = TEXT_IN(memory);
    for (size_t i = 0; i < r->setting_count && !nulls.truncated; i++) {
        const struct controller_setting *s = &r->settings[i];
        if (!str_is_null(s->value) || (incremental && s->operation == CONFIG_DELETE)) continue;
        if (nulls.size > 0) text_addf(&nulls, ", ");
        text_add_escaped(&nulls, s->key);
    }
    if (nulls.size > 0) return REFUSE(t, row, INVALID_REQUEST, "Null value not supported for : %s", memory);
    return true;
}

static void entries_put(struct config_entry *entries, size_t *count, struct str key, struct str value) {
    size_t place = 0;
    while (place < *count && !str_equal(entries[place].key, key))
        place++;
    if (!str_is_null(value)) {
        entries[place] = (struct config_entry){key, value};
        if (place == *count) (*count)++;
    } else if (place < *count) {
        entries[place] = entries[--*count];
    }
}

// Of a topic's unknown operation Kafka's own code is surprised, and says so.
static bool check_operations(struct alter_configs *t, size_t row, bool of_topic) {
    const struct controller_alter_config *r = &t->p.request->alter_configs[row];
    for (size_t i = 0; i < r->setting_count; i++) {
        int operation = (int)r->settings[i].operation;
        if (operation >= CONFIG_SET && operation <= CONFIG_SUBTRACT) continue;
        if (of_topic) return refuse(t, row, KAFKA_ERROR_UNKNOWN_SERVER_ERROR, (struct str){0});
        return REFUSE(t, row, INVALID_REQUEST, "Unknown operations type %d", operation);
    }
    return true;
}

// What the resource's settings become. `present` counts only for incremental changes.
static bool new_settings(struct alter_configs *t, size_t row, struct config_map present, bool of_topic,
                         struct config_map *out) {
    const struct controller_alter_config *r = &t->p.request->alter_configs[row];
    bool incremental = t->p.request->kind == CONTROLLER_INCREMENTAL_ALTER_CONFIGS;
    struct config_entry *entries = arena_alloc_array(&t->p.arena, present.count + r->setting_count, sizeof *entries);
    ASSERT(entries != NULL);
    if (incremental && !check_operations(t, row, of_topic)) return false;
    size_t count = incremental ? present.count : 0;
    if (count > 0) memcpy(entries, present.entries, count * sizeof *entries);
    for (size_t i = 0; i < r->setting_count; i++) {
        const struct controller_setting *s = &r->settings[i];
        struct str value = s->value;
        if (incremental) {
            char memory[512];
            struct text reason = TEXT_IN(memory);
            struct str before = config_map_get((struct config_map){entries, count}, s->key);
            enum config_alter_result result =
                of_topic ? config_alter_topic(&t->p.arena, s->operation, s->key, before, s->value, &value, &reason)
                         : config_alter_broker(&t->p.arena, s->operation, s->key, before, s->value, &value, &reason);
            if (result == CONFIG_ALTER_INVALID_CONFIG) return REFUSE(t, row, INVALID_CONFIG, "%s", memory);
            if (result == CONFIG_ALTER_UNKNOWN_KEY) // no code of its own in Kafka, which trips over it
                return refuse(t, row, KAFKA_ERROR_UNKNOWN_SERVER_ERROR, (struct str){0});
            if (result == CONFIG_ALTER_INVALID_REQUEST) return REFUSE(t, row, INVALID_REQUEST, "%s", memory);
        }
        entries_put(entries, &count, s->key, value);
    }
    *out = (struct config_map){entries, count};
    return true;
}

static struct alteration *alteration_add(struct alter_configs *t, size_t row) {
    struct alteration *a = arena_alloc(&t->p.arena, sizeof *a);
    ASSERT(a != NULL);
    a->row = row;
    if (t->last) {
        t->last->next = a;
    } else {
        t->first = a;
    }
    t->last = a;
    return a;
}

static void check_topic(struct alter_configs *t, size_t row) {
    const struct controller_alter_config *r = &t->p.request->alter_configs[row];
    struct controller *c = t->p.controller;
    const struct image_topic *topic = image_topic_by_name(controller_image(c), r->name);
    int name_size = (int)min_size(r->name.size, 249);
    const char *name = r->name.data ? r->name.data : "";
    struct config_map settings;
    char memory[512];
    struct text reason = TEXT_IN(memory);
    if (r->name.size == 0) {
        REFUSE(t, row, INVALID_REQUEST, "Default topic resources are not allowed.");
        return;
    }
    bool exists = topic && !topic->deleting;
    // As in Kafka, an operation that the key does not allow is found before the topic is looked for.
    if (!new_settings(t, row, exists ? topic->overrides : (struct config_map){0}, true, &settings)) return;
    if (!exists) {
        REFUSE(t, row, UNKNOWN_TOPIC_OR_PARTITION, "The topic '%.*s' does not exist.", name_size, name);
        return;
    }
    if (!topic_config_validate(&t->p.arena, controller_config(c), settings, &reason)) {
        bool unknown = strncmp(memory, "Unknown topic config", 20) == 0;
        if (unknown) {
            REFUSE(t, row, INVALID_CONFIG, "%s", memory);
        } else {
            REFUSE(t, row, INVALID_CONFIG,
                   "Invalid config value for resource ConfigResource(type=TOPIC, name='%.*s'): %s", name_size, name,
                   memory);
        }
        return;
    }
    if (t->p.request->validate_only) return;
    struct alteration *a = alteration_add(t, row);
    a->settings = settings;
    a->entity = arena_format(&t->p.arena, "topics/%.*s", name_size, name);
    a->topic = str_of(a->entity.data + strlen("topics/"));
}

static void check_broker(struct alter_configs *t, size_t row) {
    const struct controller_alter_config *r = &t->p.request->alter_configs[row];
    struct controller *c = t->p.controller;
    const struct image *image = controller_image(c);
    bool of_cluster = r->name.size == 0;
    int name_size = (int)min_size(r->name.size, 64);
    int64_t id;
    if (!of_cluster && !parse_java_i64(r->name, INT32_MIN, INT32_MAX, &id)) {
        REFUSE(t, row, INVALID_REQUEST, "Node id must be an integer, but it is: %.*s", name_size, r->name.data);
        return;
    }
    if (!of_cluster && id != c->options.broker_id) {
        REFUSE(t, row, INVALID_REQUEST, "Unexpected broker id, expected %d, but received %.*s", c->options.broker_id,
               name_size, r->name.data);
        return;
    }
    struct config_map settings;
    char memory[512];
    struct text reason = TEXT_IN(memory);
    if (!new_settings(t, row, of_cluster ? image->cluster_overrides : image->broker_overrides, false, &settings))
        return;
    if (!config_validate_dynamic(&t->p.arena, controller_config(c), !of_cluster, settings, &reason)) {
        REFUSE(t, row, INVALID_REQUEST, "%s", memory);
        return;
    }
    if (t->p.request->validate_only) return;
    struct alteration *a = alteration_add(t, row);
    a->of_cluster = of_cluster;
    a->settings = settings;
    a->entity = of_cluster ? str_of("brokers/" ZNODE_DEFAULT_ENTITY)
                           : arena_format(&t->p.arena, "brokers/%d", c->options.broker_id);
}

static int compare_resources(const void *a, const void *b) {
    const struct controller_alter_config *x = *(struct controller_alter_config *const *)a,
                                         *y = *(struct controller_alter_config *const *)b;
    return x->resource_type != y->resource_type ? x->resource_type - y->resource_type : str_compare(x->name, y->name);
}

static void refuse_repetitions(struct alter_configs *t) {
    struct controller_request *request = t->p.request;
    struct controller_alter_config **rows = arena_alloc_array(&t->p.arena, request->row_count, sizeof *rows);
    ASSERT(rows != NULL);
    for (size_t i = 0; i < request->row_count; i++)
        rows[i] = &request->alter_configs[i];
    qsort(rows, request->row_count, sizeof *rows, compare_resources);
    for (size_t i = 0; i < request->row_count; i++) {
        bool twice = (i > 0 && compare_resources(&rows[i], &rows[i - 1]) == 0) ||
                     (i + 1 < request->row_count && compare_resources(&rows[i], &rows[i + 1]) == 0);
        if (!twice || rows[i]->error != KAFKA_ERROR_NONE) continue;
        rows[i]->error = KAFKA_ERROR_INVALID_REQUEST;
        rows[i]->message = str_of("Each resource must appear at most once.");
    }
}

static void check_row(struct alter_configs *t, size_t row) {
    struct controller_alter_config *r = &t->p.request->alter_configs[row];
    bool incremental = t->p.request->kind == CONTROLLER_INCREMENTAL_ALTER_CONFIGS;
    if (r->error != KAFKA_ERROR_NONE || !check_keys(t, row)) return;
    if (r->resource_type == CONTROLLER_RESOURCE_TOPIC) {
        check_topic(t, row);
    } else if (r->resource_type == CONTROLLER_RESOURCE_BROKER) {
        check_broker(t, row);
    } else if (r->resource_type == CONTROLLER_RESOURCE_LOGGERS && incremental) {
        alter_loggers(t->p.controller, t->p.request, r);
    } else if (r->resource_type == CONTROLLER_RESOURCE_CLIENT_METRICS) {
        REFUSE(t, row, INVALID_REQUEST,
               "AlterConfigs is only supported for topics and brokers, but resource type is CLIENT_METRICS");
    } else {
        REFUSE(t, row, INVALID_REQUEST, "Unknown resource type %d", r->resource_type);
    }
}

static flow_next alter_step_check(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    struct controller_request *request = t->p.request;
    refuse_repetitions(t);
    for (size_t row = 0; row < request->row_count; row++)
        check_row(t, row);
    for (struct alteration *a = t->first; a; a = a->next) {
        struct str path = arena_format(&t->p.arena, "/config/%s", a->entity.data);
        a->read = (struct metastore_read){.kind = METASTORE_EXISTS, .path = path.data, .call.flow = flow};
        metastore_read_start(t->p.controller->options.store, &a->read);
    }
    return t->first ? FLOW_NEXT : FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

// ---- the work

static flow_next alter_step_look(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    struct controller *c = t->p.controller;
    for (struct alteration *a = t->first; a; a = a->next)
        if (!a->read.call.done) return FLOW_WAIT;
    for (struct alteration *a = t->first; a; a = a->next) {
        struct bytes data = overrides_encode(&t->p.arena, a->settings);
        if (!data.data) { // the store's texts are UTF-8
            REFUSE(t, a->row, INVALID_REQUEST, "A key or value is not valid UTF-8");
            continue;
        }
        struct metastore_write *write = write_begin_fenced(c, &t->p.arena, &a->writes, 2);
        write_add(write, a->read.call.result == METASTORE_OK
                             ? metastore_set_node(a->read.path, data, METASTORE_ANY_VERSION)
                             : metastore_create_node(a->read.path, data, 0));
        write_add(write, metastore_create_node(ZNODE_CONFIG_CHANGE, znode_config_change_encode(&t->p.arena, a->entity),
                                               METASTORE_SEQUENTIAL));
        writes_start(&a->writes, c, flow);
    }
    return FLOW_NEXT;
}

// What a file is warned about is warned about here too, for whoever reads the log: the answer is Kafka's.
static void warn_without_effect(const struct controller *c, const struct alteration *a) {
    for (size_t i = 0; i < a->settings.count; i++) {
        const char *feature = config_missing_feature(a->settings.entries[i].key);
        if (!feature) continue;
        char memory[300];
        struct text key = TEXT_IN(memory);
        text_add_escaped(&key, a->settings.entries[i].key);
        line(c->core, LINE_WARN, "controller", a->entity.data, "config_without_effect", "key=%s not_built=\"%s\"",
             memory, feature);
    }
}

static void publish(struct alter_configs *t) {
    struct controller *c = t->p.controller;
    const struct image *image = controller_image(c);
    struct config_map cluster = image->cluster_overrides, broker = image->broker_overrides;
    bool of_brokers = false;
    struct image_draft draft;
    image_draft_begin(&draft, image);
    for (struct alteration *a = t->first; a; a = a->next) {
        if (!a->is_done) continue;
        line(c->core, LINE_INFO, "controller", a->entity.data, "config_changed", "settings=%zu", a->settings.count);
        if (!str_is_null(a->topic)) {
            const struct image_topic *present = image_topic_by_name(image, a->topic);
            struct image_topic *topic = image_topic_clone(present, present->partition_count);
            image_topic_set_overrides(topic, a->settings, controller_config(c));
            image_draft_put(&draft, topic);
            continue;
        }
        of_brokers = true;
        warn_without_effect(c, a);
        *(a->of_cluster ? &cluster : &broker) = a->settings;
    }
    if (of_brokers) image_draft_set_settings(&draft, image_settings_create(c->options.config, cluster, broker, NULL));
    procedure_publish(&t->p, &draft);
}

static flow_next alter_step_written(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    for (struct alteration *a = t->first; a; a = a->next)
        if (!writes_are_done(&a->writes)) return FLOW_WAIT;
    for (struct alteration *a = t->first; a; a = a->next) {
        if (!a->writes.first) continue;
        struct metastore_write *write = &a->writes.first->write;
        a->is_done = write->call.result == METASTORE_OK;
        if (a->is_done) continue;
        if (write->call.result == METASTORE_INVALID) {
            REFUSE(t, a->row, INVALID_REQUEST, "The settings of one resource take more than %d bytes",
                   METASTORE_DATA_MAX);
        } else {
            refuse(t, a->row, controller_unexpected(t->p.controller, write, "changing settings"), (struct str){0});
        }
    }
    publish(t);
    return FLOW_NEXT;
}

static flow_next alter_step_seated(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    if (!procedure_is_seated(&t->p)) return FLOW_WAIT;
    procedure_answer(&t->p);
    return t->p.controller->has_failed ? FLOW_DONE(flow, KAFKA_ERROR_NONE) : FLOW_NEXT;
}

// ---- old notifications

static flow_next alter_step_purge_list(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    t->list = (struct metastore_read){.kind = METASTORE_CHILDREN, .path = ZNODE_CONFIG_CHANGES, .call.flow = flow};
    metastore_read_start(t->p.controller->options.store, &t->list);
    return FLOW_NEXT;
}

static flow_next alter_step_purge_look(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    if (!t->list.call.done) return FLOW_WAIT;
    t->looks = arena_alloc_array(&t->p.arena, PURGE_MAX, sizeof *t->looks);
    ASSERT(t->looks != NULL);
    // The names are numbered, so the first ones are the oldest.
    for (size_t i = 0; i < t->list.child_count && t->look_count < PURGE_MAX; i++) {
        char path[ZNODE_PATH_SIZE];
        znode_path(path, ZNODE_CONFIG_CHANGES, str_of(t->list.children[i]));
        struct metastore_read *look = &t->looks[t->look_count++];
        *look =
            (struct metastore_read){.kind = METASTORE_EXISTS, .path = arena_path(&t->p.arena, path), .call.flow = flow};
        metastore_read_start(t->p.controller->options.store, look);
    }
    return FLOW_NEXT;
}

static flow_next alter_step_purge_done(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    if (t->purge.first) return writes_are_done(&t->purge) ? FLOW_NEXT : FLOW_WAIT;
    for (size_t i = 0; i < t->look_count; i++)
        if (!t->looks[i].call.done) return FLOW_WAIT;
    int64_t limit_ms = core_wall_ms(t->p.controller->core) - CHANGE_KEPT_MS;
    for (size_t i = 0; i < t->look_count; i++) {
        if (t->looks[i].call.result != METASTORE_OK || t->looks[i].stat.created_ms > limit_ms) continue;
        write_add(write_begin(&t->p.arena, &t->purge, 1),
                  metastore_delete_node(t->looks[i].path, METASTORE_ANY_VERSION));
    }
    if (!t->purge.first) return FLOW_NEXT;
    writes_start(&t->purge, t->p.controller, flow); // another broker may be faster: whatever the answers are
    return FLOW_WAIT;
}

static flow_next alter_step_release(struct flow *flow) {
    struct alter_configs *t = alter_of(flow);
    for (struct alteration *a = t->first; a; a = a->next)
        metastore_read_free(&a->read);
    metastore_read_free(&t->list);
    procedure_end(&t->p);
    free(t);
    return FLOW_END;
}

void alter_configs_start(struct controller *c, struct controller_request *request) {
    struct alter_configs *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    procedure_start(&t->p, c, request, &alter_flow);
}
