// SPDX-License-Identifier: Apache-2.0
// start as many as are closed at once -> each: next partition -> nobody uses it -> its log is closed -> noted -> next;
// after the last one the core leaves its directories.
#include "replica/close_all.h"
#include "core/line.h"
#include "replica/replica.h"
#include <stdio.h>
#include <stdlib.h>

#define CLOSE_ALL_STEPS(STEP)                                                                                          \
    STEP(close_all, start) STEP(close_all, wait) STEP(close_all, leave) STEP(close_all, release)
FLOW_DEFINE(close_all, CLOSE_ALL_STEPS)
#define PARTITION_CLOSE_STEPS(STEP)                                                                                    \
    STEP(partition_close, next)                                                                                        \
    STEP(partition_close, unused) STEP(partition_close, closed) STEP(partition_close, release)
FLOW_DEFINE(partition_close, PARTITION_CLOSE_STEPS)

enum { LEAVE_AGAIN_MS = 5 };

static struct replicas_close *self(struct flow *flow) {
    return container_of(flow, struct replicas_close, flow);
}

static struct partition_close *part_self(struct flow *flow) {
    return container_of(flow, struct partition_close, flow);
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

static flow_next close_all_step_start(struct flow *flow) {
    struct replicas_close *c = self(flow);
    c->active = CLOSE_AT_ONCE;
    for (int i = 0; i < CLOSE_AT_ONCE; i++) {
        c->parts[i] = (struct partition_close){.all = c};
        flow_start(&c->parts[i].flow, &partition_close_flow, flow->core);
    }
    return FLOW_NEXT;
}

static flow_next close_all_step_wait(struct flow *flow) {
    return self(flow)->active > 0 ? FLOW_WAIT : FLOW_NEXT;
}

// ---- one partition after the other

// Those that are being closed are at the end of the list.
static flow_next partition_close_step_next(struct flow *flow) {
    struct partition_close *c = part_self(flow);
    struct list *all = &replicas_of(flow->core)->all, *first = list_front(all);
    if (!first) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    struct partition *p = c->partition = container_of(first, struct partition, all_link);
    if (p->stop_flow) {
        struct partition_close *other = part_self(p->stop_flow);
        ASSERT(other >= c->all->parts && other < c->all->parts + CLOSE_AT_ONCE);
        return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    }
    list_remove(first);
    list_push_back(all, first);
    p->state = PARTITION_STOPPING;
    p->stop_flow = flow;
    partition_wake_waiters(p);
    return FLOW_NEXT;
}

static flow_next partition_close_step_unused(struct flow *flow) {
    struct partition_close *c = part_self(flow);
    if (c->partition->users > 0) return FLOW_WAIT;
    c->ends = ends_of(c->partition);
    if (!c->partition->log) return FLOW_NEXT;
    c->close = (struct log_close){.flow = flow};
    // Everything is flushed and its producers are on disk once it has been closed well.
    c->ends.recovery_point = log_end_offset(c->partition->log);
    log_close_start(c->partition->log, &c->close);
    return FLOW_NEXT;
}

static void close_failed(struct partition_close *c, struct core *core) {
    char subject[300];
    snprintf(subject, sizeof subject, "%s-%d", c->partition->topic, c->partition->index);
    line(core, LINE_ERROR, "log", subject, "close_failed",
         "error=%s directory=%s todo=\"repair the directory if it has failed: the next start checks its logs\"",
         kafka_error_name(c->close.error), replicas_of(core)->dirs[c->ends.dir]->path);
    c->all->failed_dir_bits |= 1ull << (c->ends.dir < 63 ? c->ends.dir : 63);
}

static flow_next partition_close_step_closed(struct flow *flow) {
    struct partition_close *c = part_self(flow);
    bool had_log = c->partition->log != NULL;
    if (had_log && !c->close.done) return FLOW_WAIT;
    c->partition->log = NULL;
    if (had_log && c->close.error != KAFKA_ERROR_NONE) {
        close_failed(c, flow->core);
    } else {
        ends_add_values(&c->all->ends, c->partition->topic, &c->ends);
    }
    partition_free(c->partition);
    return FLOW_GOTO(partition_close, next);
}

static flow_next partition_close_step_release(struct flow *flow) {
    struct replicas_close *c = part_self(flow)->all;
    ASSERT(c->active > 0);
    if (--c->active == 0) flow_wake(&c->flow);
    return FLOW_END;
}

// ---- the end

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
