// SPDX-License-Identifier: Apache-2.0
// Looks after the log directories, on the control core: a directory that has failed is told to the operator (once, with
// the reason), to every data core (whoever waits for one of its partitions is answered) and to the controller (its
// partitions are offline).
//
// If it holds the metadata, or if none is left, the broker gives up with exit status 1 (trap 58).
#include "broker/internal.h"
#include "core/line.h"

#define DIR_WATCH_STEPS(STEP)                                                                                          \
    STEP(dir_watch, sleep) STEP(dir_watch, look) STEP(dir_watch, told) STEP(dir_watch, release)
FLOW_DEFINE(dir_watch, DIR_WATCH_STEPS)

enum { LOOK_EVERY_MS = 500 };

static struct broker *self(struct flow *flow) {
    return container_of(flow, struct broker, watch.flow);
}

void broker_watch_begin(struct broker *b) {
    flow_start(&b->watch.flow, &dir_watch_flow, b->control);
    flow_timer_set(&b->watch.timer, &b->watch.flow, LOOK_EVERY_MS);
}

void broker_watch_end(struct broker *b, struct flow *flow, bool *done) {
    b->watch.ended_flow = flow;
    b->watch.ended = done;
    flow_stop(&b->watch.flow);
}

static flow_next dir_watch_step_sleep(struct flow *flow) {
    struct broker *b = self(flow);
    if (flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    return b->watch.timer.fired ? FLOW_NEXT : FLOW_WAIT;
}

static void core_answered(struct core *core, struct message *message) {
    (void)core;
    struct broker *b = container_of(message, struct broker_core, dir_message)->broker;
    b->watch.pending--;
    flow_wake(&b->watch.flow);
}

// On a data core: its partitions in the directory wake whoever waits for them.
static void dir_failed_here(struct core *core, struct message *message) {
    struct broker_core *c = container_of(message, struct broker_core, dir_message);
    replicas_dir_failed(&c->replicas, c->failed_dir);
    core_send(core, c->broker->control->id, message, core_answered);
}

static void controller_answered(struct core *core, struct controller_request *request) {
    (void)core;
    struct broker *b = request->context;
    b->watch.pending--;
    flow_wake(&b->watch.flow);
}

void broker_watch_tell_line(struct broker *b, int dir) {
    line(b->control, LINE_ERROR, "log", b->dirs[dir]->path, "directory_failed",
         "reason=\"%s\" todo=\"its partitions are offline: repair the directory, then restart the broker\"",
         b->dirs[dir]->failure_reason);
    b->watch.told[dir] = true;
}

static void dir_tell_cores(struct broker *b, int dir) {
    for (int i = 0; i < b->data_cores; i++) {
        b->cores[i].failed_dir = dir;
        b->watch.pending++;
        core_send(b->control, i, &b->cores[i].dir_message, dir_failed_here);
    }
}

static void dir_tell_controller(struct broker *b, int dir) {
    b->watch.request = (struct controller_request){.kind = CONTROLLER_LOG_DIR_FAILED,
                                                   .log_dir = dir,
                                                   .log_dir_path = b->dirs[dir]->path,
                                                   .row_count = 1,
                                                   .answered = controller_answered,
                                                   .context = b};
    b->watch.pending++;
    controller_send(b->control, b->controller, &b->watch.request);
}

static flow_next dir_watch_step_look(struct flow *flow) {
    struct broker *b = self(flow);
    int failed = 0, next = -1;
    for (int i = b->dir_count - 1; i >= 0; i--) {
        if (!log_dir_is_failed(b->dirs[i])) continue;
        failed++;
        if (!b->watch.told[i]) next = i;
    }
    flow_timer_set(&b->watch.timer, flow, LOOK_EVERY_MS);
    if (next < 0) return FLOW_GOTO(dir_watch, sleep);
    if (next == 0 || failed == b->dir_count) {
        b->watch.told[next] = true;
        broker_fail(b, "log directory %s has failed (%s), and %s", b->dirs[next]->path, b->dirs[next]->failure_reason,
                    next == 0 ? "it holds the metadata" : "no other is left");
    } else {
        broker_watch_tell_line(b, next);
        dir_tell_controller(b, next);
    }
    dir_tell_cores(b, next); // also when the broker stops: who waits for a flush in it would never be answered
    return FLOW_NEXT;
}

static flow_next dir_watch_step_told(struct flow *flow) {
    return self(flow)->watch.pending > 0 ? FLOW_WAIT : FLOW_GOTO(dir_watch, look);
}

static flow_next dir_watch_step_release(struct flow *flow) {
    struct broker *b = self(flow);
    flow_timer_cancel(&b->watch.timer);
    *b->watch.ended = true;
    flow_wake(b->watch.ended_flow);
    return FLOW_END;
}
