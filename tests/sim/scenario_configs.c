// SPDX-License-Identifier: Apache-2.0
// Settings of a topic, of the broker and of the cluster, changed by IncrementalAlterConfigs through kills, power cuts,
// bad networks, and disks that fail and fill up.
//
// One script for each resource sets and deletes several keys in one request. Checked: a change that was acknowledged is
// there, also after every crash; one whose answer was lost is there whole or not at all; a topic's max.message.bytes is
// in force once it is acknowledged. A request whose connection broke may still be on its way, and take effect after
// later ones: from then on its values are right too.
#include "caller.h"
#include "protocol/messages/describe_configs.h"
#include "protocol/messages/incremental_alter_configs.h"
#include "scenario.h"
#include "sim_broker.h"
#include <stdio.h>
#include <stdlib.h>

enum { RESOURCES = 3, KEYS = 3, RETRY_MS = 20, LOST_MAX = 1000 };
enum { RESOURCE_TOPIC = 2, RESOURCE_BROKER = 4 };
enum { SOURCE_TOPIC = 1, SOURCE_BROKER = 2, SOURCE_CLUSTER = 3 };
enum { OP_SET = 0, OP_DELETE = 1 };
static const char topic[] = "orders";

struct settings {
    int64_t values[KEYS]; // 0: not set
};
// A change whose answer was lost.
struct lost_change {
    bool is_changed[KEYS];
    int64_t values[KEYS];
};
struct resource {
    int8_t type, source;
    const char *name;
    const char *keys[KEYS];
    struct settings settings; // acknowledged
    struct lost_change lost[LOST_MAX];
    size_t lost_count;
    uint64_t changes, produced;
    bool stop;
    struct caller *caller;
};
static const struct resource resources[RESOURCES] = {
    {.type = RESOURCE_TOPIC,
     .source = SOURCE_TOPIC,
     .name = topic,
     .keys = {"max.message.bytes", "segment.bytes", "retention.ms"}},
    {.type = RESOURCE_BROKER,
     .source = SOURCE_BROKER,
     .name = "0",
     .keys = {"message.max.bytes", "log.segment.bytes", "log.retention.ms"}},
    {.type = RESOURCE_BROKER,
     .source = SOURCE_CLUSTER,
     .name = "",
     .keys = {"message.max.bytes", "log.segment.bytes", "log.retention.ms"}},
};

// ---- requests
static int16_t alter(struct caller *caller, const struct resource *r, const struct settings *from,
                     const struct settings *to) {
    struct client_call call;
    struct incremental_alter_configs_request *request =
        caller_begin(caller, &call, API_KEY_INCREMENTAL_ALTER_CONFIGS, 0, 1);
    struct incremental_alter_configs_request_config rows[KEYS];
    char texts[KEYS][24];
    struct incremental_alter_configs_request_resource row = {
        .resource_type = r->type, .resource_name = str_of(r->name), .configs = rows};
    for (int i = 0; i < KEYS; i++) {
        if (from->values[i] == to->values[i]) continue;
        const bool set = to->values[i] != 0;
        snprintf(texts[i], sizeof texts[i], "%lld", (long long)to->values[i]);
        rows[row.configs_count++] = (struct incremental_alter_configs_request_config){
            str_of(r->keys[i]), set ? OP_SET : OP_DELETE, set ? str_of(texts[i]) : (struct str){0}};
    }
    request->resources = &row;
    request->resources_count = 1;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct incremental_alter_configs_response *response = call.response;
        SIM_CHECK(response->responses_count == 1, "IncrementalAlterConfigs: wrong rows");
        error = response->responses[0].error_code;
    }
    caller_end(&call);
    return error;
}

static int16_t describe(struct caller *caller, const struct resource *r, struct settings *found) {
    struct client_call call;
    struct describe_configs_request *request = caller_begin(caller, &call, API_KEY_DESCRIBE_CONFIGS, 1, 4);
    struct str keys[KEYS];
    for (int i = 0; i < KEYS; i++)
        keys[i] = str_of(r->keys[i]);
    struct describe_configs_request_resource row = {r->type, str_of(r->name), keys, KEYS};
    request->resources = &row;
    request->resources_count = 1;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    *found = (struct settings){0};
    if (caller_ask(caller, &call)) {
        const struct describe_configs_response *response = call.response;
        SIM_CHECK(response->results_count == 1, "DescribeConfigs: wrong rows");
        error = response->results[0].error_code;
        for (int32_t j = 0; j < response->results[0].configs_count; j++) {
            const struct describe_configs_response_config *config = &response->results[0].configs[j];
            char text[32];
            if (config->config_source != r->source) continue;
            SIM_CHECK(config->value.size < sizeof text, "DescribeConfigs: a long value");
            memcpy(text, config->value.data, config->value.size);
            text[config->value.size] = 0;
            for (int i = 0; i < KEYS; i++)
                if (str_is(config->name, r->keys[i])) found->values[i] = strtoll(text, NULL, 10);
        }
    }
    caller_end(&call);
    return error;
}

// ---- the script
static void plan_change(struct resource *r, struct settings *to) {
    *to = r->settings;
    r->changes++;
    do {
        for (int i = 0; i < KEYS; i++) {
            if (!sim_chance(SIM_WORKLOAD, 400000)) continue;
            const int64_t low[KEYS] = {2000, 20000, 100000000};
            to->values[i] = sim_chance(SIM_WORKLOAD, 200000) ? 0 : low[i] + (int64_t)(r->changes % 4000);
        }
    } while (memcmp(to, &r->settings, sizeof *to) == 0);
}

