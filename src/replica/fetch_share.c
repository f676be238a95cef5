// SPDX-License-Identifier: Apache-2.0
// begin -> read (each partition in turn) -> decide: enough? -> park until something changes, then read again -> reply.
//
// Nothing is copied: a read is a range of a segment, held until the sender gives it back. A share that is stopped, or
// whose time has come, answers with what it has. A partition that goes away while the share is parked wakes it, and the
// next read says so.
#include "replica/fetch_share.h"
#include "replica/replica.h"
#include <stdlib.h>

#define FETCH_SHARE_STEPS(STEP)                                                                                        \
    STEP(fetch_share, begin)                                                                                           \
    STEP(fetch_share, read)                                                                                            \
    STEP(fetch_share, decide) STEP(fetch_share, park) STEP(fetch_share, reply) STEP(fetch_share, release)
FLOW_DEFINE_COUNTED(fetch_share, FETCH_SHARE_STEPS, FLOW_STATS_FETCH_SHARE)

static struct fetch_share *self(struct flow *flow) {
    return container_of(flow, struct fetch_share, flow);
}

struct fetch_share *fetch_share_create(size_t part_count) {
    struct fetch_share *share = calloc(1, sizeof *share + part_count * sizeof share->parts[0]);
    ASSERT(share != NULL);
    share->part_count = part_count;
    return share;
}

static void share_arrive(struct core *core, struct message *message) {
    struct fetch_share *share = container_of(message, struct fetch_share, message);
    flow_start(&share->flow, &fetch_share_flow, core);
}

void fetch_share_send(struct core *core, int owner_core, struct fetch_share *share) {
    ASSERT(!share->away);
    share->from = core->id;
    share->owner = owner_core;
    share->away = true;
    share->stop_sent = false;
    core_send(core, owner_core, &share->message, share_arrive);
}

// The share may be on its way back already: then its flow has ended and this does nothing. It cannot have been freed,
// since a release would come after this message.
static void share_stop_arrive(struct core *core, struct message *message) {
    (void)core;
    flow_stop(&container_of(message, struct fetch_share, stop_message)->flow);
}

void fetch_share_stop(struct core *core, struct fetch_share *share) {
    if (!share->away || share->stop_sent) return;
    share->stop_sent = true;
    core_send(core, share->owner, &share->stop_message, share_stop_arrive);
}

static void part_let_go(struct fetch_part *part) {
    partition_watch_remove(&part->watch);
    if (part->read_held) log_read_release(part->partition->log, &part->read);
    part->read_held = false;
    if (part->partition) partition_release(part->partition);
    part->partition = NULL;
}

static void share_let_go(struct fetch_share *share) {
    for (size_t i = 0; i < share->part_count; i++)
        part_let_go(&share->parts[i]);
}

static void share_release_arrive(struct core *core, struct message *message) {
    (void)core;
    struct fetch_share *share = container_of(message, struct fetch_share, message);
    share_let_go(share);
    free(share);
}

void fetch_share_release(struct core *core, struct fetch_share *share) {
    ASSERT(!share->away);
    core_send(core, share->owner, &share->message, share_release_arrive);
}

static flow_next fetch_share_step_begin(struct flow *flow) {
    struct fetch_share *share = self(flow);
    share_let_go(share);
    share->next = 0;
    share->bytes = 0;
    share->must_answer = false;
    return FLOW_NEXT;
}

// What can be said about a partition before its log is read. False: it has an error or diverges, and is not read.
static bool part_prepare(struct flow *flow, struct fetch_share *share, struct fetch_part *part) {
    struct partition *p = replicas_find(replicas_of(flow->core), part->topic_id, part->index);
    part->has_ends = part->older_segment = false;
    part->diverging_epoch = -1;
    part->leader = p ? p->leader : -1;
    part->leader_epoch = p ? p->leader_epoch : -1;
    part->read = (struct log_read){0};
    part->error = partition_check_leader(p, part->current_leader_epoch);
    // There is no other replica yet, so nobody can fetch as one.
    if (part->error == KAFKA_ERROR_NONE && share->replica_id >= 0) part->error = KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    if (part->error != KAFKA_ERROR_NONE) return false;
    partition_hold(p);
    part->partition = p;
    part->has_ends = true;
    part->high_watermark = log_high_watermark(p->log);
    part->last_stable_offset = log_last_stable_offset(p->log);
    part->log_start_offset = log_start_offset(p->log);
    if (part->last_fetched_epoch >= 0) {
        int32_t epoch;
        int64_t end;
        log_end_of_epoch(p->log, part->last_fetched_epoch, &epoch, &end);
        if (epoch < 0) {
            part->error = KAFKA_ERROR_OFFSET_OUT_OF_RANGE;
            part->has_ends = false;
            return false;
        }
        if (epoch < part->last_fetched_epoch || end < part->offset) {
            part->diverging_epoch = epoch;
            part->diverging_end = end;
            return false;
        }
    }
    return true;
}

