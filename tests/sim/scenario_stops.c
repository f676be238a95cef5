// SPDX-License-Identifier: Apache-2.0
// A broker that is stopped in an orderly way at any instant: while it starts, right when it has come up, under load
// (segments roll and are flushed, a group rebalances, topics come and go, a Fetch is parked); that is asked to a second
// time, or crashes meanwhile; and that is started again. Some cores are slower than others.
//
// Checked: a stop ends in time, with status 0; who waited for an answer gets it; what then lies on the disk survives a
// power cut, and the next start recovers nothing and leaves the logs as they are; every acknowledged record is there.
// With tailrace.durability=replicated a power cut takes what is acknowledged, except after a stop that has finished.
#include "caller.h"
#include "ending.h"
#include "kept_files.h"
#include "protocol/messages/delete_topics.h"
#include "scenario.h"
#include <stdio.h>

enum {
    ROUNDS = 8,
    STOP_MS_MAX = 3000,   // a second for answers, what is in progress, closing with slow disks
    AT_ONCE_MS_MAX = 200, // asked a second time
    PARKED_MS_MIN = 100,  // after this the Fetch has arrived
    TEMPORARY_PARTITIONS = 2,
};
static const char *const log_dirs[] = {"/disk/data", "/disk2/data"};
static const char *const disks[] = {"/disk", "/disk2"};

struct stops {
    struct sim_broker *broker;
    struct workload *workload;
    struct members *members; // NULL: not yet, or none
    struct os_host *clients[4];
    int client_count;
    bool is_replicated, disks_fail;
    // The broker's process.
    bool is_hurt;           // a disk of it failed, or will
    bool was_clean;         // it found directories that a finished stop has left
    int recovered;          // how many logs had been recovered when it started
    uint64_t up_ns;         // when it came up; 0: not yet
    uint64_t start_ns;      // how long that takes, about
    struct kept_files kept; // by the last stop that has finished
    struct caller *parked;
    uint64_t parked_ns; // since when its Fetch waits; 0: it does not
    bool owed;          // it must be answered
};

// ---- clients that are not in workload.h and members.h
static void parked_script(struct caller *caller, void *argument) {
    struct stops *s = argument;
    struct caller_topic topic;
    caller_await_topic(caller, "quiet", NULL, 0, 1, &topic);
    for (;; caller_sleep(caller, 20)) {
        struct client_call call;
        struct fetch_request *request = caller_begin(caller, &call, API_KEY_FETCH, 4, 12);
        struct fetch_request_partition row = {
            .current_leader_epoch = -1, .last_fetched_epoch = -1, .log_start_offset = -1, .partition_max_bytes = 1000};
        struct fetch_request_topic rows = {.topic = str_of("quiet"), .partitions = &row, .partitions_count = 1};
        request->max_wait_ms = 600000;
        request->min_bytes = 1;
        request->max_bytes = 1000;
        request->topics = &rows;
        request->topics_count = 1;
        call.timeout_ms = 700000;
        s->parked_ns = sim_now_ns();
        const bool answered = caller_ask(caller, &call);
        s->parked_ns = 0;
        SIM_CHECK(answered || !s->owed, "a stop has not answered a Fetch that was parked");
        s->owed = false;
        if (answered) {
            const struct fetch_response *response = call.response;
            int16_t error = response->error_code;
            if (error == 0 && response->responses_count > 0) error = response->responses[0].partitions[0].error_code;
            if (error != 0) caller_check_retriable(error, "a parked Fetch");
        }
        caller_end(&call);
    }
}

static int16_t ask_delete(struct caller *caller, const char *name) {
    struct client_call call;
    struct delete_topics_request *request = caller_begin(caller, &call, API_KEY_DELETE_TOPICS, 0, 5);
    struct str row = str_of(name);
    request->topic_names = &row;
    request->topic_names_count = 1;
    request->timeout_ms = (int32_t)sim_range(SIM_WORKLOAD, 0, 3000);
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call))
        error = ((const struct delete_topics_response *)call.response)->responses[0].error_code;
    caller_end(&call);
    return error;
}

