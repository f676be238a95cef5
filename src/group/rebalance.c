// SPDX-License-Identifier: Apache-2.0
// The phases of a rebalance: members are asked to join again (join phase), then the leader hands in the assignment and
// everybody fetches theirs (sync phase).
//
// The first rebalance of an empty group waits group.initial.rebalance.delay.ms for more members, and again as long as
// new ones keep coming, up to the longest rebalance timeout. Later ones end as soon as all known members have joined.
// Who has not joined in time is removed, unless it is static: such a member keeps its place until its session ends.
#include "group/group.h"
#include "group/internal.h"

enum { STATIC_RETRY_MS_MIN = 100 }; // a rebalance timeout of 0 is no reason to spin

static void cancel_syncs(struct group *g, int16_t error, struct group_time time, struct group_output *out) {
    LIST_FOREACH (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        member_set_assignment(m, (struct bytes){(const uint8_t *)"", 0});
        member_set_next_assignment(m, (struct bytes){0});
        group_answer_sync(g, m, error, time, out);
    }
    g->assignment_is_being_stored = false;
}

static void sync_phase_end(struct group *g) {
    LIST_FOREACH (link, &g->members)
        container_of(link, struct group_member, link)->sync_is_due = false;
    g->sync_due_count = 0;
    g->sync_deadline_ms = GROUP_NEVER;
}

void group_prepare_rebalance(struct group *g, struct group_time time, const char *why, struct str member_id,
                             struct group_output *out) {
    if (g->state == GROUP_COMPLETING_REBALANCE) cancel_syncs(g, KAFKA_ERROR_REBALANCE_IN_PROGRESS, time, out);
    sync_phase_end(g);
    int32_t timeout_ms = group_rebalance_timeout_ms(g);
    g->is_initial_delay = g->state == GROUP_EMPTY;
    if (g->is_initial_delay) {
        g->initial_delay_ms = (int32_t)max_i64(g->limits->initial_rebalance_delay_ms, 0);
        g->initial_remaining_ms = (int32_t)max_i64((int64_t)timeout_ms - g->initial_delay_ms, 0);
        g->join_deadline_ms = time.now_ms + (uint64_t)g->initial_delay_ms;
    } else {
        g->join_deadline_ms = time.now_ms + (uint64_t)timeout_ms;
    }
    group_wake_by(g, g->join_deadline_ms);
    group_enter(g, GROUP_PREPARING_REBALANCE, time, why, member_id, out);
    group_try_complete_join(g, time, out);
}

void group_maybe_rebalance(struct group *g, struct group_time time, const char *why, struct str member_id,
                           struct group_output *out) {
    if (g->state == GROUP_EMPTY || g->state == GROUP_COMPLETING_REBALANCE || g->state == GROUP_STABLE)
        group_prepare_rebalance(g, time, why, member_id, out);
}

// A leader that has not joined is replaced by the first member that has. False: nobody has.
static bool elect_joined_leader(struct group *g) {
    if (str_is_null(g->leader_id)) return false;
    struct group_member *leader = group_member_by_id(g, g->leader_id);
    ASSERT(leader != NULL);
    if (leader->awaits_join) return true;
    LIST_FOREACH (link, &g->members) {
        const struct group_member *m = container_of(link, struct group_member, link);
        if (!m->awaits_join) continue;
        str_free(&g->leader_id);
        g->leader_id = str_duplicate(m->id);
        return true;
    }
    return false;
}

static void answer_joined_members(struct group *g, struct group_time time, struct group_output *out) {
    LIST_FOREACH (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        const struct group_join_answer answer = group_join_success(g, m, group_is_leader(g, m->id));
        group_answer_join(g, m, &answer, out);
        group_session_begin(g, m, time);
        m->is_new = false;
        m->sync_is_due = true;
        g->sync_due_count++;
    }
    g->sync_deadline_ms = time.now_ms + (uint64_t)group_rebalance_timeout_ms(g);
    group_wake_by(g, g->sync_deadline_ms);
}

static void complete_join(struct group *g, struct group_time time, struct group_output *out) {
    ASSERT(g->state == GROUP_PREPARING_REBALANCE);
    g->join_deadline_ms = GROUP_NEVER;
    g->is_initial_delay = false;
    LIST_FOREACH_SAFE (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        if (!m->awaits_join && !member_is_static(m)) group_remove_member(g, m);
    }
    if (!elect_joined_leader(g) && g->member_count > 0) {
        // Only static members are left, and none has joined: wait until they do, or until their sessions end.
        g->join_deadline_ms = time.now_ms + (uint64_t)max_i64(group_rebalance_timeout_ms(g), STATIC_RETRY_MS_MIN);
        group_wake_by(g, g->join_deadline_ms);
        return;
    }
    group_next_generation(g, time, out);
    if (g->state == GROUP_EMPTY) {
        group_store_send(g, group_store_begin(g, GROUP_STORE_EMPTY), out);
    } else {
        answer_joined_members(g, time, out);
    }
}

void group_try_complete_join(struct group *g, struct group_time time, struct group_output *out) {
    if (g->state != GROUP_PREPARING_REBALANCE || g->is_initial_delay) return;
    if (g->awaiting_join_count == g->member_count && g->pending_count == 0) complete_join(g, time, out);
}

void group_sync_has_come(struct group *g, struct group_member *m) {
    if (!m->sync_is_due) return;
    m->sync_is_due = false;
    ASSERT(g->sync_due_count > 0);
    if (--g->sync_due_count == 0) g->sync_deadline_ms = GROUP_NEVER;
}

