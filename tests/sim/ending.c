// SPDX-License-Identifier: Apache-2.0
#include "ending.h"

void ending_calms(struct sim_broker *broker, struct os_host *clients) {
    sim_net()->reset = 0;
    sim_run(sim_range(SIM_FAULTS, 1, 200) * SIM_MS, NULL, NULL);
    sim_broker_check_runs(broker);
    sim_reset_connections(clients); // a half-open connection would wait for its time-out
}

void ending_of_workload(struct sim_broker *broker, struct workload *w, struct os_host *clients) {
    ending_calms(broker, clients);
    SIM_CHECK(sim_run(120 * SIM_SECOND, workload_is_produced, w), "producers are not done: %d of %d", w->producers_done,
              w->producer_count);
    w->reading_to_end = true;
    SIM_CHECK(sim_run(60 * SIM_SECOND, workload_is_consumed, w), "consumers are not done: %d of %d", w->consumers_done,
              w->partition_count);
    workload_check(w);
}

void ending_reads_again(struct workload *w) {
    workload_read_again(w, "again");
    SIM_CHECK(sim_run(60 * SIM_SECOND, workload_is_consumed, w), "after a restart consumers are not done: %d of %d",
              w->consumers_done, w->partition_count);
}

void ending_after_power_cut(struct sim_broker *broker, struct workload *w) {
    sim_crash(broker->host, SIM_POWER);
    sim_broker_come_up(broker);
    ending_reads_again(w);
}
