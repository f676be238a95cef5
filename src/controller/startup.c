// SPDX-License-Identifier: Apache-2.0
// From a fresh session to an elected controller: the roots of Kafka's tree, the cluster id, this broker's registration,
// the election, and the node of features, which a controller makes if it is not there. Every write may find that
// somebody was faster: then read again and go on from there.
#include "controller/internal.h"
#include "protocol/uuid.h"
#include <stdlib.h>

#define STARTUP_STEPS(STEP)                                                                                            \
    STEP(startup, roots)                                                                                               \
    STEP(startup, rooted)                                                                                              \
    STEP(startup, cluster)                                                                                             \
    STEP(startup, cluster_written)                                                                                     \
    STEP(startup, enroll)                                                                                              \
    STEP(startup, registered)                                                                                          \
    STEP(startup, owner)                                                                                               \
    STEP(startup, released)                                                                                            \
    STEP(startup, epoch)                                                                                               \
    STEP(startup, epoch_read)                                                                                          \
    STEP(startup, epoch_made) STEP(startup, elected) STEP(startup, seeded) STEP(startup, release)
FLOW_DEFINE(startup, STARTUP_STEPS)

struct startup {
    struct procedure p;
    struct write_set writes; // the present ones
    struct metastore_read read;
    int attempts;
    int32_t epoch;
};
enum { STARTUP_ATTEMPTS_MAX = 20 };

static struct startup *startup_of(struct flow *flow) {
    return container_of(flow, struct startup, p.flow);
}

// A write of one or more changes, as the only one in flight.
static struct metastore_write *startup_write(struct startup *s, size_t changes) {
    s->writes = (struct write_set){0};
    return write_begin(&s->p.arena, &s->writes, changes);
}
static void startup_read(struct startup *s, const char *path, enum metastore_read_kind kind) {
    metastore_read_free(&s->read);
    s->read = (struct metastore_read){.kind = kind, .path = arena_path(&s->p.arena, path), .call.flow = &s->p.flow};
    metastore_read_start(s->p.controller->options.store, &s->read);
}
static flow_next startup_fail(struct startup *s, const struct metastore_write *write, const char *doing) {
    controller_unexpected(s->p.controller, write, doing);
    return FLOW_DONE(&s->p.flow, KAFKA_ERROR_BROKER_NOT_AVAILABLE);
}
static flow_next startup_fail_read(struct startup *s, const char *what) {
    if (!s->p.controller->has_failed)
        controller_fail(s->p.controller, "%s: %s", s->read.path,
                        what ? what : metastore_result_name(s->read.call.result));
    return FLOW_DONE(&s->p.flow, KAFKA_ERROR_BROKER_NOT_AVAILABLE);
}
static bool startup_tries_again(struct startup *s) {
    return ++s->attempts < STARTUP_ATTEMPTS_MAX;
}

static flow_next startup_step_roots(struct flow *flow) {
    struct startup *s = startup_of(flow);
    s->writes = (struct write_set){0};
    for (size_t i = 0; i < znode_persistent_root_count; i++)
        write_add(write_begin(&s->p.arena, &s->writes, 1),
                  metastore_create_node(znode_persistent_roots[i], (struct bytes){0}, 0));
    writes_start(&s->writes, s->p.controller, flow);
    return FLOW_NEXT;
}

static flow_next startup_step_rooted(struct flow *flow) {
    struct startup *s = startup_of(flow);
    if (!writes_are_done(&s->writes)) return FLOW_WAIT;
    for (struct write_item *item = s->writes.first; item; item = item->next) {
        enum metastore_result result = item->write.call.result;
        if (result != METASTORE_OK && result != METASTORE_NODE_EXISTS)
            return startup_fail(s, &item->write, "making the roots of the tree");
    }
    startup_read(s, ZNODE_CLUSTER_ID, METASTORE_GET);
    return FLOW_NEXT;
}

// ---- cluster id

static flow_next cluster_adopt(struct startup *s) {
    struct controller *c = s->p.controller;
    char memory[256];
    struct text reason = TEXT_IN(memory);
    struct str id;
    if (!znode_cluster_id_decode(&c->texts, s->read.data, &id, &reason)) return startup_fail_read(s, memory);
    if (c->options.cluster_id[0] && !str_is(id, c->options.cluster_id)) {
        controller_fail(
            c,
            "the cluster id %s in meta.properties is not that of the metadata store, %.100s: a log directory "
            "of another cluster, or a metadata file of another one",
            c->options.cluster_id, id.data);
        return FLOW_DONE(&s->p.flow, KAFKA_ERROR_INCONSISTENT_CLUSTER_ID);
    }
    c->cluster_id = id;
    s->writes = (struct write_set){0};
    return FLOW_GOTO(startup, enroll);
}

