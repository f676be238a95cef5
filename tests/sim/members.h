// SPDX-License-Identifier: Apache-2.0
// A consumer group of a scenario: members that join, synchronize, send heartbeats, and commit ever higher offsets for
// the partitions that they were given, through every crash of the broker.
//
// Checked: a committed offset that was acknowledged is never lost and offsets never go back; in one generation a
// partition has one owner and the group one leader; what the leader assigned is what each member got; a commit of an
// earlier generation, or of a static member's earlier self, is refused.
#pragma once

#include "sim.h"

enum { MEMBERS_MAX = 4, MEMBERS_PARTITIONS = 4, MEMBERS_GENERATIONS_MAX = 4096 };
struct members {
    // in
    const char *broker, *group, *topic;
    uint16_t port;
    int count, partition_count;
    int static_count; // the first ones have a group.instance.id; when they go they mostly come back at once
    int restart; // number + 1 of a static member that shall come back at once; nothing must move. For a quiet group
    // out
    struct {
        int64_t acknowledged, issued; // committed offsets
        int32_t generation;           // of the last acknowledged one
        uint64_t commits;             // acknowledged
    } partitions[MEMBERS_PARTITIONS];
    // By generation: who leads and who owns what (+ 1), once somebody was told with a synchronization that succeeded.
    struct {
        int leader;
        int owner[MEMBERS_PARTITIONS];
    } generations[MEMBERS_GENERATIONS_MAX];
    int32_t last_generation; // the largest in which somebody has synchronized
    uint64_t synced;
    uint64_t restarted; // static members that came back when `restart` asked for it
    bool quiet;         // nobody leaves any more
};
void members_init(struct members *m, const char *broker, uint16_t port, const char *group, const char *topic);
struct os_host *members_start(struct members *m, const char *host_name);
// From now on nobody leaves, and each partition must see some commits.
void members_settle(struct members *m);