// Writes a little, and sees that what was acknowledged is there before the topic goes again.
static void temporary_script(struct caller *caller, void *argument) {
    (void)argument;
    const char *const configs[1][2] = {{"file.delete.delay.ms", sim_chance(SIM_WORKLOAD, 500000) ? "0" : "300"}};
    for (uint64_t number = 0;; number++) {
        struct caller_topic topic;
        caller_await_topic(caller, "temporary", configs, 1, TEMPORARY_PARTITIONS, &topic);
        int64_t acknowledged_end = 0, end = 0;
        for (uint64_t left = sim_range(SIM_WORKLOAD, 0, 10); left > 0; left--) {
            const struct caller_batch batch = {(uint32_t)number, left, 1, 100, os_wall_ms(caller->core->os)};
            int64_t base = -1;
            int16_t error = caller_produce(caller, "temporary", 0, &batch, &base);
            if (error != 0) caller_check_retriable(error, "Produce");
            if (error == 0) acknowledged_end = base + 1;
        }
        int16_t error = caller_list_offset(caller, "temporary", 0, -1, &end);
        SIM_CHECK(error != 0 || end >= acknowledged_end, "temporary-0 ends at %lld, acknowledged up to %lld",
                  (long long)end, (long long)acknowledged_end);
        while ((error = ask_delete(caller, "temporary")) != 0 && error != KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION) {
            caller_check_retriable(error, "DeleteTopics");
            caller_sleep(caller, 20);
        }
        caller_sleep(caller, sim_range(SIM_WORKLOAD, 0, 100));
    }
}

// ---- the broker's process
static void start(struct stops *s, bool is_clean) {
    s->was_clean = is_clean;
    s->is_hurt = false;
    s->up_ns = 0;
    s->recovered = sim_log_lines_with(s->broker->host, " recovered ");
    sim_broker_start(s->broker);
}

// When it has ended: what its start has done.
static void check_start(const struct stops *s) {
    if (!s->was_clean) return;
    SIM_CHECK(sim_log_lines_with(s->broker->host, " recovered ") <= s->recovered,
              "a log is recovered after a stop that has finished");
    kept_files_check_logs_go_on(&s->kept, "/orders-");
}

static bool has_marker(const struct stops *s, int dir) {
    char path[64];
    uint64_t size;
    snprintf(path, sizeof path, "%s/.kafka_cleanshutdown", log_dirs[dir]);
    return sim_file(s->broker->host, path, &size) != NULL;
}

static void stall_a_core(void *context) {
    struct stops *s = context;
    sim_stall_core(s->broker->host, (int)sim_range(SIM_FAULTS, 0, 3), sim_range(SIM_FAULTS, 1, 30) * SIM_MS);
}

static void plan_disk_fault(struct stops *s) {
    struct sim_disk_faults *faults = sim_disk_faults(s->broker->host, disks[sim_range(SIM_FAULTS, 0, 1)]);
    s->is_hurt = s->broker->has_had_disk_trouble = true;
    switch (sim_range(SIM_FAULTS, 0, 2)) {
    case 0: faults->fsync_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 40); break;
    case 1: faults->write_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 60); break;
    default: faults->read_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 30); break;
    }
}
static void end_disk_faults(struct stops *s) {
    for (size_t i = 0; i < ARRAY_LENGTH(disks); i++) {
        struct sim_disk_faults *faults = sim_disk_faults(s->broker->host, disks[i]);
        faults->fsync_eio_in = faults->write_eio_in = faults->read_eio_in = 0;
    }
}