static void add_lost(struct resource *r, const struct settings *to) {
    SIM_CHECK(r->lost_count < LOST_MAX, "too many answers are lost");
    struct lost_change *lost = &r->lost[r->lost_count++];
    for (int i = 0; i < KEYS; i++) {
        lost->is_changed[i] = r->settings.values[i] != to->values[i];
        lost->values[i] = to->values[i];
    }
}

static bool may_come_late(const struct resource *r, int key, int64_t value) {
    for (size_t i = 0; i < r->lost_count; i++)
        if (r->lost[i].is_changed[key] && r->lost[i].values[key] == value) return true;
    return false;
}

static bool may_change_late(const struct resource *r, int key) {
    for (size_t i = 0; i < r->lost_count; i++)
        if (r->lost[i].is_changed[key]) return true;
    return false;
}

// What is there is `one`, or (if it was asked for) all of `other`.
static void check(struct caller *caller, const struct resource *r, const struct settings *one,
                  const struct settings *other) {
    struct settings found;
    int16_t error = describe(caller, r, &found);
    if (error != 0) {
        caller_check_retriable(error, "DescribeConfigs");
        return;
    }
    if (memcmp(&found, one, sizeof found) == 0 || (other && memcmp(&found, other, sizeof found) == 0)) return;
    for (int i = 0; i < KEYS; i++)
        SIM_CHECK(found.values[i] == one->values[i] || may_come_late(r, i, found.values[i]),
                  "%s of \"%s\" is %lld, acknowledged was %lld%s", r->keys[i], r->name, (long long)found.values[i],
                  (long long)one->values[i], other ? ", or a change as a whole" : "");
}

// Batches just below and just above the limit.
static void check_limit(struct caller *caller, struct resource *r) {
    if (r->type != RESOURCE_TOPIC || r->settings.values[0] == 0 || may_change_late(r, 0)) return;
    const bool large = sim_chance(SIM_WORKLOAD, 500000);
    const struct caller_batch batch = {.number = r->produced++,
                                       .count = 1,
                                       .value_bytes = (size_t)r->settings.values[0] + (large ? 200 : -200),
                                       .timestamp_ms = os_wall_ms(caller->core->os)};
    int64_t base = -1;
    int16_t error = caller_produce(caller, topic, 0, &batch, &base);
    SIM_CHECK(!large || error != 0, "a batch is taken that is larger than max.message.bytes=%lld",
              (long long)r->settings.values[0]);
    if (error != 0 && (error != KAFKA_ERROR_MESSAGE_TOO_LARGE || !large)) caller_check_retriable(error, "Produce");
}

static void alter_script(struct caller *caller, void *argument) {
    struct resource *r = argument;
    struct caller_topic seen;
    caller_await_topic(caller, topic, NULL, 0, 1, &seen);
    while (!r->stop) {
        struct settings to;
        plan_change(r, &to);
        int16_t error;
        while ((error = alter(caller, r, &r->settings, &to)) != 0) {
            caller_check_retriable(error, "IncrementalAlterConfigs");
            caller_sleep(caller, RETRY_MS);
            check(caller, r, &r->settings, &to);
            if (error == KAFKA_ERROR_NETWORK_EXCEPTION) add_lost(r, &to);
        }
        r->settings = to;
        if (sim_chance(SIM_WORKLOAD, 500000)) check(caller, r, &to, NULL);
        if (sim_chance(SIM_WORKLOAD, 300000)) check_limit(caller, r);
        caller_sleep(caller, sim_range(SIM_WORKLOAD, 0, 300));
    }
}

static void verify_script(struct caller *caller, void *argument) {
    struct resource *all = argument;
    struct settings found;
    for (int i = 0; i < RESOURCES; i++) {
        while (describe(caller, &all[i], &found) != 0)
            caller_sleep(caller, RETRY_MS);
        check(caller, &all[i], &all[i].settings, NULL);
        check_limit(caller, &all[i]);
    }
}

// ---- the scenario
static bool callers_are_done(void *context) {
    const struct resource *all = context;
    for (int i = 0; i < RESOURCES; i++)
        if (!all[i].caller->done) return false;
    return true;
}

static void run_configs(bool disk_faults, int troubles) {
    struct sim_broker *broker = sim_broker_create(2);
    struct resource *all = sim_new(RESOURCES * sizeof *all);
    memcpy(all, resources, sizeof resources);
    sim_broker_come_up(broker);
    for (int i = 0; i < RESOURCES; i++) {
        char host[32];
        snprintf(host, sizeof host, "alter-%d", i);
        all[i].caller = caller_start(host, "broker", SIM_BROKER_PORT, alter_script, &all[i]);
    }
    for (int i = 0; i < troubles; i++) {
        if (sim_chance(SIM_FAULTS, 300000)) sim_broker_jump_clock(broker);
        sim_run(sim_range(SIM_FAULTS, 1, 300) * SIM_MS, NULL, NULL);
        if (disk_faults) {
            sim_broker_disk_trouble(broker);
            sim_broker_revive(broker);
        } else {
            sim_broker_trouble(broker, all[sim_range(SIM_FAULTS, 0, RESOURCES - 1)].caller->host);
        }
    }
    sim_broker_check_runs(broker);
    for (int i = 0; i < RESOURCES; i++)
        all[i].stop = true;
    SIM_CHECK(sim_run(60 * SIM_SECOND, callers_are_done, all), "the clients do not end");
    sim_crash(broker->host, SIM_POWER);
    sim_broker_come_up(broker);
    struct caller *last = caller_start("verify", "broker", SIM_BROKER_PORT, verify_script, all);
    SIM_CHECK(sim_run(60 * SIM_SECOND, caller_is_done, last), "the settings cannot be read");
    sim_broker_finish(broker);
}

void scenario_configs(void) {
    run_configs(false, 8);
}
void scenario_configs_disk(void) {
    run_configs(true, 5);
}
