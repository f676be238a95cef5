// SPDX-License-Identifier: Apache-2.0
// Topics from request to image, store and replicas, and what a restart keeps of them.
#include "bench.h"

Test(topics, a_fresh_cluster) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\nzookeeper.connect=localhost:2181\n");
    bench_start(&b);
    cr_assert_eq(strlen(b.cluster_id), 22, "%s", b.cluster_id);
    const struct image *image = bench_image(&b);
    cr_assert(str_is(image->cluster_id, b.cluster_id));
    cr_assert_eq(image->controller_id, 1);
    cr_assert_eq(image->controller_epoch, 1);
    cr_assert_eq(image->broker_count, 1);
    cr_assert_gt(image->brokers[0].epoch, 0);
    const struct image_endpoint *endpoint = image_endpoint(&image->brokers[0], str_of("PLAINTEXT"));
    cr_assert(endpoint && str_is(endpoint->host, "localhost") && endpoint->port == 9092);
    cr_assert_null(bench_node(&b, "/brokers/ids/2"));
    cr_assert_not_null(strstr(bench_node(&b, "/brokers/ids/1"), "\"endpoints\":[\"PLAINTEXT://localhost:9092\"]"));
    cr_assert_str_eq(bench_node(&b, "/controller_epoch"), "1");
    const char *roots[] = {"/consumers",
                           "/brokers/seqid",
                           "/config/ips",
                           "/isr_change_notification",
                           "/latest_producer_id_block",
                           "/admin/delete_topics",
                           "/log_dir_event_notification"};
    for (size_t i = 0; i < ARRAY_LENGTH(roots); i++)
        cr_assert_str_eq(bench_node(&b, roots[i]), "", "%s", roots[i]);
    char id[64];
    strcpy(id, b.cluster_id);
    bench_restart(&b);
    cr_assert_str_eq(b.cluster_id, id);
    cr_assert_eq(bench_image(&b)->controller_epoch, 2);
    bench_stop(&b);
    strcpy(b.cluster_id, "AnotherClusterXXXXXXXX");
    bench_begin(&b);
    while (!b.started)
        bench_turn(&b);
    cr_assert_neq(b.started_error, 0);
    cr_assert_not_null(strstr(b.reason, id), "%s", b.reason);
    bench_stop(&b);
    bench_close(&b);
}

