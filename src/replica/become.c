// SPDX-License-Identifier: Apache-2.0
// A replica takes a role: find -> load (or create) its log, offloaded -> attach -> role. A partition that is here
// already only gets its new role. A log that cannot be loaded leaves the partition offline: it answers
// KAFKA_STORAGE_ERROR, all others go on.
#include "replica/become.h"
#include "core/line.h"
#include "replica/replica.h"
#include <stdio.h>

#define BECOME_STEPS(STEP)                                                                                             \
    STEP(become, find) STEP(become, load) STEP(become, attach) STEP(become, role) STEP(become, release)
FLOW_DEFINE(become, BECOME_STEPS)

static struct replica_become *self(struct flow *flow) {
    return container_of(flow, struct replica_become, flow);
}

static void become_arrive(struct core *core, struct message *message) {
    flow_start(&container_of(message, struct replica_become, message)->flow, &become_flow, core);
}

void replica_become_send(struct core *core, int owner_core, struct replica_become *become) {
    become->from = core->id;
    become->flow = (struct flow){0};
    become->error = KAFKA_ERROR_NONE;
    become->reason[0] = '\0';
    core_send(core, owner_core, &become->message, become_arrive);
}

static flow_next become_step_find(struct flow *flow) {
    struct replica_become *b = self(flow);
    struct replicas *replicas = replicas_of(flow->core);
    ASSERT(b->dir >= 0 && b->dir < replicas->dir_count);
    b->partition = replicas_find(replicas, b->topic_id, b->index);
    if (b->partition) return FLOW_GOTO(become, role);
    b->partition = partition_create(replicas, b->topic, b->topic_id, b->index, b->dir);
    if (!b->create) {
        b->partition->kept_recovery_point = b->recovery_point;
        b->partition->kept_log_start = b->log_start_offset;
        b->partition->kept_high_watermark = b->high_watermark;
    }
    b->load = (struct log_load){
        .dir = replicas->dirs[b->dir],
        .topic = b->partition->topic,
        .partition = b->index,
        .topic_id = b->topic_id,
        .config = b->config,
        .create = b->create,
        .clean = b->clean,
        .durable = b->partition->durable,
        .recovery_point = b->recovery_point,
        .log_start_offset = b->log_start_offset,
        .high_watermark = b->high_watermark,
        .producer_expiration_ms = replicas->producer_expiration_ms,
    };
    flow_op_init(&b->op, flow);
    os_offload(flow->core->os, &b->op.op, log_load_run, &b->load);
    return FLOW_NEXT;
}

static flow_next become_step_load(struct flow *flow) {
    struct replica_become *b = self(flow);
    return b->op.op.in_flight ? FLOW_WAIT : FLOW_NEXT;
}

static flow_next become_step_attach(struct flow *flow) {
    struct replica_become *b = self(flow);
    struct partition *p = b->partition;
    char subject[300];
    snprintf(subject, sizeof subject, "%s-%d", p->topic, p->index);
    b->error = (int16_t)b->op.op.result;
    snprintf(b->reason, sizeof b->reason, "%s", b->load.reason);
    if (!b->load.log) {
        ASSERT(b->error != KAFKA_ERROR_NONE);
        p->state = PARTITION_OFFLINE;
        line(flow->core, LINE_ERROR, "replica", subject, "offline",
             "error=%s directory=%s reason=\"%s\" todo=\"mend what the reason names, then restart the broker\"",
             kafka_error_name(b->error), b->load.dir->path, b->reason);
        return FLOW_NEXT;
    }
    p->log = b->load.log;
    log_attach(p->log, flow->core, &p->listener);
    log_set_producer_expiration(p->log, replicas_of(flow->core)->producer_expiration_ms); // may have changed since
    p->state = PARTITION_ONLINE;
    if (b->load.reason[0]) {
        line(flow->core, LINE_WARN, "log", subject, "recovered", "recovered_bytes=%lld cut_bytes=%lld reason=\"%s\"",
             (long long)b->load.recovered_bytes, (long long)b->load.cut_bytes, b->load.reason);
    }
    return FLOW_NEXT;
}

static flow_next become_step_role(struct flow *flow) {
    struct replica_become *b = self(flow);
    struct partition *p = b->partition;
    if (b->leader_epoch < p->leader_epoch) {
        b->error = KAFKA_ERROR_STALE_CONTROLLER_EPOCH;
        return FLOW_NEXT;
    }
    partition_set_role(p, b->leader, b->leader_epoch, b->partition_epoch, b->isr, b->isr_count, b->assigned,
                       b->assigned_count);
    partition_update_watermark(p);
    if (p->state == PARTITION_OFFLINE) b->error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    return FLOW_NEXT;
}

static void become_return(struct core *core, struct message *message) {
    (void)core;
    struct replica_become *b = container_of(message, struct replica_become, message);
    b->done(b);
}

static flow_next become_step_release(struct flow *flow) {
    struct replica_become *b = self(flow);
    core_send(flow->core, b->from, &b->message, become_return);
    return FLOW_END;
}
