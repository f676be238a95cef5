// SPDX-License-Identifier: Apache-2.0
// Topics that are created, written to, read, deleted and created again under the same name, through kills, power cuts,
// bad networks, and disks that fail and fill up.
//
// For each name one script makes and deletes the topic, and a writer pays no heed to that. Checked: every incarnation
// has an id of its own; it holds all of its acknowledged records and none of an earlier one; an id that was gone never
// comes back; at the end, when every topic is deleted and the broker has started once more, the log directories hold
// nothing of them.
#include "caller.h"
#include "protocol/messages/delete_topics.h"
#include "scenario.h"
#include "sim_broker.h"
#include <stdio.h>
#include <stdlib.h>

enum { NAMES = 3, PARTITIONS_MAX = 3, RECORDS_MAX = 20000, ROUNDS_MAX = 1000, RETRY_MS = 20, COUNT_MAX = 5 };

struct topic_record {
    uint32_t incarnation; // 0: not known
    int32_t partition;
    int64_t offset;
    bool acknowledged, read;
};
struct topic_name {
    const char *name;
    int32_t partition_count;
    uint32_t incarnation; // of the last creation that was begun
    struct uuid ids[ROUNDS_MAX];
    bool exists;        // its creation was seen, and its deletion has not begun
    bool deleted_clean; // the last deletion was answered with success
    int64_t acknowledged_end[PARTITIONS_MAX];
    uint64_t next_record;
    struct topic_record records[RECORDS_MAX];
    struct caller *admin, *writer;
    bool finish, writer_stop;
};
static const char *const names[NAMES] = {"orders", "a.b-1", "x"};

// ---- the writer
static void acknowledge(struct topic_name *t, uint64_t number, int32_t partition, int64_t offset) {
    struct topic_record *record = &t->records[number];
    *record = (struct topic_record){t->incarnation, partition, offset, true, record->read};
    if (offset >= t->acknowledged_end[partition]) t->acknowledged_end[partition] = offset + 1;
}

static void writer_script(struct caller *caller, void *argument) {
    struct topic_name *t = argument;
    while (!t->writer_stop && t->next_record + COUNT_MAX < RECORDS_MAX) {
        const uint32_t before = t->incarnation;
        const int32_t partition = (int32_t)sim_range(SIM_WORKLOAD, 0, (uint64_t)t->partition_count - 1);
        const struct caller_batch batch = {.number = t->next_record,
                                           .count = (int32_t)sim_range(SIM_WORKLOAD, 1, COUNT_MAX),
                                           .value_bytes = sim_range(SIM_WORKLOAD, HISTORY_VALUE_MIN_BYTES, 600),
                                           .timestamp_ms = os_wall_ms(caller->core->os)};
        t->next_record += (uint64_t)batch.count;
        int64_t base = -1;
        int16_t error = caller_produce(caller, t->name, partition, &batch, &base);
        if (error != 0) caller_check_retriable(error, "Produce");
        // Begun and answered in the time of one incarnation: it went there.
        for (int32_t i = 0; error == 0 && before == t->incarnation && i < batch.count; i++)
            acknowledge(t, batch.number + (uint64_t)i, partition, base + i);
        if (error != 0 || sim_chance(SIM_WORKLOAD, 700000)) caller_sleep(caller, sim_range(SIM_WORKLOAD, 1, 50));
    }
}

// ---- creating
static void check_new_id(struct topic_name *t, struct uuid id) {
    SIM_CHECK(!uuid_is_zero(id), "topic %s has no id", t->name);
    for (uint32_t i = 1; i < t->incarnation; i++)
        SIM_CHECK(!uuid_equal(t->ids[i], id), "topic %s: incarnation %u has the id of incarnation %u", t->name,
                  t->incarnation, i);
}

static void create(struct caller *caller, struct topic_name *t) {
    const char *const configs[1][2] = {{"file.delete.delay.ms", sim_chance(SIM_WORKLOAD, 500000) ? "50" : "3000"}};
    bool tried = false;
    SIM_CHECK(++t->incarnation < ROUNDS_MAX, "too many rounds");
    memset(t->acknowledged_end, 0, sizeof t->acknowledged_end);
    struct caller_topic seen;
    for (;; caller_sleep(caller, RETRY_MS)) {
        int16_t error = caller_create_topic(caller, t->name, t->partition_count, configs, 1);
        if (error == KAFKA_ERROR_TOPIC_ALREADY_EXISTS) {
            // Our own, whose answer was lost; or the old one, whose deletion is stuck until the next start.
            SIM_CHECK(tried || !t->deleted_clean, "topic %s is there after it was deleted", t->name);
        } else if (error != 0) {
            caller_check_retriable(error, "CreateTopics");
        }
        tried = true;
        error = caller_look(caller, t->name, &seen);
        if (error == 0 && seen.all_led) break;
        if (error == 0) check_new_id(t, seen.id);
        if (error != 0) caller_check_retriable(error, "Metadata");
    }
    check_new_id(t, seen.id);
    SIM_CHECK(seen.partition_count == t->partition_count, "topic %s has %d partitions", t->name, seen.partition_count);
    t->ids[t->incarnation] = seen.id;
    t->exists = true;
}