Test(topics, creation_reaches_store_replicas_and_image) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    static const struct controller_setting settings[] = {{.key = {"retention.ms", 12}, .value = {"1000", 4}},
                                                         {.key = {"cleanup.policy", 14}, .value = {"compact", 7}}};
    struct controller_create_topic row = {.name = str_of("orders"),
                                          .partition_count = 4,
                                          .replication_factor = -1,
                                          .settings = settings,
                                          .setting_count = 2};
    struct asked a = {
        .request = {.kind = CONTROLLER_CREATE_TOPICS, .timeout_ms = 30000, .create_topics = &row, .row_count = 1}};
    b.hold = true;
    asked_send(&b, &a);
    while (b.held_count < 4)
        bench_turn(&b);
    // The nodes are there before the directories, the directories before the image.
    cr_assert_not_null(bench_node(&b, "/brokers/topics/orders/partitions/3/state"));
    cr_assert_null(bench_topic(&b, "orders"));
    cr_assert_not(a.answered);
    for (int i = 0; i < 4; i++) {
        cr_assert(b.held[i]->is_new && b.held[i]->leader == 1 && b.held[i]->leader_epoch == 0);
        cr_assert_eq(b.held[i]->config->retention_ms, 1000);
    }
    bench_release(&b, 0);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(row.error, 0);
    cr_assert_eq(row.partition_count_out, 4);
    cr_assert_eq(row.replication_factor_out, 1);
    cr_assert_eq(row.entry_count, 2);
    cr_assert(str_is(row.entries[0].key, "cleanup.policy"));
    const struct image_topic *topic = bench_topic(&b, "orders");
    cr_assert_not_null(topic);
    cr_assert(uuid_equal(topic->id, row.topic_id) && !uuid_is_zero(topic->id));
    cr_assert_eq(image_topic_by_id(bench_image(&b), topic->id), topic);
    int cores[2] = {0}, dirs[2] = {0};
    for (int p = 0; p < 4; p++) {
        const struct image_partition *partition = image_partition(topic, p);
        cr_assert_eq(partition->leader, 1);
        cr_assert_eq(partition->leader_epoch, 0);
        cr_assert_eq(partition->partition_epoch, 0);
        cr_assert(partition->isr_count == 1 && partition->isr[0] == 1);
        cores[partition->owner_core]++;
        dirs[partition->log_dir]++;
    }
    cr_assert(cores[0] == 2 && cores[1] == 2 && dirs[0] == 2 && dirs[1] == 2);
    cr_assert_null(image_partition(topic, 4));
    char id[UUID_TEXT_SIZE + 1], expected[256];
    uuid_print(topic->id, id);
    snprintf(expected, sizeof expected,
             "{\"version\":3,\"topic_id\":\"%s\",\"partitions\":{\"0\":[1],\"1\":[1],\"2\":[1],\"3\":[1]},"
             "\"adding_replicas\":{},\"removing_replicas\":{}}",
             id);
    cr_assert_str_eq(bench_node(&b, "/brokers/topics/orders"), expected);
    cr_assert_str_eq(bench_node(&b, "/config/topics/orders"),
                     "{\"version\":1,\"config\":{\"cleanup.policy\":\"compact\",\"retention.ms\":\"1000\"}}");
    cr_assert_str_eq(bench_node(&b, "/brokers/topics/orders/partitions/0/state"),
                     "{\"controller_epoch\":1,\"leader\":1,\"version\":1,\"leader_epoch\":0,\"isr\":[1]}");
    asked_free(&a);

    // A restart keeps id, settings and places, and bumps the leader epochs.
    struct uuid before = topic->id;
    int dir_of_2 = topic->partitions[2].log_dir;
    b.hold = false;
    b.become_count = 0;
    bench_restart(&b);
    cr_assert_eq(b.become_count, 4);
    topic = bench_topic(&b, "orders");
    cr_assert_not_null(topic);
    cr_assert(uuid_equal(topic->id, before));
    cr_assert_eq(topic->config.retention_ms, 1000);
    cr_assert_eq(topic->overrides.count, 2);
    cr_assert_eq(topic->partitions[2].log_dir, dir_of_2);
    cr_assert_eq(topic->partitions[2].leader_epoch, 1);
    cr_assert_eq(topic->partitions[2].partition_epoch, 1);
    cr_assert_eq(topic->partitions[2].controller_epoch, 2);
    cr_assert_eq(bench_create(&b, "orders", 1), KAFKA_ERROR_TOPIC_ALREADY_EXISTS);
    bench_stop(&b);
    bench_close(&b);
}

// Replicas on a broker that is not there, and a partition that is assigned twice.
Test(topics, odd_assignments) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    static const int32_t self[] = {1}, other[] = {7}, both[] = {7, 1}, twice[] = {1, 1};
    const struct controller_assignment away[] = {{0, other, 1}}, half[] = {{0, self, 1}, {1, other, 1}},
                                       mixed[] = {{0, both, 2}}, again[] = {{0, twice, 2}, {1, self, 1}, {0, self, 1}};
    struct controller_create_topic rows[] = {
        {.name = str_of("away"), .assignments = away, .assignment_count = 1},
        {.name = str_of("half"), .assignments = half, .assignment_count = 2},
        {.name = str_of("mixed"), .assignments = mixed, .assignment_count = 1},
        {.name = str_of("again"), .assignments = again, .assignment_count = 3},
    };
    enum { ROWS = ARRAY_LENGTH(rows) };
    for (size_t i = 0; i < ROWS; i++)
        rows[i].partition_count = rows[i].replication_factor = -1;
    struct asked a = {
        .request = {.kind = CONTROLLER_CREATE_TOPICS, .timeout_ms = 30000, .create_topics = rows, .row_count = ROWS}};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    const bool lacks_leader[ROWS] = {true, true, false, false}, is_visible[ROWS] = {false, true, true, true};
    for (size_t i = 0; i < ROWS; i++) {
        cr_assert_eq(rows[i].error, 0, "%zu", i);
        cr_assert_eq(rows[i].lacks_leader, lacks_leader[i], "%zu", i);
        cr_assert_eq(image_topic_is_visible(image_topic_by_name(bench_image(&b), rows[i].name)), is_visible[i]);
    }
    cr_assert_eq(bench_topic(&b, "again")->partition_count, 2);
    cr_assert_eq(bench_topic(&b, "again")->partitions[0].replica_count, 1);
    cr_assert_eq(bench_topic(&b, "mixed")->partitions[0].leader, 1);
    asked_free(&a);
    bench_stop(&b);
    bench_close(&b);
}

