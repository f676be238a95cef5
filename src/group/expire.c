// SPDX-License-Identifier: Apache-2.0
// What goes by itself: offsets that nobody has used for offsets.retention.minutes, groups that are left without members
// and offsets, and the offsets of topics that have been deleted. Each leaves a tombstone in the log.
//
// Tombstones need not be committed before anybody is told: one that is lost is written again by the next sweep after
// the next load.
//
// sweep: some groups, then the other flows of the core, then some more.
#include "group/groups.h"

#define GROUP_SWEEP_STEPS(STEP) STEP(group_sweep, some) STEP(group_sweep, release)
FLOW_DEFINE(group_sweep, GROUP_SWEEP_STEPS)

enum { OFFSETS_A_TURN = 2000 };

bool groups_bury_if_unused(struct groups *groups, struct group *g, struct record_batch *batch) {
    if (g->state != GROUP_EMPTY || group_has_offsets(g) || g->pending_count > 0) return false;
    // A group that only ever committed offsets has no record of its own.
    if (g->generation > 0) record_batch_add_group_tombstone(batch, g->id);
    group_bury(g, groups_now(groups), &groups->output);
    groups_drop(groups, g);
    return true;
}

static void batch_send(struct groups *groups, int32_t partition, struct record_batch *batch) {
    const struct group_write write = {.kind = GROUP_WRITE_TOMBSTONES};
    if (record_batch_count(batch) > 0) groups_write(groups, partition, &write, batch);
}

// ---- by time
// ---------------------------------------------------------------------------------------------------------

struct expiry {
    struct record_batch batch;
    const struct group *group;
};

static void offset_expires(void *context, const struct offset *offset) {
    struct expiry *expiry = context;
    record_batch_add_offset(&expiry->batch, expiry->group->id, offset->topic->name, offset->partition, NULL);
}

static void sweep_group(struct groups *groups, struct group *g) {
    if (groups_partition_state(groups, g->partition) != KAFKA_ERROR_NONE) return;
    int64_t now_ms = groups_now(groups).wall_ms;
    int32_t partition = g->partition;
    struct expiry expiry = {.group = g};
    record_batch_begin(&expiry.batch, now_ms);
    group_expire_offsets(g, now_ms, groups->settings.retention_ms, offset_expires, &expiry);
    groups_bury_if_unused(groups, g, &expiry.batch);
    batch_send(groups, partition, &expiry.batch);
}

static flow_next group_sweep_step_some(struct flow *flow) {
    struct groups *groups = container_of(flow, struct groups, sweep);
    for (int32_t budget = OFFSETS_A_TURN; budget > 0 && groups->sweep_left > 0 && !flow->stop; groups->sweep_left--) {
        // The list is turned once: whoever is visited goes to its end.
        struct list *link = list_pop_front(&groups->all);
        if (!link) break;
        struct group *g = container_of(link, struct group, link);
        list_push_back(&groups->all, link);
        budget -= 1 + (int32_t)g->offsets.committed_count;
        sweep_group(groups, g);
    }
    if (groups->sweep_left == 0 || flow->stop || list_is_empty(&groups->all)) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    core_timer_set(groups->core, &groups->expiry, 0); // goes on in a later turn
    return FLOW_WAIT;
}

static flow_next group_sweep_step_release(struct flow *flow) {
    struct groups *groups = container_of(flow, struct groups, sweep);
    if (groups->is_stopping) {
        groups_check_stopped(groups);
    } else {
        core_timer_set(groups->core, &groups->expiry, groups->settings.retention_check_ms);
    }
    return FLOW_END;
}

static void expiry_fires(struct timer *timer) {
    struct groups *groups = container_of(timer, struct groups, expiry);
    if (flow_is_active(&groups->sweep)) return flow_wake(&groups->sweep);
    groups->sweep_left = (uint32_t)groups->by_id.count;
    flow_start(&groups->sweep, &group_sweep_flow, groups->core);
}

void groups_expiry_start(struct groups *groups) {
    if (groups->expiry.fire) return;
    timer_init(&groups->expiry, expiry_fires);
    core_timer_set(groups->core, &groups->expiry, groups->settings.retention_check_ms);
}

// ---- by deletion of the topic
// ----------------------------------------------------------------------------------------

static void delete_in_group(struct groups *groups, struct group *g, struct str topic, int32_t partition_count) {
    int32_t partition = g->partition;
    struct record_batch batch;
    record_batch_begin(&batch, groups_now(groups).wall_ms);
    for (int32_t i = 0; i < partition_count; i++) {
        struct offset *offset = offsets_find(&g->offsets, topic, i);
        if (!offset) continue;
        record_batch_add_offset(&batch, g->id, topic, i, NULL);
        offset_remove(offset);
    }
    groups_bury_if_unused(groups, g, &batch);
    batch_send(groups, partition, &batch);
}

// The topic's list gives the groups; each is done once, since then nothing of the topic is left in it (a partition that
// the topic did not have cannot have been committed; but a log may hold anything, and then that offset stays).
void groups_delete_topic(struct groups *groups, struct str name, int32_t partition_count, int32_t only_partition) {
    struct offset_topic *topic = offset_topic_find(&groups->topics, name);
    struct list *link = topic ? topic->offsets.next : NULL;
    while (link && link != &topic->offsets) {
        struct offset *offset = container_of(link, struct offset, topic_link);
        struct group *g = container_of(offset->owner, struct group, offsets);
        bool applies = (only_partition < 0 || g->partition == only_partition) && offset->partition < partition_count &&
                       offset->partition >= 0 && g->state != GROUP_DEAD &&
                       groups_partition_state(groups, g->partition) == KAFKA_ERROR_NONE;
        if (!applies) {
            link = link->next;
            continue;
        }
        delete_in_group(groups, g, name, partition_count);
        topic = offset_topic_find(&groups->topics, name); // gone with its last offset
        link = topic ? topic->offsets.next : NULL;
    }
}

// Both images have their topics in order of name, and share those that did not change.
void groups_topics_deleted(struct groups *groups, const struct image *before, const struct image *now) {
    size_t at = 0;
    for (size_t i = 0; i < before->topic_count; i++) {
        const struct image_topic *topic = before->topics[i];
        if (at < now->topic_count && now->topics[at] == topic) {
            at++;
            continue;
        }
        while (at < now->topic_count && str_compare(now->topics[at]->name, topic->name) < 0)
            at++;
        const struct image_topic *still =
            at < now->topic_count && str_equal(now->topics[at]->name, topic->name) ? now->topics[at] : NULL;
        bool stays = still && !still->deleting && uuid_equal(still->id, topic->id);
        if (stays || topic->deleting) continue; // one that was being deleted has been seen before
        groups_topic_deleted_while_loading(groups, topic->name, topic->partition_count);
        groups_delete_topic(groups, topic->name, topic->partition_count, -1);
    }
}
