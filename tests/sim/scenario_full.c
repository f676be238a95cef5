// SPDX-License-Identifier: Apache-2.0
// A disk without a byte left: a topic is deleted for its space. Checked: that does not take the minute that deleted
// files are kept otherwise, other topics take records again, and what is made under the name later is new: through
// power cuts, during the deletion too.
#include "base/text.h"
#include "caller.h"
#include "protocol/messages/delete_topics.h"
#include "scenario.h"
#include "sim_broker.h"
#include <stdlib.h>

enum { ROUNDS = 4, RECORDS_MAX = 300, RETRY_MS = 20, DELETE_WITHIN_MS = 10000, RECOVERS_WITHIN_MS = 10000 };

struct full {
    uint64_t next_record;
    int64_t kept_end; // what was acknowledged of "kept"
    int64_t old_end;  // of the "old" that was made last
    bool deleted;
};

static void make(struct caller *caller, const char *name) {
    struct caller_topic topic;
    caller_await_topic(caller, name, NULL, 0, 1, &topic);
}

static int16_t produce(struct caller *caller, struct full *f, const char *name, int64_t *base) {
    const struct caller_batch batch = {.number = f->next_record++,
                                       .count = 1,
                                       .value_bytes = sim_range(SIM_WORKLOAD, HISTORY_VALUE_MIN_BYTES, 3000),
                                       .timestamp_ms = os_wall_ms(caller->core->os)};
    int16_t error = caller_produce(caller, name, 0, &batch, base);
    if (error != 0) caller_check_retriable(error, "Produce");
    return error;
}

static bool produce_kept(struct caller *caller, struct full *f) {
    int64_t base;
    if (produce(caller, f, "kept", &base) != 0) return false;
    f->kept_end = base + 1;
    return true;
}

static int16_t ask_delete(struct caller *caller) {
    struct client_call call;
    struct delete_topics_request *request = caller_begin(caller, &call, API_KEY_DELETE_TOPICS, 1, 5);
    struct str name = str_of("old");
    request->topic_names = &name;
    request->topic_names_count = 1;
    request->timeout_ms = DELETE_WITHIN_MS;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct delete_topics_response *response = call.response;
        error = response->responses[0].error_code;
    }
    caller_end(&call);
    return error;
}

// ---- the scripts
static void prepare(struct caller *caller, void *argument) {
    struct full *f = argument;
    int64_t base;
    make(caller, "kept");
    make(caller, "old");
    for (int i = (int)sim_range(SIM_WORKLOAD, 1, 30); i > 0; i--) {
        while (produce(caller, f, "old", &base) != 0)
            caller_sleep(caller, RETRY_MS);
        while (!produce_kept(caller, f))
            caller_sleep(caller, RETRY_MS);
    }
}

static void fill(struct caller *caller, void *argument) {
    struct full *f = argument;
    int64_t base;
    int refused = 0;
    for (int i = 0; i < RECORDS_MAX && refused < 5; i++) {
        const bool taken =
            sim_chance(SIM_WORKLOAD, 300000) ? produce_kept(caller, f) : produce(caller, f, "old", &base) == 0;
        if (!taken) refused++;
    }
    SIM_CHECK(refused == 5, "a full disk takes %d records", RECORDS_MAX);
}

static void delete_old(struct caller *caller, void *argument) {
    struct full *f = argument;
    const uint64_t began_ms = core_now_ms(caller->core);
    int16_t error = ask_delete(caller);
    SIM_CHECK(error == 0, "DeleteTopics on a full disk answered %s", kafka_error_name(error));
    const uint64_t deleted_ms = core_now_ms(caller->core);
    SIM_CHECK(deleted_ms - began_ms < DELETE_WITHIN_MS, "the deletion took %llu ms",
              (unsigned long long)(deleted_ms - began_ms));
    f->deleted = true;
    while (!produce_kept(caller, f)) {
        SIM_CHECK(core_now_ms(caller->core) - deleted_ms < RECOVERS_WITHIN_MS, "no records are taken after a deletion");
        caller_sleep(caller, RETRY_MS);
    }
}

