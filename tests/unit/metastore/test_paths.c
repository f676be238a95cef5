// SPDX-License-Identifier: Apache-2.0
// Nodes of Kafka's tree: exact text out, strict reading in.
#include "metastore/paths.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena arena_of(void) {
    struct arena a;
    arena_init(&a, 1 << 20);
    return a;
}
static struct bytes octets(const char *text) {
    return (struct bytes){(const uint8_t *)text, text ? strlen(text) : 0};
}
static void is_text(struct bytes data, const char *expected) {
    cr_assert(data.data != NULL && data.size == strlen(expected) && memcmp(data.data, expected, data.size) == 0, "%.*s",
              (int)data.size, (const char *)data.data);
}

Test(paths, names) {
    char path[ZNODE_PATH_SIZE];
    znode_state_path(path, str_of("a.b"), 17);
    cr_assert_str_eq(path, "/brokers/topics/a.b/partitions/17/state");
    znode_offset_path(path, str_of("g"), str_of("t"), 2);
    cr_assert_str_eq(path, "/consumers/g/offsets/t/2");
    znode_broker_path(path, 2147483647);
    cr_assert_str_eq(path, "/brokers/ids/2147483647");
    char long_name[2000];
    memset(long_name, 'x', sizeof long_name);
    znode_path(path, ZNODE_TOPICS, (struct str){long_name, sizeof long_name});
    cr_assert_str_eq(path, "", "what does not fit is no path");
}

// Texts of a 3.9.1 broker.
Test(paths, written_as_kafka_does) {
    struct arena a = arena_of();
    const int32_t replicas[] = {1, 2};
    const struct znode_replicas row = {0, replicas, 2};
    is_text(
        znode_topic_encode(
            &a, &(struct znode_topic){.id = "0NVIGDp5QGypwUVXLxr9ng", .partitions = &row, .partition_count = 1}),
        "{\"version\":3,\"topic_id\":\"0NVIGDp5QGypwUVXLxr9ng\",\"partitions\":{\"0\":[1,2]},\"adding_replicas\":{},"
        "\"removing_replicas\":{}}");
    is_text(znode_state_encode(&a, &(struct znode_state){1, 2, 3, replicas, 2, true}),
            "{\"controller_epoch\":3,\"leader\":1,\"version\":1,\"leader_epoch\":2,\"isr\":[1,2],"
            "\"leader_recovery_state\":1}");
    is_text(znode_controller_encode(&a, 7, 1700000000000),
            "{\"version\":2,\"brokerid\":7,\"timestamp\":\"1700000000000\",\"kraftControllerEpoch\":-1}");
    is_text(znode_number_encode(&a, 12), "12");
    is_text(znode_cluster_id_encode(&a, str_of("4L6g3nShT-eMCtK--X86sw")),
            "{\"version\":\"1\",\"id\":\"4L6g3nShT-eMCtK--X86sw\"}");
    is_text(znode_producer_block_encode(&a, &(struct znode_producer_block){1, 1000, 1999}),
            "{\"version\":1,\"broker\":1,\"block_start\":\"1000\",\"block_end\":\"1999\"}");
    is_text(znode_config_change_encode(&a, str_of("brokers/<default>")),
            "{\"version\":2,\"entity_path\":\"brokers/<default>\"}");
    const struct znode_setting settings[] = {{str_of("a"), str_of("\"quoted\"\n")}, {str_of("b"), str_of("")}};
    is_text(znode_settings_encode(&a, &(struct znode_settings){settings, 2}),
            "{\"version\":1,\"config\":{\"a\":\"\\\"quoted\\\"\\n\",\"b\":\"\"}}");
    const struct znode_endpoint endpoints[] = {{str_of("IN"), str_of("SSL"), str_of("::1"), 1},
                                               {str_of("OUT"), str_of("PLAINTEXT"), str_of("h"), 2}};
    is_text(znode_broker_encode(&a, &(struct znode_broker){endpoints, 2, str_of("r1"), 5}),
            "{\"features\":{},\"listener_security_protocol_map\":{\"IN\":\"SSL\",\"OUT\":\"PLAINTEXT\"},"
            "\"endpoints\":[\"IN://[::1]:1\",\"OUT://h:2\"],\"rack\":\"r1\",\"jmx_port\":-1,\"port\":2,\"host\":\"h\","
            "\"version\":5,\"timestamp\":\"5\"}");
    const struct znode_setting no_utf8 = {str_of("a"), str_of("\xff")};
    cr_assert_null(znode_settings_encode(&a, &(struct znode_settings){&no_utf8, 1}).data);
    arena_drop(&a);
}

