// SPDX-License-Identifier: Apache-2.0
// Whole brokers: producers and consumers, or a consumer group, through kills, power cuts, restarts and bad networks.
#include "members.h"
#include "scenario.h"
#include "sim_broker.h"
#include "workload.h"
#include <stdlib.h>

static void end_trouble(struct sim_broker *broker, struct os_host *clients) {
    sim_net()->reset = 0;
    sim_run(sim_range(SIM_FAULTS, 1, 200) * SIM_MS, NULL, NULL);
    SIM_CHECK(sim_is_running(broker->host), "the broker has ended by itself with status %d: %s",
              sim_exit_status(broker->host), broker->failure);
    sim_reset_connections(clients); // a half-open connection would wait for its time-out
}

static void finish_workload(struct sim_broker *broker, struct workload *w, struct os_host *clients) {
    end_trouble(broker, clients);
    SIM_CHECK(sim_run(120 * SIM_SECOND, workload_is_produced, w), "producers are not done: %d of %d", w->producers_done,
              w->producer_count);
    w->reading_to_end = true;
    SIM_CHECK(sim_run(60 * SIM_SECOND, workload_is_consumed, w), "consumers are not done: %d of %d", w->consumers_done,
              w->partition_count);
    workload_check(w);
}

static void read_after_power_cut(struct sim_broker *broker, struct workload *w) {
    // Once more from the start, after a power cut: nothing of it was only in the page cache.
    sim_crash(broker->host, SIM_POWER);
    sim_broker_start(broker);
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_is_ready, broker), "the broker does not come up: %s",
              broker->failure);
    workload_read_again(w, "again");
    SIM_CHECK(sim_run(60 * SIM_SECOND, workload_is_consumed, w), "after a power cut consumers are not done: %d of %d",
              w->consumers_done, w->partition_count);
}

static void run_workload(int troubles) {
    struct sim_broker *broker = calloc(1, sizeof *broker);
    struct workload *w = calloc(1, sizeof *w);
    SIM_CHECK(broker && w, "no memory");
    sim_broker_init(broker, "broker");
    sim_broker_plan_disk(broker);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    w->auto_create = sim_chance(SIM_WORKLOAD, 200000);
    if (w->auto_create) sim_broker_property(broker, "num.partitions=%d", w->partition_count);
    if (sim_chance(SIM_FAULTS, 300000)) sim_net()->reset = (uint32_t)sim_range(SIM_FAULTS, 0, 5000);
    sim_broker_start(broker);
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_is_ready, broker), "the broker does not come up: %s",
              broker->failure);
    struct os_host *clients = workload_start(w, "clients");
    for (int i = 0; i < troubles && !workload_is_produced(w); i++)
        sim_broker_trouble(broker, clients);
    finish_workload(broker, w, clients);
    read_after_power_cut(broker, w);
    sim_broker_stop(broker);
    SIM_CHECK(sim_log_lines_with(broker->host, " ERROR ") == 0, "the broker logged an error");
}

void scenario_broker_calm(void) {
    run_workload(0);
}
void scenario_broker(void) {
    run_workload(10);
}

// ---- disks that fail and fill up: two log directories on two disks, the metadata on the first
void scenario_broker_disk(void) {
    struct sim_broker *broker = calloc(1, sizeof *broker);
    struct workload *w = calloc(1, sizeof *w);
    SIM_CHECK(broker && w, "no memory");
    sim_broker_init(broker, "broker");
    sim_mkdir(broker->host, "/disk2");
    sim_broker_property(broker, "log.dirs=/disk/data,/disk2/data");
    sim_broker_plan_disk(broker);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    w->first_alone = true;
    sim_broker_start(broker);
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_is_ready, broker), "the broker does not come up: %s",
              broker->failure);
    struct os_host *clients = workload_start(w, "clients");
    for (int i = 0; i < 6 && !workload_is_produced(w); i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 300) * SIM_MS, NULL, NULL);
        sim_broker_disk_trouble(broker);
    }
    finish_workload(broker, w, clients);
    read_after_power_cut(broker, w);
    sim_broker_stop(broker);
}

