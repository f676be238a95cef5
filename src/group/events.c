// SPDX-License-Identifier: Apache-2.0
// SyncGroup, Heartbeat, LeaveGroup, whether offsets may be committed or deleted, and which are due to go.
//
// The member is looked at before the generation (trap 72): whoever is not a member learns that first.
#include "group/group.h"
#include "group/internal.h"
#include "protocol/wire.h"

static int16_t check_generation(const struct group *g, struct str member_id, struct str instance_id,
                                int32_t generation) {
    if (g->state == GROUP_DEAD) return KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    int16_t error = group_check_member(g, member_id, instance_id);
    if (error != KAFKA_ERROR_NONE) return error;
#ifdef TAILRACE_PLANT_ANY_GENERATION
    return KAFKA_ERROR_NONE;
#endif
    return generation == g->generation ? KAFKA_ERROR_NONE : KAFKA_ERROR_ILLEGAL_GENERATION;
}

// ---- sync
// ------------------------------------------------------------------------------------------------------------

static int16_t check_sync(const struct group *g, const struct group_sync *sync) {
    int16_t error = check_generation(g, sync->member_id, sync->instance_id, sync->generation);
    if (error != KAFKA_ERROR_NONE) return error;
    if (!str_is_null(sync->protocol_type) && !str_equal(sync->protocol_type, g->protocol_type))
        return KAFKA_ERROR_INCONSISTENT_GROUP_PROTOCOL;
    if (!str_is_null(sync->protocol_name) && !str_equal(sync->protocol_name, g->protocol_name))
        return KAFKA_ERROR_INCONSISTENT_GROUP_PROTOCOL;
    return KAFKA_ERROR_NONE;
}

static void refuse_sync(struct group *g, void *request, int16_t error, struct group_output *out) {
    const struct group_sync_answer answer = {.error = error, .assignment = {(const uint8_t *)"", 0}};
    out->sync_answered(out, g, request, &answer);
}

static size_t assignments_size(const struct group_sync *sync) {
    size_t size = 0;
    for (int32_t i = 0; i < sync->assignment_count; i++)
        size += sync->assignments[i].assignment.size;
    return size;
}

// Who is not named gets an empty assignment; who is named but is not a member is nobody.
static void assignment_arrives(struct group *g, const struct group_sync *sync, struct group_output *out) {
    LIST_FOREACH (link, &g->members) {
        member_set_next_assignment(container_of(link, struct group_member, link),
                                   (struct bytes){(const uint8_t *)"", 0});
    }
    for (int32_t i = 0; i < sync->assignment_count; i++) {
        struct group_member *m = group_member_by_id(g, sync->assignments[i].member_id);
        if (m && sync->assignments[i].assignment.data) member_set_next_assignment(m, sync->assignments[i].assignment);
    }
    g->assignment_is_being_stored = true;
    group_store_send(g, group_store_begin(g, GROUP_STORE_ASSIGNMENT), out);
}

static void sync_waits(struct group *g, struct group_member *m, const struct group_sync *sync,
                       struct group_output *out) {
    bool leads = group_is_leader(g, m->id);
    if (leads && !group_memory_fits(g->memory, assignments_size(sync)))
        return refuse_sync(g, sync->request, KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE, out);
    if (m->awaits_sync && m->sync_request) // its client has given up the first one
        refuse_sync(g, m->sync_request, KAFKA_ERROR_REBALANCE_IN_PROGRESS, out);
    m->awaits_sync = true;
    m->sync_request = sync->request;
    group_sync_has_come(g, m);
    // A leader that repeats itself waits for the record that is on its way.
    if (leads && !g->assignment_is_being_stored) assignment_arrives(g, sync, out);
}

void group_sync(struct group *g, const struct group_sync *sync, struct group_time time, struct group_output *out) {
    ASSERT(sync->request != NULL);
    int16_t error = check_sync(g, sync);
    if (error != KAFKA_ERROR_NONE) return refuse_sync(g, sync->request, error, out);
    struct group_member *m = group_member_by_id(g, sync->member_id);
    switch (g->state) {
    case GROUP_EMPTY:
    case GROUP_DEAD: return refuse_sync(g, sync->request, KAFKA_ERROR_UNKNOWN_MEMBER_ID, out);
    case GROUP_PREPARING_REBALANCE: return refuse_sync(g, sync->request, KAFKA_ERROR_REBALANCE_IN_PROGRESS, out);
    case GROUP_COMPLETING_REBALANCE: return sync_waits(g, m, sync, out);
    case GROUP_STABLE: break;
    }
    group_sync_has_come(g, m);
    const struct group_sync_answer answer = {KAFKA_ERROR_NONE, g->protocol_type, g->protocol_name, m->assignment};
    out->sync_answered(out, g, sync->request, &answer);
    group_session_begin(g, m, time);
}

// ---- heartbeat, leave, commit
// ----------------------------------------------------------------------------------------

int16_t group_heartbeat(struct group *g, struct str member_id, struct str instance_id, int32_t generation,
                        struct group_time time) {
    int16_t error = check_generation(g, member_id, instance_id, generation);
    if (error != KAFKA_ERROR_NONE) return error;
    if (g->state == GROUP_EMPTY) return KAFKA_ERROR_UNKNOWN_MEMBER_ID;
    group_session_begin(g, group_member_by_id(g, member_id), time);
    return g->state == GROUP_PREPARING_REBALANCE ? KAFKA_ERROR_REBALANCE_IN_PROGRESS : KAFKA_ERROR_NONE;
}

