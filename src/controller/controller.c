// SPDX-License-Identifier: Apache-2.0
// The controller's life: startup, then one procedure after the other until it is stopped.
//
//   begin -> startup (registration, election, loading: startup.c, load.c) -> serve: the queue -> leave -> release
//
// Failure: once the store has failed, or another broker has become the controller, nothing is written any more,
// requests are refused with NOT_CONTROLLER, and the broker is told (it stops).
#include "controller/controller.h"
#include "controller/internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CONTROLLER_STEPS(STEP)                                                                                         \
    STEP(controller, begin)                                                                                            \
    STEP(controller, serve) STEP(controller, leave) STEP(controller, left) STEP(controller, release)
FLOW_DEFINE(controller, CONTROLLER_STEPS)

static struct controller *controller_of(struct flow *flow) {
    return container_of(flow, struct controller, flow);
}

static const char *copy(struct controller *c, const char *text) {
    if (!text) return NULL;
    struct str s = arena_copy_str(&c->texts, str_of(text));
    ASSERT(s.data != NULL);
    return s.data;
}

static void copy_options(struct controller *c, const struct controller_options *options) {
    c->options = *options;
    c->options.cluster_id = copy(c, options->cluster_id ? options->cluster_id : "");
    c->options.rack = copy(c, options->rack);
    struct controller_endpoint *endpoints = arena_alloc_array(&c->texts, options->endpoint_count, sizeof *endpoints);
    ASSERT(endpoints != NULL);
    for (size_t i = 0; i < options->endpoint_count; i++) {
        const struct controller_endpoint *e = &options->endpoints[i];
        endpoints[i] =
            (struct controller_endpoint){copy(c, e->listener), copy(c, e->protocol), copy(c, e->host), e->port};
    }
    c->options.endpoints = endpoints;
}

struct controller *controller_start(struct core *control, const struct controller_options *options) {
    ASSERT(control->is_control && options->data_cores >= 1 && options->log_dirs >= 1);
    ASSERT(options->data_cores <= PLAN_PLACES_MAX && options->log_dirs <= PLAN_PLACES_MAX);
    struct controller *c = calloc(1, sizeof *c);
    ASSERT(c != NULL);
    c->core = control;
    arena_init(&c->texts, 1 << 20);
    copy_options(c, options);
    list_init(&c->requests);
    list_init(&c->becoming);
    list_init(&c->failed);
    c->load.core_count = options->data_cores;
    c->load.dir_count = options->log_dirs;
    for (int i = 0; i < options->log_dirs; i++)
        c->load.dir_failed[i] = !options->log_dir_works(options->context, i);
    flow_start(&c->flow, &controller_flow, control);
    return c;
}

void controller_stop(struct controller *c, struct flow *flow, bool *done) {
    ASSERT(c->stop_done == NULL);
    c->stop_flow = flow;
    c->stop_done = done;
    flow_stop(&c->flow);
}

void controller_fail(struct controller *c, const char *format, ...) {
    if (c->has_failed) return; // the first reason counts
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->failure, sizeof c->failure, format, arguments);
    va_end(arguments);
    c->has_failed = true;
    c->is_active = false;
    line(c->core, LINE_ERROR, "controller", "", "failed", "reason=\"%s\"", c->failure);
    flow_wake(&c->flow);
}

// ---- requests

static void request_returns(struct core *core, struct message *message) {
    struct controller_request *request = container_of(message, struct controller_request, message);
    request->answered(core, request);
}

static void request_refuse(struct controller *c, struct controller_request *request, int16_t error) {
    request->error = error;
    core_send(c->core, request->from_core, &request->message, request_returns);
}

static void request_arrives(struct core *core, struct message *message) {
    struct controller_request *request = container_of(message, struct controller_request, message);
    struct controller *c = request->controller;
    ASSERT(core == c->core);
    if (request->row_count > CONTROLLER_ROWS_MAX) {
        request_refuse(c, request, KAFKA_ERROR_INVALID_REQUEST);
        return;
    }
    list_push_back(&c->requests, &request->link);
    flow_wake(&c->flow);
}