// ---- reading
struct reading {
    struct topic_name *t;
    int32_t partition;
    int64_t next;
};

static void read_record(void *context, const struct batch *batch, int64_t offset, struct bytes value) {
    struct reading *r = context;
    struct topic_name *t = r->t;
    (void)batch;
    if (offset < r->next) return;
    SIM_CHECK(offset == r->next, "%s-%d: offset %lld after %lld", t->name, r->partition, (long long)offset,
              (long long)r->next - 1);
    r->next = offset + 1;
    SIM_CHECK(value.size >= HISTORY_VALUE_MIN_BYTES, "not a record of ours");
    uint64_t number = load_be64(value.data + 8);
    SIM_CHECK(number < t->next_record, "%s: a record that nobody wrote", t->name);
    struct topic_record *record = &t->records[number];
    SIM_CHECK(record->incarnation == 0 || record->incarnation == t->incarnation,
              "%s-%d offset %lld: record %llu of incarnation %u is in incarnation %u", t->name, r->partition,
              (long long)offset, (unsigned long long)number, record->incarnation, t->incarnation);
    SIM_CHECK(!record->acknowledged || (record->partition == r->partition && record->offset == offset),
              "%s-%d offset %lld: record %llu was acknowledged at offset %lld of partition %d", t->name, r->partition,
              (long long)offset, (unsigned long long)number, (long long)record->offset, record->partition);
    record->incarnation = t->incarnation;
    record->partition = r->partition;
    record->offset = offset;
    record->read = true;
}

static void check_alive(const struct topic_name *t, int16_t error, const char *what) {
    SIM_CHECK(error != KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION && error != KAFKA_ERROR_UNKNOWN_TOPIC_ID,
              "topic %s is gone: %s answered %s", t->name, what, kafka_error_name(error));
    caller_check_retriable(error, what);
}

static void read_partition(struct caller *caller, struct topic_name *t, int32_t partition) {
    const int64_t acknowledged = t->acknowledged_end[partition];
    int64_t end = 0;
    int16_t error;
    while ((error = caller_list_offset(caller, t->name, partition, -1, &end)) != 0) {
        check_alive(t, error, "ListOffsets");
        caller_sleep(caller, RETRY_MS);
    }
    SIM_CHECK(end >= acknowledged, "%s-%d ends at %lld, acknowledged up to %lld", t->name, partition, (long long)end,
              (long long)acknowledged);
    struct reading reading = {t, partition, 0};
    while (reading.next < end) {
        struct client_call call;
        const struct fetch_response_partition *row;
        const struct caller_fetch fetch = {t->name, t->ids[t->incarnation], partition, reading.next, 60000, 100, false,
                                           0};
        error = caller_fetch(caller, &call, &fetch, &row);
        if (error == 0) {
            SIM_CHECK(row->log_start_offset <= 0, "%s-%d: a new log starts at offset %lld", t->name, partition,
                      (long long)row->log_start_offset);
            caller_each_record(row->records, read_record, &reading);
        } else {
            check_alive(t, error, "Fetch");
        }
        caller_end(&call);
        if (error != 0) caller_sleep(caller, RETRY_MS);
    }
}

static void read_all(struct caller *caller, struct topic_name *t) {
    for (int32_t p = 0; p < t->partition_count; p++)
        read_partition(caller, t, p);
}

// ---- deleting
static int16_t ask_delete(struct caller *caller, struct topic_name *t) {
    struct client_call call;
    struct delete_topics_request *request = caller_begin(caller, &call, API_KEY_DELETE_TOPICS, 0, 6);
    struct str name = str_of(t->name);
    struct delete_topics_request_topic row = {0};
    if (sim_chance(SIM_WORKLOAD, 500000)) {
        row.topic_id = t->ids[t->incarnation];
    } else {
        row.name = name;
    }
    if (call.version >= 6) {
        request->topics = &row;
        request->topics_count = 1;
    } else {
        request->topic_names = &name;
        request->topic_names_count = 1;
    }
    request->timeout_ms = (int32_t)sim_range(SIM_WORKLOAD, 0, 3000);
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct delete_topics_response *response = call.response;
        SIM_CHECK(response->responses_count == 1, "DeleteTopics: wrong rows");
        error = response->responses[0].error_code;
    }
    caller_end(&call);
    return error;
}

