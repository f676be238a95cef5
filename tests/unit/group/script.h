// SPDX-License-Identifier: Apache-2.0
// Tables for the group's state machine: each row is an event and what the machine then asks for, as text.
//
//   join R k=v...    R names the request. id, instance, protocols (name:metadata,...), new (the id to hand out), v
//   (version
//                    of JoinGroup), session, rebalance, type, client
//   sync R k=v...    id, instance, generation, assign (member:bytes,...), type, protocol
//   beat, leave, commit k=v...      answered with the error's name
//   stored N [error]   the record was committed, or not
//   wait MS, forget R, kill, is K=V  (members, generation, leader, protocol, awaiting, pending, wake)
//
// What comes out, separated by "; ": `R=ERROR ...` answers, `store N`, `State` whenever the state changes.
#pragma once

#include "base/text.h"
#include "group/group.h"

struct script_row {
    const char *event, *expect;
};
struct script {
    struct group_output output;
    struct group_memory memory;
    struct offset_topics topics;
    struct group_limits limits;
    struct group *group;
    struct group_time time;
    struct text out;
    char out_memory[4096];
    char requests[64][16];
    int request_count;
};
void script_begin(struct script *s);
void script_run(struct script *s, const struct script_row *rows, size_t count);
void script_end(struct script *s);
#define SCRIPT(...)                                                                                                    \
    do {                                                                                                               \
        struct script script;                                                                                          \
        script_begin(&script);                                                                                         \
        const struct script_row rows[] = {__VA_ARGS__};                                                                \
        script_run(&script, rows, sizeof rows / sizeof rows[0]);                                                       \
        script_end(&script);                                                                                           \
    } while (0)