static flow_next startup_step_cluster(struct flow *flow) {
    struct startup *s = startup_of(flow);
    struct controller *c = s->p.controller;
    if (!s->read.call.done) return FLOW_WAIT;
    if (s->read.call.result == METASTORE_OK) return cluster_adopt(s);
    if (s->read.call.result != METASTORE_NO_NODE) return startup_fail_read(s, NULL);
    char made[UUID_TEXT_SIZE + 1];
    struct uuid id;
    uint64_t random[2] = {os_random(c->core->os), os_random(c->core->os)};
    memcpy(&id, random, sizeof id);
    id.bytes[0] &= 0x7f; // no leading '-' or '_'
    uuid_print(id, made);
    struct str text = arena_copy_str(&c->texts, str_of(c->options.cluster_id[0] ? c->options.cluster_id : made));
    ASSERT(text.data != NULL);
    c->cluster_id = text;
    write_add(startup_write(s, 1),
              metastore_create_node(ZNODE_CLUSTER_ID, znode_cluster_id_encode(&s->p.arena, text), 0));
    writes_start(&s->writes, c, flow);
    return FLOW_NEXT;
}

static flow_next startup_step_cluster_written(struct flow *flow) {
    struct startup *s = startup_of(flow);
    if (!writes_are_done(&s->writes)) return FLOW_WAIT;
    const struct metastore_write *write = &s->writes.first->write;
    if (write->call.result == METASTORE_OK) return FLOW_NEXT;
    if (write->call.result != METASTORE_NODE_EXISTS || !startup_tries_again(s))
        return startup_fail(s, write, "writing the cluster id");
    startup_read(s, ZNODE_CLUSTER_ID, METASTORE_GET);
    return FLOW_GOTO(startup, cluster);
}

// ---- registration

static struct bytes registration(struct startup *s) {
    const struct controller_options *options = &s->p.controller->options;
    struct znode_endpoint *endpoints = arena_alloc_array(&s->p.arena, options->endpoint_count, sizeof *endpoints);
    ASSERT(endpoints != NULL);
    for (size_t i = 0; i < options->endpoint_count; i++) {
        const struct controller_endpoint *e = &options->endpoints[i];
        endpoints[i] = (struct znode_endpoint){str_of(e->listener), str_of(e->protocol), str_of(e->host), e->port};
    }
    const struct znode_broker broker = {.endpoints = endpoints,
                                        .endpoint_count = options->endpoint_count,
                                        .rack = str_of(options->rack),
                                        .timestamp_ms = core_wall_ms(s->p.controller->core)};
    return znode_broker_encode(&s->p.arena, &broker);
}

static flow_next startup_step_enroll(struct flow *flow) {
    struct startup *s = startup_of(flow);
    char path[ZNODE_PATH_SIZE];
    znode_broker_path(path, s->p.controller->options.broker_id);
    const char *node = arena_path(&s->p.arena, path);
    struct metastore_write *write = startup_write(s, 2);
    write_add(write, metastore_create_node(node, (struct bytes){0}, METASTORE_EPHEMERAL));
    write_add(write, metastore_set_node(node, registration(s), 0));
    writes_start(&s->writes, s->p.controller, flow);
    return FLOW_NEXT;
}

static flow_next startup_step_registered(struct flow *flow) {
    struct startup *s = startup_of(flow);
    if (!writes_are_done(&s->writes)) return FLOW_WAIT;
    const struct metastore_write *write = &s->writes.first->write;
    if (write->call.result == METASTORE_OK) {
        s->p.controller->broker_epoch = write->changes[0].stat.czxid;
        return FLOW_GOTO(startup, epoch);
    }
    if (write->call.result != METASTORE_NODE_EXISTS) return startup_fail(s, write, "registering this broker");
    startup_read(s, write->changes[0].path, METASTORE_EXISTS);
    return FLOW_NEXT;
}

// Somebody is registered under this id: this session (an answer that was lost), the one that this process had before,
// or another broker.
static flow_next startup_step_owner(struct flow *flow) {
    struct startup *s = startup_of(flow);
    const struct metastore *store = s->p.controller->options.store;
    if (!s->read.call.done) return FLOW_WAIT;
    if (s->read.call.result == METASTORE_NO_NODE && startup_tries_again(s)) return FLOW_GOTO(startup, enroll);
    if (s->read.call.result != METASTORE_OK) return startup_fail_read(s, NULL);
    int64_t owner = s->read.stat.ephemeral_owner;
    if (owner == store->session_id) {
        s->p.controller->broker_epoch = s->read.stat.czxid;
        return FLOW_GOTO(startup, epoch);
    }
    if (owner == 0 || owner != store->previous_session)
        return startup_fail_read(s, "another broker with this broker.id is registered");
    write_add(startup_write(s, 1), metastore_delete_node(s->read.path, METASTORE_ANY_VERSION));
    writes_start(&s->writes, s->p.controller, flow);
    return FLOW_NEXT;
}

