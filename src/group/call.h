// SPDX-License-Identifier: Apache-2.0
// A request to the coordinators: it goes from the connection's core to each core that owns one of its groups, one after
// the other, and comes home with the answers. While it is away it belongs, with its arena and everything that it points
// to, to the core that it is on.
//
//   ask (which cores) -> wait -> release: done()
//
// JoinGroup and SyncGroup may be parked by their group. When the connection closes or the broker stops, the request's
// flow is stopped: the group is told to forget the request, and it comes home with NOT_COORDINATOR.
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "protocol/messages/describe_groups.h"
#include "protocol/messages/join_group.h"
#include "protocol/messages/leave_group.h"
#include "protocol/messages/list_groups.h"
#include "protocol/messages/offset_commit.h"
#include "protocol/messages/sync_group.h"

enum group_call_kind {
    GROUP_CALL_JOIN,
    GROUP_CALL_SYNC,
    GROUP_CALL_HEARTBEAT,
    GROUP_CALL_LEAVE,
    GROUP_CALL_COMMIT,
    GROUP_CALL_FETCH_OFFSETS,
    GROUP_CALL_DELETE_OFFSETS,
    GROUP_CALL_LIST,
    GROUP_CALL_DESCRIBE,
    GROUP_CALL_DELETE
};
// A partition whose offset is committed, fetched or deleted.
struct group_offset_row {
    // in
    struct str topic;
    int32_t partition;
    int16_t error; // if it is set already (no such topic, say), the row is left alone
    // COMMIT: in; FETCH_OFFSETS: out, offset -1 if there is none
    int64_t offset;
    int32_t leader_epoch;
    int64_t commit_time_ms; // COMMIT: -1: now
    struct str metadata;    // COMMIT: null as ""
};
// One group of the request.
struct group_call_item {
    // in
    struct str group_id;
    struct str member_id, instance_id; // HEARTBEAT, COMMIT
    int32_t generation;                // HEARTBEAT, COMMIT
    bool all_offsets, require_stable;  // FETCH_OFFSETS: all: rows are made
    int64_t retention_ms;              // COMMIT: -1: the broker's
    // in and out
    struct group_offset_row *rows; // COMMIT, FETCH_OFFSETS, DELETE_OFFSETS
    int32_t row_count;
    int16_t error; // of the whole group
    // out
    struct describe_groups_response_group *described; // DESCRIBE
    // private
    int32_t partition;
    int core; // -1: nowhere to go
};
struct group_call {
    // in
    enum group_call_kind kind;
    int16_t version;
    struct arena *arena;
    struct str client_id, client_host;
    const void *request; // JOIN, SYNC, LEAVE, LIST: the decoded request
    struct group_call_item *items;
    int32_t item_count; // LIST: 0
    void (*done)(struct group_call *call);
    void *context; // the caller's
    // out
    union {
        struct join_group_response join;
        struct sync_group_response sync;
        struct leave_group_response leave;
        struct list_groups_response list;
    };
    bool out_of_memory; // of the arena: there is no answer
    // private
    struct message message, stop_message;
    struct flow flow; // flow_stop() when the connection closes or the broker stops
    int home;
    uint64_t tour; // cores that are still to be visited
    bool is_home, stop_sent, stop_is_home;
    uint32_t pending;    // things that the core it is on waits for
    struct group *group; // where it is parked
    size_t list_capacity;
};
// Items whose error is set are not looked at. Groups that are not coordinated here get NOT_COORDINATOR, ids that are
// not allowed INVALID_GROUP_ID.
void group_call_start(struct core *core, struct group_call *call);

// ---- on the core that the call is on
// The call waits for one thing less; after the last one it goes on.
void group_call_hold(struct group_call *call);
void group_call_release(struct core *core, struct group_call *call);
