// SPDX-License-Identifier: Apache-2.0
// What the events share: members by id and by instance id, protocols that all support, answers.
#include "group/group.h"
#include "group/internal.h"
#include <stdlib.h>

const char *group_state_name(enum group_state state) {
    static const char *const names[] = {"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"};
    ASSERT(state >= GROUP_EMPTY && state <= GROUP_DEAD);
    return names[state];
}

enum { GROUP_OVERHEAD_BYTES = sizeof(struct group) + 256 };

struct group *group_create(struct str id, int64_t wall_ms, const struct group_limits *limits,
                           struct group_memory *memory, struct offset_topics *topics, uint64_t hash_seed) {
    struct group *g = calloc(1, sizeof *g);
    ASSERT(g != NULL);
    g->id = str_duplicate(id);
    g->limits = limits;
    g->memory = memory;
    g->hash_seed = hash_seed;
    g->state_time_ms = wall_ms;
    g->join_deadline_ms = g->sync_deadline_ms = g->wake_ms = GROUP_NEVER;
    list_init(&g->link);
    list_init(&g->members);
    list_init(&g->pending);
    list_init(&g->stores);
    hashmap_init(&g->by_id);
    hashmap_init(&g->by_instance);
    hashmap_init(&g->supports);
    hashmap_init(&g->pending_by_id);
    offsets_init(&g->offsets, topics);
    group_memory_take(memory, GROUP_OVERHEAD_BYTES + id.size);
    return g;
}

void group_free(struct group *g) {
    ASSERT(g->state == GROUP_DEAD && g->writes == 0 && !list_is_linked(&g->link));
    LIST_FOREACH_SAFE (link, &g->members) {
        group_remove_member(g, container_of(link, struct group_member, link));
    }
    LIST_FOREACH_SAFE (link, &g->pending) {
        group_remove_pending(g, container_of(link, struct group_pending, link));
    }
    group_stores_free(g);
    offsets_free(&g->offsets);
    ASSERT(g->by_id.count == 0 && g->by_instance.count == 0 && g->supports.count == 0);
    hashmap_free(&g->by_id);
    hashmap_free(&g->by_instance);
    hashmap_free(&g->supports);
    hashmap_free(&g->pending_by_id);
    group_memory_give(g->memory, GROUP_OVERHEAD_BYTES + g->id.size);
    str_free(&g->id);
    str_free(&g->protocol_type);
    str_free(&g->protocol_name);
    str_free(&g->leader_id);
    free(g);
}

static bool transition_is_allowed(enum group_state from, enum group_state to) {
    switch (to) {
    case GROUP_EMPTY: return from == GROUP_PREPARING_REBALANCE;
    case GROUP_PREPARING_REBALANCE:
        return from == GROUP_EMPTY || from == GROUP_COMPLETING_REBALANCE || from == GROUP_STABLE;
    case GROUP_COMPLETING_REBALANCE: return from == GROUP_PREPARING_REBALANCE;
    case GROUP_STABLE: return from == GROUP_COMPLETING_REBALANCE;
    case GROUP_DEAD: return true;
    }
    UNREACHABLE();
}

void group_enter(struct group *g, enum group_state state, struct group_time time, const char *why, struct str member_id,
                 struct group_output *out) {
    enum group_state before = g->state;
    ASSERT(transition_is_allowed(before, state));
    g->state = state;
    g->state_time_ms = time.wall_ms;
    out->changed(out, g, before, why, member_id);
}

// ---- members
// ---------------------------------------------------------------------------------------------------------

static bool member_has_id(const struct hash_node *node, const void *id) {
    return str_equal(container_of(node, struct group_member, id_node)->id, *(const struct str *)id);
}
static bool member_has_instance(const struct hash_node *node, const void *id) {
    return str_equal(container_of(node, struct group_member, static_node)->instance_id, *(const struct str *)id);
}
static bool support_has_name(const struct hash_node *node, const void *name) {
    return str_equal(container_of(node, struct group_support, node)->name, *(const struct str *)name);
}

struct group_member *group_member_by_id(const struct group *g, struct str id) {
    struct hash_node *node = hashmap_find(&g->by_id, hash_str(g->hash_seed, id), member_has_id, &id);
    return node ? container_of(node, struct group_member, id_node) : NULL;
}

struct group_member *group_member_by_instance(const struct group *g, struct str instance_id) {
    struct hash_node *node =
        hashmap_find(&g->by_instance, hash_str(g->hash_seed, instance_id), member_has_instance, &instance_id);
    return node ? container_of(node, struct group_member, static_node) : NULL;
}