int16_t group_leave(struct group *g, struct str member_id, struct str instance_id, struct group_time time,
                    struct group_output *out) {
    if (g->state == GROUP_DEAD) return KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    struct group_member *m;
    if (member_id.size == 0) { // an operator removes a static member by its instance id
        m = str_is_null(instance_id) ? NULL : group_member_by_instance(g, instance_id);
        if (!m) return KAFKA_ERROR_UNKNOWN_MEMBER_ID;
    } else {
        struct group_pending *pending = group_pending_by_id(g, member_id);
        if (pending) {
            group_remove_pending(g, pending);
            group_try_complete_join(g, time, out);
            return KAFKA_ERROR_NONE;
        }
        int16_t error = group_check_member(g, member_id, instance_id);
        if (error != KAFKA_ERROR_NONE) return error;
        m = group_member_by_id(g, member_id);
    }
    group_member_is_gone(g, m, time, "a member leaves", out);
    return KAFKA_ERROR_NONE;
}

int16_t group_check_commit(struct group *g, struct str member_id, struct str instance_id, int32_t generation,
                           struct group_time time) {
    if (g->state == GROUP_DEAD) return KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    // A consumer that assigns its partitions itself, or an operator.
    if (generation < 0 && g->state == GROUP_EMPTY) return KAFKA_ERROR_NONE;
    if (generation < 0 && member_id.size == 0 && str_is_null(instance_id)) return KAFKA_ERROR_UNKNOWN_MEMBER_ID;
    int16_t error = check_generation(g, member_id, instance_id, generation);
    if (error != KAFKA_ERROR_NONE) return error;
    // Members still learn by their heartbeats that the group rebalances: until they join they may commit.
    if (g->state == GROUP_COMPLETING_REBALANCE) return KAFKA_ERROR_REBALANCE_IN_PROGRESS;
    group_session_begin(g, group_member_by_id(g, member_id), time);
    return KAFKA_ERROR_NONE;
}

// ---- subscriptions
// --------------------------------------------------------------------------------------------------

// Calls topic() for each topic that a member subscribes to; false when it is not known to what (its metadata is not
// that of the consumer protocol). All versions of it begin like version 0.
static bool member_each_topic(const struct group *g, const struct group_member *m,
                              bool (*topic)(void *context, struct str name), void *context, bool *stopped) {
    const struct group_protocol *protocol = str_is_null(g->protocol_name) ? NULL : member_protocol(m, g->protocol_name);
    if (!protocol || !protocol->metadata.data) return false;
    struct reader r = reader_of(protocol->metadata);
    read_int16(&r);
    int32_t count = read_count(&r, false, 2);
    for (int32_t i = 0; i < count && !r.error; i++) {
        struct str name = read_string(&r, false);
        if (!r.error && topic(context, name)) {
            *stopped = true;
            return true;
        }
    }
    return !r.error;
}

// False: not known.
static bool group_each_topic(const struct group *g, bool (*topic)(void *context, struct str name), void *context,
                             bool *stopped) {
    *stopped = false;
    LIST_FOREACH (link, (struct list *)&g->members) {
        if (!member_each_topic(g, container_of(link, struct group_member, link), topic, context, stopped)) return false;
        if (*stopped) return true;
    }
    return true;
}

static bool topic_is_asked(void *context, struct str name) {
    return str_equal(name, *(struct str *)context);
}

bool group_is_subscribed(const struct group *g, struct str topic) {
    if (g->state == GROUP_EMPTY) return false;
    bool found;
    bool known = group_each_topic(g, topic_is_asked, &topic, &found);
    return !known || found; // what is not known is taken as subscribed, to be safe
}

int16_t group_check_delete_offsets(const struct group *g) {
    if (g->state == GROUP_DEAD) return KAFKA_ERROR_GROUP_ID_NOT_FOUND;
    return g->state == GROUP_EMPTY || group_is_consumer_group(g) ? KAFKA_ERROR_NONE : KAFKA_ERROR_NON_EMPTY_GROUP;
}

// ---- expiry
// ---------------------------------------------------------------------------------------------------------

static bool topic_mark(void *context, struct str name) {
    struct offset_topics *topics = context;
    struct offset_topic *topic = offset_topic_find(topics, name);
    if (topic) topic->mark = topics->last_mark;
    return false;
}

static bool offset_is_due(const struct group *g, const struct offset *offset, bool counts_from_empty, int64_t wall_ms,
                          int64_t retention_ms) {
    if (offset->pending || !offset->is_committed) return false;
    if (offset->value.expire_time_ms >= 0) return wall_ms >= offset->value.expire_time_ms;
    int64_t from_ms = counts_from_empty && g->state_time_ms >= 0 ? g->state_time_ms : offset->value.commit_time_ms;
    return wall_ms - max_i64(from_ms, 0) >= retention_ms; // what a log holds may be any number
}

size_t group_expire_offsets(struct group *g, int64_t wall_ms, int64_t retention_ms,
                            void (*row)(void *context, const struct offset *offset), void *context) {
    struct offset_topics *topics = g->offsets.topics;
    uint64_t subscribed = ++topics->last_mark;
    bool counts_from_empty = false, stopped;
    if (g->state == GROUP_EMPTY && !str_is_null(g->protocol_type)) {
        counts_from_empty = true; // it had members: from the moment that the last one left
    } else if (g->state == GROUP_STABLE && group_is_consumer_group(g)) {
        if (!group_each_topic(g, topic_mark, topics, &stopped)) return 0;
    } else if (!str_is_null(g->protocol_type)) {
        return 0;
    }
    size_t count = 0;
    LIST_FOREACH_SAFE (link, &g->offsets.all) {
        struct offset *offset = container_of(link, struct offset, owner_link);
        if (offset->topic->mark == subscribed) continue;
        if (!offset_is_due(g, offset, counts_from_empty, wall_ms, retention_ms)) continue;
        row(context, offset);
        offset_remove(offset);
        count++;
    }
    return count;
}