void group_member_is_gone(struct group *g, struct group_member *m, struct group_time time, const char *why,
                          struct group_output *out) {
    struct str id = str_duplicate(m->id);
    if (m->awaits_join) {
        const struct group_join_answer answer = {
            .error = KAFKA_ERROR_UNKNOWN_MEMBER_ID, .generation = -1, .leader = str_of(""), .member_id = str_of("")};
        group_answer_join(g, m, &answer, out);
    }
    group_answer_sync(g, m, KAFKA_ERROR_UNKNOWN_MEMBER_ID, time, out);
    if (m->sync_is_due) group_sync_has_come(g, m);
    group_remove_member(g, m);
    if (g->state == GROUP_PREPARING_REBALANCE) {
        group_try_complete_join(g, time, out);
    } else {
        group_maybe_rebalance(g, time, why, id, out);
    }
    str_free(&id);
}

// ---- time
// ------------------------------------------------------------------------------------------------------------

static void join_deadline_reached(struct group *g, struct group_time time, struct group_output *out) {
    if (g->is_initial_delay && g->new_member_added && g->initial_remaining_ms != 0) {
        g->new_member_added = false;
        int32_t delay_ms = (int32_t)min_i64(g->limits->initial_rebalance_delay_ms, g->initial_remaining_ms);
        g->initial_remaining_ms = (int32_t)max_i64(g->initial_remaining_ms - g->initial_delay_ms, 0);
        g->initial_delay_ms = delay_ms;
        g->join_deadline_ms = time.now_ms + (uint64_t)delay_ms;
        group_wake_by(g, g->join_deadline_ms);
        return;
    }
    complete_join(g, time, out);
}

static void sync_deadline_reached(struct group *g, struct group_time time, struct group_output *out) {
    ASSERT(g->state == GROUP_COMPLETING_REBALANCE || g->state == GROUP_STABLE);
    g->sync_deadline_ms = GROUP_NEVER;
    LIST_FOREACH_SAFE (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        if (!m->sync_is_due) continue;
        // A static one may wait to be told that it has come back (group_store).
        if (m->awaits_join) group_refuse_parked(g, m, KAFKA_ERROR_UNKNOWN_MEMBER_ID, out);
        group_remove_member(g, m);
    }
    group_prepare_rebalance(g, time, "members have not synced in time", (struct str){0}, out);
}

// The first member whose session has ended. A member that waits for an answer of ours is not asked for heartbeats;
// a new one, whose client may be gone, may wait for GROUP_NEW_MEMBER_JOIN_MS only (trap 56).
static struct group_member *failed_member(struct group *g, uint64_t now_ms) {
    LIST_FOREACH (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        if (m->deadline_ms > now_ms) continue;
        if (m->is_new || !(m->awaits_join || m->awaits_sync)) return m;
        m->deadline_ms = GROUP_NEVER;
    }
    return NULL;
}

static struct group_pending *failed_pending(struct group *g, uint64_t now_ms) {
    LIST_FOREACH (link, &g->pending) {
        struct group_pending *pending = container_of(link, struct group_pending, link);
        if (pending->deadline_ms <= now_ms) return pending;
    }
    return NULL;
}

static uint64_t next_deadline(const struct group *g) {
    if (g->state == GROUP_DEAD) return GROUP_NEVER;
    uint64_t next_ms = g->join_deadline_ms < g->sync_deadline_ms ? g->join_deadline_ms : g->sync_deadline_ms;
    LIST_FOREACH (link, (struct list *)&g->members) {
        const struct group_member *m = container_of(link, struct group_member, link);
        if (m->deadline_ms < next_ms) next_ms = m->deadline_ms;
    }
    LIST_FOREACH (link, (struct list *)&g->pending) {
        const struct group_pending *pending = container_of(link, struct group_pending, link);
        if (pending->deadline_ms < next_ms) next_ms = pending->deadline_ms;
    }
    return next_ms;
}

void group_tick(struct group *g, struct group_time time, struct group_output *out) {
    struct group_pending *pending;
    while (g->state != GROUP_DEAD && (pending = failed_pending(g, time.now_ms)))
        group_remove_pending(g, pending);
    struct group_member *m;
    while (g->state != GROUP_DEAD && (m = failed_member(g, time.now_ms)))
        group_member_is_gone(g, m, time, "a member's session has ended", out);
    group_try_complete_join(g, time, out);
    if (g->join_deadline_ms <= time.now_ms) join_deadline_reached(g, time, out);
    if (g->sync_deadline_ms <= time.now_ms) sync_deadline_reached(g, time, out);
    g->wake_ms = next_deadline(g);
}

// ---- the end
// ---------------------------------------------------------------------------------------------------------

void group_kill(struct group *g, int16_t error, struct group_time time, struct group_output *out) {
    LIST_FOREACH (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        if (m->awaits_join) group_refuse_parked(g, m, error, out);
        group_answer_sync(g, m, error, time, out);
    }
    g->join_deadline_ms = g->sync_deadline_ms = GROUP_NEVER;
    group_enter(g, GROUP_DEAD, time, "unloaded", (struct str){0}, out);
}

void group_bury(struct group *g, struct group_time time, struct group_output *out) {
    ASSERT(g->state == GROUP_EMPTY && g->member_count == 0);
    g->join_deadline_ms = g->sync_deadline_ms = GROUP_NEVER;
    group_enter(g, GROUP_DEAD, time, "empty and without offsets", (struct str){0}, out);
}
