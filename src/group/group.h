// SPDX-License-Identifier: Apache-2.0
// A classic consumer group as a state machine apart from I/O: an event and the time go in, the state changes, and what
// is to be done comes out through struct group_output. It knows no core, no log and no clock; groups.c drives it.
//
//   Empty --join--> PreparingRebalance --all joined--> CompletingRebalance --leader's sync is committed--> Stable
//     ^                  |        ^                          |   |                                           |
//     +--nobody left-----+        +--a member comes, goes, fails, or changes its metadata <--+---------------+
//   any state --unloaded, deleted or expired--> Dead
//
// The rules are those of Kafka 3.9's group coordinator. A request that waits is a void pointer of the driver's; it is
// answered exactly once, or forgotten (group_forget) when its connection is gone.
#pragma once

#include "core/timer.h"
#include "group/member.h"
#include "group/offsets.h"
#include "protocol/messages/join_group.h"
#include "protocol/messages/sync_group.h"

#define GROUP_NEVER UINT64_MAX
enum { GROUP_NEW_MEMBER_JOIN_MS = 5 * 60 * 1000 };

enum group_state { GROUP_EMPTY, GROUP_PREPARING_REBALANCE, GROUP_COMPLETING_REBALANCE, GROUP_STABLE, GROUP_DEAD };
const char *group_state_name(enum group_state state); // as Kafka shows it

struct group_limits {
    int32_t session_timeout_ms_min, session_timeout_ms_max;
    int32_t size_max; // members
    int32_t initial_rebalance_delay_ms;
};
struct group_time {
    uint64_t now_ms; // monotonic: deadlines
    int64_t wall_ms; // Unix: what is written
};

struct group;
struct group_join_answer {
    int16_t error;
    int32_t generation;           // -1 in errors
    struct str protocol_type;     // null in errors
    struct str protocol_name;     // null in errors
    struct str leader, member_id; // never null
    bool skip_assignment;
    bool with_members; // the group's members, with their metadata of protocol_name
};
struct group_sync_answer {
    int16_t error;
    struct str protocol_type, protocol_name; // null in errors
    struct bytes assignment;                 // never null
};
// What the machine asks for. The views in answers are good during the call. The group may not be called from inside.
struct group_output {
    void (*join_answered)(struct group_output *output, struct group *group, void *request,
                          const struct group_join_answer *answer);
    void (*sync_answered)(struct group_output *output, struct group *group, void *request,
                          const struct group_sync_answer *answer);
    // The group's record, as it is now, is to be written; later group_stored() says how that went.
    void (*store)(struct group_output *output, struct group *group, uint64_t store_id);
    // The state changed, and why; for a log line.
    void (*changed)(struct group_output *output, struct group *group, enum group_state before, const char *why,
                    struct str member_id);
};

// A record of the group that is being written.
enum group_store_kind {
    GROUP_STORE_ASSIGNMENT, // of the leader: the members are answered when it is committed
    GROUP_STORE_EMPTY,      // the generation without members: nobody waits for it
    GROUP_STORE_STATIC      // a static member came back under a new id, without a rebalance
};
struct group_store {
    struct list link;
    uint64_t id;
    enum group_store_kind kind;
    int32_t generation;
    // GROUP_STORE_STATIC: the member as it was, to go back to, and whom to answer
    struct str old_id, new_id, old_leader;
    struct group_protocol *old_protocols;
    int32_t old_protocol_count, old_rebalance_timeout_ms, old_session_timeout_ms;
    bool can_skip_assignment;
};
struct group_pending { // a member id that was given out and has not joined yet
    struct hash_node node;
    struct list link;
    struct str id;
    uint64_t deadline_ms;
};
struct group_support { // how many members support a protocol
    struct hash_node node;
    struct str name;
    int32_t members;
};

struct group {
    struct hash_node node; // in the driver's table
    struct list link;      // in the driver's list
    struct str id;
    const struct group_limits *limits;
    struct group_memory *memory;
    uint64_t hash_seed;

    enum group_state state;
    int64_t state_time_ms; // when it entered it; -1: not known (an old record)
    int32_t generation;
    struct str protocol_type; // null: no member yet
    struct str protocol_name; // null: none chosen
    struct str leader_id;     // null: none
    struct list members;
    int32_t member_count, awaiting_join_count;
    struct hashmap by_id, by_instance;
    struct hashmap supports; // of group_support, by name
    struct list pending;     // of group_pending
    struct hashmap pending_by_id;
    int32_t pending_count;

