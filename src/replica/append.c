// SPDX-License-Identifier: Apache-2.0
// arrive: the partition's log is loaded (at a start it may still be recovered) -> check: are we the leader, are enough
// replicas in sync -> write: the log assigns offsets and writes it with whatever else waits for the partition ->
// commit: the high watermark has passed its end (which needs the leader's own flush, and the in-sync followers), or the
// timer
// -> reply.
//
// Appends to a partition that is being loaded wait, in order, rather than say NOT_LEADER_OR_FOLLOWER: of the several
// requests that a client has in flight the first would be refused and a later one, for which the log is just ready,
// be out of sequence, which is fatal for idempotent producers on librdkafka before 2.3.
//
// A duplicate waits for the high watermark like its original (trap 47). A timeout says REQUEST_TIMED_OUT although the
// records stay (trap 75). A partition that stops being led here says NOT_LEADER_OR_FOLLOWER: the client asks the new
// leader, and its sequence numbers find the duplicate if the records survived.
#include "replica/append.h"
#include "replica/replica.h"
#include "replica/watermark.h"

#define APPEND_STEPS(STEP)                                                                                             \
    STEP(append, arrive)                                                                                               \
    STEP(append, check)                                                                                                \
    STEP(append, write) STEP(append, written) STEP(append, commit) STEP(append, reply) STEP(append, release)
FLOW_DEFINE_COUNTED(append, APPEND_STEPS, FLOW_STATS_APPEND)

static struct append *self(struct flow *flow) {
    return container_of(flow, struct append, flow);
}

static void append_arrive(struct core *core, struct message *message) {
    struct append *a = container_of(message, struct append, message);
    flow_start(&a->flow, &append_flow, core);
    // Run at once: appends enter the log in the order in which they arrive, whatever else is on the run queue.
    list_remove(&a->flow.run_link);
    flow_run(&a->flow);
}

void append_send(struct core *core, int owner_core, struct append *append) {
    append->from = core->id;
    append->flow = (struct flow){0};
    append->timer = (struct flow_timer){0};
    append->partition = NULL;
    list_init(&append->arrival);
    append->error = KAFKA_ERROR_NONE;
    append->base_offset = append->end_offset = append->log_start_offset = append->duplicate_time_ms = -1;
    append->leader = append->leader_epoch = -1;
    core_send(core, owner_core, &append->message, append_arrive);
}

void append_wake_first(struct partition *p) {
    struct list *first = list_front(&p->arrivals);
    if (first) flow_wake(&container_of(first, struct append, arrival)->flow);
}

// Whether it has to wait behind its partition's loading, or behind those that wait for that.
static bool append_waits(struct append *a) {
    struct partition *p = a->partition;
    bool loading = p->state == PARTITION_LOADING && !a->timer.fired;
    if (!list_is_linked(&a->arrival)) {
        if (!loading && list_is_empty(&p->arrivals)) return false;
        list_push_back(&p->arrivals, &a->arrival);
        flow_timer_set(&a->timer, &a->flow, a->timeout_ms > 0 ? (uint64_t)a->timeout_ms : 0);
        return true;
    }
    bool first = list_front(&p->arrivals) == &a->arrival;
    if (loading || (!first && !a->timer.fired)) return true;
    list_remove(&a->arrival);
    flow_timer_cancel(&a->timer);
    append_wake_first(p);
    return false;
}

static flow_next append_step_arrive(struct flow *flow) {
    struct append *a = self(flow);
    if (!a->partition) {
        a->partition = replicas_find(replicas_of(flow->core), a->topic_id, a->index);
        if (a->partition) partition_hold(a->partition);
    }
    return a->partition && append_waits(a) ? FLOW_WAIT : FLOW_NEXT;
}

static flow_next append_step_check(struct flow *flow) {
    struct append *a = self(flow);
    struct partition *p = a->partition;
    a->error = partition_check_leader(p, -1);
    if (p) {
        a->leader = p->leader;
        a->leader_epoch = p->leader_epoch;
    }
    if (a->error != KAFKA_ERROR_NONE) return FLOW_GOTO(append, reply);
    const struct topic_config *config = log_config(p->log);
    if (a->acks == -1 && !insync_is_enough(p->isr_count, config->min_insync_replicas, p->assigned_count)) {
        a->error = KAFKA_ERROR_NOT_ENOUGH_REPLICAS;
    } else if (a->refusal != KAFKA_ERROR_NONE) {
        a->error = a->refusal;
    }
    if (a->error != KAFKA_ERROR_NONE) {
        a->log_start_offset = log_start_offset(p->log);
        return FLOW_GOTO(append, reply);
    }
    if (atomic_load_explicit(&log_directory(p->log)->below_reserve, memory_order_relaxed)) {
        a->error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
        return FLOW_GOTO(append, reply);
    }
    return FLOW_NEXT;
}