static struct group_support *support_find(const struct group *g, struct str name) {
    struct hash_node *node = hashmap_find(&g->supports, hash_str(g->hash_seed, name), support_has_name, &name);
    return node ? container_of(node, struct group_support, node) : NULL;
}

static void supports_add(struct group *g, const struct group_member *m) {
    for (int32_t i = 0; i < m->protocol_count; i++) {
        struct group_support *s = support_find(g, m->protocols[i].name);
        if (!s) {
            s = calloc(1, sizeof *s);
            ASSERT(s != NULL);
            s->name = str_duplicate(m->protocols[i].name);
            hashmap_insert(&g->supports, &s->node, hash_str(g->hash_seed, s->name));
        }
        s->members++;
    }
}

static void supports_remove(struct group *g, const struct group_member *m) {
    for (int32_t i = 0; i < m->protocol_count; i++) {
        struct group_support *s = support_find(g, m->protocols[i].name);
        ASSERT(s != NULL && s->members > 0);
        if (--s->members > 0) continue;
        hashmap_remove(&g->supports, &s->node);
        str_free(&s->name);
        free(s);
    }
}

static void set_text(struct str *text, struct str value) {
    struct str copy = str_duplicate(value);
    str_free(text);
    *text = copy;
}

void group_add_member(struct group *g, struct group_member *m, struct str protocol_type) {
    ASSERT(!group_member_by_id(g, m->id));
    if (list_is_empty(&g->members)) set_text(&g->protocol_type, protocol_type);
    ASSERT(str_equal(g->protocol_type, protocol_type));
    if (str_is_null(g->leader_id)) set_text(&g->leader_id, m->id);
    list_push_back(&g->members, &m->link);
    hashmap_insert(&g->by_id, &m->id_node, hash_str(g->hash_seed, m->id));
    if (member_is_static(m)) {
        ASSERT(!group_member_by_instance(g, m->instance_id));
        hashmap_insert(&g->by_instance, &m->static_node, hash_str(g->hash_seed, m->instance_id));
    }
    g->member_count++;
    supports_add(g, m);
    struct group_pending *pending = group_pending_by_id(g, m->id);
    if (pending) group_remove_pending(g, pending);
}

void group_remove_member(struct group *g, struct group_member *m) {
    ASSERT(m->join_request == NULL && m->sync_request == NULL);
    if (m->awaits_join) g->awaiting_join_count--;
    if (m->sync_is_due) g->sync_due_count--;
    m->awaits_join = m->sync_is_due = false;
    supports_remove(g, m);
    hashmap_remove(&g->by_id, &m->id_node);
    if (member_is_static(m)) hashmap_remove(&g->by_instance, &m->static_node);
    list_remove(&m->link);
    g->member_count--;
    if (group_is_leader(g, m->id)) {
        struct list *first = list_front(&g->members);
        set_text(&g->leader_id, first ? container_of(first, struct group_member, link)->id : (struct str){0});
    }
    member_free(m);
}

void group_rename_member(struct group *g, struct group_member *m, struct str id) {
    bool leads = group_is_leader(g, m->id);
    hashmap_remove(&g->by_id, &m->id_node);
    member_set_id(m, id);
    ASSERT(!group_member_by_id(g, m->id));
    hashmap_insert(&g->by_id, &m->id_node, hash_str(g->hash_seed, m->id));
    if (leads) set_text(&g->leader_id, m->id);
}

void group_replace_protocols(struct group *g, struct group_member *m, const struct group_protocol *protocols,
                             int32_t count) {
    supports_remove(g, m);
    member_set_protocols(m, protocols, count);
    supports_add(g, m);
}

void group_exchange_protocols(struct group *g, struct group_member *m, struct group_protocol **protocols,
                              int32_t *count) {
    supports_remove(g, m);
    member_exchange_protocols(m, protocols, count);
    supports_add(g, m);
}

int16_t group_check_member(const struct group *g, struct str member_id, struct str instance_id) {
    if (!str_is_null(instance_id)) {
        const struct group_member *holder = group_member_by_instance(g, instance_id);
        if (!holder) return KAFKA_ERROR_UNKNOWN_MEMBER_ID;
        return str_equal(holder->id, member_id) ? KAFKA_ERROR_NONE : KAFKA_ERROR_FENCED_INSTANCE_ID;
    }
    return group_member_by_id(g, member_id) ? KAFKA_ERROR_NONE : KAFKA_ERROR_UNKNOWN_MEMBER_ID;
}