    uint64_t join_deadline_ms;    // PreparingRebalance: when to go on without those that have not joined
    bool is_initial_delay;        // ... and this is the delay of a first rebalance: everybody is waited for
    bool new_member_added;        // during it: it may be extended
    int32_t initial_delay_ms;     // the present one
    int32_t initial_remaining_ms; // by which it may still be extended
    uint64_t sync_deadline_ms;    // when members that have not synced are removed
    int32_t sync_due_count;
    bool assignment_is_being_stored;
    uint64_t last_store_id;
    struct list stores; // of group_store, in order
    uint64_t wake_ms;   // group_tick() is to be called by then: no deadline is earlier

    struct offsets offsets;

    // The coordinator's; nothing here looks at it.
    int32_t partition; // of the internal topic
    uint32_t writes;   // records in flight that point here
    struct timer timer;
};

struct group *group_create(struct str id, int64_t wall_ms, const struct group_limits *limits,
                           struct group_memory *memory, struct offset_topics *topics, uint64_t hash_seed);
void group_free(struct group *group); // Dead, nothing is being written

// ---- events
struct group_join {
    void *request;
    struct str member_id;   // "" the first time
    struct str instance_id; // null: dynamic
    struct str client_id, client_host, protocol_type;
    const struct group_protocol *protocols; // distinct names
    int32_t protocol_count;
    int32_t session_timeout_ms, rebalance_timeout_ms;
    bool requires_member_id;  // JoinGroup v4+
    bool can_skip_assignment; // JoinGroup v9+
    struct str new_member_id; // to be used if it needs one
};
// NONE or INVALID_SESSION_TIMEOUT; asked before a group is made for it.
int16_t group_check_session_timeout(const struct group_limits *limits, int32_t session_timeout_ms);
void group_join(struct group *group, const struct group_join *join, struct group_time time, struct group_output *out);

struct group_sync {
    void *request;
    struct str member_id, instance_id; // instance_id null: dynamic
    int32_t generation;
    struct str protocol_type, protocol_name;                 // null: not said
    const struct sync_group_request_assignment *assignments; // the leader's
    int32_t assignment_count;
};
void group_sync(struct group *group, const struct group_sync *sync, struct group_time time, struct group_output *out);

// The record has been committed (NONE), or could not be written: the error that the members are told.
void group_stored(struct group *group, uint64_t store_id, int16_t error, struct group_time time,
                  struct group_output *out);
int16_t group_heartbeat(struct group *group, struct str member_id, struct str instance_id, int32_t generation,
                        struct group_time time);
int16_t group_leave(struct group *group, struct str member_id, struct str instance_id, struct group_time time,
                    struct group_output *out);
// Whether this member may commit offsets now; counts as a sign of life.
int16_t group_check_commit(struct group *group, struct str member_id, struct str instance_id, int32_t generation,
                           struct group_time time);
// NONE: the topic's offsets may be deleted; GROUP_SUBSCRIBED_TO_TOPIC. NON_EMPTY_GROUP for the whole group.
int16_t group_check_delete_offsets(const struct group *group);
bool group_is_subscribed(const struct group *group, struct str topic);
// Does what is due at or before now. To be called by group->wake_ms, which every event may bring forward.
void group_tick(struct group *group, struct group_time time, struct group_output *out);
// The connection of a request that waits is gone.
void group_forget(struct group *group, void *request);
// Unloaded: everybody who waits is told (NOT_COORDINATOR, or what `error` says).
void group_kill(struct group *group, int16_t error, struct group_time time, struct group_output *out);
// An Empty group without offsets, or one that is deleted.
void group_bury(struct group *group, struct group_time time, struct group_output *out);

// ---- loading
// A record of the group was read: what was known of its members is forgotten. Its offsets stay.
struct group_load {
    int32_t generation;
    struct str protocol_type, protocol_name, leader_id; // null or "": none
    int64_t state_time_ms;                              // -1: not known
};
void group_load(struct group *group, const struct group_load *load);
// A member of that record. False, and not taken: there is no protocol, or the member is there already.
bool group_load_member(struct group *group, struct group_member *member);
// Everything has been read: sessions begin anew. A group above size_max rebalances, so that members can commit first.
void group_loaded(struct group *group, struct group_time time, struct group_output *out);

// ---- looking
struct group_member *group_member_by_id(const struct group *group, struct str id);
struct group_member *group_member_by_instance(const struct group *group, struct str instance_id);
static inline bool group_is_leader(const struct group *group, struct str member_id) {
    return str_equal(group->leader_id, member_id);
}
static inline bool group_is_consumer_group(const struct group *group) {
    return str_is(group->protocol_type, "consumer");
}
bool group_has_offsets(const struct group *group);

// Offsets that are to be forgotten now, as the group's state allows. Calls row() for each one before it is removed.
size_t group_expire_offsets(struct group *group, int64_t wall_ms, int64_t retention_ms,
                            void (*row)(void *context, const struct offset *offset), void *context);
