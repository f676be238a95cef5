// SPDX-License-Identifier: Apache-2.0
// Whole brokers: producers and consumers, or a consumer group, through kills, power cuts, restarts and bad networks.
#include "ending.h"
#include "scenario.h"

static void run_workload(int troubles) {
    struct sim_broker *broker = sim_broker_create(1);
    struct workload *w = sim_new(sizeof *w);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    w->auto_create = sim_chance(SIM_WORKLOAD, 200000);
    if (w->auto_create) sim_broker_property(broker, "num.partitions=%d", w->partition_count);
    if (sim_chance(SIM_FAULTS, 300000)) sim_net()->reset = (uint32_t)sim_range(SIM_FAULTS, 0, 5000);
    sim_broker_come_up(broker);
    struct os_host *clients = workload_start(w, "clients");
    for (int i = 0; i < troubles && !workload_is_produced(w); i++)
        sim_broker_trouble(broker, clients);
    ending_of_workload(broker, w, clients);
    ending_after_power_cut(broker, w);
    sim_broker_finish(broker);
}

void scenario_broker_calm(void) {
    run_workload(0);
}
void scenario_broker(void) {
    run_workload(10);
}

// ---- disks that fail and fill up: two log directories on two disks, the metadata on the first
void scenario_broker_disk(void) {
    struct sim_broker *broker = sim_broker_create(2);
    struct workload *w = sim_new(sizeof *w);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    w->first_alone = true;
    sim_broker_come_up(broker);
    struct os_host *clients = workload_start(w, "clients");
    for (int i = 0; i < 6 && !workload_is_produced(w); i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 300) * SIM_MS, NULL, NULL);
        sim_broker_disk_trouble(broker);
    }
    ending_of_workload(broker, w, clients);
    ending_after_power_cut(broker, w);
    sim_broker_stop(broker);
}

struct commit_wait {
    const struct members *members;
    uint64_t before;
};
static uint64_t commits_of(const struct members *m) {
    uint64_t commits = 0;
    for (int p = 0; p < m->partition_count; p++)
        commits += m->partitions[p].commits;
    return commits;
}
static bool has_committed(void *context) {
    const struct commit_wait *wait = context;
    return commits_of(wait->members) > wait->before;
}
// The power goes at the instant in which a member hears that its offsets are committed.
static void cut_after_commit(struct sim_broker *broker, const struct members *m) {
    struct commit_wait wait = {m, commits_of(m)};
    sim_run(20 * SIM_SECOND, has_committed, &wait);
    sim_crash(broker->host, SIM_POWER);
    sim_broker_come_up(broker);
}

void scenario_groups(void) {
    struct sim_broker *broker = sim_broker_create(1);
    struct workload *w = sim_new(sizeof *w);
    struct members *m = sim_new(sizeof *m);
    sim_disk_faults(broker->host, "/disk")->slow = (uint32_t)sim_range(SIM_FAULTS, 0, 200000);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    members_init(m, "broker", SIM_BROKER_PORT, "readers", "orders");
    w->partition_count = m->partition_count;
    w->producer_count = 0;
    sim_broker_come_up(broker);
    workload_start(w, "clients");
    SIM_CHECK(sim_run(60 * SIM_SECOND, workload_has_topic, w), "the topic does not come to be");
    struct os_host *members = members_start(m, "members");
    for (int i = 0; i < 6; i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 4000) * SIM_MS, NULL, NULL);
        if (sim_chance(SIM_FAULTS, 500000)) {
            cut_after_commit(broker, m);
        } else {
            sim_broker_trouble(broker, members);
        }
    }
    ending_calms(broker, members);
    members_settle(m);
    sim_broker_finish(broker);
}

// ---- a wall clock that jumps by hours, static members
static bool is_restarted(void *members) {
    const struct members *m = members;
    return m->restart == 0 && m->restarted > 0;
}

// In a quiet group each static member goes and comes back: check_restart() in members.c says what must not change.
static void restart_static_members(struct sim_broker *broker, struct members *m) {
    for (int i = 0; i < m->static_count; i++) {
        if (sim_chance(SIM_FAULTS, 500000)) sim_broker_jump_clock(broker);
        m->restarted = 0;
        m->restart = i + 1;
        SIM_CHECK(sim_run(30 * SIM_SECOND, is_restarted, m), "static member %d does not come back", i);
    }
}

void scenario_clock(void) {
    struct sim_broker *broker = sim_broker_create(1);
    struct workload *w = sim_new(sizeof *w);
    struct members *m = sim_new(sizeof *m);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    members_init(m, "broker", SIM_BROKER_PORT, "readers", "orders");
    m->partition_count = w->partition_count;
    m->static_count = (int)sim_range(SIM_WORKLOAD, 0, (uint64_t)m->count);
    sim_broker_come_up(broker);
    struct os_host *clients = workload_start(w, "clients");
    SIM_CHECK(sim_run(60 * SIM_SECOND, workload_has_topic, w), "the topic does not come to be");
    struct os_host *members = members_start(m, "members");
    for (int i = 0; i < 8; i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 1500) * SIM_MS, NULL, NULL);
        sim_broker_jump_clock(broker);
        sim_broker_trouble(broker, sim_chance(SIM_FAULTS, 500000) ? clients : members);
    }
    ending_calms(broker, members);
    m->quiet = true;
    ending_of_workload(broker, w, clients);
    members_settle(m);
    sim_run(20 * SIM_SECOND, NULL, NULL); // members that went without a word are thrown out
    restart_static_members(broker, m);
    ending_after_power_cut(broker, w);
    sim_broker_finish(broker);
}
