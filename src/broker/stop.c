// SPDX-License-Identifier: Apache-2.0
// How a broker goes down in an orderly way, on the control core:
//
// started (a start in progress ends first) -> listeners -> connections of every core (what is in progress is answered)
// -> groups and maintenance of every core -> directory watch -> controller -> checkpointer -> logs (every core closes
// its partitions) -> files (checkpoints, then the clean-shutdown markers) -> store -> cores.
//
// A directory in which something could not be closed well gets no marker: its logs are recovered at the next start.
#include "broker/internal.h"
#include "core/line.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define STOP_STEPS(STEP)                                                                                               \
    STEP(broker_stop, started)                                                                                         \
    STEP(broker_stop, listeners)                                                                                       \
    STEP(broker_stop, connections)                                                                                     \
    STEP(broker_stop, cores)                                                                                           \
    STEP(broker_stop, watch)                                                                                           \
    STEP(broker_stop, controller)                                                                                      \
    STEP(broker_stop, checkpointer)                                                                                    \
    STEP(broker_stop, logs)                                                                                            \
    STEP(broker_stop, closed)                                                                                          \
    STEP(broker_stop, files) STEP(broker_stop, store) STEP(broker_stop, end) STEP(broker_stop, release)
FLOW_DEFINE(broker_stop, STOP_STEPS)

static struct broker *self(struct flow *flow) {
    return container_of(flow, struct broker, stop);
}

void broker_begin_stop(struct broker *b, int exit_status) {
    if (b->stopping) return;
    b->stopping = true;
    b->exit_status = exit_status;
    flow_stop(&b->start);
    flow_start(&b->stop, &broker_stop_flow, b->control);
}

void broker_fail(struct broker *b, const char *format, ...) {
    char text[sizeof b->failure];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(b->failure, text, sizeof text);
    line(b->control, LINE_ERROR, "broker", "", b->is_ready ? "failed" : "cannot_start", "reason=\"%s\"", text);
    broker_begin_stop(b, 1);
}

// Waits, then begins the next part. `pending` counts the messages or cores that have not answered.
static void answered(struct broker *b) {
    ASSERT(b->pending > 0);
    b->pending--;
    flow_wake(&b->stop);
}

// ---- listeners (they live on the first data core)
// --------------------------------------------------------------------------------------

static void listeners_closed(struct core *core, struct message *message) {
    (void)core;
    answered(container_of(message, struct broker, listen_message));
}

#define LISTENERS_CLOSE_STEPS(STEP)                                                                                    \
    STEP(listeners_close, next) STEP(listeners_close, wait) STEP(listeners_close, release)
FLOW_DEFINE(listeners_close, LISTENERS_CLOSE_STEPS)

static struct broker_core *core_self(struct flow *flow) {
    return container_of(flow, struct broker_core, flow);
}

