// SPDX-License-Identifier: Apache-2.0
// How a broker comes up, on the control core:
//
// bind (a port in use is told before anything else is touched; clients queue up) -> open_dir, opened (each log
// directory in turn) -> ids (one broker.id and cluster.id for all) -> open_store, store -> controller (the image is on
// every core, replicas begin to load) -> meta (ids into meta.properties) -> accept -> ready.
//
// Whatever fails stops the broker again, with exit status 1 and the reason; but a log directory other than the first,
// which holds the metadata, only goes offline if it cannot be used. Partitions load while clients can already
// connect; each serves as soon as it is ready.
#include "broker/internal.h"
#include "core/line.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define START_STEPS(STEP)                                                                                              \
    STEP(start, bind)                                                                                                  \
    STEP(start, bound)                                                                                                 \
    STEP(start, open_dir)                                                                                              \
    STEP(start, opened)                                                                                                \
    STEP(start, ids)                                                                                                   \
    STEP(start, open_store)                                                                                            \
    STEP(start, store)                                                                                                 \
    STEP(start, controller)                                                                                            \
    STEP(start, meta) STEP(start, meta_written) STEP(start, accept) STEP(start, accepting) STEP(start, release)
FLOW_DEFINE(start, START_STEPS)

static struct broker *self(struct flow *flow) {
    return container_of(flow, struct broker, start);
}

void broker_begin_start(struct broker *b) {
    flow_start(&b->start, &start_flow, b->control);
}

enum { LISTEN_RETRY_MS = 50, LISTEN_TRIES = 40 };

static flow_next start_fail(struct broker *b) {
    return FLOW_DONE(&b->start, KAFKA_ERROR_UNKNOWN_SERVER_ERROR);
}

static void listen_answer(struct core *core, struct message *message) {
    (void)core;
    struct broker *b = container_of(message, struct broker, listen_message);
    b->listen_done = true;
    flow_wake(&b->start);
}

// On the first data core, which will accept for all.
static void listen_begin(struct core *core, struct message *message) {
    struct broker *b = container_of(message, struct broker, listen_message);
    b->listen_failure[0] = '\0';
    for (size_t i = 0; i < b->listeners.count; i++) {
        if (b->open_listeners[i]) continue; // bound by an earlier try
        const struct listener *l = &b->listeners.items[i];
        struct net_listener_options options = {
            .name = arena_copy_str(&b->arena, l->name).data,
            .address = arena_copy_str(&b->arena, l->host).data,
            .port = (uint16_t)l->port,
            .backlog = (int)config_i64(b->config, CONFIG_SOCKET_LISTEN_BACKLOG_SIZE),
            .receive_buffer_bytes = (uint32_t)max_i64(0, config_i64(b->config, CONFIG_SOCKET_RECEIVE_BUFFER_BYTES)),
            .send_buffer_bytes = (uint32_t)max_i64(0, config_i64(b->config, CONFIG_SOCKET_SEND_BUFFER_BYTES)),
            .nets = b->nets,
            .net_count = b->data_cores,
            .gate = &b->gate,
        };
        int error = 0;
        b->open_listeners[i] = net_listen(core, &options, &b->bound[i], &error);
        if (!b->open_listeners[i]) {
            snprintf(b->listen_failure, sizeof b->listen_failure, "listener %s: %s:%u: %s", options.name,
                     options.address, options.port, os_error_text(error));
            b->listen_error = error;
            break;
        }
    }
    core_send(core, b->control->id, message, listen_answer);
}

static flow_next start_step_bind(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->listen_tries > 0 && !b->listen_timer.fired && !flow->stop) return FLOW_WAIT;
    b->listen_done = false;
    core_send(b->control, 0, &b->listen_message, listen_begin);
    return FLOW_NEXT;
}

static flow_next start_step_bound(struct flow *flow) {
    struct broker *b = self(flow);
    if (!b->listen_done) return FLOW_WAIT;
    if (!b->listen_failure[0]) return FLOW_NEXT;
    // The kernel takes a ring of a killed process apart behind its back: for a moment the port may still be held by a
    // broker that is not there any more.
    if (b->listen_error == -EADDRINUSE && b->listen_tries++ < LISTEN_TRIES && !flow->stop) {
        flow_timer_set(&b->listen_timer, flow, LISTEN_RETRY_MS);
        return FLOW_GOTO(start, bind);
    }
    broker_fail(b, "%s", b->listen_failure);
    return start_fail(b);
}