void controller_send(struct core *from, struct controller *controller, struct controller_request *request) {
    request->from_core = from->id;
    request->controller = controller;
    request->error = KAFKA_ERROR_NONE;
    list_init(&request->link);
    core_send(from, controller->core->id, &request->message, request_arrives);
}

static void request_start(struct controller *c, struct controller_request *request) {
    switch (request->kind) {
    case CONTROLLER_CREATE_TOPICS:
    case CONTROLLER_AUTO_CREATE_TOPICS: create_topics_start(c, request); return;
    case CONTROLLER_DELETE_TOPICS: delete_topics_start(c, request); return;
    case CONTROLLER_CREATE_PARTITIONS: create_partitions_start(c, request); return;
    case CONTROLLER_ALTER_CONFIGS:
    case CONTROLLER_INCREMENTAL_ALTER_CONFIGS: alter_configs_start(c, request); return;
    case CONTROLLER_ALLOCATE_PRODUCER_IDS: producer_ids_start(c, request); return;
    case CONTROLLER_LOG_DIR_FAILED: log_dir_failed_start(c, request); return;
    case CONTROLLER_STORE_OFFSETS: store_offsets_start(c, request); return;
    case CONTROLLER_LOAD_OFFSETS: load_offsets_start(c, request); return;
    }
    UNREACHABLE();
}

// ---- the flow

static flow_next controller_step_begin(struct flow *flow) {
    startup_start(controller_of(flow));
    return FLOW_NEXT;
}

static void tell_failure(struct controller *c) {
    if (!c->has_failed) return;
    if (!c->told_started) {
        c->told_started = c->told_failed = true;
        c->options.started(c->options.context, KAFKA_ERROR_BROKER_NOT_AVAILABLE, "", c->failure);
    }
    if (c->told_failed) return;
    c->told_failed = true;
    c->options.failed(c->options.context, c->failure);
}

static flow_next controller_step_serve(struct flow *flow) {
    struct controller *c = controller_of(flow);
    tell_failure(c);
    replicas_take_failures(c);
    if (c->procedure) return FLOW_WAIT;
    struct list *next = list_pop_front(&c->requests);
    for (; next && (c->has_failed || flow->stop); next = list_pop_front(&c->requests))
        request_refuse(c, container_of(next, struct controller_request, link), KAFKA_ERROR_NOT_CONTROLLER);
    // Replicas that still load answer to the controller: it waits for them.
    if (flow->stop) return list_is_empty(&c->becoming) ? FLOW_NEXT : FLOW_WAIT;
    if (next) request_start(c, container_of(next, struct controller_request, link));
    return FLOW_WAIT;
}

// The nodes that say "I am here" go at once; a store that is broken needs no farewell.
static flow_next controller_step_leave(struct flow *flow) {
    struct controller *c = controller_of(flow);
    if (!c->is_active || c->options.store->state != METASTORE_CONNECTED) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    struct write_set set = {0};
    char path[ZNODE_PATH_SIZE];
    znode_broker_path(path, c->options.broker_id);
    struct metastore_write *write = write_begin_fenced(c, &c->texts, &set, 2);
    write_add(write, metastore_delete_node(arena_path(&c->texts, path), METASTORE_ANY_VERSION));
    write_add(write, metastore_delete_node(ZNODE_CONTROLLER, METASTORE_ANY_VERSION));
    c->farewell = set;
    writes_start(&c->farewell, c, flow);
    return FLOW_NEXT;
}

static flow_next controller_step_left(struct flow *flow) {
    struct controller *c = controller_of(flow);
    if (!writes_are_done(&c->farewell)) return FLOW_WAIT;
    return FLOW_NEXT; // whatever the answer: the session ends soon
}

static flow_next controller_step_release(struct flow *flow) {
    struct controller *c = controller_of(flow);
    ASSERT(c->procedure == NULL && list_is_empty(&c->requests) && list_is_empty(&c->failed));
    *c->stop_done = true;
    if (c->stop_flow) flow_wake(c->stop_flow);
    arena_drop(&c->texts);
    free(c);
    return FLOW_END;
}