static flow_next listeners_close_step_next(struct flow *flow) {
    struct broker *b = core_self(flow)->broker;
    for (size_t i = 0; i < CONFIG_LISTENERS_MAX; i++) {
        if (!b->open_listeners[i]) continue;
        b->done_flag = false;
        net_listener_close(b->open_listeners[i], flow, &b->done_flag);
        b->open_listeners[i] = NULL;
        return FLOW_NEXT;
    }
    return FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

static flow_next listeners_close_step_wait(struct flow *flow) {
    return core_self(flow)->broker->done_flag ? FLOW_GOTO(listeners_close, next) : FLOW_WAIT;
}

static flow_next listeners_close_step_release(struct flow *flow) {
    struct broker_core *c = core_self(flow);
    core_send(c->net.core, c->broker->control->id, &c->broker->listen_message, listeners_closed);
    return FLOW_END;
}

static void listeners_close_begin(struct core *core, struct message *message) {
    struct broker *b = container_of(message, struct broker, listen_message);
    flow_start(&b->cores[core->id].flow, &listeners_close_flow, core);
}

// ---- one data core's connections, then its groups and maintenance
// ---------------------------------------------------------------------------------------

static void core_answers(struct core *core, struct message *message) {
    (void)core;
    answered(container_of(message, struct broker_core, message)->broker);
}

#define CONNECTIONS_CLOSE_STEPS(STEP)                                                                                  \
    STEP(connections_close, begin) STEP(connections_close, wait) STEP(connections_close, release)
FLOW_DEFINE(connections_close, CONNECTIONS_CLOSE_STEPS)

static flow_next connections_close_step_begin(struct flow *flow) {
    net_close_all(&core_self(flow)->net, flow);
    return FLOW_NEXT;
}

static flow_next connections_close_step_wait(struct flow *flow) {
    return core_self(flow)->net.connection_count == 0 ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next connections_close_step_release(struct flow *flow) {
    struct broker_core *c = core_self(flow);
    core_send(flow->core, c->broker->control->id, &c->message, core_answers);
    return FLOW_END;
}

static void connections_close_begin(struct core *core, struct message *message) {
    flow_start(&container_of(message, struct broker_core, message)->flow, &connections_close_flow, core);
}

#define CORE_QUIET_STEPS(STEP) STEP(core_quiet, begin) STEP(core_quiet, wait) STEP(core_quiet, release)
FLOW_DEFINE(core_quiet, CORE_QUIET_STEPS)

static flow_next core_quiet_step_begin(struct flow *flow) {
    struct broker_core *c = core_self(flow);
    groups_stop(&c->groups, flow, &c->groups_stopped);
    c->maintenance_stopped = !c->broker->maintenance_runs;
    if (c->broker->maintenance_runs) maintenance_stop(&c->maintenance, flow, &c->maintenance_stopped);
    return FLOW_NEXT;
}

static flow_next core_quiet_step_wait(struct flow *flow) {
    struct broker_core *c = core_self(flow);
    return c->groups_stopped && c->maintenance_stopped ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next core_quiet_step_release(struct flow *flow) {
    struct broker_core *c = core_self(flow);
    core_send(flow->core, c->broker->control->id, &c->message, core_answers);
    return FLOW_END;
}

static void core_quiet_begin(struct core *core, struct message *message) {
    flow_start(&container_of(message, struct broker_core, message)->flow, &core_quiet_flow, core);
}

// ---- the steps
// -------------------------------------------------------------------------------------------------------------------------

static flow_next broker_stop_step_started(struct flow *flow) {
    struct broker *b = self(flow);
    if (flow_is_active(&b->start)) return FLOW_WAIT;
    b->pending = 1;
    core_send(b->control, 0, &b->listen_message, listeners_close_begin);
    return FLOW_NEXT;
}

static void cores_send(struct broker *b, void (*begin)(struct core *core, struct message *message)) {
    b->pending = b->data_cores;
    for (int i = 0; i < b->data_cores; i++)
        core_send(b->control, i, &b->cores[i].message, begin);
}

static flow_next broker_stop_step_listeners(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->pending > 0) return FLOW_WAIT;
    // Whoever waits for a shortage to pass (a full disk, no descriptors) does not any more: connections end with the
    // answers to what is in progress, and a deletion of topics would keep them for the timeout of its client.
    if (b->checkpointer_runs) checkpointer_hurry(&b->checkpointer);
    if (b->controller) embedded_hurry(b->store);
    cores_send(b, connections_close_begin);
    return FLOW_NEXT;
}

// What is in progress may need the groups of any core.
static flow_next broker_stop_step_connections(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->pending > 0) return FLOW_WAIT;
    cores_send(b, core_quiet_begin);
    return FLOW_NEXT;
}

static flow_next broker_stop_step_cores(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->pending > 0) return FLOW_WAIT;
    b->done_flag = !b->watch_runs;
    if (b->watch_runs) broker_watch_end(b, flow, &b->done_flag);
    return FLOW_NEXT;
}

static flow_next broker_stop_step_watch(struct flow *flow) {
    struct broker *b = self(flow);
    if (!b->done_flag) return FLOW_WAIT;
    b->done_flag = b->controller == NULL;
    if (b->controller) controller_stop(b->controller, flow, &b->done_flag);
    return FLOW_NEXT;
}

