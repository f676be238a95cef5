// SPDX-License-Identifier: Apache-2.0
// A replica goes: it is not found any more, whoever waits on it is woken and lets go, then its log is closed (or its
// directory renamed and deleted later). Nothing can be acknowledged from it once `mark` has run.
#include "core/line.h"
#include "replica/become.h"
#include "replica/replica.h"

#define STOP_STEPS(STEP) STEP(stop, mark) STEP(stop, unused) STEP(stop, closed) STEP(stop, release)
FLOW_DEFINE(stop, STOP_STEPS)

static struct replica_stop *self(struct flow *flow) {
    return container_of(flow, struct replica_stop, flow);
}

static void stop_arrive(struct core *core, struct message *message) {
    flow_start(&container_of(message, struct replica_stop, message)->flow, &stop_flow, core);
}

void replica_stop_send(struct core *core, int owner_core, struct replica_stop *stop) {
    stop->from = core->id;
    stop->flow = (struct flow){0};
    stop->op = (struct flow_op){0};
    stop->error = KAFKA_ERROR_NONE;
    core_send(core, owner_core, &stop->message, stop_arrive);
}

static flow_next stop_step_mark(struct flow *flow) {
    struct replica_stop *s = self(flow);
    struct partition *p = s->partition = replicas_find(replicas_of(flow->core), s->topic_id, s->index);
    if (!p) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    ASSERT(p->stop_flow == NULL && p->state != PARTITION_LOADING);
    p->state = PARTITION_STOPPING;
    p->stop_flow = flow;
    partition_wake_waiters(p);
    return FLOW_NEXT;
}

static flow_next stop_step_unused(struct flow *flow) {
    struct replica_stop *s = self(flow);
    if (s->partition->users > 0) return FLOW_WAIT;
    struct partition *p = s->partition;
    if (p->log) {
        s->close = (struct log_close){.remove = s->remove, .flow = flow};
        log_close_start(p->log, &s->close);
    } else if (s->remove) {
        s->removal = (struct log_remove){p->replicas->dirs[p->dir], p->topic, p->index};
        flow_op_init(&s->op, flow);
        os_offload(flow->core->os, &s->op.op, log_remove_run, &s->removal);
    }
    return FLOW_NEXT;
}

static flow_next stop_step_closed(struct flow *flow) {
    struct replica_stop *s = self(flow);
    if ((s->partition->log && !s->close.done) || s->op.op.in_flight) return FLOW_WAIT;
    s->error = s->partition->log ? s->close.error : (int16_t)s->op.op.result;
    s->partition->log = NULL;
    partition_free(s->partition);
    return FLOW_NEXT;
}

static void stop_return(struct core *core, struct message *message) {
    (void)core;
    struct replica_stop *s = container_of(message, struct replica_stop, message);
    s->done(s);
}

static flow_next stop_step_release(struct flow *flow) {
    struct replica_stop *s = self(flow);
    core_send(flow->core, s->from, &s->message, stop_return);
    return FLOW_END;
}
