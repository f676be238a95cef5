// SPDX-License-Identifier: Apache-2.0
// next partition -> nobody uses it -> its log is closed -> noted -> next; after the last one the core leaves its
// directories.
#include "replica/close_all.h"
#include "core/line.h"
#include "replica/replica.h"
#include <stdio.h>
#include <stdlib.h>

#define CLOSE_ALL_STEPS(STEP)                                                                                          \
    STEP(close_all, next)                                                                                              \
    STEP(close_all, unused) STEP(close_all, closed) STEP(close_all, leave) STEP(close_all, release)
FLOW_DEFINE(close_all, CLOSE_ALL_STEPS)

enum { LEAVE_AGAIN_MS = 5 };

static struct replicas_close *self(struct flow *flow) {
    return container_of(flow, struct replicas_close, flow);
}

static void close_arrive(struct core *core, struct message *message) {
    flow_start(&container_of(message, struct replicas_close, message)->flow, &close_all_flow, core);
}

void replicas_close_send(struct core *core, int to, struct replicas_close *close) {
    close->from = core->id;
    close->flow = (struct flow){0};
    close->timer = (struct flow_timer){0};
    close->ends = (struct ends_list){0};
    close->failed_dir_bits = 0;
    core_send(core, to, &close->message, close_arrive);
}

static flow_next close_all_step_next(struct flow *flow) {
    struct replicas_close *c = self(flow);
    struct list *first = list_front(&replicas_of(flow->core)->all);
    if (!first) return FLOW_GOTO(close_all, leave);
    struct partition *p = c->partition = container_of(first, struct partition, all_link);
    ASSERT(p->stop_flow == NULL);
    p->state = PARTITION_STOPPING;
    p->stop_flow = flow;
    partition_wake_waiters(p);
    return FLOW_NEXT;
}

static flow_next close_all_step_unused(struct flow *flow) {
    struct replicas_close *c = self(flow);
    if (c->partition->users > 0) return FLOW_WAIT;
    ends_add(&c->ends, c->partition);
    if (!c->partition->log) return FLOW_NEXT;
    c->close = (struct log_close){.flow = flow};
    // Everything is flushed and its producers are on disk once it has been closed well.
    c->ends.entries[c->ends.count - 1].recovery_point = log_end_offset(c->partition->log);
    log_close_start(c->partition->log, &c->close);
    return FLOW_NEXT;
}

static void close_failed(struct replicas_close *c, struct core *core) {
    struct partition_ends *e = &c->ends.entries[c->ends.count - 1];
    char subject[300];
    snprintf(subject, sizeof subject, "%s-%d", e->topic, e->partition);
    line(core, LINE_ERROR, "log", subject, "close_failed", "error=%s", kafka_error_name(c->close.error));
    c->failed_dir_bits |= 1ull << (e->dir < 63 ? e->dir : 63);
    free(e->topic);
    c->ends.count--;
}

static flow_next close_all_step_closed(struct flow *flow) {
    struct replicas_close *c = self(flow);
    if (c->partition->log) {
        if (!c->close.done) return FLOW_WAIT;
        c->partition->log = NULL;
        if (c->close.error != KAFKA_ERROR_NONE) close_failed(c, flow->core);
    }
    partition_free(c->partition);
    return FLOW_GOTO(close_all, next);
}

// A deletion that is under way ends soon; what still waits for its time is left to the next start.
static flow_next close_all_step_leave(struct flow *flow) {
    struct replicas_close *c = self(flow);
    const struct replicas *replicas = replicas_of(flow->core);
    for (int i = 0; i < replicas->dir_count; i++) {
        if (log_dir_leave_core(replicas->dirs[i], flow->core)) continue;
        flow_timer_set(&c->timer, flow, LEAVE_AGAIN_MS);
        return FLOW_WAIT;
    }
    return FLOW_NEXT;
}

static void close_return(struct core *core, struct message *message) {
    (void)core;
    struct replicas_close *c = container_of(message, struct replicas_close, message);
    c->done(c);
}

static flow_next close_all_step_release(struct flow *flow) {
    struct replicas_close *c = self(flow);
    flow_timer_cancel(&c->timer);
    core_send(flow->core, c->from, &c->message, close_return);
    return FLOW_END;
}