int32_t group_rebalance_timeout_ms(const struct group *g) {
    int32_t timeout_ms = 0;
    LIST_FOREACH (link, &g->members) {
        const struct group_member *m = container_of(link, struct group_member, link);
        if (m->rebalance_timeout_ms > timeout_ms) timeout_ms = m->rebalance_timeout_ms;
    }
    return timeout_ms;
}

// ---- pending ids
// -----------------------------------------------------------------------------------------------------

static bool pending_has_id(const struct hash_node *node, const void *id) {
    return str_equal(container_of(node, struct group_pending, node)->id, *(const struct str *)id);
}

struct group_pending *group_pending_by_id(const struct group *g, struct str id) {
    struct hash_node *node = hashmap_find(&g->pending_by_id, hash_str(g->hash_seed, id), pending_has_id, &id);
    return node ? container_of(node, struct group_pending, node) : NULL;
}

void group_add_pending(struct group *g, struct str id, uint64_t deadline_ms) {
    struct group_pending *pending = calloc(1, sizeof *pending);
    ASSERT(pending != NULL);
    pending->id = str_duplicate(id);
    pending->deadline_ms = deadline_ms;
    list_init(&pending->link);
    list_push_back(&g->pending, &pending->link);
    hashmap_insert(&g->pending_by_id, &pending->node, hash_str(g->hash_seed, id));
    group_wake_by(g, deadline_ms);
    g->pending_count++;
    group_memory_take(g->memory, sizeof *pending + pending->id.size);
}

void group_remove_pending(struct group *g, struct group_pending *pending) {
    group_memory_give(g->memory, sizeof *pending + pending->id.size);
    list_remove(&pending->link);
    hashmap_remove(&g->pending_by_id, &pending->node);
    g->pending_count--;
    str_free(&pending->id);
    free(pending);
}

// ---- protocols
// -------------------------------------------------------------------------------------------------------

bool group_supports(const struct group *g, struct str protocol_type, const struct group_protocol *protocols,
                    int32_t count) {
    if (g->state == GROUP_EMPTY) return protocol_type.size > 0 && count > 0;
    if (!str_equal(g->protocol_type, protocol_type)) return false;
    for (int32_t i = 0; i < count; i++) {
        const struct group_support *s = support_find(g, protocols[i].name);
        if ((s ? s->members : 0) == g->member_count) return true;
    }
    return false;
}

struct str group_select_protocol(struct group *g) {
    ASSERT(!list_is_empty(&g->members));
    // Votes are counted in the order of the members, so that the result does not depend on hashes.
    struct vote {
        struct str name;
        int32_t votes;
    } *votes = calloc((size_t)g->member_count, sizeof *votes);
    ASSERT(votes != NULL);
    int32_t vote_count = 0, best = 0;
    LIST_FOREACH (link, &g->members) {
        const struct group_member *m = container_of(link, struct group_member, link);
        int32_t i = 0;
        while (i < m->protocol_count && support_find(g, m->protocols[i].name)->members != g->member_count)
            i++;
        if (i == m->protocol_count) continue; // its protocols changed so that there is none in common any more
        int32_t v = 0;
        while (v < vote_count && !str_equal(votes[v].name, m->protocols[i].name))
            v++;
        if (v == vote_count) votes[vote_count++].name = m->protocols[i].name;
        votes[v].votes++;
        if (votes[v].votes > votes[best].votes) best = v;
    }
    struct str chosen = vote_count > 0 ? votes[best].name : (struct str){0};
    free(votes);
    return chosen;
}

void group_next_generation(struct group *g, struct group_time time, struct group_output *out) {
    g->generation = g->generation == INT32_MAX ? 1 : g->generation + 1;
    g->assignment_is_being_stored = false;
    bool is_empty = list_is_empty(&g->members);
    set_text(&g->protocol_name, is_empty ? (struct str){0} : group_select_protocol(g));
    LIST_FOREACH (link, &g->members)
        container_of(link, struct group_member, link)->sync_is_due = false;
    g->sync_due_count = 0;
    group_enter(g, is_empty ? GROUP_EMPTY : GROUP_COMPLETING_REBALANCE, time,
                is_empty ? "no member is left" : "everybody has joined", (struct str){0}, out);
}

// ---- answers
// ---------------------------------------------------------------------------------------------------------

void group_await_join(struct group *g, struct group_member *m, void *request) {
    if (!m->awaits_join) g->awaiting_join_count++;
    m->awaits_join = true;
    m->join_request = request;
}