struct create_case {
    const char *name;
    int32_t partitions;
    int16_t factor;
    const char *key, *value;
    int assigned; // partitions assigned to broker 1; -1: one partition with the number 1
    int16_t error;
};

Test(topics, creation_errors) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\nnum.partitions=3\n");
    bench_start(&b);
    cr_assert_eq(bench_create(&b, "a.b", 1), 0);
    static const struct create_case cases[] = {
        {"a.b", 0, 0, "x", NULL, 1, KAFKA_ERROR_TOPIC_ALREADY_EXISTS},
        {"n", 0, 1, "retention.ms", NULL, 0, KAFKA_ERROR_INVALID_CONFIG},
        {"n", 1, 1, NULL, NULL, 1, KAFKA_ERROR_INVALID_REQUEST},
        {"", 0, 1, NULL, NULL, 0, KAFKA_ERROR_INVALID_PARTITIONS},
        {"n", -2, 1, NULL, NULL, 0, KAFKA_ERROR_INVALID_PARTITIONS},
        {"n", INT32_MAX, 1, NULL, NULL, 0, KAFKA_ERROR_INVALID_PARTITIONS},
        {"n", 1, 0, NULL, NULL, 0, KAFKA_ERROR_INVALID_REPLICATION_FACTOR},
        {"n", 1, -2, NULL, NULL, 0, KAFKA_ERROR_INVALID_REPLICATION_FACTOR},
        {"n/", 1, 2, NULL, NULL, 0, KAFKA_ERROR_INVALID_REPLICATION_FACTOR},
        {"", 1, 1, NULL, NULL, 0, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION},
        {"n/", 1, 1, NULL, NULL, 0, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION},
        {"..", 1, 1, NULL, NULL, 0, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION},
        {"a_b", 1, 1, "nonsense", "1", 0, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION},
        {"n", -1, -1, "nonsense", "1", -1, KAFKA_ERROR_INVALID_REPLICA_ASSIGNMENT},
        {"__cluster_metadata", 1, 1, NULL, NULL, 0, KAFKA_ERROR_INVALID_REQUEST},
        {"n", 1, 1, "nonsense", "1", 0, KAFKA_ERROR_INVALID_CONFIG},
        {"n", 1, 1, "retention.ms", "x", 0, KAFKA_ERROR_INVALID_CONFIG},
    };
    static const int32_t self[] = {1};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const struct create_case *c = &cases[i];
        struct controller_assignment assignment = {c->assigned < 0 ? 1 : 0, self, 1};
        struct controller_setting setting = {.key = str_of(c->key), .value = str_of(c->value)};
        struct controller_create_topic row = {.name = str_of(c->name),
                                              .partition_count = c->partitions,
                                              .replication_factor = c->factor,
                                              .assignments = &assignment,
                                              .assignment_count = c->assigned != 0,
                                              .settings = &setting,
                                              .setting_count = c->key != NULL};
        struct asked a = {.request = {.kind = CONTROLLER_CREATE_TOPICS,
                                      .timeout_ms = 30000,
                                      .validate_only = i % 2 == 0,
                                      .create_topics = &row,
                                      .row_count = 1}};
        asked_send(&b, &a);
        while (!a.answered)
            bench_turn(&b);
        cr_assert_eq(row.error, c->error, "case %zu: %d", i, row.error);
        cr_assert(row.message.size > 0, "case %zu", i);
        cr_assert_eq(row.partition_count_out, -1);
        asked_free(&a);
    }
    cr_assert_null(bench_topic(&b, "n"));
    // Twice in a request; the defaults; only validated.
    struct controller_create_topic rows[] = {
        {.name = str_of("twice"), .partition_count = 1, .replication_factor = 1},
        {.name = str_of("defaults"), .partition_count = -1, .replication_factor = -1},
        {.name = str_of("twice"), .partition_count = 1, .replication_factor = 1},
        {.name = str_of("x.y"), .partition_count = 1, .replication_factor = 1},
        {.name = str_of("x_y"), .partition_count = 1, .replication_factor = 1},
        {.name = str_of("denied"), .error = KAFKA_ERROR_TOPIC_AUTHORIZATION_FAILED},
    };
    struct asked a = {
        .request = {.kind = CONTROLLER_CREATE_TOPICS, .timeout_ms = 30000, .create_topics = rows, .row_count = 6}};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(rows[0].error, KAFKA_ERROR_INVALID_REQUEST);
    cr_assert_eq(rows[2].error, KAFKA_ERROR_INVALID_REQUEST);
    cr_assert_eq(rows[1].error, 0);
    cr_assert_eq(rows[1].partition_count_out, 3);
    cr_assert_eq(rows[3].error, 0);
    cr_assert_eq(rows[4].error, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION);
    cr_assert_eq(rows[5].error, KAFKA_ERROR_TOPIC_AUTHORIZATION_FAILED);
    cr_assert_eq(bench_image(&b)->topic_count, 3);
    asked_free(&a);
    bench_stop(&b);
    bench_close(&b);
}