// The procedure that the controller finished may have waited for a checkpoint, so the checkpointer ends after it.
static flow_next broker_stop_step_controller(struct flow *flow) {
    struct broker *b = self(flow);
    if (!b->done_flag) return FLOW_WAIT;
    b->done_flag = !b->checkpointer_runs;
    if (b->checkpointer_runs) checkpointer_stop(&b->checkpointer, flow, &b->done_flag);
    return FLOW_NEXT;
}

static void logs_closed(struct replicas_close *close) {
    answered(close->context);
}

static flow_next broker_stop_step_checkpointer(struct flow *flow) {
    struct broker *b = self(flow);
    if (!b->done_flag) return FLOW_WAIT;
    for (int i = 0; i < b->data_cores; i++) {
        if (!b->cores[i].replicas.core) continue; // the start did not come that far
        b->cores[i].close.done = logs_closed;
        b->cores[i].close.context = b;
        b->pending++;
        replicas_close_send(b->control, i, &b->cores[i].close);
    }
    return FLOW_NEXT;
}

static int64_t files_run(struct os_host *host, void *argument) {
    struct broker *b = argument;
    checkpoint_batch_run(host, &b->batch);
    uint64_t failed = 0;
    for (int i = 0; i < b->data_cores; i++)
        failed |= b->cores[i].close.failed_dir_bits;
    for (int i = 0; i < b->dir_count; i++) {
        if (!b->dirs[i]) continue;
        // Without a controller nothing was loaded: what the directory holds is as it was, and so is whether it needs
        // recovery.
        bool loaded = b->controller_started && b->controller_error == KAFKA_ERROR_NONE;
        bool clean =
            loaded ? !(failed & (1ull << (i < 63 ? i : 63))) && !log_dir_is_failed(b->dirs[i]) : b->dir_clean[i];
        log_dir_close(host, b->dirs[i], clean);
        b->dirs[i] = NULL;
    }
    return 0;
}

static flow_next broker_stop_step_logs(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->pending > 0) return FLOW_WAIT;
    if (b->controller_started && b->controller_error == KAFKA_ERROR_NONE) {
        b->batch.dirs = b->dirs;
        b->batch.dir_count = b->dir_count;
        for (int i = 0; i < b->data_cores; i++)
            ends_move(&b->batch.ends, &b->cores[i].close.ends);
        broker_found_ends(b, &b->batch.ends);
    }
    return FLOW_NEXT;
}

// The store's file lies in the first directory: it is closed before that directory's lock is given up.
static flow_next broker_stop_step_closed(struct flow *flow) {
    struct broker *b = self(flow);
    b->done_flag = b->store == NULL;
    if (b->store) metastore_close(b->store, flow, &b->done_flag);
    return FLOW_NEXT;
}

static flow_next broker_stop_step_files(struct flow *flow) {
    struct broker *b = self(flow);
    if (!b->done_flag) return FLOW_WAIT;
    flow_op_init(&b->op, flow);
    os_offload(b->control->os, &b->op.op, files_run, b);
    return FLOW_NEXT;
}

static flow_next broker_stop_step_store(struct flow *flow) {
    struct broker *b = self(flow);
    if (b->op.op.in_flight) return FLOW_WAIT;
    ends_free(&b->batch.ends);
    line(b->control, LINE_INFO, "broker", "", "stopped", "status=%d", b->exit_status);
    return FLOW_NEXT;
}

static void core_end(struct core *core, struct message *message) {
    (void)message;
    core_stop(core);
}

static flow_next broker_stop_step_end(struct flow *flow) {
    struct broker *b = self(flow);
    for (int i = 0; i < b->data_cores; i++)
        core_send(b->control, i, &b->cores[i].message, core_end);
    if (b->options.stopped) b->options.stopped(b->options.context, b, b->exit_status);
    return FLOW_NEXT;
}

static flow_next broker_stop_step_release(struct flow *flow) {
    core_stop(self(flow)->control);
    return FLOW_END;
}
