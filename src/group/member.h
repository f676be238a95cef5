// SPDX-License-Identifier: Apache-2.0
// A member of a group. Its texts and metadata are its own copies, counted in the group's memory.
#pragma once

#include "base/hashmap.h"
#include "base/list.h"
#include "group/memory.h"

struct group_protocol { // one that a member supports, in its order of preference
    struct str name;
    struct bytes metadata;
};
struct group_member {
    struct list link;             // in group->members, in order of arrival
    struct hash_node id_node;     // in group->by_id
    struct hash_node static_node; // in group->by_instance, if it is static
    struct str id;
    struct str instance_id; // null: a dynamic member
    struct str client_id, client_host;
    int32_t rebalance_timeout_ms, session_timeout_ms;
    struct group_protocol *protocols;
    int32_t protocol_count;
    struct bytes assignment;      // in force
    struct bytes next_assignment; // the leader's, until the group's record is committed

    // A request of this member that waits. It still counts as waiting after its connection is gone: then there is only
    // nobody left to be answered (request NULL).
    bool awaits_join, awaits_sync;
    void *join_request, *sync_request;
    bool is_new;          // has not yet been through a completed join: its JoinGroup may time out
    bool sync_is_due;     // has been told the generation and has not sent SyncGroup since
    uint64_t deadline_ms; // of the session; GROUP_NEVER
    uint64_t mark;        // scratch for passes over the members
    size_t counted_bytes; // in the group's memory
    struct group_memory *memory;
};
// The protocols' names are distinct. The list is copied.
struct group_member *member_create(struct group_memory *memory, struct str id, struct str instance_id,
                                   struct str client_id, struct str client_host);
void member_free(struct group_member *member);
void member_set_id(struct group_member *member, struct str id);
void member_set_protocols(struct group_member *member, const struct group_protocol *protocols, int32_t count);
// Takes over the allocation, and gives away the old one.
void member_exchange_protocols(struct group_member *member, struct group_protocol **protocols, int32_t *count);
void member_set_assignment(struct group_member *member, struct bytes assignment);
void member_set_next_assignment(struct group_member *member, struct bytes assignment);
void member_adopt_next_assignment(struct group_member *member);

void protocols_free(struct group_protocol *protocols, int32_t count);
size_t protocols_size(const struct group_protocol *protocols, int32_t count);
// NULL: not supported.
const struct group_protocol *member_protocol(const struct group_member *member, struct str name);
// The same protocols with the same metadata in the same order.
bool member_matches(const struct group_member *member, const struct group_protocol *protocols, int32_t count);
static inline bool member_is_static(const struct group_member *member) {
    return !str_is_null(member->instance_id);
}
// What a member with this metadata would add to the memory.
size_t member_size(struct str id, struct str client_id, const struct group_protocol *protocols, int32_t count);
