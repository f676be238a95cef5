// SPDX-License-Identifier: Apache-2.0
// The new controller learns the state of the cluster and brings it up to date:
//
//   lists    topics, deletions, brokers' settings
//   topics   each topic's node and settings
//   states   each partition's state
//   decide   topics are built; replicas are placed where they were found; leaders are elected. With one broker every
//            partition gets a new leader epoch, so that nothing of the time before is taken for the present
//   written  the new states are durable
//   publish, seated   the first image is on every core; the replicas have been told (they load on their own)
//
// Reads of one kind are all in flight together. A node that cannot be understood stops the start and is named: going on
// without it could lose a topic.
#include "config/topic_name.h"
#include "controller/elect.h"
#include "controller/internal.h"
#include <stdlib.h>

#define LOAD_STEPS(STEP)                                                                                               \
    STEP(load, lists)                                                                                                  \
    STEP(load, topics)                                                                                                 \
    STEP(load, states) STEP(load, decide) STEP(load, written) STEP(load, publish) STEP(load, seated) STEP(load, release)
FLOW_DEFINE(load, LOAD_STEPS)

struct loaded_partition {
    struct metastore_read read;
    struct znode_state state;
    bool has_state;
    struct metastore_change *change; // the write of its new state, if there is one
};
struct loaded_topic {
    struct str name;
    struct metastore_read read, settings_read;
    struct znode_topic node;
    struct config_map overrides;
    struct loaded_partition *partitions;
    struct image_topic *topic;
    bool deleting;
    bool id_is_new;
};
enum { LIST_TOPICS, LIST_DELETIONS, LIST_BROKER, LIST_CLUSTER, LIST_SELF, LIST_COUNT };
struct load {
    struct procedure p;
    struct metastore_read lists[LIST_COUNT];
    struct loaded_topic *topics;
    size_t count;
    struct image_settings *settings;
    size_t bumped;
};

static struct load *load_of(struct flow *flow) {
    return container_of(flow, struct load, p.flow);
}

static void read_begin(struct load *l, struct metastore_read *read, enum metastore_read_kind kind, const char *path) {
    *read = (struct metastore_read){.kind = kind, .path = arena_path(&l->p.arena, path), .call.flow = &l->p.flow};
    metastore_read_start(l->p.controller->options.store, read);
}

static flow_next load_fail(struct load *l, const char *path, const char *what) {
    controller_fail(l->p.controller, "%s: %s", path, what);
    return FLOW_DONE(&l->p.flow, KAFKA_ERROR_BROKER_NOT_AVAILABLE);
}
static flow_next load_fail_read(struct load *l, const struct metastore_read *read) {
    return load_fail(l, read->path, metastore_result_name(read->call.result));
}
// NO_NODE is fine where a node need not be.
static bool read_is_good(const struct metastore_read *read, bool may_miss) {
    return read->call.result == METASTORE_OK || (may_miss && read->call.result == METASTORE_NO_NODE);
}

// ---- reading

static flow_next load_step_lists(struct flow *flow) {
    struct load *l = load_of(flow);
    char path[ZNODE_PATH_SIZE], id[16];
    read_begin(l, &l->lists[LIST_TOPICS], METASTORE_CHILDREN, ZNODE_TOPICS);
    read_begin(l, &l->lists[LIST_DELETIONS], METASTORE_CHILDREN, ZNODE_DELETE_TOPICS);
    struct text t = TEXT_IN(id);
    text_addf(&t, "%d", l->p.controller->options.broker_id);
    znode_path(path, ZNODE_BROKER_CONFIGS, str_of(id));
    read_begin(l, &l->lists[LIST_BROKER], METASTORE_GET, path);
    znode_path(path, ZNODE_BROKER_CONFIGS, str_of(ZNODE_DEFAULT_ENTITY));
    read_begin(l, &l->lists[LIST_CLUSTER], METASTORE_GET, path);
    znode_broker_path(path, l->p.controller->options.broker_id);
    read_begin(l, &l->lists[LIST_SELF], METASTORE_GET, path);
    return FLOW_NEXT;
}