static void await_instant(struct stops *s) {
    enum { WHILE_IT_STARTS, RIGHT_AFTER, UNDER_LOAD, INSTANTS };
    const uint64_t began_ns = sim_now_ns(), instant = sim_range(SIM_FAULTS, 0, INSTANTS - 1);
    const bool is_up = sim_broker_is_ready(s->broker);
    if (sim_chance(SIM_FAULTS, 400000)) sim_after(sim_range(SIM_FAULTS, 0, s->start_ns), stall_a_core, s);
    if (instant == WHILE_IT_STARTS) {
        if (sim_run(sim_range(SIM_FAULTS, 0, s->start_ns), sim_broker_is_ready, s->broker)) s->up_ns = sim_now_ns();
        return;
    }
    sim_broker_await(s->broker);
    s->up_ns = sim_now_ns();
    if (!is_up) s->start_ns = s->up_ns - began_ns;
    if (instant == RIGHT_AFTER) return;
    if (s->disks_fail && sim_chance(SIM_FAULTS, 500000)) plan_disk_fault(s);
    sim_run(sim_range(SIM_FAULTS, 1, 500) * SIM_MS, sim_broker_has_ended, s->broker);
}

// ---- the stop
static bool is_owed(const struct stops *s) {
    const uint64_t since_ns = s->parked_ns > s->up_ns ? s->parked_ns : s->up_ns;
    return s->parked_ns > 0 && s->up_ns > 0 && client_is_connected(s->parked->client) && !s->is_hurt &&
           sim_now_ns() - since_ns > PARKED_MS_MIN * SIM_MS;
}

static void terminate(const struct stops *s) {
    if (sim_is_running(s->broker->host)) sim_terminate(s->broker->host);
}

static void await_end(const struct stops *s, bool asked_twice) {
    const uint64_t within_ms = asked_twice ? AT_ONCE_MS_MAX : STOP_MS_MAX;
    SIM_CHECK(sim_run(within_ms * SIM_MS, sim_broker_has_ended, s->broker), "the stop does not end");
    const int status = sim_exit_status(s->broker->host);
    const bool may_fail = asked_twice || (s->is_hurt && sim_log_lines_with(s->broker->host, " ERROR ") > 0);
    SIM_CHECK(status == 0 || may_fail, "the broker ended with status %d after SIGTERM", status);
}

// A marker speaks for the logs, not for the metadata; and where it did not become durable the next start recovers.
static void forget_what_may_differ(struct stops *s) {
    kept_files_forget(&s->kept, "/disk/data/tailrace.metadata");
    for (int i = 0; i < (int)ARRAY_LENGTH(log_dirs); i++)
        if (!has_marker(s, i)) kept_files_forget(&s->kept, log_dirs[i]);
}

// What the stop has left is as it was at the end of it, also after a power cut. True if the next start is to find
// nothing to recover.
static bool check_what_is_left(struct stops *s, bool cut) {
    const bool is_clean = sim_exit_status(s->broker->host) == 0 && !s->is_hurt && (s->up_ns > 0 || s->was_clean);
    kept_files_clear(&s->kept);
    for (int i = 0; i < (int)ARRAY_LENGTH(log_dirs); i++) {
        SIM_CHECK(!is_clean || has_marker(s, i), "%s is not marked as clean after the stop", log_dirs[i]);
        if (has_marker(s, i)) kept_files_add(&s->kept, log_dirs[i]);
    }
    // A disk that failed shows what it does not have (see scenario_append.c): only a power cut ends that.
    if (s->is_hurt || (cut && (is_clean || !s->is_replicated))) {
        sim_crash(s->broker->host, SIM_POWER);
        if (!is_clean) forget_what_may_differ(s);
        kept_files_check_same(&s->kept);
    }
    return is_clean;
}