static bool part_read_start(struct flow *flow, struct fetch_share *share, struct fetch_part *part) {
    part->read = (struct log_read){
        .offset = part->offset,
        .max_offset = partition_visible_end(part->partition, share->read_committed),
        .max_bytes = part->max_bytes > 0 ? (uint32_t)part->max_bytes : 0,
        .at_least_one = true,
        .want_aborted = share->read_committed,
        .flow = flow,
    };
    part->read_held = true;
    return log_read_start(part->partition->log, &part->read);
}

// A reader that waited while the log rolled: what it waited for is in a later segment (trap 70).
static bool part_fell_behind(struct fetch_part *part) {
    const struct log *log = part->partition->log;
    if (part->first_segment < 0) part->first_segment = log_segment_base(log, part->offset);
    return part->offset < part->read.max_offset && part->first_segment < log_segment_base(log, part->read.max_offset);
}

static void part_account(struct fetch_share *share, struct fetch_part *part) {
    if (part->read_held) {
        part->error = part->read.error;
        if (part->error != KAFKA_ERROR_NONE) part->has_ends = false;
        share->bytes += part->read.size_bytes;
        part->older_segment = part->read.older_segment || (part->error == KAFKA_ERROR_NONE && part_fell_behind(part));
    }
    if (part->error != KAFKA_ERROR_NONE || part->diverging_epoch >= 0 || part->older_segment) share->must_answer = true;
}

static flow_next fetch_share_step_read(struct flow *flow) {
    struct fetch_share *share = self(flow);
    while (share->next < share->part_count) {
        struct fetch_part *part = &share->parts[share->next];
        if (part->reading) {
            if (!part->read.done) return FLOW_WAIT;
            part->reading = false;
        } else if (part_prepare(flow, share, part) && !part_read_start(flow, share, part)) {
            part->reading = true;
            return FLOW_WAIT;
        }
        part_account(share, part);
        share->next++;
    }
    return FLOW_NEXT;
}

// Whether another read of the partition would tell something else. Nobody was woken for what came while later reads
// waited for the disk: new records, an epoch, a failure, the end of the replica, a log start behind the offset.
static bool part_has_changed(const struct fetch_share *share, const struct fetch_part *part) {
    const struct partition *p = part->partition;
    return partition_check_leader(p, part->current_leader_epoch) != KAFKA_ERROR_NONE ||
           partition_visible_end(p, share->read_committed) != part->read.max_offset ||
           log_start_offset(p->log) > part->offset;
}

static flow_next fetch_share_step_decide(struct flow *flow) {
    struct fetch_share *share = self(flow);
    uint64_t now_ns = os_now_ns(flow->core->os);
    if (flow->stop || share->must_answer || share->bytes >= share->min_bytes || now_ns >= share->deadline_ns) {
        return FLOW_GOTO(fetch_share, reply);
    }
    for (size_t i = 0; i < share->part_count; i++)
        if (part_has_changed(share, &share->parts[i])) return FLOW_GOTO(fetch_share, begin);
    for (size_t i = 0; i < share->part_count; i++)
        partition_watch_add(share->parts[i].partition, &share->parts[i].watch, flow);
    flow_timer_set(&share->timer, flow, (share->deadline_ns - now_ns + 999999) / 1000000);
    return FLOW_NEXT;
}

static flow_next fetch_share_step_park(struct flow *flow) {
    struct fetch_share *share = self(flow);
    if (!share->parked) {
        share->parked = true;
        return FLOW_WAIT;
    }
    share->parked = false;
    flow_timer_cancel(&share->timer);
    return FLOW_GOTO(fetch_share, begin);
}

static void share_return(struct core *core, struct message *message) {
    (void)core;
    struct fetch_share *share = container_of(message, struct fetch_share, message);
    share->away = false;
    share->done(share);
}

static flow_next fetch_share_step_reply(struct flow *flow) {
    struct fetch_share *share = self(flow);
    for (size_t i = 0; i < share->part_count; i++) {
        struct fetch_part *part = &share->parts[i];
        partition_watch_remove(&part->watch);
        if (part->read_held && part->read.size_bytes > 0) continue;
        part_let_go(part); // nothing to send: nothing to hold
    }
    return FLOW_NEXT;
}

static flow_next fetch_share_step_release(struct flow *flow) {
    struct fetch_share *share = self(flow);
    core_send(flow->core, share->from, &share->message, share_return);
    return FLOW_END;
}
