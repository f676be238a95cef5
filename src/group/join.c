// SPDX-License-Identifier: Apache-2.0
// JoinGroup. Without a member id: a new member, or a static one that comes back (trap 32). With one: it answers a
// rebalance, or changes what it supports, or was given the id a moment ago (KIP-394, trap 31).
#include "group/group.h"
#include "group/internal.h"

int16_t group_check_session_timeout(const struct group_limits *limits, int32_t session_timeout_ms) {
    bool allowed =
        session_timeout_ms >= limits->session_timeout_ms_min && session_timeout_ms <= limits->session_timeout_ms_max;
    return allowed ? KAFKA_ERROR_NONE : KAFKA_ERROR_INVALID_SESSION_TIMEOUT;
}

// While members join, those that have joined already count: so a group that is above its size after a change of
// configuration loses the slowest of its members.
static bool has_room(const struct group *g, struct str member_id) {
    const struct group_member *m = group_member_by_id(g, member_id);
    switch (g->state) {
    case GROUP_EMPTY:
    case GROUP_DEAD: return true;
    case GROUP_PREPARING_REBALANCE: return (m && m->awaits_join) || g->awaiting_join_count < g->limits->size_max;
    case GROUP_COMPLETING_REBALANCE:
    case GROUP_STABLE: return m || g->member_count < g->limits->size_max;
    }
    UNREACHABLE();
}

static void join_updates(struct group *g, struct group_member *m, const struct group_join *join,
                         struct group_output *out) {
    // A second JoinGroup while the first one waits: the client has given up the first.
    if (m->awaits_join && m->join_request) group_refuse_parked(g, m, KAFKA_ERROR_REBALANCE_IN_PROGRESS, out);
    group_replace_protocols(g, m, join->protocols, join->protocol_count);
    m->rebalance_timeout_ms = join->rebalance_timeout_ms;
    m->session_timeout_ms = join->session_timeout_ms;
    group_await_join(g, m, join->request);
}

static void add_and_rebalance(struct group *g, const struct group_join *join, struct str member_id,
                              struct group_time time, struct group_output *out) {
    struct group_member *m = member_create(g->memory, member_id, join->instance_id, join->client_id, join->client_host);
    m->rebalance_timeout_ms = join->rebalance_timeout_ms;
    m->session_timeout_ms = join->session_timeout_ms;
    member_set_protocols(m, join->protocols, join->protocol_count);
    m->is_new = true;
    if (g->state == GROUP_PREPARING_REBALANCE && g->generation == 0) g->new_member_added = true;
    group_add_member(g, m, join->protocol_type);
    group_await_join(g, m, join->request);
    m->deadline_ms = time.now_ms + GROUP_NEW_MEMBER_JOIN_MS;
    group_wake_by(g, m->deadline_ms);
    group_maybe_rebalance(g, time, "a new member joins", member_id, out);
}

static void rejoin(struct group *g, struct group_member *m, const struct group_join *join, struct group_time time,
                   const char *why, struct group_output *out) {
    join_updates(g, m, join, out);
    group_maybe_rebalance(g, time, why, join->member_id, out);
}

static void answer_present_generation(struct group *g, struct group_member *m, void *request, bool with_members,
                                      struct group_output *out) {
    const struct group_join_answer answer = group_join_success(g, m, with_members);
    out->join_answered(out, g, request, &answer);
}

// ---- a static member comes back under a new id
// -----------------------------------------------------------------------

static void fence(struct group *g, struct group_member *m, struct group_time time, struct group_output *out) {
    if (m->awaits_join) group_refuse_parked(g, m, KAFKA_ERROR_FENCED_INSTANCE_ID, out);
    group_answer_sync(g, m, KAFKA_ERROR_FENCED_INSTANCE_ID, time, out);
}

static void static_member_returns(struct group *g, struct group_member *m, const struct group_join *join,
                                  struct group_time time, struct group_output *out) {
    struct group_store *store = NULL;
    fence(g, m, time, out);
    if (g->state == GROUP_STABLE) {
        store = group_store_begin(g, GROUP_STORE_STATIC);
        store->old_id = str_duplicate(m->id);
        store->new_id = str_duplicate(join->new_member_id);
        store->old_leader = str_duplicate(g->leader_id);
        store->old_rebalance_timeout_ms = m->rebalance_timeout_ms;
        store->old_session_timeout_ms = m->session_timeout_ms;
        store->can_skip_assignment = join->can_skip_assignment;
    }
    group_rename_member(g, m, join->new_member_id);
    if (store) { // keeps the old metadata
        group_exchange_protocols(g, m, &store->old_protocols, &store->old_protocol_count);
        ASSERT(m->protocol_count == 0);
    }
    join_updates(g, m, join, out);
    group_session_begin(g, m, time);
    switch (g->state) {
    case GROUP_STABLE:
        // Kafka looks at the name of the protocol only: other metadata is stored, and no rebalance is made of it.
        if (!str_is_null(g->protocol_name) && str_equal(group_select_protocol(g), g->protocol_name)) {
            group_store_send(g, store, out);
        } else {
            group_store_cancel(store);
            group_prepare_rebalance(g, time, "a static member's return changes the protocol", m->id, out);
        }
        break;
    case GROUP_COMPLETING_REBALANCE:
        // The leader may be assigning to the old id at this moment.
        group_prepare_rebalance(g, time, "a static member returns while the group assigns", m->id, out);
        break;
    case GROUP_PREPARING_REBALANCE: break; // it has joined
    case GROUP_EMPTY:
    case GROUP_DEAD: UNREACHABLE();
    }
}

