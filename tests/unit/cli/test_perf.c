// SPDX-License-Identifier: Apache-2.0
// tailrace perf without a broker: property names, dates, payloads.
#include "base/bits.h"
#include "cli/perf.h"
#include "cli/perf_date.h"
#include "cli/perf_payload.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    enum perf_role role;
    const char *pair;
    int status;
    const char *native, *value; // what librdkafka then has
} properties[] = {
    {PERF_PRODUCER, "bootstrap.servers=a:1", CLI_OK, "bootstrap.servers", "a:1"},
    {PERF_PRODUCER, "acks=all", CLI_OK, "acks", "-1"},
    {PERF_PRODUCER, "linger.ms=7", CLI_OK, "queue.buffering.max.ms", "7"},
    {PERF_PRODUCER, "batch.size=16384", CLI_OK, "batch.size", "16384"},
    {PERF_PRODUCER, "compression.type=zstd", CLI_OK, "compression.codec", "zstd"},
    {PERF_PRODUCER, "enable.idempotence=true", CLI_OK, "enable.idempotence", "true"},
    {PERF_PRODUCER, "buffer.memory=33554432", CLI_OK, "queue.buffering.max.kbytes", "32768"},
    {PERF_PRODUCER, "buffer.memory=1025", CLI_OK, "queue.buffering.max.kbytes", "2"},
    {PERF_PRODUCER, "buffer.memory=x", CLI_USAGE, NULL, NULL},
    {PERF_PRODUCER, "max.request.size=2000000", CLI_OK, "message.max.bytes", "2000000"},
    {PERF_PRODUCER, "send.buffer.bytes=-1", CLI_OK, "socket.send.buffer.bytes", "0"},
    {PERF_PRODUCER, "request.timeout.ms=4000", CLI_OK, "request.timeout.ms", "4000"},
    {PERF_CONSUMER, "request.timeout.ms=4000", CLI_OK, "socket.timeout.ms", "4000"},
    {PERF_CONSUMER, "fetch.max.wait.ms=9", CLI_OK, "fetch.wait.max.ms", "9"},
    {PERF_CONSUMER, "partition.assignment.strategy=org.apache.kafka.clients.consumer.RoundRobinAssignor,range", CLI_OK,
     "partition.assignment.strategy", "roundrobin,range"},
    {PERF_CONSUMER, "partition.assignment.strategy=com.example.Mine", CLI_USAGE, NULL, NULL},
    {PERF_PRODUCER, "key.serializer=org.apache.kafka.common.serialization.ByteArraySerializer", CLI_OK, NULL, NULL},
    {PERF_PRODUCER, "max.block.ms=5", CLI_OK, NULL, NULL}, // a warning
    {PERF_PRODUCER, "partitioner.class=x", CLI_USAGE, NULL, NULL},
    {PERF_PRODUCER, "aks=1", CLI_USAGE, NULL, NULL},
    {PERF_PRODUCER, "linger.ms=soon", CLI_USAGE, NULL, NULL},
    {PERF_PRODUCER, "acks", CLI_USAGE, NULL, NULL},
    {PERF_PRODUCER, "=1", CLI_USAGE, NULL, NULL},
};

Test(perf, properties) {
    for (size_t i = 0; i < ARRAY_LENGTH(properties); i++) {
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        int status = perf_set_pair(conf, properties[i].role, "perf", properties[i].pair);
        cr_assert_eq(status, properties[i].status, "%s: %d", properties[i].pair, status);
        if (properties[i].native) {
            char value[128];
            size_t size = sizeof value;
            rd_kafka_conf_res_t result = rd_kafka_conf_get(conf, properties[i].native, value, &size);
            cr_assert_eq(result, RD_KAFKA_CONF_OK);
            cr_assert_str_eq(value, properties[i].value, "%s: %s", properties[i].pair, value);
        }
        rd_kafka_conf_destroy(conf);
    }
}

Test(perf, servers) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    cr_assert_not(perf_has_servers(conf));
    perf_set(conf, PERF_PRODUCER, "perf", "bootstrap.servers", "a:1");
    cr_assert(perf_has_servers(conf));
    perf_set(conf, PERF_PRODUCER, "perf", "bootstrap.servers", "a-longer-name.example:9092,b:2");
    cr_assert(perf_has_servers(conf));
    rd_kafka_conf_destroy(conf);
}

Test(perf, dates) {
    static const struct {
        const char *pattern, *expected; // NULL: refused
    } cases[] = {
        {"yyyy-MM-dd HH:mm:ss:SSS", "1970-01-02 03:04:05:006"},
        {"yy/M/d h:m a", "70/1/2 3:4 AM"},
        {"'at' HH", "at 03"},
        {"''HH''", "'03'"},
        {"EEE", NULL},
        {"MMM", NULL},
        {"'x", NULL},
    };
    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char date[64];
        struct text out = TEXT_IN(date);
        bool ok = perf_date_add(&out, cases[i].pattern, ((27 * 60 + 4) * 60 + 5) * 1000 + 6);
        if (!cases[i].expected) continue;
        cr_assert(ok, "%s", cases[i].pattern);
        cr_assert_str_eq(date, cases[i].expected);
    }
    char date[64];
    struct text out = TEXT_IN(date);
    cr_assert_not(perf_date_add(&out, "EEE", 0));
    cr_assert_not(perf_date_add(&out, "'x", 0));
}

static struct arena payload_arena(void) {
    struct arena a;
    arena_init(&a, (size_t)1 << 30);
    return a;
}

Test(perf, payload_letters) {
    struct arena a = payload_arena();
    struct perf_payload p = {.record_size_bytes = 50};
    cr_assert(perf_payload_prepare(&p, &a, "perf"));
    for (int i = 0; i < 1000; i++) {
        struct str value = perf_payload_next(&p, i);
        cr_assert_eq(value.size, 50);
        for (size_t j = 0; j < value.size; j++) {
            cr_assert(value.data[j] >= 'A' && value.data[j] <= 'Z');
        }
    }
    arena_drop(&a);
}

Test(perf, payload_numbers) {
    struct arena a = payload_arena();
    struct perf_payload p = {.monotonic = true};
    cr_assert(perf_payload_prepare(&p, &a, "perf"));
    cr_assert(str_is(perf_payload_next(&p, 0), "0"));
    cr_assert(str_is(perf_payload_next(&p, 12345), "12345"));
    arena_drop(&a);
}

Test(perf, payload_file) {
    char path[] = "/tmp/tailrace-test-payload-XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0);
    cr_assert_eq(write(file, "one;;three", 10), 10);
    close(file);
    struct arena a = payload_arena();
    struct perf_payload p = {.path = path, .delimiter = ";"};
    cr_assert(perf_payload_prepare(&p, &a, "perf"));
    cr_assert_eq(p.count, 3);
    bool seen[3] = {false};
    for (int i = 0; i < 100; i++) {
        struct str value = perf_payload_next(&p, i);
        seen[0] |= str_is(value, "one");
        seen[1] |= str_is(value, "");
        seen[2] |= str_is(value, "three");
    }
    cr_assert(seen[0] && seen[1] && seen[2]);
    arena_drop(&a);
    cr_assert_eq(truncate(path, 0), 0);
    struct perf_payload empty = {.path = path, .delimiter = ";"};
    cr_assert_not(perf_payload_prepare(&empty, &a, "perf"));
    arena_drop(&a);
    unlink(path);
}
