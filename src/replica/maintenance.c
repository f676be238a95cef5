// SPDX-License-Identifier: Apache-2.0
// sleep until a pass is due -> choose the next partition -> work on it -> ... -> sleep.
//
// The partition being worked on is held, so its place in the list stays valid however others come and go meanwhile.
#include "replica/maintenance.h"
#include "base/bits.h"
#include "core/line.h"
#include "tailrace/error.h"
#include <stdio.h>

#define MAINTENANCE_STEPS(STEP)                                                                                        \
    STEP(maintenance, sleep) STEP(maintenance, choose) STEP(maintenance, work) STEP(maintenance, release)
FLOW_DEFINE(maintenance, MAINTENANCE_STEPS)

static const char *const FAILED[] = {[LOG_APPLY_RETENTION] = "retention_failed",
                                     [LOG_EXPIRE_PRODUCERS] = "producer_expiry_failed",
                                     [LOG_CHECKPOINT] = "checkpoint_failed"};

static const uint64_t NEVER = UINT64_MAX;

// As in Kafka's scheduler a period of 0 means once.
static uint64_t next_due_ms(uint64_t now_ms, uint64_t interval_ms) {
    return interval_ms == 0 ? NEVER : now_ms + interval_ms;
}

static struct maintenance *self(struct flow *flow) {
    return container_of(flow, struct maintenance, flow);
}

static void sleep_set(struct maintenance *m) {
    uint64_t now_ms = core_now_ms(m->replicas->core);
    uint64_t due_ms = m->retention_due_ms < m->checkpoint_due_ms ? m->retention_due_ms : m->checkpoint_due_ms;
    if (m->producers_due_ms < due_ms) due_ms = m->producers_due_ms;
    m->timer.fired = false;
    if (due_ms == NEVER) return;
    flow_timer_set(&m->timer, &m->flow, due_ms > now_ms ? due_ms - now_ms : 0);
}

void maintenance_start(struct maintenance *m, struct replicas *replicas,
                       const struct maintenance_intervals *intervals) {
    *m = (struct maintenance){.replicas = replicas, .intervals = *intervals};
    uint64_t now_ms = core_now_ms(replicas->core);
    m->retention_due_ms = now_ms + intervals->initial_delay_ms;
    m->producers_due_ms = now_ms + intervals->producers_ms;
    m->checkpoint_due_ms = now_ms + intervals->initial_delay_ms;
    flow_start(&m->flow, &maintenance_flow, replicas->core);
    sleep_set(m);
}

void maintenance_stop(struct maintenance *m, struct flow *flow, bool *done) {
    m->stop_flow = flow;
    m->stop_done = done;
    flow_stop(&m->flow);
}

// What has been due for longest comes first: an interval shorter than its own pass does not keep the others from
// theirs.
static bool choose_pass(struct maintenance *m, uint64_t now_ms) {
    const struct {
        enum log_work_kind kind;
        uint64_t *due_ms, interval_ms;
    } passes[] = {{LOG_APPLY_RETENTION, &m->retention_due_ms, m->intervals.retention_ms},
                  {LOG_EXPIRE_PRODUCERS, &m->producers_due_ms, m->intervals.producers_ms},
                  {LOG_CHECKPOINT, &m->checkpoint_due_ms, m->intervals.checkpoint_ms}};
    size_t first = 0;
    for (size_t i = 1; i < ARRAY_LENGTH(passes); i++)
        if (*passes[i].due_ms < *passes[first].due_ms) first = i;
    if (now_ms < *passes[first].due_ms) return false;
    m->kind = passes[first].kind;
    *passes[first].due_ms = next_due_ms(now_ms, passes[first].interval_ms);
    return true;
}

static flow_next maintenance_step_sleep(struct flow *flow) {
    struct maintenance *m = self(flow);
    if (flow->stop) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    if (!m->timer.fired) return FLOW_WAIT;
    uint64_t now_ms = core_now_ms(flow->core);
    if (!choose_pass(m, now_ms)) {
        sleep_set(m);
        return FLOW_WAIT;
    }
    return FLOW_NEXT;
}

static bool has_work(const struct maintenance *m, const struct partition *p) {
    if (p->state != PARTITION_ONLINE || log_dir_is_failed(log_directory(p->log))) return false;
    return m->kind != LOG_CHECKPOINT || log_recovery_point(p->log) < log_end_offset(p->log);
}

static flow_next maintenance_step_choose(struct flow *flow) {
    struct maintenance *m = self(flow);
    struct list *all = &m->replicas->all;
    struct list *link = m->partition ? m->partition->all_link.next : all->next;
    while (link != all && !has_work(m, container_of(link, struct partition, all_link)))
        link = link->next;
    if (m->partition) partition_release(m->partition);
    m->partition = NULL;
    if (link == all || flow->stop) {
        sleep_set(m);
        return FLOW_GOTO(maintenance, sleep);
    }
    m->partition = container_of(link, struct partition, all_link);
    partition_hold(m->partition);
    m->log_start = log_start_offset(m->partition->log);
    m->work = (struct log_work){.kind = m->kind, .flow = flow};
    log_work_start(m->partition->log, &m->work);
    return FLOW_NEXT;
}

static flow_next maintenance_step_work(struct flow *flow) {
    struct maintenance *m = self(flow);
    if (!m->work.done) return FLOW_WAIT;
    if (m->work.error != KAFKA_ERROR_NONE) {
        char subject[300];
        snprintf(subject, sizeof subject, "%s-%d", m->partition->topic, m->partition->index);
        line(flow->core, LINE_WARN, "log", subject, FAILED[m->kind], "error=%s", kafka_error_name(m->work.error));
    }
    if (log_start_offset(m->partition->log) > m->log_start)
        partition_wake_waiters(m->partition); // readers of what is gone
    return FLOW_GOTO(maintenance, choose);
}

static flow_next maintenance_step_release(struct flow *flow) {
    struct maintenance *m = self(flow);
    flow_timer_cancel(&m->timer);
    ASSERT(m->partition == NULL);
    *m->stop_done = true;
    flow_wake(m->stop_flow);
    return FLOW_END;
}
