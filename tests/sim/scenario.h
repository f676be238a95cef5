// SPDX-License-Identifier: Apache-2.0
// What tools/sim can run. A scenario builds a world (hosts, programs, faults), runs it, and fails through sim_fail; it
// returns when all went well. sim_create was called.
#pragma once

#include "sim.h"

struct scenario {
    const char *name, *about;
    void (*run)(void);
    bool has_bug; // a bug was planted: the checkers must find it
};
// scenarios.c
const struct scenario *scenario_find(const char *name);
const struct scenario *scenario_at(int index); // NULL after the last

void scenario_echo(void);
void scenario_append(void);
void scenario_append_early_ack(void);
void scenario_metastore(void);
void scenario_metastore_full(void);
void scenario_log(void);
void scenario_broker_calm(void);
void scenario_broker(void);
void scenario_groups(void);
void scenario_disk(void);
void scenario_broker_disk(void);
void scenario_topics(void);
void scenario_topics_disk(void);
void scenario_full(void);
void scenario_shortage(void);
void scenario_clock(void);
void scenario_sessions(void);
void scenario_configs(void);
void scenario_configs_disk(void);
void scenario_retention(void);
void scenario_retention_disk(void);
void scenario_stops(void);
void scenario_stops_disk(void);