Test(paths, old_and_unknown_fields_are_read) {
    struct arena a = arena_of();
    char memory[256];
    struct text reason = TEXT_IN(memory);
    struct znode_topic topic;
    cr_assert(znode_topic_decode(&a, octets("{\"version\":1,\"partitions\":{\"10\":[3],\"2\":[1,2]},\"new\":{}}"),
                                 &topic, &reason));
    cr_assert_str_eq(topic.id, "");
    cr_assert(topic.partition_count == 2 && topic.partitions[0].partition == 2 && topic.partitions[1].partition == 10);
    cr_assert(topic.partitions[0].count == 2 && topic.partitions[0].brokers[1] == 2);
    struct znode_settings settings;
    cr_assert(znode_settings_decode(&a, (struct bytes){0}, &settings, &reason) && settings.count == 0);
    struct znode_broker broker;
    cr_assert(znode_broker_decode(&a,
                                  octets("{\"version\":2,\"host\":\"h\",\"port\":1,\"endpoints\":[\"SSL://[::2]:77\"],"
                                         "\"jmx_port\":-1,\"timestamp\":\"1\"}"),
                                  &broker, &reason));
    cr_assert(broker.endpoint_count == 1 && str_is(broker.endpoints[0].protocol, "SSL"));
    cr_assert(str_is(broker.endpoints[0].host, "::2") && broker.endpoints[0].port == 77 && str_is_null(broker.rack));
    cr_assert(znode_broker_decode(&a, octets("{\"version\":1,\"host\":\"h\",\"port\":5}"), &broker, &reason));
    cr_assert(str_is(broker.endpoints[0].listener, "PLAINTEXT") && broker.endpoints[0].port == 5);
    int32_t id;
    cr_assert(znode_controller_decode(&a, octets("{\"version\":1,\"brokerid\":4,\"timestamp\":\"1\"}"), &id, &reason));
    cr_assert_eq(id, 4);
    arena_drop(&a);
}

enum node { TOPIC, STATE, SETTINGS, BROKER, CONTROLLER, CLUSTER, BLOCK, NUMBER };

static bool decode(struct arena *a, enum node node, struct bytes data, struct text *reason) {
    struct znode_topic topic;
    struct znode_state state;
    struct znode_settings settings;
    struct znode_broker broker;
    struct znode_producer_block block;
    struct str id;
    int32_t number;
    int64_t wide;
    switch (node) {
    case TOPIC: return znode_topic_decode(a, data, &topic, reason);
    case STATE: return znode_state_decode(a, data, &state, reason);
    case SETTINGS: return znode_settings_decode(a, data, &settings, reason);
    case BROKER: return znode_broker_decode(a, data, &broker, reason);
    case CONTROLLER: return znode_controller_decode(a, data, &number, reason);
    case CLUSTER: return znode_cluster_id_decode(a, data, &id, reason);
    case BLOCK: return znode_producer_block_decode(a, data, &block, reason);
    case NUMBER: return znode_number_decode(data, 0, INT32_MAX, &wide, reason);
    }
    return false;
}