static bool is_deleting(const struct load *l, const char *name) {
    const struct metastore_read *list = &l->lists[LIST_DELETIONS];
    size_t low = 0, high = list->child_count;
    while (low < high) { // children come in bytewise order
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->children[middle], name);
        if (order == 0) return true;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

static flow_next load_step_topics(struct flow *flow) {
    struct load *l = load_of(flow);
    for (int i = 0; i < LIST_COUNT; i++)
        if (!l->lists[i].call.done) return FLOW_WAIT;
    for (int i = 0; i < LIST_COUNT; i++)
        if (!read_is_good(&l->lists[i], i == LIST_BROKER || i == LIST_CLUSTER)) return load_fail_read(l, &l->lists[i]);
    const struct metastore_read *names = &l->lists[LIST_TOPICS];
    for (size_t i = 0; i < names->child_count; i++)
        if (!topic_name_is_legal(str_of(names->children[i])))
            return load_fail(l, ZNODE_TOPICS, "has a child whose name is no topic's");
    l->topics = arena_alloc_array(&l->p.arena, names->child_count, sizeof *l->topics);
    ASSERT(l->topics != NULL);
    for (size_t i = 0; i < names->child_count; i++) {
        struct loaded_topic *t = &l->topics[l->count];
        char path[ZNODE_PATH_SIZE];
        t->name = arena_copy_str(&l->p.arena, str_of(names->children[i]));
        ASSERT(t->name.data != NULL);
        t->deleting = is_deleting(l, t->name.data);
        l->count++;
        znode_topic_path(path, t->name);
        read_begin(l, &t->read, METASTORE_GET, path);
        znode_path(path, ZNODE_TOPIC_CONFIGS, t->name);
        read_begin(l, &t->settings_read, METASTORE_GET, path);
    }
    return FLOW_NEXT;
}

// Settings as a config map in the arena; false with a reason.
static bool settings_decode(struct load *l, struct bytes data, struct config_map *map, struct text *reason) {
    struct znode_settings settings;
    if (!znode_settings_decode(&l->p.arena, data, &settings, reason)) return false;
    struct config_entry *entries = arena_alloc_array(&l->p.arena, settings.count, sizeof *entries);
    ASSERT(entries != NULL);
    for (size_t i = 0; i < settings.count; i++)
        entries[i] = (struct config_entry){settings.settings[i].key, settings.settings[i].value};
    *map = (struct config_map){entries, settings.count};
    return true;
}

// NULL, or what is wrong with the topic's node.
static const char *topic_decode(struct load *l, struct loaded_topic *t, struct text *reason) {
    if (!znode_topic_decode(&l->p.arena, t->read.data, &t->node, reason)) return reason->data;
    if (t->node.partition_count == 0 || t->node.partition_count > INT32_MAX / 2) return "no partitions";
    for (size_t i = 0; i < t->node.partition_count; i++) {
        if (t->node.partitions[i].partition != (int32_t)i) return "the partitions are not 0, 1, 2, ...";
        if (t->node.partitions[i].count == 0) return "a partition without replicas";
    }
    return NULL;
}

static flow_next load_step_states(struct flow *flow) {
    struct load *l = load_of(flow);
    for (size_t i = 0; i < l->count; i++)
        if (!l->topics[i].read.call.done || !l->topics[i].settings_read.call.done) return FLOW_WAIT;
    for (size_t i = 0; i < l->count; i++) {
        struct loaded_topic *t = &l->topics[i];
        char memory[256];
        struct text reason = TEXT_IN(memory);
        if (!read_is_good(&t->read, false)) return load_fail_read(l, &t->read);
        if (!read_is_good(&t->settings_read, true)) return load_fail_read(l, &t->settings_read);
        const char *wrong = topic_decode(l, t, &reason);
        if (wrong) return load_fail(l, t->read.path, wrong);
        if (!settings_decode(l, t->settings_read.data, &t->overrides, &reason))
            return load_fail(l, t->settings_read.path, memory);
    }
    for (size_t i = 0; i < l->count; i++) {
        struct loaded_topic *t = &l->topics[i];
        t->partitions = arena_alloc_array(&l->p.arena, t->node.partition_count, sizeof *t->partitions);
        ASSERT(t->partitions != NULL);
        for (size_t p = 0; p < t->node.partition_count; p++) {
            char path[ZNODE_PATH_SIZE];
            znode_state_path(path, t->name, (int32_t)p);
            read_begin(l, &t->partitions[p].read, METASTORE_GET, path);
        }
    }
    return FLOW_NEXT;
}

// ---- deciding

static void place(struct controller *c, struct image_topic *topic, struct image_partition *partition, int32_t index) {
    bool any_failed = false;
    for (int i = 0; i < c->load.dir_count; i++)
        any_failed = any_failed || c->load.dir_failed[i];
    int dir = c->options.replicas->find(c->options.context, topic->name, index);
    // It may be in the directory that failed: a new, empty one would lose what it has. Without a place it is not taken
    // for deleted either, see replicas_stop().
    if (dir < 0 && any_failed && replica_is_here(c, partition)) {
        partition->offline = true;
    } else {
        replica_place(c, partition, dir);
    }
}

static struct bytes state_of(struct arena *a, const struct image_partition *partition) {
    const struct znode_state state = {.leader = partition->leader,
                                      .leader_epoch = partition->leader_epoch,
                                      .controller_epoch = partition->controller_epoch,
                                      .isr = partition->isr,
                                      .isr_count = partition->isr_count};
    return znode_state_encode(a, &state);
}

// The partition as it will be; the write of its state, if it changes.
static void partition_decide(struct load *l, struct loaded_topic *t, int32_t index, struct write_set *sets,
                             struct metastore_write **chunk) {
    struct controller *c = l->p.controller;
    struct loaded_partition *loaded = &t->partitions[index];
    const struct znode_replicas *assigned = &t->node.partitions[index];
    struct image_partition *partition = image_partition_edit(t->topic, index);
    image_partition_set_replicas(partition, assigned->brokers, assigned->count);
    if (t->deleting) { // only what is on the disk matters: it is loaded to be deleted
        int dir = c->options.replicas->find(c->options.context, t->name, index);
        if (dir >= 0) replica_place(c, partition, dir);
        return;
    }
    place(c, t->topic, partition, index);
    int32_t self = c->options.broker_id;
    bool serves = partition->owner_core >= 0 && !partition->offline;
    int32_t *isr = arena_alloc_array(&l->p.arena, (size_t)(assigned->count + loaded->state.isr_count), sizeof *isr);
    ASSERT(isr != NULL);
    const struct elect_partition decide = {.replicas = assigned->brokers,
                                           .replica_count = assigned->count,
                                           .is_new = !loaded->has_state,
                                           .isr = loaded->state.isr,
                                           .isr_count = loaded->state.isr_count,
                                           .leader_epoch = loaded->state.leader_epoch,
                                           .alive = &self,
                                           .alive_count = serves ? 1 : 0,
                                           .unclean_allowed = t->topic->config.unclean_leader_election_enable};
    struct elect_result result = elect_leader(&decide, isr);
    bool stays_leaderless = result.leader < 0 && (!loaded->has_state || loaded->state.leader < 0);
    partition->leader = result.leader;
    partition->leader_epoch =
        stays_leaderless ? (loaded->has_state ? loaded->state.leader_epoch : -1) : result.leader_epoch;
    partition->controller_epoch = stays_leaderless ? loaded->state.controller_epoch : c->epoch;
    partition->partition_epoch = loaded->read.stat.version;
    image_partition_set_isr(partition, isr, result.isr_count);
    if (result.unclean)
        line(c->core, LINE_WARN, "controller", t->name.data, "unclean_election", "partition=%d leader=%d", index,
             result.leader);
    if (stays_leaderless) return;
    const char *path = arena_state_path(&l->p.arena, t->name, index);
    if (loaded->has_state) {
        if (!*chunk || (*chunk)->count == CONTROLLER_CHANGES_A_WRITE_MAX)
            *chunk = write_begin_fenced(c, &l->p.arena, sets, CONTROLLER_CHANGES_A_WRITE_MAX);
        loaded->change =
            write_add(*chunk, metastore_set_node(path, state_of(&l->p.arena, partition), loaded->read.stat.version));
        l->bumped++;
        return;
    }
    // A creation that was interrupted: its nodes may or may not be there.
    char partitions[ZNODE_PATH_SIZE];
    znode_partitions_path(partitions, t->name);
    write_add(write_begin(&l->p.arena, sets, 1),
              metastore_create_node(arena_path(&l->p.arena, partitions), (struct bytes){0}, 0));
    write_add(write_begin(&l->p.arena, sets, 1),
              metastore_create_node(arena_partition_path(&l->p.arena, t->name, index), (struct bytes){0}, 0));
    write_add(write_begin_fenced(c, &l->p.arena, sets, 1),
              metastore_create_node(path, state_of(&l->p.arena, partition), 0));
    *chunk = NULL; // changes stay in the order in which they are made
}

static void topic_build(struct load *l, struct loaded_topic *t, const struct config *config) {
    struct uuid id = {{0}};
    // A topic of a release without ids gets one.
    t->id_is_new = !t->node.id[0] || !uuid_parse(str_of(t->node.id), &id) || uuid_is_zero(id);
    while (t->id_is_new && uuid_is_zero(id)) {
        uint64_t random[2] = {os_random(l->p.controller->core->os), os_random(l->p.controller->core->os)};
        memcpy(&id, random, sizeof id);
        id.bytes[0] &= 0x7f;
    }
    t->topic = image_topic_create(t->name, id, (int32_t)t->node.partition_count);
    t->topic->deleting = t->deleting;
    image_topic_set_overrides(t->topic, t->overrides, config);
}

static flow_next load_settings(struct load *l) {
    struct controller *c = l->p.controller;
    struct config_map maps[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        const struct metastore_read *read = &l->lists[i == 0 ? LIST_BROKER : LIST_CLUSTER];
        char memory[256];
        struct text reason = TEXT_IN(memory);
        if (read->call.result == METASTORE_OK && !settings_decode(l, read->data, &maps[i], &reason))
            return load_fail(l, read->path, memory);
    }
    l->settings = image_settings_create(c->options.config, maps[1], maps[0], NULL);
    return FLOW_NEXT;
}

static flow_next partition_states(struct load *l, struct loaded_topic *t) {
    for (size_t p = 0; p < t->node.partition_count; p++) {
        struct loaded_partition *loaded = &t->partitions[p];
        char memory[256];
        struct text reason = TEXT_IN(memory);
        if (!read_is_good(&loaded->read, true)) return load_fail_read(l, &loaded->read);
        loaded->has_state = loaded->read.call.result == METASTORE_OK;
        if (loaded->has_state && !znode_state_decode(&l->p.arena, loaded->read.data, &loaded->state, &reason))
            return load_fail(l, loaded->read.path, memory);
        if (loaded->state.leader_epoch == INT32_MAX)
            return load_fail(l, loaded->read.path, "leader epoch is at its end");
    }
    return FLOW_NEXT;
}

static flow_next load_step_decide(struct flow *flow) {
    struct load *l = load_of(flow);
    struct controller *c = l->p.controller;
    for (size_t i = 0; i < l->count; i++)
        for (size_t p = 0; p < l->topics[i].node.partition_count; p++)
            if (!l->topics[i].partitions[p].read.call.done) return FLOW_WAIT;
    if (load_settings(l) == FLOW_FINISH) return FLOW_FINISH;
    struct metastore_write *chunk = NULL;
    for (size_t i = 0; i < l->count; i++) {
        struct loaded_topic *t = &l->topics[i];
        if (partition_states(l, t) == FLOW_FINISH) return FLOW_FINISH;
        topic_build(l, t, image_settings_config(l->settings));
        for (int32_t p = 0; p < t->topic->partition_count; p++)
            partition_decide(l, t, p, &l->p.writes, &chunk);
        if (!t->id_is_new) continue;
        struct metastore_write *write = write_begin_fenced(c, &l->p.arena, &l->p.writes, 1);
        write_add(write, metastore_set_node(t->read.path, topic_encode(&l->p.arena, t->topic), t->read.stat.version));
        chunk = NULL;
    }
    writes_start(&l->p.writes, c, flow);
    return FLOW_NEXT;
}

static flow_next load_step_written(struct flow *flow) {
    struct load *l = load_of(flow);
    if (!writes_are_done(&l->p.writes)) return FLOW_WAIT;
    for (struct write_item *item = l->p.writes.first; item; item = item->next) {
        enum metastore_result result = item->write.call.result;
        bool is_parent = item->write.count == 1; // of a state: it may be there already
        if (result == METASTORE_OK || (is_parent && result == METASTORE_NODE_EXISTS)) continue;
        controller_unexpected(l->p.controller, &item->write, "writing the new leaders");
        return FLOW_DONE(flow, KAFKA_ERROR_BROKER_NOT_AVAILABLE);
    }
    for (size_t i = 0; i < l->count; i++)
        for (int32_t p = 0; p < l->topics[i].topic->partition_count; p++)
            if (l->topics[i].partitions[p].change)
                image_partition_edit(l->topics[i].topic, p)->partition_epoch =
                    l->topics[i].partitions[p].change->stat.version;
    return FLOW_NEXT;
}

// ---- the first image

static flow_next load_step_publish(struct flow *flow) {
    struct load *l = load_of(flow);
    struct controller *c = l->p.controller;
    struct image_draft draft;
    struct znode_broker self;
    char memory[256];
    struct text reason = TEXT_IN(memory);
    if (!znode_broker_decode(&l->p.arena, l->lists[LIST_SELF].data, &self, &reason))
        return load_fail(l, l->lists[LIST_SELF].path, memory);
    struct image_endpoint *endpoints = arena_alloc_array(&l->p.arena, self.endpoint_count, sizeof *endpoints);
    ASSERT(endpoints != NULL);
    for (size_t i = 0; i < self.endpoint_count; i++)
        endpoints[i] = (struct image_endpoint){self.endpoints[i].listener, self.endpoints[i].protocol,
                                               self.endpoints[i].host, self.endpoints[i].port};
    const struct image_broker broker = {c->options.broker_id, c->broker_epoch, self.rack, endpoints,
                                        self.endpoint_count};
    image_draft_begin(&draft, controller_image(c));
    draft.cluster_id = c->cluster_id;
    draft.broker_id = draft.controller_id = c->options.broker_id;
    draft.controller_epoch = c->epoch;
    draft.brokers = &broker;
    draft.broker_count = 1;
    image_draft_set_settings(&draft, l->settings);
    l->settings = NULL;
    for (size_t i = 0; i < l->count; i++)
        image_draft_put(&draft, l->topics[i].topic);
    procedure_publish(&l->p, &draft);
    return FLOW_NEXT;
}

static flow_next load_step_seated(struct flow *flow) {
    struct load *l = load_of(flow);
    struct controller *c = l->p.controller;
    if (!procedure_is_seated(&l->p)) return FLOW_WAIT;
    for (size_t i = 0; i < l->count; i++)
        replicas_become(c, NULL, l->topics[i].topic, 0, false);
    line(c->core, LINE_INFO, "controller", "", "loaded", "topics=%zu partitions_led=%zu", l->count, l->bumped);
    c->told_started = true;
    c->options.started(c->options.context, KAFKA_ERROR_NONE, c->cluster_id.data, "");
    return FLOW_NEXT;
}

static flow_next load_step_release(struct flow *flow) {
    struct load *l = load_of(flow);
    struct controller *c = l->p.controller;
    for (int i = 0; i < LIST_COUNT; i++)
        metastore_read_free(&l->lists[i]);
    for (size_t i = 0; i < l->count; i++) {
        struct loaded_topic *t = &l->topics[i];
        metastore_read_free(&t->read);
        metastore_read_free(&t->settings_read);
        for (size_t p = 0; t->partitions && p < t->node.partition_count; p++)
            metastore_read_free(&t->partitions[p].read);
        if (t->topic && l->p.version == 0) image_topic_release(t->topic);
    }
    if (l->settings) image_settings_release(l->settings);
    procedure_end(&l->p);
    free(l);
    if (c->is_active && !c->flow.stop) delete_topics_resume(c);
    return FLOW_END;
}

void load_start(struct controller *c) {
    struct load *l = calloc(1, sizeof *l);
    ASSERT(l != NULL);
    procedure_start(&l->p, c, NULL, &load_flow);
}