static void join_stops_waiting(struct group *g, struct group_member *m) {
    ASSERT(m->awaits_join && g->awaiting_join_count > 0);
    m->awaits_join = false;
    m->join_request = NULL;
    g->awaiting_join_count--;
}

void group_answer_join(struct group *g, struct group_member *m, const struct group_join_answer *answer,
                       struct group_output *out) {
    if (!m->awaits_join) return;
    void *request = m->join_request;
    join_stops_waiting(g, m);
    if (request) out->join_answered(out, g, request, answer);
}

void group_refuse_join(struct group *g, void *request, struct str member_id, int16_t error, struct group_output *out) {
    const struct group_join_answer answer = {
        .error = error, .generation = -1, .leader = str_of(""), .member_id = member_id};
    out->join_answered(out, g, request, &answer);
}

void group_refuse_parked(struct group *g, struct group_member *m, int16_t error, struct group_output *out) {
    const struct group_join_answer answer = {
        .error = error, .generation = -1, .leader = str_of(""), .member_id = m->id};
    group_answer_join(g, m, &answer, out);
}

struct group_join_answer group_join_success(const struct group *g, const struct group_member *m, bool with_members) {
    return (struct group_join_answer){.generation = g->generation,
                                      .protocol_type = g->protocol_type,
                                      .protocol_name = g->protocol_name,
                                      .leader = str_is_null(g->leader_id) ? str_of("") : g->leader_id,
                                      .member_id = m->id,
                                      .with_members = with_members};
}

void group_answer_sync(struct group *g, struct group_member *m, int16_t error, struct group_time time,
                       struct group_output *out) {
    if (!m->awaits_sync) return;
    void *request = m->sync_request;
    m->awaits_sync = false;
    m->sync_request = NULL;
    struct group_sync_answer answer = {.error = error, .assignment = m->assignment};
    if (error == KAFKA_ERROR_NONE) {
        answer.protocol_type = g->protocol_type;
        answer.protocol_name = g->protocol_name;
    }
    if (request) out->sync_answered(out, g, request, &answer);
    group_session_begin(g, m, time); // while it waited, its session could not end
}

void group_forget(struct group *g, void *request) {
    ASSERT(request != NULL);
    LIST_FOREACH (link, &g->members) {
        struct group_member *m = container_of(link, struct group_member, link);
        if (m->join_request == request) m->join_request = NULL;
        if (m->sync_request == request) m->sync_request = NULL;
    }
}

bool group_has_offsets(const struct group *g) {
    return g->offsets.committed_count > 0 || g->offsets.pending_count > 0;
}

// ---- loading
// ------------------------------------------------------------------------------------------------------

void group_load(struct group *g, const struct group_load *load) {
    ASSERT(g->state == GROUP_EMPTY || g->state == GROUP_STABLE);
    LIST_FOREACH_SAFE (link, &g->members) {
        group_remove_member(g, container_of(link, struct group_member, link));
    }
    const struct str none = {0};
    g->state = GROUP_EMPTY; // GROUP_STABLE once it has a member
    g->generation = load->generation;
    g->state_time_ms = load->state_time_ms;
    set_text(&g->protocol_type, load->protocol_type.size > 0 ? load->protocol_type : none);
    set_text(&g->protocol_name, load->protocol_name);
    set_text(&g->leader_id, load->leader_id);
}

bool group_load_member(struct group *g, struct group_member *m) {
    if (str_is_null(g->protocol_type) || str_is_null(g->protocol_name) || group_member_by_id(g, m->id)) return false;
    if (member_is_static(m) && group_member_by_instance(g, m->instance_id)) return false;
    struct str type = str_duplicate(g->protocol_type);
    group_add_member(g, m, type);
    str_free(&type);
    g->state = GROUP_STABLE; // no event: it was so when the record was written
    return true;
}

void group_loaded(struct group *g, struct group_time time, struct group_output *out) {
    ASSERT(g->state == GROUP_EMPTY || g->state == GROUP_STABLE);
    LIST_FOREACH (link, &g->members)
        group_session_begin(g, container_of(link, struct group_member, link), time);
    // A record names a leader that is a member; but bytes from a disk are not to be relied on.
    if (str_is_null(g->leader_id) || !group_member_by_id(g, g->leader_id)) {
        struct list *first = list_front(&g->members);
        set_text(&g->leader_id, first ? container_of(first, struct group_member, link)->id : (struct str){0});
    }
    if (g->member_count > g->limits->size_max)
        group_prepare_rebalance(g, time, "the group is larger than group.max.size", (struct str){0}, out);
}