// ---- without a member id
// ------------------------------------------------------------------------------------------

static void join_new(struct group *g, const struct group_join *join, struct group_time time, struct group_output *out) {
    if (g->state == GROUP_DEAD)
        return group_refuse_join(g, join->request, str_of(""), KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE, out);
    if (!group_supports(g, join->protocol_type, join->protocols, join->protocol_count))
        return group_refuse_join(g, join->request, str_of(""), KAFKA_ERROR_INCONSISTENT_GROUP_PROTOCOL, out);
    struct group_member *holder =
        str_is_null(join->instance_id) ? NULL : group_member_by_instance(g, join->instance_id);
    if (holder) return static_member_returns(g, holder, join, time, out);
    if (str_is_null(join->instance_id) && join->requires_member_id) {
        group_add_pending(g, join->new_member_id, time.now_ms + (uint64_t)join->session_timeout_ms);
        return group_refuse_join(g, join->request, join->new_member_id, KAFKA_ERROR_MEMBER_ID_REQUIRED, out);
    }
    add_and_rebalance(g, join, join->new_member_id, time, out);
}

// ---- with one
// --------------------------------------------------------------------------------------------------------

static void join_known(struct group *g, struct group_member *m, const struct group_join *join, struct group_time time,
                       struct group_output *out) {
    bool same = member_matches(m, join->protocols, join->protocol_count);
    bool leads = group_is_leader(g, m->id);
    switch (g->state) {
    case GROUP_PREPARING_REBALANCE: join_updates(g, m, join, out); break;
    case GROUP_COMPLETING_REBALANCE:
        // The same again: it has not got the answer to its last JoinGroup.
        if (same) return answer_present_generation(g, m, join->request, leads, out);
        rejoin(g, m, join, time, "a member changes its metadata while the group assigns", out);
        break;
    case GROUP_STABLE:
        if (leads) return rejoin(g, m, join, time, "the leader joins again", out);
        if (same) return answer_present_generation(g, m, join->request, false, out);
        rejoin(g, m, join, time, "a member changes its metadata", out);
        break;
    case GROUP_EMPTY:
    case GROUP_DEAD: group_refuse_join(g, join->request, join->member_id, KAFKA_ERROR_UNKNOWN_MEMBER_ID, out); break;
    }
}

static void join_with_id(struct group *g, const struct group_join *join, struct group_time time,
                         struct group_output *out) {
    if (g->state == GROUP_DEAD)
        return group_refuse_join(g, join->request, join->member_id, KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE, out);
    if (!group_supports(g, join->protocol_type, join->protocols, join->protocol_count))
        return group_refuse_join(g, join->request, join->member_id, KAFKA_ERROR_INCONSISTENT_GROUP_PROTOCOL, out);
    if (group_pending_by_id(g, join->member_id)) {
        if (str_is_null(join->instance_id)) return add_and_rebalance(g, join, join->member_id, time, out);
        return group_refuse_join(g, join->request, join->member_id, KAFKA_ERROR_UNKNOWN_MEMBER_ID, out);
    }
    int16_t error = group_check_member(g, join->member_id, join->instance_id);
    if (error != KAFKA_ERROR_NONE) return group_refuse_join(g, join->request, join->member_id, error, out);
    join_known(g, group_member_by_id(g, join->member_id), join, time, out);
}

void group_join(struct group *g, const struct group_join *join, struct group_time time, struct group_output *out) {
    ASSERT(join->request != NULL && join->new_member_id.size > 0);
    struct group_member *m = group_member_by_id(g, join->member_id);
    size_t size = member_size(join->new_member_id, join->client_id, join->protocols, join->protocol_count);
    if (!has_room(g, join->member_id) || !group_memory_fits(g->memory, size)) {
        struct group_pending *pending = group_pending_by_id(g, join->member_id);
        if (pending) group_remove_pending(g, pending);
        if (m && g->state == GROUP_PREPARING_REBALANCE && !m->awaits_join) group_remove_member(g, m);
        group_refuse_join(g, join->request, str_of(""), KAFKA_ERROR_GROUP_MAX_SIZE_REACHED, out);
    } else if (join->member_id.size == 0) {
        join_new(g, join, time, out);
    } else {
        join_with_id(g, join, time, out);
    }
    group_try_complete_join(g, time, out);
}