static void delete (struct caller *caller, struct topic_name *t) {
    bool tried = false;
    t->exists = false;
    for (;; caller_sleep(caller, RETRY_MS)) {
        int16_t error = ask_delete(caller, t);
        t->deleted_clean = error == 0;
        if (error == 0) break;
        bool unknown = error == KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION || error == KAFKA_ERROR_UNKNOWN_TOPIC_ID;
        SIM_CHECK(tried || !unknown, "topic %s was gone before it was deleted", t->name);
        if (unknown) break;
        caller_check_retriable(error, "DeleteTopics");
        tried = true;
    }
    struct client_call call;
    const struct fetch_response_partition *row;
    const struct caller_fetch fetch = {t->name, t->ids[t->incarnation], 0, 0, 1000, 0, false, 0};
    int16_t error = caller_fetch(caller, &call, &fetch, &row);
    SIM_CHECK(error != 0, "topic %s is deleted, and can be read", t->name);
    caller_check_retriable(error, "Fetch of a deleted topic");
    caller_end(&call);
}

static void admin_script(struct caller *caller, void *argument) {
    struct topic_name *t = argument;
    for (;;) {
        create(caller, t);
        if (sim_chance(SIM_WORKLOAD, 500000)) read_all(caller, t);
        caller_sleep(caller, sim_range(SIM_WORKLOAD, 1, 600));
        if (t->finish) t->writer_stop = true;
        read_all(caller, t);
        const bool last = t->writer_stop && t->writer->done;
        delete (caller, t);
        if (last) return;
    }
}

// ---- the scenario
static int look_for_leftovers(void *context, const char *name) {
    const char *path = context;
    for (int i = 0; i < NAMES; i++)
        SIM_CHECK(strncmp(name, names[i], strlen(names[i])) != 0 && !strstr(name, "-delete"),
                  "%s/%s is left, and every topic was deleted", path, name);
    return 0;
}

static void check_nothing_left(struct sim_broker *broker) {
    if (sim_chance(SIM_FAULTS, 500000)) {
        sim_crash(broker->host, SIM_POWER);
    } else {
        sim_broker_stop(broker);
    }
    sim_broker_come_up(broker);
    sim_run(SIM_SECOND, NULL, NULL); // deletions that the start has found go on behind it
    char paths[2][16] = {"/disk/data", "/disk2/data"};
    for (int i = 0; i < 2; i++)
        os_list_directory(broker->host, paths[i], look_for_leftovers, paths[i]);
}

static bool admins_are_done(void *context) {
    struct topic_name *topics = context;
    for (int i = 0; i < NAMES; i++)
        if (!topics[i].admin->done) return false;
    return true;
}

static void run_topics(bool disk_faults, int troubles) {
    struct sim_broker *broker = sim_broker_create(2);
    struct topic_name *topics = sim_new(NAMES * sizeof *topics);
    sim_broker_property(broker, "auto.create.topics.enable=false");
    sim_broker_come_up(broker);
    for (int i = 0; i < NAMES; i++) {
        char host[32];
        topics[i].name = names[i];
        topics[i].partition_count = (int32_t)sim_range(SIM_WORKLOAD, 1, PARTITIONS_MAX);
        snprintf(host, sizeof host, "admin-%d", i);
        topics[i].admin = caller_start(host, "broker", SIM_BROKER_PORT, admin_script, &topics[i]);
        snprintf(host, sizeof host, "writer-%d", i);
        topics[i].writer = caller_start(host, "broker", SIM_BROKER_PORT, writer_script, &topics[i]);
    }
    for (int i = 0; i < troubles; i++) {
        if (disk_faults) {
            sim_run(sim_range(SIM_FAULTS, 1, 300) * SIM_MS, NULL, NULL);
            sim_broker_disk_trouble(broker);
            sim_broker_revive(broker);
        } else {
            sim_broker_trouble(broker, topics[sim_range(SIM_FAULTS, 0, NAMES - 1)].admin->host);
        }
    }
    sim_broker_check_runs(broker);
    for (int i = 0; i < NAMES; i++)
        topics[i].finish = true;
    SIM_CHECK(sim_run(120 * SIM_SECOND, admins_are_done, topics), "the topics are not deleted");
    check_nothing_left(broker);
    sim_broker_finish(broker);
}

void scenario_topics(void) {
    run_topics(false, 8);
}
void scenario_topics_disk(void) {
    run_topics(true, 5);
}