// True as check_what_is_left.
static bool stop(struct stops *s) {
    enum { FINISHES, FINISHES_TOO, TWICE, CRASHES, WAYS };
    const uint64_t way = sim_range(SIM_FAULTS, 0, WAYS - 1);
    const bool cut = sim_chance(SIM_FAULTS, 500000);
    s->owed = way <= FINISHES_TOO && is_owed(s);
    if (sim_chance(SIM_FAULTS, 300000)) stall_a_core(s);
    if (s->disks_fail && sim_chance(SIM_FAULTS, 500000)) plan_disk_fault(s);
    terminate(s);
    if (way > FINISHES_TOO) sim_run(sim_range(SIM_FAULTS, 0, 100 * SIM_MS), sim_broker_has_ended, s->broker);
    if (way == TWICE) terminate(s);
    if (way == CRASHES) {
        sim_crash(s->broker->host, s->is_hurt || (cut && !s->is_replicated) ? SIM_POWER : SIM_KILL);
    } else {
        await_end(s, way == TWICE);
    }
    end_disk_faults(s);
    check_start(s);
    const bool is_clean = way != CRASHES && check_what_is_left(s, cut);
    sim_run(sim_range(SIM_FAULTS, 0, 200) * SIM_MS, NULL, NULL);
    s->owed = false;
    return is_clean;
}

static void play(struct stops *s, int rounds) {
    for (int i = 0; i < rounds; i++) {
        await_instant(s);
        start(s, stop(s));
        for (int c = 0; c < s->client_count; c++)
            sim_reset_connections(s->clients[c]); // a power cut tells nobody
    }
}

// ---- the scenario
static void plan(struct stops *s, bool disks_fail) {
    struct workload *w = s->workload = sim_new(sizeof *w);
    s->broker = sim_broker_create(2);
    s->kept.host = s->broker->host;
    s->disks_fail = disks_fail;
    s->is_replicated = !disks_fail && sim_chance(SIM_WORKLOAD, 400000);
    if (s->is_replicated) sim_broker_property(s->broker, "tailrace.durability=replicated");
    s->start_ns = 30 * SIM_MS; // until it is known
    workload_init(w, "broker", SIM_BROKER_PORT, "orders");
    w->first_alone = disks_fail;
    w->configs[0][0] = "segment.bytes";
    w->configs[0][1] = sim_chance(SIM_WORKLOAD, 500000) ? "5000" : "50000";
    w->configs[1][0] = "flush.messages";
    w->configs[1][1] = sim_chance(SIM_WORKLOAD, 300000) ? "7" : "1000000";
}

static void add_client(struct stops *s, struct os_host *host) {
    s->clients[s->client_count++] = host;
}

static void run_stops(bool disks_fail) {
    struct stops *s = sim_new(sizeof *s);
    plan(s, disks_fail);
    start(s, false);
    add_client(s, workload_start(s->workload, "clients"));
    add_client(s, caller_start("temporary", "broker", SIM_BROKER_PORT, temporary_script, NULL)->host);
    play(s, 2);
    SIM_CHECK(sim_run(60 * SIM_SECOND, workload_has_topic, s->workload), "the topic does not come to be");
    s->parked = caller_start("parked", "broker", SIM_BROKER_PORT, parked_script, s);
    add_client(s, s->parked->host);
    if (!disks_fail) {
        s->members = sim_new(sizeof *s->members);
        members_init(s->members, "broker", SIM_BROKER_PORT, "readers", "orders");
        s->members->partition_count = s->workload->partition_count;
        add_client(s, members_start(s->members, "members"));
    }
    play(s, ROUNDS);
    sim_broker_await(s->broker);
    s->up_ns = sim_now_ns();
    ending_of_workload(s->broker, s->workload, s->clients[0]);
    if (s->members) members_settle(s->members);
    sim_terminate(s->broker->host);
    await_end(s, false);
    check_start(s);
    start(s, check_what_is_left(s, true));
    sim_broker_await(s->broker);
    ending_reads_again(s->workload);
    sim_broker_finish(s->broker);
    check_start(s);
}

void scenario_stops(void) {
    run_stops(false);
}
void scenario_stops_disk(void) {
    run_stops(true);
}
