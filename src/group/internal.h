// SPDX-License-Identifier: Apache-2.0
// What the files of the group's state machine share.
#pragma once

#include "group/group.h"
#include "tailrace/error.h"

// ---- group.c
void group_enter(struct group *g, enum group_state state, struct group_time time, const char *why, struct str member_id,
                 struct group_output *out);
void group_add_member(struct group *g, struct group_member *m, struct str protocol_type);
// Not waiting any more; it is freed, the leader passed on.
void group_remove_member(struct group *g, struct group_member *m);
void group_rename_member(struct group *g, struct group_member *m, struct str id);
void group_replace_protocols(struct group *g, struct group_member *m, const struct group_protocol *protocols,
                             int32_t count);
void group_exchange_protocols(struct group *g, struct group_member *m, struct group_protocol **protocols,
                              int32_t *count);
bool group_supports(const struct group *g, struct str protocol_type, const struct group_protocol *protocols,
                    int32_t count);
// The one that most members vote for among those that all support; a view.
struct str group_select_protocol(struct group *g);
void group_next_generation(struct group *g, struct group_time time, struct group_output *out);
int32_t group_rebalance_timeout_ms(const struct group *g);

struct group_pending *group_pending_by_id(const struct group *g, struct str id);
void group_add_pending(struct group *g, struct str id, uint64_t deadline_ms);
void group_remove_pending(struct group *g, struct group_pending *pending);

// NONE, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
int16_t group_check_member(const struct group *g, struct str member_id, struct str instance_id);
static inline void group_wake_by(struct group *g, uint64_t deadline_ms) {
    if (deadline_ms < g->wake_ms) g->wake_ms = deadline_ms;
}
static inline void group_session_begin(struct group *g, struct group_member *m, struct group_time time) {
    m->deadline_ms = time.now_ms + (uint64_t)m->session_timeout_ms;
    group_wake_by(g, m->deadline_ms);
}
void group_await_join(struct group *g, struct group_member *m, void *request);
void group_answer_join(struct group *g, struct group_member *m, const struct group_join_answer *answer,
                       struct group_output *out);
// An error to a JoinGroup that does not wait.
void group_refuse_join(struct group *g, void *request, struct str member_id, int16_t error, struct group_output *out);
// The same to a member that waits in one.
void group_refuse_parked(struct group *g, struct group_member *m, int16_t error, struct group_output *out);
// To the member's SyncGroup, if it waits in one.
void group_answer_sync(struct group *g, struct group_member *m, int16_t error, struct group_time time,
                       struct group_output *out);
struct group_join_answer group_join_success(const struct group *g, const struct group_member *m, bool with_members);

// ---- rebalance.c
void group_maybe_rebalance(struct group *g, struct group_time time, const char *why, struct str member_id,
                           struct group_output *out);
void group_prepare_rebalance(struct group *g, struct group_time time, const char *why, struct str member_id,
                             struct group_output *out);
// Ends the join phase if everybody has come.
void group_try_complete_join(struct group *g, struct group_time time, struct group_output *out);
void group_sync_has_come(struct group *g, struct group_member *m);
// Gone: the group rebalances without it. A JoinGroup in which it waits is told UNKNOWN_MEMBER_ID.
void group_member_is_gone(struct group *g, struct group_member *m, struct group_time time, const char *why,
                          struct group_output *out);

// ---- store.c
struct group_store *group_store_begin(struct group *g, enum group_store_kind kind);
void group_store_send(struct group *g, struct group_store *store, struct group_output *out);
// It was begun and is not sent.
void group_store_cancel(struct group_store *store);
void group_stores_free(struct group *g);
