// SPDX-License-Identifier: Apache-2.0
// The group's record on its way to the log. Its fate comes back by number; what has been overtaken by another
// generation meanwhile no longer matters.
#include "group/group.h"
#include "group/internal.h"
#include <stdlib.h>

struct group_store *group_store_begin(struct group *g, enum group_store_kind kind) {
    struct group_store *store = calloc(1, sizeof *store);
    ASSERT(store != NULL);
    store->id = ++g->last_store_id;
    store->kind = kind;
    store->generation = g->generation;
    list_init(&store->link);
    list_push_back(&g->stores, &store->link);
    return store;
}

void group_store_send(struct group *g, struct group_store *store, struct group_output *out) {
    out->store(out, g, store->id);
}

static void store_free(struct group_store *store) {
    list_remove(&store->link);
    str_free(&store->old_id);
    str_free(&store->new_id);
    str_free(&store->old_leader);
    protocols_free(store->old_protocols, store->old_protocol_count);
    free(store);
}

void group_store_cancel(struct group_store *store) {
    store_free(store);
}

void group_stores_free(struct group *g) {
    LIST_FOREACH_SAFE (link, &g->stores) {
        store_free(container_of(link, struct group_store, link));
    }
}

static void assignment_stored(struct group *g, const struct group_store *store, int16_t error, struct group_time time,
                              struct group_output *out) {
    if (g->state != GROUP_COMPLETING_REBALANCE || g->generation != store->generation) return;
    g->assignment_is_being_stored = false;
    if (error == KAFKA_ERROR_NONE) group_enter(g, GROUP_STABLE, time, "the assignment is stored", g->leader_id, out);
    LIST_FOREACH (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        if (error == KAFKA_ERROR_NONE) {
            member_adopt_next_assignment(m);
        } else {
            member_set_assignment(m, (struct bytes){(const uint8_t *)"", 0});
            member_set_next_assignment(m, (struct bytes){0});
        }
        group_answer_sync(g, m, error, time, out);
    }
    if (error != KAFKA_ERROR_NONE)
        group_maybe_rebalance(g, time, "the assignment could not be stored", (struct str){0}, out);
}

static void static_member_reverts(struct group *g, struct group_store *store, struct group_member *m, int16_t error,
                                  struct group_time time, struct group_output *out) {
    if (m->awaits_join) { // it is answered with what it asked for: nothing
        struct group_join_answer answer = group_join_success(g, m, false);
        answer.error = error;
        answer.member_id = str_of("");
        answer.leader = str_is_null(store->old_leader) ? str_of("") : store->old_leader;
        group_answer_join(g, m, &answer, out);
    }
    group_exchange_protocols(g, m, &store->old_protocols, &store->old_protocol_count);
    m->rebalance_timeout_ms = store->old_rebalance_timeout_ms;
    m->session_timeout_ms = store->old_session_timeout_ms;
    group_rename_member(g, m, store->old_id);
    group_session_begin(g, m, time);
}

// From JoinGroup v9 on the leader learns that it leads but need not assign. Before, it is told the old leader's id:
// then it does not take itself for the leader, and nobody assigns (trap 32).
static void static_member_stored(struct group *g, struct group_store *store, int16_t error, struct group_time time,
                                 struct group_output *out) {
    struct group_member *m = group_member_by_id(g, store->new_id);
    // Replaced again, removed, or drawn into a rebalance meanwhile: then that answers it.
    if (!m || g->state != GROUP_STABLE || g->generation != store->generation) return;
    if (error != KAFKA_ERROR_NONE) return static_member_reverts(g, store, m, error, time, out);
    bool leads = group_is_leader(g, m->id);
    struct group_join_answer answer = group_join_success(g, m, store->can_skip_assignment && leads);
    answer.skip_assignment = store->can_skip_assignment && leads;
    if (!store->can_skip_assignment) answer.leader = str_is_null(store->old_leader) ? str_of("") : store->old_leader;
    group_answer_join(g, m, &answer, out);
    group_session_begin(g, m, time);
}

void group_stored(struct group *g, uint64_t store_id, int16_t error, struct group_time time, struct group_output *out) {
    LIST_FOREACH_SAFE (link, &g->stores) {
        struct group_store *store = container_of(link, struct group_store, link);
        if (store->id != store_id) continue;
        switch (store->kind) {
        case GROUP_STORE_ASSIGNMENT: assignment_stored(g, store, error, time, out); break;
        case GROUP_STORE_EMPTY: break; // if it was lost, the generation before comes back at the next load, and ends
        case GROUP_STORE_STATIC: static_member_stored(g, store, error, time, out); break;
        }
        store_free(store);
        return;
    }
    UNREACHABLE();
}