static flow_next start_step_open_dir(struct flow *flow) {
    struct broker *b = self(flow);
    if (flow->stop) return start_fail(b);
    if (b->next == b->dir_count) return FLOW_GOTO(start, ids);
    b->dir_open = (struct log_dir_open){.path = b->dir_paths[b->next],
                                        .index = b->next,
                                        .broker_id = b->broker_id,
                                        .cluster_id = b->cluster_id,
                                        .reserve_bytes = config_i64(b->config, CONFIG_TAILRACE_DISK_RESERVE_BYTES),
                                        .may_fail = b->next > 0,
                                        .core_count = b->data_cores,
                                        .all_paths = b->dir_paths,
                                        .all_count = b->dir_count};
    flow_op_init(&b->op, flow);
    os_offload(b->control->os, &b->op.op, log_dir_open_run, &b->dir_open);
    return FLOW_NEXT;
}

static void found_add(struct broker *b, const struct log_dir_open *open) {
    b->found = realloc(b->found, (b->found_count + open->partition_count + 1) * sizeof *b->found);
    ASSERT(b->found != NULL);
    for (size_t i = 0; i < open->partition_count; i++) {
        struct broker_found *f = &b->found[b->found_count++];
        *f = (struct broker_found){.at = open->partitions[i], .dir = open->index};
        struct str name = arena_copy_str(&b->arena, str_of(open->partitions[i].topic));
        ASSERT(name.data != NULL);
        f->at.topic = (char *)name.data;
    }
}

// The first directory that has ids decides what the others must have.
static void ids_adopt(struct broker *b, const struct log_dir_open *open) {
    if (b->broker_id < 0) b->broker_id = open->found_broker_id;
    if (!b->cluster_id[0]) snprintf(b->cluster_id, sizeof b->cluster_id, "%s", open->found_cluster_id);
}

static flow_next start_step_opened(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->op.op.in_flight) return FLOW_WAIT;
    struct log_dir_open *open = &b->dir_open;
    if (!open->dir) {
        broker_fail(b, "%s", open->reason);
        log_dir_open_free(open);
        return start_fail(b);
    }
    b->dirs[b->next] = open->dir;
    b->dir_clean[b->next] = open->dir->was_clean;
    if (log_dir_is_failed(open->dir)) {
        broker_watch_tell_line(b, b->next);
    } else {
        if (open->reason[0]) line(b->control, LINE_WARN, "log", open->path, "opened", "reason=\"%s\"", open->reason);
        ids_adopt(b, open);
        found_add(b, open);
    }
    log_dir_open_free(open);
    b->next++;
    return FLOW_GOTO(start, open_dir);
}

static int found_order(const void *a, const void *b) {
    const struct broker_found *x = a, *y = b;
    int order = strcmp(x->at.topic, y->at.topic);
    return order != 0 ? order : (x->at.partition > y->at.partition) - (x->at.partition < y->at.partition);
}

static flow_next start_step_ids(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->broker_id < 0) b->broker_id = 0;
    if (b->found_count > 1) qsort(b->found, b->found_count, sizeof *b->found, found_order);
    for (size_t i = 1; i < b->found_count; i++) {
        if (found_order(&b->found[i - 1], &b->found[i]) != 0) continue;
        broker_fail(b, "partition %s-%d is in two log directories: %s and %s", b->found[i].at.topic,
                    b->found[i].at.partition, b->dir_paths[b->found[i - 1].dir], b->dir_paths[b->found[i].dir]);
        return start_fail(b);
    }
    bool durable = !str_is(config_str(b->config, CONFIG_TAILRACE_DURABILITY), "replicated");
    for (int i = 0; i < b->data_cores; i++) {
        replicas_init(&b->cores[i].replicas, b->set->cores[i], b->broker_id, durable, b->dirs, b->dir_count,
                      config_i64(b->config, CONFIG_PRODUCER_ID_EXPIRATION_MS));
    }
    return FLOW_NEXT;
}

