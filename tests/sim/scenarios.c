// SPDX-License-Identifier: Apache-2.0
// The table of scenarios.
#include "scenario.h"
#include <string.h>

static const struct scenario scenarios[] = {
    {"disk", "the simulated disk itself: what a power cut keeps and takes", scenario_disk, false},
    {"echo", "an echo server on several cores, clients, a network that splits and resets", scenario_echo, false},
    {"append", "append and fsync in a loop, kills and power cuts, disk faults", scenario_append, false},
    {"append-early-ack", "the same with a planted bug: acknowledges before the fsync", scenario_append_early_ack, true},
    {"metastore", "the embedded metadata store: kills, power cuts, disk faults", scenario_metastore, false},
    {"metastore-full", "the same store on a disk that is full at times", scenario_metastore_full, false},
    {"log", "the log engine: producers, readers, checkpoints, kills, power cuts, disk faults", scenario_log, false},
    {"broker-calm", "a broker, producers and consumers; nothing goes wrong until the power cut at the end",
     scenario_broker_calm, false},
    {"broker", "a broker, producers and consumers: kills, power cuts, restarts, partitions, resets, stalls",
     scenario_broker, false},
    {"broker-disk", "a broker on two disks that fail and fill up", scenario_broker_disk, false},
    {"groups", "a broker and a consumer group: the same", scenario_groups, false},
    {"clock", "producers, consumers and static members, and a wall clock that jumps by hours", scenario_clock, false},
    {"topics", "topics deleted and made again under load: kills, power cuts, bad networks", scenario_topics, false},
    {"configs", "settings of topic, broker and cluster changed: the same", scenario_configs, false},
    {"configs-disk", "the same on two disks that fail and fill up", scenario_configs_disk, false},
    {"sessions", "fetch sessions: partitions come, move and are forgotten, and there is little room", scenario_sessions,
     false},
    {"retention", "log starts that move (DeleteRecords, retention, clock jumps), leader epochs: the same",
     scenario_retention, false},
    {"retention-disk", "the same on two disks that fail and fill up", scenario_retention_disk, false},
    {"stops", "stops at any instant, a second request or a crash meanwhile, then a start", scenario_stops, false},
    {"stops-disk", "the same on two disks that fail", scenario_stops_disk, false},
    {"topics-disk", "the same on two disks that fail and fill up", scenario_topics_disk, false},
    {"full", "a topic is deleted because its disk is full", scenario_full, false},
    {"shortage", "a process with few descriptors left, or none, at times", scenario_shortage, false},
};

const struct scenario *scenario_at(int index) {
    return index >= 0 && (size_t)index < sizeof scenarios / sizeof scenarios[0] ? &scenarios[index] : NULL;
}

const struct scenario *scenario_find(const char *name) {
    for (int i = 0; scenario_at(i); i++)
        if (strcmp(scenario_at(i)->name, name) == 0) return scenario_at(i);
    return NULL;
}