static void look(struct caller *caller, void *argument) {
    struct full *f = argument;
    int64_t end, base = -1;
    make(caller, "kept");
    while (caller_list_offset(caller, "kept", 0, -1, &end) != 0)
        caller_sleep(caller, RETRY_MS);
    SIM_CHECK(end >= f->kept_end, "kept ends at %lld, acknowledged up to %lld", (long long)end, (long long)f->kept_end);
    while (!f->deleted) { // the power went meanwhile
        int16_t error = ask_delete(caller);
        if (error == 0 || error == KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION) break;
        caller_check_retriable(error, "DeleteTopics");
        caller_sleep(caller, RETRY_MS);
    }
    make(caller, "old");
    while (produce(caller, f, "old", &base) != 0)
        caller_sleep(caller, RETRY_MS);
    SIM_CHECK(base >= f->old_end && base <= f->old_end + 1, // one answer may have been lost
              "offset %lld of old, %lld are acknowledged", (long long)base, (long long)f->old_end);
    f->old_end = base + 1;
}

// ---- the scenario
static bool is_done(void *caller) {
    return ((struct caller *)caller)->done;
}

static struct caller *begin(struct full *f, void (*script)(struct caller *, void *), const char *what, int round) {
    char host[32];
    struct text t = TEXT_IN(host);
    text_addf(&t, "%s-%d", what, round);
    return caller_start(host, "broker", SIM_BROKER_PORT, script, f);
}

static void play(struct full *f, void (*script)(struct caller *, void *), const char *what, int round) {
    SIM_CHECK(sim_run(120 * SIM_SECOND, is_done, begin(f, script, what, round)), "%s does not end", what);
}

static void restart(struct sim_broker *broker) {
    sim_crash(broker->host, SIM_POWER);
    sim_broker_come_up(broker);
}

void scenario_full(void) {
    struct sim_broker *broker = sim_broker_create(1);
    struct full f = {0};
    sim_broker_property(broker, "tailrace.disk.reserve.bytes=0");
    sim_broker_property(broker, "auto.create.topics.enable=false");
    sim_broker_come_up(broker);
    struct sim_disk_faults *faults = sim_disk_faults(broker->host, "/disk");
    const uint64_t capacity = faults->capacity;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t total, left;
        play(&f, prepare, "prepare", round);
        os_space(broker->host, "/disk", &total, &left);
        faults->capacity = total - left + (sim_chance(SIM_FAULTS, 500000) ? 0 : sim_range(SIM_FAULTS, 0, 20000));
        play(&f, fill, "fill", round);
        if (sim_chance(SIM_FAULTS, 500000)) sim_run(sim_range(SIM_FAULTS, 1, 20) * SIM_SECOND, NULL, NULL);
        f.deleted = false;
        f.old_end = 0;
        struct caller *caller = begin(&f, delete_old, "delete", round);
        const bool cut = sim_chance(SIM_FAULTS, 400000);
        sim_run(cut ? sim_range(SIM_FAULTS, 1, 400) * SIM_MS : 120 * SIM_SECOND, is_done, caller);
        SIM_CHECK(cut || caller->done, "the deletion does not end");
        if (!caller->done) sim_crash(caller->host, SIM_KILL);
        faults->capacity = capacity;
        if (cut) restart(broker);
        play(&f, look, "look", round);
        if (sim_chance(SIM_FAULTS, 500000)) {
            restart(broker);
            f.deleted = true;
            play(&f, look, "again", round);
        }
    }
    sim_broker_check_runs(broker);
    SIM_CHECK(sim_log_lines_with(broker->host, " offline ") == 0, "a log was not loaded");
    sim_broker_stop(broker);
}
