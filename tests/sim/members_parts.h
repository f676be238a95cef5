// SPDX-License-Identifier: Apache-2.0
// What members.c (what a member does) and members_told.c (what it is told) share.
#pragma once

#include "client.h"
#include "members.h"
#include "protocol/messages/join_group.h"
#include "protocol/messages/offset_commit.h"
#include "tailrace/error.h"

enum { MEMBER_ID_MAX = 128, ASSIGNMENT_BYTES = 256 };

struct member {
    struct flow flow;
    struct flow_timer timer;
    struct members *group;
    struct client *client;
    struct client_call call;
    int number;
    char id[MEMBER_ID_MAX]; // "": none yet
    int32_t generation;
    char protocol_type[32];
    int rounds; // heartbeats and commits in this generation
    bool leads;
    // the leader's assignment: [member of the answer][partition]
    int member_count;
    char member_ids[MEMBERS_MAX * 2][MEMBER_ID_MAX];
    bool owned[MEMBERS_PARTITIONS];
    char instance[24];             // group.instance.id; "": none
    char id_before[MEMBER_ID_MAX]; // a static member's, before it came back; "": none
    bool restarting;               // in a quiet group: it must find what it had
    int32_t generation_before;
    bool owned_before[MEMBERS_PARTITIONS];
    bool is_late; // what it commits now is of the past
    int64_t committing[MEMBERS_PARTITIONS];
    int64_t floor[MEMBERS_PARTITIONS]; // acknowledged when the question was sent
};
// The leader's: who is there, and what the member `receiver` of them gets; the size of that.
void member_take_members(struct member *member, const struct join_group_response *response);
size_t member_encode_assignment(struct member *member, int receiver, uint8_t *memory);
void member_take_assignment(struct member *member, struct bytes bytes);
// A commit that was long on its way: of the generation before, or of who the static member was before it came back.
// Nothing of it may be taken.
void member_late_commit(struct member *member, struct offset_commit_request *request,
                        struct offset_commit_request_topic *topic, struct offset_commit_request_partition *rows);
void member_check_late_commit(const struct offset_commit_response *response);
// A committed offset.
void member_take_offset(struct member *member, int32_t p, int64_t offset, int16_t error);
