// SPDX-License-Identifier: Apache-2.0
// check -> start (most kinds are answered at once) -> finish (those that had to wait for the disk) -> release.
#include "replica/partition_call.h"
#include "replica/replica.h"
#include <stdlib.h>

#define PARTITION_CALL_STEPS(STEP)                                                                                     \
    STEP(partition_call, check) STEP(partition_call, start) STEP(partition_call, finish) STEP(partition_call, release)
FLOW_DEFINE(partition_call, PARTITION_CALL_STEPS)

enum { TIME_LATEST = -1, TIME_EARLIEST = -2, TIME_MAX_TIMESTAMP = -3, TIME_EARLIEST_LOCAL = -4, TIME_TIERED = -5 };

static struct partition_call *self(struct flow *flow) {
    return container_of(flow, struct partition_call, flow);
}

static void call_arrive(struct core *core, struct message *message) {
    flow_start(&container_of(message, struct partition_call, message)->flow, &partition_call_flow, core);
}

void partition_call_send(struct core *core, int owner_core, struct partition_call *call) {
    call->from = core->id;
    call->flow = (struct flow){0};
    call->error = KAFKA_ERROR_NONE;
    call->timestamp_ms = -1;
    call->leader_epoch = -1;
    core_send(core, owner_core, &call->message, call_arrive);
}

static flow_next partition_call_step_check(struct flow *flow) {
    struct partition_call *c = self(flow);
    struct partition *p = replicas_find(replicas_of(flow->core), c->topic_id, c->index);
    if (p) {
        partition_hold(p);
        c->partition = p;
    }
    c->error = partition_check_leader(p, c->current_leader_epoch);
    return c->error == KAFKA_ERROR_NONE ? FLOW_NEXT : FLOW_DONE(flow, c->error);
}

// What the one who asks may know of (exclusive).
static int64_t visible_end(const struct partition_call *c) {
    return c->is_replica ? log_end_offset(c->partition->log) : partition_visible_end(c->partition, c->read_committed);
}

// Ends that consumers do not see yet are all the high watermark to them.
static int16_t list_segments(struct partition_call *c) {
    if (c->max_offsets < 0) return KAFKA_ERROR_UNKNOWN_SERVER_ERROR; // so 3.9.1
    c->offset_count = log_segment_ends(c->partition->log, c->time_ms, (size_t)c->max_offsets, &c->offsets);
    int64_t end = visible_end(c);
    size_t hidden = 0;
    while (hidden < c->offset_count && c->offsets[hidden] > end)
        hidden++;
    if (hidden == 0) return KAFKA_ERROR_NONE;
    c->offsets[0] = end;
    memmove(c->offsets + 1, c->offsets + hidden, (c->offset_count - hidden) * sizeof *c->offsets);
    c->offset_count -= hidden - 1;
    return KAFKA_ERROR_NONE;
}

// Times that name an end of the log. False: it is a real time (or the largest), which is looked up.
static bool list_offsets_by_name(struct partition_call *c) {
    struct log *log = c->partition->log;
    c->timestamp_ms = -1;
    switch (c->time_ms) {
    case TIME_LATEST: c->offset = visible_end(c); break;
    case TIME_EARLIEST:
    case TIME_EARLIEST_LOCAL: c->offset = log_start_offset(log); break;
    case TIME_TIERED: c->offset = -1; break;
    default: return false;
    }
    // Asked of 3.9.1: the latest end carries the current epoch; the earliest carries its own, on an empty log the
    // current one.
    int32_t epoch = log_epoch_at(log, c->offset);
    c->leader_epoch = epoch >= 0 && c->time_ms != TIME_LATEST ? epoch : c->partition->leader_epoch;
    if (c->time_ms == TIME_TIERED) c->leader_epoch = -1;
    return true;
}

static void describe_producers_row(void *context, const struct log_producer *producer) {
    struct partition_call *c = context;
    struct log_producer *rows = realloc(c->producers, (c->producer_count + 1) * sizeof *rows);
    ASSERT(rows != NULL);
    rows[c->producer_count++] = *producer;
    c->producers = rows;
}

static flow_next partition_call_step_start(struct flow *flow) {
    struct partition_call *c = self(flow);
    struct log *log = c->partition->log;
    switch (c->kind) {
    case PARTITION_LIST_OFFSETS:
        if (list_offsets_by_name(c)) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
        c->lookup = (struct log_lookup){.time_ms = c->time_ms, .max_offset = visible_end(c), .flow = flow};
        log_lookup_start(log, &c->lookup);
        return FLOW_NEXT;
    case PARTITION_LIST_SEGMENTS: return FLOW_DONE(flow, c->error = list_segments(c));
    case PARTITION_END_OF_EPOCH: log_end_of_epoch(log, c->epoch, &c->leader_epoch, &c->offset); break;
    case PARTITION_DELETE_RECORDS:
        if (c->offset == -1) c->offset = log_high_watermark(log);
        if (c->offset < 0 || c->offset > log_high_watermark(log))
            return FLOW_DONE(flow, c->error = KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
        c->work = (struct log_work){.kind = LOG_DELETE_RECORDS, .offset = c->offset, .flow = flow};
        log_work_start(log, &c->work);
        return FLOW_NEXT;
    case PARTITION_DESCRIBE_LOG:
        c->size_bytes = log_size_bytes(log);
        c->offset = log_end_offset(log);
        c->dir = log_directory(log)->index;
        break;
    case PARTITION_DESCRIBE_PRODUCERS: log_each_producer(log, describe_producers_row, c); break;
    }
    return FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

static flow_next partition_call_step_finish(struct flow *flow) {
    struct partition_call *c = self(flow);
    if (c->kind == PARTITION_LIST_OFFSETS) {
        if (!c->lookup.done) return FLOW_WAIT;
        c->error = c->lookup.error;
        c->offset = c->lookup.offset;
        c->timestamp_ms = c->lookup.timestamp_ms;
        c->leader_epoch = c->lookup.leader_epoch;
    } else {
        ASSERT(c->kind == PARTITION_DELETE_RECORDS);
        if (!c->work.done) return FLOW_WAIT;
        c->error = c->work.error;
        c->offset = log_start_offset(c->partition->log);
        partition_wake_waiters(c->partition); // a fetch may wait for what is gone
        c->dir = log_directory(c->partition->log)->index;
    }
    return FLOW_DONE(flow, c->error);
}

static void call_return(struct core *core, struct message *message) {
    (void)core;
    struct partition_call *c = container_of(message, struct partition_call, message);
    c->done(c);
}

static flow_next partition_call_step_release(struct flow *flow) {
    struct partition_call *c = self(flow);
    if (c->partition) partition_release(c->partition);
    c->partition = NULL;
    core_send(flow->core, c->from, &c->message, call_return);
    return FLOW_END;
}