static flow_next startup_step_released(struct flow *flow) {
    struct startup *s = startup_of(flow);
    if (!writes_are_done(&s->writes)) return FLOW_WAIT;
    enum metastore_result result = s->writes.first->write.call.result;
    if ((result != METASTORE_OK && result != METASTORE_NO_NODE) || !startup_tries_again(s))
        return startup_fail(s, &s->writes.first->write, "removing the registration of the session before");
    return FLOW_GOTO(startup, enroll);
}

// ---- election

static flow_next startup_step_epoch(struct flow *flow) {
    startup_read(startup_of(flow), ZNODE_CONTROLLER_EPOCH, METASTORE_GET);
    return FLOW_NEXT;
}

static flow_next startup_step_epoch_read(struct flow *flow) {
    struct startup *s = startup_of(flow);
    struct controller *c = s->p.controller;
    if (!s->read.call.done) return FLOW_WAIT;
    if (s->read.call.result == METASTORE_NO_NODE) {
        write_add(startup_write(s, 1),
                  metastore_create_node(ZNODE_CONTROLLER_EPOCH, znode_number_encode(&s->p.arena, 0), 0));
        writes_start(&s->writes, c, flow);
        return FLOW_NEXT;
    }
    char memory[256];
    struct text reason = TEXT_IN(memory);
    int64_t epoch;
    if (s->read.call.result != METASTORE_OK) return startup_fail_read(s, NULL);
    if (!znode_number_decode(s->read.data, 0, INT32_MAX - 1, &epoch, &reason)) return startup_fail_read(s, memory);
    s->epoch = (int32_t)epoch + 1;
    struct metastore_write *write = startup_write(s, 2);
    int64_t now_ms = core_wall_ms(c->core);
    write_add(write, metastore_create_node(ZNODE_CONTROLLER,
                                           znode_controller_encode(&s->p.arena, c->options.broker_id, now_ms),
                                           METASTORE_EPHEMERAL));
    write_add(write, metastore_set_node(ZNODE_CONTROLLER_EPOCH, znode_number_encode(&s->p.arena, s->epoch),
                                        s->read.stat.version));
    writes_start(&s->writes, c, flow);
    return FLOW_GOTO(startup, elected);
}

static flow_next startup_step_epoch_made(struct flow *flow) {
    struct startup *s = startup_of(flow);
    if (!writes_are_done(&s->writes)) return FLOW_WAIT;
    enum metastore_result result = s->writes.first->write.call.result;
    if ((result != METASTORE_OK && result != METASTORE_NODE_EXISTS) || !startup_tries_again(s))
        return startup_fail(s, &s->writes.first->write, "making the controller epoch");
    return FLOW_GOTO(startup, epoch);
}

static flow_next startup_step_elected(struct flow *flow) {
    struct startup *s = startup_of(flow);
    struct controller *c = s->p.controller;
    if (!writes_are_done(&s->writes)) return FLOW_WAIT;
    const struct metastore_write *write = &s->writes.first->write;
    if (write->call.result == METASTORE_BAD_VERSION && startup_tries_again(s)) return FLOW_GOTO(startup, epoch);
    if (write->call.result == METASTORE_NODE_EXISTS) {
        controller_fail(c, "%s: another broker is the controller; several brokers are not served yet",
                        ZNODE_CONTROLLER);
        return FLOW_DONE(flow, KAFKA_ERROR_BROKER_NOT_AVAILABLE);
    }
    if (write->call.result != METASTORE_OK) return startup_fail(s, write, "becoming the controller");
    c->epoch = s->epoch;
    c->epoch_version = write->changes[1].stat.version;
    c->is_active = true;
    line(c->core, LINE_INFO, "controller", "", "elected", "broker=%d epoch=%d cluster=%s", c->options.broker_id,
         c->epoch, c->cluster_id.data);
    static const struct bytes seed = {(const uint8_t *)ZNODE_FEATURE_SEED, sizeof ZNODE_FEATURE_SEED - 1};
    write_add(startup_write(s, 1), metastore_create_node(ZNODE_FEATURE, seed, 0));
    writes_start(&s->writes, c, flow);
    return FLOW_NEXT;
}

static flow_next startup_step_seeded(struct flow *flow) {
    struct startup *s = startup_of(flow);
    if (!writes_are_done(&s->writes)) return FLOW_WAIT;
    const struct metastore_write *write = &s->writes.first->write;
    if (write->call.result != METASTORE_OK && write->call.result != METASTORE_NODE_EXISTS)
        return startup_fail(s, write, "making the node of features");
    return FLOW_NEXT;
}

static flow_next startup_step_release(struct flow *flow) {
    struct startup *s = startup_of(flow);
    struct controller *c = s->p.controller;
    metastore_read_free(&s->read);
    procedure_end(&s->p);
    free(s);
    if (c->is_active && !c->flow.stop) load_start(c);
    return FLOW_END;
}

void startup_start(struct controller *c) {
    struct startup *s = calloc(1, sizeof *s);
    ASSERT(s != NULL);
    procedure_start(&s->p, c, NULL, &startup_flow);
}