static bool members_have_settled(void *context) {
    struct members *m = context;
    for (int p = 0; p < m->partition_count; p++)
        if (m->partitions[p].commits < 3) return false;
    return true;
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
    sim_broker_start(broker);
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_is_ready, broker), "the broker does not come up: %s",
              broker->failure);
}

static bool topic_is_ready(void *workload) {
    return ((struct workload *)workload)->topic_ready;
}

void scenario_groups(void) {
    struct sim_broker *broker = calloc(1, sizeof *broker);
    struct workload *w = calloc(1, sizeof *w);
    struct members *m = calloc(1, sizeof *m);
    SIM_CHECK(broker && w && m, "no memory");
    sim_broker_init(broker, "broker");
    sim_broker_plan_disk(broker);
    sim_disk_faults(broker->host, "/disk")->slow = (uint32_t)sim_range(SIM_FAULTS, 0, 200000);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    members_init(m, "broker", SIM_BROKER_PORT, "readers", "orders");
    w->partition_count = m->partition_count;
    w->producer_count = 0;
    sim_broker_start(broker);
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_is_ready, broker), "the broker does not come up: %s",
              broker->failure);
    workload_start(w, "clients");
    SIM_CHECK(sim_run(60 * SIM_SECOND, topic_is_ready, w), "the topic does not come to be");
    struct os_host *members = members_start(m, "members");
    for (int i = 0; i < 6; i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 4000) * SIM_MS, NULL, NULL);
        if (sim_chance(SIM_FAULTS, 500000)) {
            cut_after_commit(broker, m);
        } else {
            sim_broker_trouble(broker, members);
        }
    }
    end_trouble(broker, members);
    m->quiet = true;
    for (int p = 0; p < m->partition_count; p++)
        m->partitions[p].commits = 0;
    SIM_CHECK(sim_run(120 * SIM_SECOND, members_have_settled, m), "the group does not settle");
    sim_broker_stop(broker);
    SIM_CHECK(sim_log_lines_with(broker->host, " ERROR ") == 0, "the broker logged an error");
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
    struct sim_broker *broker = calloc(1, sizeof *broker);
    struct workload *w = calloc(1, sizeof *w);
    struct members *m = calloc(1, sizeof *m);
    SIM_CHECK(broker && w && m, "no memory");
    sim_broker_init(broker, "broker");
    sim_broker_plan_disk(broker);
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    members_init(m, "broker", SIM_BROKER_PORT, "readers", "orders");
    m->partition_count = w->partition_count;
    m->static_count = (int)sim_range(SIM_WORKLOAD, 0, (uint64_t)m->count);
    sim_broker_start(broker);
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_is_ready, broker), "the broker does not come up: %s",
              broker->failure);
    struct os_host *clients = workload_start(w, "clients");
    SIM_CHECK(sim_run(60 * SIM_SECOND, topic_is_ready, w), "the topic does not come to be");
    struct os_host *members = members_start(m, "members");
    for (int i = 0; i < 8; i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 1500) * SIM_MS, NULL, NULL);
        sim_broker_jump_clock(broker);
        sim_broker_trouble(broker, sim_chance(SIM_FAULTS, 500000) ? clients : members);
    }
    end_trouble(broker, members);
    m->quiet = true;
    finish_workload(broker, w, clients);
    for (int p = 0; p < m->partition_count; p++)
        m->partitions[p].commits = 0;
    SIM_CHECK(sim_run(120 * SIM_SECOND, members_have_settled, m), "the group does not settle");
    sim_run(20 * SIM_SECOND, NULL, NULL); // members that went without a word are thrown out
    restart_static_members(broker, m);
    read_after_power_cut(broker, w);
    sim_broker_stop(broker);
    SIM_CHECK(sim_log_lines_with(broker->host, " ERROR ") == 0, "the broker logged an error");
}