Test(paths, hostile_nodes_are_refused_with_a_reason) {
    static const struct {
        enum node node;
        const char *data;
    } cases[] = {
        {TOPIC, NULL},
        {TOPIC, ""},
        {TOPIC, "[]"},
        {TOPIC, "{\"version\":3"},
        {TOPIC, "{\"partitions\":{}}"},
        {TOPIC, "{\"version\":3,\"partitions\":[]}"},
        {TOPIC, "{\"version\":3,\"topic_id\":\"short\",\"partitions\":{\"0\":[1]}}"},
        {TOPIC, "{\"version\":3,\"partitions\":{\"x\":[1]}}"},
        {TOPIC, "{\"version\":3,\"partitions\":{\"-1\":[1]}}"},
        {TOPIC, "{\"version\":3,\"partitions\":{\"0\":[1,1]}}"},
        {TOPIC, "{\"version\":3,\"partitions\":{\"0\":[-1]}}"},
        {TOPIC, "{\"version\":3,\"partitions\":{\"0\":[4294967296]}}"},
        {TOPIC, "{\"version\":3,\"partitions\":{\"0\":1}}"},
        {TOPIC, "{\"version\":3,\"partitions\":{\"1\":[1],\"01\":[2]}}"},
        {STATE, "{\"leader\":1,\"leader_epoch\":0,\"controller_epoch\":1}"},
        {STATE, "{\"leader\":-2,\"leader_epoch\":0,\"controller_epoch\":1,\"isr\":[1]}"},
        {STATE, "{\"leader\":\"1\",\"leader_epoch\":0,\"controller_epoch\":1,\"isr\":[1]}"},
        {STATE, "{\"leader\":1,\"leader_epoch\":-1,\"controller_epoch\":1,\"isr\":[1]}"},
        {STATE, "{\"leader\":1,\"leader_epoch\":99999999999,\"controller_epoch\":1,\"isr\":[1]}"},
        {STATE, "{\"leader\":1,\"leader_epoch\":0,\"controller_epoch\":1,\"isr\":[1],\"leader_recovery_state\":2}"},
        {SETTINGS, "{\"version\":1}"},
        {SETTINGS, "{\"version\":1,\"config\":{\"a\":null}}"},
        {SETTINGS, "{\"version\":1,\"config\":{\"a\":\"\xff\"}}"},
        {BROKER, "{\"version\":5}"},
        {BROKER, "{\"version\":5,\"endpoints\":[\"PLAINTEXT//h:1\"]}"},
        {BROKER, "{\"version\":5,\"endpoints\":[\"PLAINTEXT://h\"]}"},
        {BROKER, "{\"version\":5,\"endpoints\":[\"PLAINTEXT://h:65536\"]}"},
        {BROKER, "{\"version\":5,\"endpoints\":[\"://h:1\"]}"},
        {CONTROLLER, "{\"brokerid\":-1}"},
        {CLUSTER, "{\"id\":\"\"}"},
        {CLUSTER, "{\"id\":\"with a blank and more\"}"},
        {BLOCK, "{\"broker\":1,\"block_start\":0,\"block_end\":999}"},
        {BLOCK, "{\"broker\":1,\"block_start\":\"5\",\"block_end\":\"4\"}"},
        {NUMBER, ""},
        {NUMBER, "-1"},
        {NUMBER, "1 "},
        {NUMBER, "99999999999"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = arena_of();
        char memory[256];
        struct text reason = TEXT_IN(memory);
        cr_assert_not(decode(&a, cases[i].node, octets(cases[i].data), &reason), "case %zu: %s", i, cases[i].data);
        cr_assert_gt(strlen(memory), 0, "case %zu", i);
        arena_drop(&a);
    }
}

// More than the arena takes is an error like any other.
Test(paths, too_large) {
    struct arena a;
    arena_init(&a, 8192);
    char *data = malloc(300000);
    size_t size = (size_t)sprintf(data, "{\"version\":3,\"partitions\":{");
    for (int i = 0; i < 10000; i++)
        size += (size_t)sprintf(data + size, "%s\"%d\":[1]", i ? "," : "", i);
    size += (size_t)sprintf(data + size, "}}");
    char memory[256];
    struct text reason = TEXT_IN(memory);
    struct znode_topic topic;
    cr_assert_not(znode_topic_decode(&a, (struct bytes){(const uint8_t *)data, size}, &topic, &reason));
    cr_assert_str_eq(memory, "too large");
    free(data);
    arena_drop(&a);
}