static flow_next append_step_write(struct flow *flow) {
    struct append *a = self(flow);
    a->write = (struct log_append){.records = a->records,
                                   .size_bytes = a->size_bytes,
                                   .leader_epoch = a->partition->leader_epoch,
                                   .origin = a->origin,
                                   .flow = flow};
    log_append_start(a->partition->log, &a->write);
    return FLOW_NEXT;
}

static flow_next append_step_written(struct flow *flow) {
    struct append *a = self(flow);
    if (!a->write.done) return FLOW_WAIT;
    struct partition *p = a->partition;
    a->error = a->write.error;
    a->log_start_offset = a->error == KAFKA_ERROR_RECORD_LIST_TOO_LARGE ? -1 : log_start_offset(p->log); // trap 67
    if (a->error != KAFKA_ERROR_NONE) return FLOW_GOTO(append, reply);
    a->base_offset = a->write.base_offset;
    a->end_offset = a->write.end_offset;
    a->duplicate_time_ms = a->write.duplicate ? a->write.duplicate_time_ms : -1;
    ASSERT(a->end_offset > a->base_offset && a->end_offset <= log_end_offset(p->log));
    // Consumers see only what is flushed, so every write asks for a flush, whatever its acks.
    if (p->durable) log_flush_start(p->log);
    if (a->acks != -1) return FLOW_GOTO(append, reply);
    waiter_init(&a->waiter, flow);
    flow_timer_set(&a->timer, flow, a->timeout_ms > 0 ? (uint64_t)a->timeout_ms : 0);
    return FLOW_NEXT;
}

static flow_next append_step_commit(struct flow *flow) {
    struct append *a = self(flow);
    struct partition *p = a->partition;
    int16_t error = partition_check_leader(p, -1);
    if (error == KAFKA_ERROR_NONE && p->leader_epoch != a->write.leader_epoch)
        error = KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    if (error == KAFKA_ERROR_NONE && log_high_watermark(p->log) >= a->end_offset) {
        const struct topic_config *config = log_config(p->log);
        if (!insync_is_enough(p->isr_count, config->min_insync_replicas, p->assigned_count)) {
            a->error = KAFKA_ERROR_NOT_ENOUGH_REPLICAS_AFTER_APPEND;
        }
        return FLOW_NEXT;
    }
    if (error == KAFKA_ERROR_NONE && a->timer.fired) error = KAFKA_ERROR_REQUEST_TIMED_OUT;
    if (error != KAFKA_ERROR_NONE) {
        a->error = error;
        return FLOW_NEXT;
    }
    if (!list_is_linked(&a->waiter.link)) waitlist_add(&p->commits, &a->waiter, a->end_offset);
    return FLOW_WAIT;
}

static void append_return(struct core *core, struct message *message) {
    (void)core;
    struct append *a = container_of(message, struct append, message);
    a->done(a);
}

static flow_next append_step_reply(struct flow *flow) {
    struct append *a = self(flow);
    struct partition *p = a->partition;
    // What durable acknowledgement means, checked once more where it is given.
    if (a->error == KAFKA_ERROR_NONE && a->acks == -1) {
        ASSERT(log_high_watermark(p->log) >= a->end_offset);
        ASSERT(!p->durable || log_flushed_end(p->log) >= a->end_offset);
    }
    if (a->error != KAFKA_ERROR_NONE) {
        a->base_offset = -1;
        a->duplicate_time_ms = -1;
    }
    return FLOW_NEXT;
}

static flow_next append_step_release(struct flow *flow) {
    struct append *a = self(flow);
    flow_timer_cancel(&a->timer);
    if (a->partition) {
        if (a->waiter.link.next) waitlist_remove(&a->waiter);
        partition_release(a->partition);
        a->partition = NULL;
    }
    a->waiter = (struct waiter){0};
    core_send(flow->core, a->from, &a->message, append_return);
    return FLOW_END;
}