static flow_next start_step_open_store(struct flow *flow) {
    struct broker *b = self(flow);
    char path[4096];
    snprintf(path, sizeof path, "%s/tailrace.metadata", b->dir_paths[0]);
    struct str copy = arena_copy_str(&b->arena, str_of(path));
    ASSERT(copy.data != NULL);
    b->store_open = (struct embedded_open){.path = copy.data};
    flow_op_init(&b->op, flow);
    os_offload(b->control->os, &b->op.op, embedded_open_run, &b->store_open);
    return FLOW_NEXT;
}

static void controller_started(void *context, int16_t error, const char *cluster_id, const char *reason) {
    struct broker *b = context;
    b->controller_started = true;
    b->controller_error = error;
    if (error == KAFKA_ERROR_NONE) {
        snprintf(b->cluster_id, sizeof b->cluster_id, "%s", cluster_id);
    } else {
        broker_fail(b, "controller: %s", reason);
    }
    flow_wake(&b->start);
}

static void controller_failed(void *context, const char *reason) {
    broker_fail(context, "metadata store: %s", reason);
}

static bool log_dir_works(void *context, int log_dir) {
    struct broker *b = context;
    return !log_dir_is_failed(b->dirs[log_dir]);
}

static void controller_begin(struct broker *b) {
    struct controller_endpoint *endpoints = arena_alloc_array(&b->arena, b->advertised.count, sizeof *endpoints);
    ASSERT(endpoints != NULL);
    for (size_t i = 0; i < b->advertised.count; i++) {
        const struct listener *l = &b->advertised.items[i];
        const struct listener *own = listener_find(&b->listeners, l->name);
        endpoints[i] = (struct controller_endpoint){
            .listener = arena_copy_str(&b->arena, l->name).data,
            .protocol = security_protocol_name(l->protocol),
            .host = arena_copy_str(&b->arena, l->host).data,
            .port = l->port == 0 && own ? b->bound[own - b->listeners.items].port : l->port};
    }
    struct str rack =
        config_has(b->config, CONFIG_BROKER_RACK) ? config_str(b->config, CONFIG_BROKER_RACK) : (struct str){0};
    b->controller = controller_start(b->control, &(struct controller_options){
                                                     .store = b->store,
                                                     .publisher = b->publisher,
                                                     .config = b->config,
                                                     .broker_id = b->broker_id,
                                                     .cluster_id = b->cluster_id,
                                                     .rack = rack.data ? arena_copy_str(&b->arena, rack).data : NULL,
                                                     .endpoints = endpoints,
                                                     .endpoint_count = b->advertised.count,
                                                     .data_cores = b->data_cores,
                                                     .log_dirs = b->dir_count,
                                                     .log_dir_works = log_dir_works,
                                                     .replicas = &broker_replica_functions,
                                                     .context = b,
                                                     .started = controller_started,
                                                     .failed = controller_failed,
                                                 });
    b->facts.controller = b->controller;
}

static flow_next start_step_store(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->op.op.in_flight) return FLOW_WAIT;
    if (!b->store_open.store) {
        broker_fail(b, "metadata store: %s", b->store_open.reason);
        return start_fail(b);
    }
    if (b->store_open.reason[0])
        line(b->control, LINE_WARN, "metastore", "", "cut", "reason=\"%s\"", b->store_open.reason);
    b->store = b->store_open.store;
    embedded_attach(b->store, b->control);
    if (flow->stop) return start_fail(b);
    checkpointer_start(&b->checkpointer, b->control, b->dirs, b->dir_count, b->data_cores,
                       (uint64_t)config_i64(b->config, CONFIG_REPLICA_HIGH_WATERMARK_CHECKPOINT_INTERVAL_MS));
    b->checkpointer.add = broker_found_ends;
    b->checkpointer.context = b;
    b->checkpointer_runs = true;
    b->facts.checkpointer = &b->checkpointer;
    controller_begin(b);
    return FLOW_NEXT;
}

static flow_next start_step_controller(struct flow *flow) {
    struct broker *b = self(flow);
    if (!b->controller_started) return FLOW_WAIT;
    if (b->controller_error != KAFKA_ERROR_NONE || flow->stop) return start_fail(b);
    b->facts.broker_id = b->broker_id;
    b->facts.cluster_id = b->cluster_id;
    return FLOW_NEXT;
}

