// SPDX-License-Identifier: Apache-2.0
// Partitions added, settings changed, producer ids claimed; what a restart keeps of them.
#include "bench.h"
#include "core/loggers.h"

static void ask(struct bench *b, struct asked *a) {
    asked_send(b, a);
    while (!a->answered)
        bench_turn(b);
    cr_assert_eq(a->request.error, 0);
}

// ---- partitions

static int16_t grow(struct bench *b, struct controller_create_partitions row) {
    struct asked a = {
        .request = {
            .kind = CONTROLLER_CREATE_PARTITIONS, .timeout_ms = 30000, .create_partitions = &row, .row_count = 1}};
    ask(b, &a);
    asked_free(&a);
    return row.error;
}

Test(partitions, are_added) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    cr_assert_eq(bench_create(&b, "t", 2), 0);
    struct uuid id = bench_topic(&b, "t")->id;
    static const int32_t self[] = {1}, other[] = {7}, twice[] = {1, 1};
    static const struct controller_assignment good = {0, self, 1}, unknown = {0, other, 1}, doubled = {0, twice, 2};
    const struct {
        struct controller_create_partitions row;
        int16_t error;
    } cases[] = {
        {{.name = str_of("t"), .count = 2}, KAFKA_ERROR_INVALID_PARTITIONS},
        {{.name = str_of("t"), .count = 1}, KAFKA_ERROR_INVALID_PARTITIONS},
        {{.name = str_of("t"), .count = INT32_MAX}, KAFKA_ERROR_INVALID_PARTITIONS},
        {{.name = str_of("missing"), .count = 5}, KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION},
        {{.name = str_of("t"), .count = 3, .has_assignments = true}, KAFKA_ERROR_INVALID_REPLICA_ASSIGNMENT},
        {{.name = str_of("t"), .count = 3, .has_assignments = true, .assignments = &unknown, .assignment_count = 1},
         KAFKA_ERROR_INVALID_REPLICA_ASSIGNMENT},
        {{.name = str_of("t"), .count = 3, .has_assignments = true, .assignments = &doubled, .assignment_count = 1},
         KAFKA_ERROR_INVALID_REPLICA_ASSIGNMENT},
        {{.name = str_of("t"), .count = 3, .has_assignments = true, .assignments = &good, .assignment_count = 1}, 0},
        {{.name = str_of("t"), .count = 6}, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        cr_assert_eq(grow(&b, cases[i].row), cases[i].error, "case %zu", i);
    const struct image_topic *topic = bench_topic(&b, "t");
    cr_assert_eq(topic->partition_count, 6);
    cr_assert(uuid_equal(topic->id, id));
    for (int p = 0; p < 6; p++)
        cr_assert(topic->partitions[p].leader == 1 && disk_has(&disk, "t", p), "%d", p);
    struct controller_create_partitions rows[] = {{.name = str_of("t"), .count = 9}, {.name = str_of("t"), .count = 9}};
    struct asked a = {
        .request = {
            .kind = CONTROLLER_CREATE_PARTITIONS, .timeout_ms = 30000, .create_partitions = rows, .row_count = 2}};
    ask(&b, &a);
    cr_assert(rows[0].error == KAFKA_ERROR_INVALID_REQUEST && rows[1].error == KAFKA_ERROR_INVALID_REQUEST);
    asked_free(&a);
    bench_restart(&b);
    cr_assert_eq(bench_topic(&b, "t")->partition_count, 6);
    cr_assert_eq(bench_topic(&b, "t")->partitions[5].leader_epoch, 1);
    bench_stop(&b);
    bench_close(&b);
}

// A topic whose nodes take more than one write.
Test(partitions, many) {
    struct bench b;
    struct disk *disk = calloc(1, sizeof *disk);
    bench_open(&b, disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    b.become_error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;                                  // the played disk is small
    cr_assert_eq(bench_create(&b, "too_many", 99999), KAFKA_ERROR_INVALID_PARTITIONS); // for one node
    cr_assert_eq(bench_create(&b, "t", 2500), 0);
    cr_assert_eq(grow(&b, (struct controller_create_partitions){.name = str_of("t"), .count = 2600}), 0);
    bench_restart(&b);
    cr_assert_eq(bench_topic(&b, "t")->partition_count, 2600);
    cr_assert_eq(bench_topic(&b, "t")->partitions[2599].leader_epoch, 1);
    cr_assert_eq(bench_delete(&b, "t"), 0);
    cr_assert_null(bench_node(&b, "/brokers/topics/t"));
    bench_stop(&b);
    bench_close(&b);
    free(disk);
}

// ---- settings

static int16_t alter(struct bench *b, bool incremental, int type, const char *name, const char *key,
                     enum config_operation operation, const char *value) {
    struct controller_setting setting = {.key = str_of(key), .value = str_of(value), .operation = operation};
    struct controller_alter_config row = {
        .resource_type = (int8_t)type, .name = str_of(name), .settings = &setting, .setting_count = key != NULL};
    struct asked a = {.request = {.kind = incremental ? CONTROLLER_INCREMENTAL_ALTER_CONFIGS : CONTROLLER_ALTER_CONFIGS,
                                  .alter_configs = &row,
                                  .row_count = 1}};
    ask(b, &a);
    bool has_text = row.error != 0 && row.error != KAFKA_ERROR_UNKNOWN_SERVER_ERROR;
    cr_assert(has_text != str_is_null(row.message), "%d", row.error);
    asked_free(&a);
    return row.error;
}

Test(settings, codes) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    cr_assert_eq(bench_create(&b, "t", 1), 0);
    enum { TOPIC = CONTROLLER_RESOURCE_TOPIC, BROKER = CONTROLLER_RESOURCE_BROKER };
    // Trap 16.
    const struct {
        int type;
        const char *name, *key;
        enum config_operation operation;
        const char *value;
        int16_t error;
    } cases[] = {
        {TOPIC, "t", "nonsense", CONFIG_SET, "1", KAFKA_ERROR_INVALID_CONFIG},
        {TOPIC, "t", "retention.ms", CONFIG_SET, "x", KAFKA_ERROR_INVALID_CONFIG},
        {TOPIC, "t", "retention.ms", CONFIG_APPEND, "1", KAFKA_ERROR_INVALID_CONFIG},
        {TOPIC, "t", "retention.ms", CONFIG_SET, NULL, KAFKA_ERROR_INVALID_REQUEST},
        {TOPIC, "t", "retention.ms", 9, "1", KAFKA_ERROR_UNKNOWN_SERVER_ERROR},
        {TOPIC, "t", "nonsense", CONFIG_APPEND, "1", KAFKA_ERROR_UNKNOWN_SERVER_ERROR},
        {BROKER, "1", "log.retention.ms", 9, "1", KAFKA_ERROR_INVALID_REQUEST},
        {CONTROLLER_RESOURCE_CLIENT_METRICS, "m", "interval.ms", CONFIG_SET, "1", KAFKA_ERROR_INVALID_REQUEST},
        {BROKER, "+1", "my.own.key", CONFIG_SET, "3", 0},
        {TOPIC, "", "retention.ms", CONFIG_SET, "1", KAFKA_ERROR_INVALID_REQUEST},
        {TOPIC, "missing", "retention.ms", CONFIG_SET, "1", KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION},
        {TOPIC, "missing", "cleanup.policy", CONFIG_APPEND, "compact", KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION},
        {TOPIC, "missing", "retention.ms", CONFIG_APPEND, "1", KAFKA_ERROR_INVALID_CONFIG},
        {TOPIC, "missing", "nonsense", CONFIG_SUBTRACT, "1", KAFKA_ERROR_UNKNOWN_SERVER_ERROR},
        {TOPIC, "t", "retention.ms", CONFIG_DELETE, NULL, 0},
        {BROKER, "1", "broker.id", CONFIG_SET, "3", KAFKA_ERROR_INVALID_REQUEST},
        {BROKER, "2", "log.retention.ms", CONFIG_SET, "3", KAFKA_ERROR_INVALID_REQUEST},
        {BROKER, "x", "log.retention.ms", CONFIG_SET, "3", KAFKA_ERROR_INVALID_REQUEST},
        {BROKER, "1", "my.own.key", CONFIG_SET, "3", 0},
        {99, "1", "log.retention.ms", CONFIG_SET, "3", KAFKA_ERROR_INVALID_REQUEST},
        {TOPIC, "t", "cleanup.policy", CONFIG_APPEND, "compact", 0},
        {TOPIC, "t", "cleanup.policy", CONFIG_SUBTRACT, "delete", 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        cr_assert_eq(alter(&b, true, cases[i].type, cases[i].name, cases[i].key, cases[i].operation, cases[i].value),
                     cases[i].error, "case %zu", i);
    cr_assert_eq(bench_topic(&b, "t")->config.cleanup_policy, TOPIC_CLEANUP_COMPACT);
    struct controller_setting settings[] = {{.key = str_of("retention.ms"), .value = str_of("1")},
                                            {.key = str_of("retention.ms"), .value = str_of("2")}};
    struct controller_alter_config rows[] = {
        {.resource_type = TOPIC, .name = str_of("t"), .settings = settings, .setting_count = 2},
        {.resource_type = BROKER, .name = str_of("1")},
        {.resource_type = BROKER, .name = str_of("1")},
    };
    struct asked a = {.request = {.kind = CONTROLLER_INCREMENTAL_ALTER_CONFIGS, .alter_configs = rows, .row_count = 3}};
    ask(&b, &a);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(rows[i].error, KAFKA_ERROR_INVALID_REQUEST, "%d", i);
    asked_free(&a);
    bench_stop(&b);
    bench_close(&b);
}

Test(settings, loggers) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    enum { LOGGERS = CONTROLLER_RESOURCE_LOGGERS };
    const struct {
        const char *name, *key;
        enum config_operation operation;
        const char *value;
        int16_t error;
    } cases[] = {
        {"1", "root", CONFIG_SET, "warn", KAFKA_ERROR_INVALID_CONFIG},
        {"1", "root", CONFIG_SET, "INHERITS", KAFKA_ERROR_INVALID_CONFIG},
        {"1", "nonsense", CONFIG_SET, "WARN", KAFKA_ERROR_INVALID_CONFIG},
        {"1", "nonsense", CONFIG_DELETE, NULL, KAFKA_ERROR_INVALID_CONFIG},
        {"1", "root", CONFIG_DELETE, NULL, KAFKA_ERROR_INVALID_REQUEST},
        {"1", "root", CONFIG_APPEND, "WARN", KAFKA_ERROR_INVALID_REQUEST},
        {"1", "root", 9, "WARN", KAFKA_ERROR_UNKNOWN_SERVER_ERROR},
        {"2", "root", CONFIG_SET, "WARN", KAFKA_ERROR_INVALID_REQUEST},
        {"", "root", CONFIG_SET, "WARN", KAFKA_ERROR_INVALID_REQUEST},
        {"1", "net", CONFIG_SET, "DEBUG", 0},
        {"1", "root", CONFIG_SET, "FATAL", 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        cr_assert_eq(alter(&b, true, LOGGERS, cases[i].name, cases[i].key, cases[i].operation, cases[i].value),
                     cases[i].error, "case %zu", i);
    cr_assert_eq(alter(&b, false, LOGGERS, "1", "root", CONFIG_SET, "INFO"), KAFKA_ERROR_INVALID_REQUEST);
    size_t net, log;
    cr_assert(logger_find(str_of("net"), &net) && logger_find(str_of("log"), &log));
    cr_assert_eq(logger_level_of(b.control, LOGGER_ROOT), LOGGER_FATAL);
    cr_assert_eq(logger_level_of(b.control, net), LOGGER_DEBUG);
    cr_assert_eq(logger_level_of(b.control, log), LOGGER_FATAL);
    cr_assert_eq(alter(&b, true, LOGGERS, "1", "net", CONFIG_DELETE, NULL), 0);
    cr_assert_eq(logger_level_of(b.control, net), LOGGER_FATAL);
    // All of a resource or none.
    struct controller_setting settings[] = {{.key = str_of("root"), .value = str_of("INFO")},
                                            {.key = str_of("nonsense"), .value = str_of("INFO")}};
    struct controller_alter_config row = {
        .resource_type = LOGGERS, .name = str_of("1"), .settings = settings, .setting_count = 2};
    struct asked a = {.request = {.kind = CONTROLLER_INCREMENTAL_ALTER_CONFIGS, .alter_configs = &row, .row_count = 1}};
    ask(&b, &a);
    cr_assert_eq(row.error, KAFKA_ERROR_INVALID_CONFIG);
    asked_free(&a);
    cr_assert_eq(logger_level_of(b.control, LOGGER_ROOT), LOGGER_FATAL);
    bench_stop(&b);
    bench_close(&b);
}

Test(settings, take_effect_and_stay) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    enum { TOPIC = CONTROLLER_RESOURCE_TOPIC, BROKER = CONTROLLER_RESOURCE_BROKER };
    cr_assert_eq(bench_create(&b, "t", 1), 0);
    cr_assert_eq(bench_create(&b, "u", 1), 0);
    cr_assert_eq(alter(&b, true, TOPIC, "t", "retention.ms", CONFIG_SET, "5000"), 0);
    cr_assert_eq(bench_topic(&b, "t")->config.retention_ms, 5000);
    cr_assert_str_eq(bench_node(&b, "/config/topics/t"), "{\"version\":1,\"config\":{\"retention.ms\":\"5000\"}}");
    cr_assert_str_eq(bench_node(&b, "/config/changes/config_change_0000000000"),
                     "{\"version\":2,\"entity_path\":\"topics/t\"}");
    // The legacy form replaces everything.
    cr_assert_eq(alter(&b, false, TOPIC, "t", "max.message.bytes", CONFIG_SET, "2000"), 0);
    cr_assert_eq(bench_topic(&b, "t")->config.max_message_bytes, 2000);
    cr_assert_neq(bench_topic(&b, "t")->config.retention_ms, 5000);
    // Brokers' settings reach topics that have none of their own: of all brokers, then of this one.
    cr_assert_eq(alter(&b, true, BROKER, "", "log.retention.ms", CONFIG_SET, "7000"), 0);
    cr_assert_eq(bench_topic(&b, "u")->config.retention_ms, 7000);
    cr_assert_eq(alter(&b, true, BROKER, "1", "log.retention.ms", CONFIG_SET, "8000"), 0);
    cr_assert_eq(bench_topic(&b, "u")->config.retention_ms, 8000);
    cr_assert_eq(bench_topic(&b, "t")->config.retention_ms, 8000);
    cr_assert_eq(bench_topic(&b, "t")->config.max_message_bytes, 2000);
    cr_assert_not_null(bench_node(&b, "/config/brokers/<default>"));
    bench_restart(&b);
    cr_assert_eq(bench_topic(&b, "u")->config.retention_ms, 8000);
    cr_assert_eq(bench_image(&b)->broker_overrides.count, 1);
    cr_assert_eq(alter(&b, true, BROKER, "1", "log.retention.ms", CONFIG_DELETE, NULL), 0);
    cr_assert_eq(bench_topic(&b, "u")->config.retention_ms, 7000);
    cr_assert_eq(bench_topic(&b, "t")->config.max_message_bytes, 2000);
    bench_stop(&b);
    bench_close(&b);
}

// ---- producer ids

Test(producer_ids, are_never_given_twice) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    for (int64_t expected = 0; expected < 5000; expected += 1000) {
        struct asked a = {.request = {.kind = CONTROLLER_ALLOCATE_PRODUCER_IDS}};
        ask(&b, &a);
        cr_assert_eq(a.request.first_producer_id, expected);
        cr_assert_eq(a.request.producer_id_count, 1000);
        asked_free(&a);
        if (expected == 2000) bench_restart(&b);
    }
    cr_assert_str_eq(bench_node(&b, "/latest_producer_id_block"),
                     "{\"version\":1,\"broker\":1,\"block_start\":\"4000\",\"block_end\":\"4999\"}");
    bench_stop(&b);
    bench_close(&b);
}

// ---- failures

Test(failure, another_controller_fences_this_one) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    struct metastore_change change =
        metastore_set_node("/controller_epoch", (struct bytes){(const uint8_t *)"9", 1}, -1);
    struct metastore_write write = {.changes = &change, .count = 1};
    metastore_write_start(b.store, &write);
    while (!write.call.done)
        bench_turn(&b);
    cr_assert_eq(bench_create(&b, "t", 1), KAFKA_ERROR_NOT_CONTROLLER);
    for (int i = 0; i < 3; i++)
        bench_turn(&b);
    cr_assert(b.failed);
    cr_assert_null(bench_topic(&b, "t"));
    cr_assert_null(bench_node(&b, "/brokers/topics/t"));
    struct controller_create_topic row = {.name = str_of("u"), .partition_count = 1, .replication_factor = 1};
    struct asked a = {
        .request = {.kind = CONTROLLER_CREATE_TOPICS, .timeout_ms = 30000, .create_topics = &row, .row_count = 1}};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(a.request.error, KAFKA_ERROR_NOT_CONTROLLER);
    asked_free(&a);
    bench_stop(&b);
    bench_close(&b);
}

// What the store says is checked; a start that cannot understand it names the node.
Test(failure, nonsense_in_the_store) {
    static const struct {
        const char *path, *data, *named;
    } cases[] = {
        {"/brokers/topics/t", "{\"version\":3", "/brokers/topics/t"},
        {"/brokers/topics/t", "{\"version\":3,\"partitions\":{\"1\":[1]}}", "/brokers/topics/t"},
        {"/brokers/topics/t", "{\"version\":3,\"partitions\":{\"0\":[]}}", "/brokers/topics/t"},
        {"/brokers/topics/t/partitions/0/state", "{\"leader\":1}", "/brokers/topics/t/partitions/0/state"},
        {"/config/topics/t", "{\"version\":1,\"config\":{\"a\":1}}", "/config/topics/t"},
        {"/controller_epoch", "x", "/controller_epoch"},
        {"/cluster/id", "{}", "/cluster/id"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct bench b;
        struct disk disk = {0};
        bench_open(&b, &disk, "log.dirs=/a,/b\n");
        bench_start(&b);
        cr_assert_eq(bench_create(&b, "t", 1), 0);
        struct bytes data = {(const uint8_t *)cases[i].data, strlen(cases[i].data)};
        struct metastore_change change = metastore_set_node(cases[i].path, data, -1);
        struct metastore_write write = {.changes = &change, .count = 1};
        metastore_write_start(b.store, &write);
        while (!write.call.done)
            bench_turn(&b);
        cr_assert_eq(write.call.result, METASTORE_OK);
        bench_stop(&b);
        bench_begin(&b);
        while (!b.started)
            bench_turn(&b);
        cr_assert_neq(b.started_error, 0, "case %zu", i);
        cr_assert_not_null(strstr(b.reason, cases[i].named), "case %zu: %s", i, b.reason);
        bench_stop(&b);
        bench_close(&b);
    }
}

// ---- offsets of very old clients

Test(stored_offsets, are_kept_in_the_store) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    for (int round = 0; round < 2; round++) {
        struct controller_offset rows[] = {{.topic = str_of("t"), .partition = 0, .offset = 5 + round},
                                           {.topic = str_of("t"), .partition = 1, .offset = 7},
                                           {.topic = str_of("t"), .partition = 0, .offset = 6 + round}};
        struct asked a = {.request = {.kind = CONTROLLER_STORE_OFFSETS, .offsets = rows, .row_count = 3}};
        a.request.group = str_of("g");
        ask(&b, &a);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(rows[i].error, 0);
        asked_free(&a);
    }
    cr_assert_str_eq(bench_node(&b, "/consumers/g/offsets/t/0"), "7");
    bench_restart(&b);
    struct controller_offset rows[] = {{.topic = str_of("t"), .partition = 0}, {.topic = str_of("t"), .partition = 2}};
    struct asked a = {.request = {.kind = CONTROLLER_LOAD_OFFSETS, .offsets = rows, .row_count = 2}};
    a.request.group = str_of("g");
    ask(&b, &a);
    cr_assert(rows[0].error == 0 && rows[0].offset == 7);
    cr_assert(rows[1].error == KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION && rows[1].offset == -1);
    asked_free(&a);
    a.request.kind = CONTROLLER_STORE_OFFSETS;
    a.request.group = str_of("../../brokers");
    rows[0].error = rows[1].error = 0;
    ask(&b, &a);
    cr_assert_eq(rows[0].error, KAFKA_ERROR_INVALID_GROUP_ID);
    asked_free(&a);
    bench_stop(&b);
    bench_close(&b);
}