// The work of a request whose time is up goes on.
Test(topics, time) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    struct controller_create_topic row = {.name = str_of("now"), .partition_count = 1, .replication_factor = 1};
    struct asked a = {.request = {.kind = CONTROLLER_CREATE_TOPICS, .create_topics = &row, .row_count = 1}};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(row.error, KAFKA_ERROR_REQUEST_TIMED_OUT);
    cr_assert(!uuid_is_zero(row.topic_id) && row.partition_count_out == -1 && row.entry_count == 0);
    asked_free(&a);
    while (!bench_topic(&b, "now"))
        bench_turn(&b);
    b.hold = true;
    struct controller_create_topic late = {.name = str_of("late"), .partition_count = 1, .replication_factor = 1};
    a.request = (struct controller_request){
        .kind = CONTROLLER_CREATE_TOPICS, .timeout_ms = 5, .create_topics = &late, .row_count = 1};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(late.error, KAFKA_ERROR_REQUEST_TIMED_OUT);
    asked_free(&a);
    b.hold = false;
    bench_release(&b, 0);
    while (!bench_topic(&b, "late"))
        bench_turn(&b);
    bench_stop(&b);
    bench_close(&b);
}

Test(topics, automatic_creation) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\noffsets.topic.num.partitions=5\nnum.partitions=2\n");
    bench_start(&b);
    cr_assert_eq(bench_create(&b, "there", 1), 0);
    struct controller_auto_create_topic rows[] = {{.name = str_of("there")},
                                                  {.name = str_of("__consumer_offsets")},
                                                  {.name = str_of("new")},
                                                  {.name = str_of("new")},
                                                  {.name = str_of("bad name")}};
    struct asked a = {.request = {.kind = CONTROLLER_AUTO_CREATE_TOPICS, .auto_create_topics = rows, .row_count = 5}};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(rows[0].error, 0);
    cr_assert_eq(rows[1].error, 0);
    cr_assert_eq(rows[2].error, 0);
    cr_assert_eq(rows[3].error, 0);
    cr_assert_eq(rows[4].error, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION);
    asked_free(&a);
    cr_assert_eq(bench_topic(&b, "new")->partition_count, 2);
    const struct image_topic *offsets = bench_topic(&b, "__consumer_offsets");
    cr_assert(offsets->is_internal && offsets->partition_count == 5);
    cr_assert_eq(offsets->config.cleanup_policy, TOPIC_CLEANUP_COMPACT);
    cr_assert_eq(offsets->config.segment_bytes, 104857600);
    bench_stop(&b);
    bench_close(&b);
}

