// SPDX-License-Identifier: Apache-2.0
// A process that has few descriptors left, or none, at times: nothing is wrong with its disk. Checked: no log directory
// fails and the broker goes on by itself, through checkpoints, new segments, retention, deletions; what was
// acknowledged is there, also after kills and power cuts in the middle of that.
#include "base/text.h"
#include "caller.h"
#include "scenario.h"
#include "sim_broker.h"

enum { ROUNDS = 6, PARTITIONS = 3, RETRY_MS = 20, RECOVERS_WITHIN_MS = 60000 };

struct shortage {
    uint64_t next_record;
    int64_t ends[PARTITIONS]; // acknowledged
    int sent, refused;
};

static void prepare(struct caller *caller, void *argument) {
    static const char *const configs[][2] = {{"segment.bytes", "20000"}};
    struct caller_topic topic;
    (void)argument;
    caller_await_topic(caller, "kept", configs, 1, PARTITIONS, &topic);
}

static bool produce(struct caller *caller, struct shortage *s) {
    const int32_t partition = (int32_t)sim_range(SIM_WORKLOAD, 0, PARTITIONS - 1);
    const struct caller_batch batch = {.number = s->next_record++,
                                       .count = 1,
                                       .value_bytes = sim_range(SIM_WORKLOAD, HISTORY_VALUE_MIN_BYTES, 5000),
                                       .timestamp_ms = os_wall_ms(caller->core->os)};
    int64_t base;
    int16_t error = caller_produce(caller, "kept", partition, &batch, &base);
    s->sent++;
    if (error != 0) {
        s->refused++;
        caller_check_retriable(error, "Produce");
        return false;
    }
    SIM_CHECK(base >= s->ends[partition], "offset %lld was given twice", (long long)base);
    s->ends[partition] = base + 1;
    return true;
}

static void push(struct caller *caller, void *argument) {
    for (int i = (int)sim_range(SIM_WORKLOAD, 10, 60); i > 0; i--) {
        if (!produce(caller, argument)) caller_sleep(caller, RETRY_MS);
        if (sim_chance(SIM_WORKLOAD, 100000)) caller_sleep(caller, sim_range(SIM_WORKLOAD, 1, 2000));
    }
}

// With descriptors again: every partition takes records, and has what was acknowledged.
static void look(struct caller *caller, void *argument) {
    struct shortage *s = argument;
    const uint64_t began_ms = core_now_ms(caller->core);
    for (int32_t p = 0; p < PARTITIONS; p++) {
        int64_t end;
        while (caller_list_offset(caller, "kept", p, -1, &end) != 0) {
            SIM_CHECK(core_now_ms(caller->core) - began_ms < RECOVERS_WITHIN_MS, "partition %d has no leader", p);
            caller_sleep(caller, RETRY_MS);
        }
        SIM_CHECK(end >= s->ends[p], "partition %d ends at %lld, acknowledged up to %lld", p, (long long)end,
                  (long long)s->ends[p]);
    }
    for (int taken = 0; taken < 3 * PARTITIONS;) {
        SIM_CHECK(core_now_ms(caller->core) - began_ms < RECOVERS_WITHIN_MS, "no records are taken");
        if (produce(caller, s))
            taken++;
        else
            caller_sleep(caller, RETRY_MS);
    }
}

static bool is_done(void *caller) {
    return ((struct caller *)caller)->done;
}

static struct caller *begin(struct shortage *s, void (*script)(struct caller *, void *), const char *what, int round) {
    char host[32];
    struct text t = TEXT_IN(host);
    text_addf(&t, "%s-%d", what, round);
    return caller_start(host, "broker", SIM_BROKER_PORT, script, s);
}

static void play(struct shortage *s, void (*script)(struct caller *, void *), const char *what, int round) {
    SIM_CHECK(sim_run(240 * SIM_SECOND, is_done, begin(s, script, what, round)), "%s does not end", what);
}

void scenario_shortage(void) {
    struct sim_broker *broker = sim_broker_create(1);
    struct shortage s = {0};
    sim_broker_property(broker, "tailrace.disk.reserve.bytes=0");
    sim_broker_property(broker, "auto.create.topics.enable=false");
    sim_broker_property(broker, "log.retention.check.interval.ms=%d", (int)sim_range(SIM_WORKLOAD, 1, 300));
    sim_broker_property(broker, "log.retention.bytes=%d", (int)sim_range(SIM_WORKLOAD, 20000, 100000));
    sim_broker_come_up(broker);
    struct sim_disk_faults *faults = sim_disk_faults(broker->host, "/disk");
    play(&s, prepare, "prepare", 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct caller *caller = begin(&s, push, "push", round);
        faults->open_emfile = sim_chance(SIM_FAULTS, 300000) ? 1000000 : (uint32_t)sim_range(SIM_FAULTS, 10000, 900000);
        const bool cut = sim_chance(SIM_FAULTS, 500000);
        sim_run(cut ? sim_range(SIM_FAULTS, 1, 3000) * SIM_MS : 240 * SIM_SECOND, is_done, caller);
        SIM_CHECK(cut || caller->done, "the producer does not end");
        if (!caller->done) sim_crash(caller->host, SIM_KILL);
        faults->open_emfile = 0;
        sim_broker_check_runs(broker);
        if (cut) {
            sim_crash(broker->host, sim_chance(SIM_FAULTS, 500000) ? SIM_POWER : SIM_KILL);
            sim_broker_come_up(broker);
        }
        play(&s, look, "look", round);
    }
    sim_broker_check_runs(broker);
    SIM_CHECK(sim_log_lines_with(broker->host, " ERROR ") == 0, "there is an ERROR line");
    sim_broker_stop(broker);
}
