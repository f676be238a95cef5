// SPDX-License-Identifier: Apache-2.0
// How a story of a broker, producers and consumers, or a group, ends well.
#pragma once

#include "members.h"
#include "sim_broker.h"
#include "workload.h"

// No trouble any more: the broker runs, and nobody waits on a connection that is dead.
void ending_calms(struct sim_broker *broker, struct os_host *clients);
// The same, then everything is produced, and read to its end.
void ending_of_workload(struct sim_broker *broker, struct workload *w, struct os_host *clients);
// New readers get everything from the start.
void ending_reads_again(struct workload *w);
// They do after a power cut: nothing of it was only in the page cache.
void ending_after_power_cut(struct sim_broker *broker, struct workload *w);