// A replica that cannot be made is offline; the others serve.
Test(topics, a_failing_directory) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    cr_assert_eq(bench_create(&b, "good", 2), 0);
    b.become_error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    cr_assert_eq(bench_create(&b, "bad", 2), 0);
    cr_assert(bench_topic(&b, "bad")->partitions[0].offline);
    cr_assert_not(bench_topic(&b, "good")->partitions[0].offline);
    b.become_error = 0;
    // The whole directory 1 fails: its leaders are gone, their epochs one higher.
    struct asked a = {.request = {.kind = CONTROLLER_LOG_DIR_FAILED, .log_dir = 1, .log_dir_path = "/b"}};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    asked_free(&a);
    const struct image_topic *good = bench_topic(&b, "good");
    int gone = good->partitions[0].log_dir == 1 ? 0 : 1;
    cr_assert_eq(good->partitions[gone].leader, -1);
    cr_assert_eq(good->partitions[gone].leader_epoch, 1);
    cr_assert_eq(good->partitions[gone].partition_epoch, 1);
    cr_assert(good->partitions[gone].offline);
    cr_assert(good->partitions[gone].isr_count == 1);
    cr_assert_eq(good->partitions[1 - gone].leader, 1);
    cr_assert_eq(bench_create(&b, "after", 2), 0);
    cr_assert(bench_topic(&b, "after")->partitions[0].log_dir == 0 &&
              bench_topic(&b, "after")->partitions[1].log_dir == 0);
    // The next start finds the directory well again.
    bench_restart(&b);
    good = bench_topic(&b, "good");
    cr_assert_eq(good->partitions[gone].leader, 1);
    cr_assert_eq(good->partitions[gone].leader_epoch, 2);
    // And one with the directory missing does not begin anew what may be in it.
    bench_stop(&b);
    b.dir_failed[1] = true;
    struct disk whole = disk;
    for (int i = 0; i < disk.count; i++)
        if (disk.at[i].dir == 1) disk.at[i--] = disk.at[--disk.count];
    bench_start(&b);
    good = bench_topic(&b, "good");
    cr_assert_eq(good->partitions[gone].leader, -1);
    cr_assert(good->partitions[gone].offline);
    cr_assert_eq(good->partitions[1 - gone].leader, 1);
    disk = whole;
    bench_stop(&b);
    bench_close(&b);
}

// A replica that fails to load after the start becomes offline in the image.
Test(topics, loading_fails) {
    struct bench b;
    struct disk disk = {0};
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    bench_start(&b);
    cr_assert_eq(bench_create(&b, "t", 3), 0);
    bench_stop(&b);
    b.hold = true;
    bench_start(&b);
    cr_assert_eq(b.held_count, 3);
    cr_assert_not(bench_topic(&b, "t")->partitions[1].offline);
    struct controller_replica *second = b.held[1];
    b.held[1] = b.held[2];
    b.held_count = 2;
    controller_replica_answer(second, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    for (int i = 0; i < 5; i++)
        bench_turn(&b);
    cr_assert(bench_topic(&b, "t")->partitions[1].offline);
    cr_assert_not(bench_topic(&b, "t")->partitions[0].offline);
    b.hold = false;
    bench_release(&b, 0);
    bench_stop(&b);
    bench_close(&b);
}