// A directory in which it cannot be written has failed; the watch tells about it. Only the first one must work.
static int64_t meta_write_run(struct os_host *host, void *argument) {
    struct broker *b = argument;
    int result = 0;
    for (int i = 0; i < b->dir_count; i++) {
        if (log_dir_is_failed(b->dirs[i])) continue;
        int error = log_dir_write_meta(host, b->dirs[i], b->broker_id, b->cluster_id);
        if (error == 0) continue;
        if (i > 0) log_dir_fail(b->dirs[i], "writing meta.properties", error);
        if (i == 0) result = error;
    }
    return result;
}

static flow_next start_step_meta(struct flow *flow) {
    struct broker *b = self(flow);
    flow_op_init(&b->op, flow);
    os_offload(b->control->os, &b->op.op, meta_write_run, b);
    return FLOW_NEXT;
}

static flow_next start_step_meta_written(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->op.op.in_flight) return FLOW_WAIT;
    if (b->op.op.result != 0) {
        broker_fail(b, "%s/meta.properties could not be written: %s", b->dir_paths[0],
                    os_error_text((int)b->op.op.result));
        return start_fail(b);
    }
    return flow->stop ? start_fail(b) : FLOW_NEXT;
}

#ifdef TAILRACE_PLANT_STOP_REUSES_A_MESSAGE
#define maintenance_message message
#endif
static void maintenance_begin(struct core *core, struct message *message) {
    struct broker_core *c = container_of(message, struct broker_core, maintenance_message);
    replicas_follow_image(&c->replicas);
    const struct config *config = c->broker->config;
    const struct maintenance_intervals intervals = {
        .retention_ms = (uint64_t)config_i64(config, CONFIG_LOG_RETENTION_CHECK_INTERVAL_MS),
        .producers_ms = (uint64_t)config_i64(config, CONFIG_PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS),
        .checkpoint_ms = (uint64_t)config_i64(config, CONFIG_LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS),
        .initial_delay_ms = (uint64_t)config_i64(config, CONFIG_LOG_INITIAL_TASK_DELAY_MS)};
    maintenance_start(&c->maintenance, &c->replicas, &intervals);
    ASSERT(c->replicas.core == core);
}

static void accept_begin(struct core *core, struct message *message) {
    struct broker *b = container_of(message, struct broker, listen_message);
    for (size_t i = 0; i < b->listeners.count; i++)
        net_listener_accept(b->open_listeners[i]);
    core_send(core, b->control->id, message, listen_answer);
}

static flow_next start_step_accept(struct flow *flow) {
    struct broker *b = self(flow);
    b->maintenance_runs = true;
    for (int i = 0; i < b->data_cores; i++)
        core_send(b->control, i, &b->cores[i].maintenance_message, maintenance_begin);
    b->watch_runs = true;
    broker_watch_begin(b);
    b->listen_done = false;
    core_send(b->control, 0, &b->listen_message, accept_begin);
    return FLOW_NEXT;
}

// Their topics were never told to this metadata store: it is another one (log.dirs in another order, a lost file), or
// another broker's partitions.
static void warn_of_unknown(const struct broker *b) {
    const struct broker_found *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < b->found_count; i++) {
        if (b->found[i].is_taken) continue;
        if (!first) first = &b->found[i];
        count++;
    }
    if (!first) return;
    line(b->control, LINE_WARN, "broker", "", "partitions_without_topic",
         "count=%zu first=%s/%s-%d reason=\"%s does not know them: kept, not served\" todo=\"put the directory with "
         "the right tailrace.metadata first in log.dirs\"",
         count, b->dir_paths[first->dir], first->at.topic, first->at.partition, b->store_open.path);
}

static flow_next start_step_accepting(struct flow *flow) {
    struct broker *b = self(flow);
    if (!b->listen_done) return FLOW_WAIT;
    warn_of_unknown(b);
    line(b->control, LINE_INFO, "broker", "", "started",
         "id=%d cluster=%s cores=%d partitions_found=%zu listener=%s:%u", b->broker_id, b->cluster_id, b->data_cores,
         b->found_count, b->bound[0].text, b->bound[0].port);
    b->is_ready = true;
    if (b->options.ready) b->options.ready(b->options.context, b, NULL);
    return FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

static flow_next start_step_release(struct flow *flow) {
    struct broker *b = self(flow);
    flow_timer_cancel(&b->listen_timer);
    if (!b->is_ready && b->options.ready) b->options.ready(b->options.context, b, b->failure);
    if (b->stopping) flow_wake(&b->stop); // it waits for the start to end
    return FLOW_END;
}
