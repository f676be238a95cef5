// SPDX-License-Identifier: Apache-2.0
// Kafka's property names for librdkafka. Most settings have the same name in both; the table has those that differ, in
// name or unit, those that mean nothing outside the Java client (said once, on standard error), and those that name a
// Java class or a Java key store, for which there is no counterpart (an error). A name that neither knows is an error
// with the nearest one.
#include "base/bits.h"
#include "cli/perf.h"
#include "config/properties.h"
#include <stdio.h>
#include <stdlib.h>

enum rule {
    SAME_VALUE,   // only the name differs
    BYTES_TO_KIB, // rounded up
    NOT_NEGATIVE, // Java's -1 (the system's default) is 0 here
    CLASS_NAME,   // a Java assignor class is librdkafka's short name
    NO_EFFECT,    // silently: what every program that uses the Java client sets
    NO_COUNTERPART,
    REFUSED,
};

// The last column: librdkafka's name, or what to do instead.
static const struct translation {
    const char *java;
    enum rule rule;
    const char *native;
} translations[] = {
    {"buffer.memory", BYTES_TO_KIB, "queue.buffering.max.kbytes"},
    {"max.request.size", SAME_VALUE, "message.max.bytes"},
    {"send.buffer.bytes", NOT_NEGATIVE, "socket.send.buffer.bytes"},
    {"receive.buffer.bytes", NOT_NEGATIVE, "socket.receive.buffer.bytes"},
    {"fetch.max.wait.ms", SAME_VALUE, "fetch.wait.max.ms"},
    {"request.timeout.ms", SAME_VALUE, "socket.timeout.ms"},
    {"sasl.mechanism", SAME_VALUE, "sasl.mechanisms"},
    {"partition.assignment.strategy", CLASS_NAME, "partition.assignment.strategy"},
    // aliases of librdkafka's own, here so that a mistyped one finds them
    {"acks", SAME_VALUE, "acks"},
    {"linger.ms", SAME_VALUE, "linger.ms"},
    {"retries", SAME_VALUE, "retries"},
    {"compression.type", SAME_VALUE, "compression.type"},
    {"delivery.timeout.ms", SAME_VALUE, "delivery.timeout.ms"},
    {"max.in.flight.requests.per.connection", SAME_VALUE, "max.in.flight.requests.per.connection"},
    {"key.serializer", NO_EFFECT, NULL},
    {"value.serializer", NO_EFFECT, NULL},
    {"key.deserializer", NO_EFFECT, NULL},
    {"value.deserializer", NO_EFFECT, NULL},
    {"max.block.ms", NO_COUNTERPART, "a full queue is waited for"},
    {"max.poll.records", NO_COUNTERPART, "records are taken as they come"},
    {"default.api.timeout.ms", NO_COUNTERPART, "each request has socket.timeout.ms"},
    {"metrics.recording.level", NO_COUNTERPART, "--print-metrics prints librdkafka's statistics"},
    {"metrics.sample.window.ms", NO_COUNTERPART, "--print-metrics prints librdkafka's statistics"},
    {"partitioner.class", REFUSED, "set librdkafka's partitioner, e.g. partitioner=murmur2_random"},
    {"interceptor.classes", REFUSED, "Java classes cannot be used"},
    {"metric.reporters", REFUSED, "Java classes cannot be used"},
    {"sasl.jaas.config", REFUSED, "set sasl.username and sasl.password"},
    {"ssl.truststore.location", REFUSED, "set ssl.ca.location, a PEM file"},
    {"ssl.truststore.password", REFUSED, "set ssl.ca.location, a PEM file"},
    {"ssl.keystore.type", REFUSED, "set ssl.certificate.location and ssl.key.location, PEM files"},
};

static const struct translation *find(const char *key) {
    for (size_t i = 0; i < ARRAY_LENGTH(translations); i++) {
        if (strcmp(translations[i].java, key) == 0) return &translations[i];
    }
    return NULL;
}

// The nearest property name of either kind to a mistyped one.
static void add_suggestion(rd_kafka_conf_t *conf, const char *key, struct text *out) {
    size_t count;
    const char **dump = rd_kafka_conf_dump(conf, &count);
    const char **names = calloc(count / 2 + ARRAY_LENGTH(translations) + 1, sizeof *names);
    if (dump && names) {
        size_t n = 0;
        for (size_t i = 0; i < count; i += 2) {
            names[n++] = dump[i];
        }
        for (size_t i = 0; i < ARRAY_LENGTH(translations); i++) {
            names[n++] = translations[i].java;
        }
        const char *nearest = cli_suggest(key, names);
        if (nearest) text_addf(out, "; did you mean '%s'?", nearest);
    }
    free(names);
    if (dump) rd_kafka_conf_dump_free(dump, count);
}

static int set_native(rd_kafka_conf_t *conf, const char *command, const char *key, const char *native,
                      const char *value) {
    char reason[512];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, native, value, reason, sizeof reason);
    if (result == RD_KAFKA_CONF_OK) return CLI_OK;
    if (result == RD_KAFKA_CONF_INVALID) return cli_usage_error(command, "%s=%s: %s", key, value, reason);
    char suggestion[160];
    struct text out = TEXT_IN(suggestion);
    add_suggestion(conf, key, &out);
    return cli_usage_error(command, "unknown property '%s'%s", key, suggestion);
}

// "org.apache.kafka.clients.consumer.RangeAssignor,..." as "range,...". False: a class that is not known.
static bool translate_assignors(const char *value, struct text *out) {
    static const char *const names[][2] = {{"RangeAssignor", "range"},
                                           {"RoundRobinAssignor", "roundrobin"},
                                           {"CooperativeStickyAssignor", "cooperative-sticky"}};
    const char *rest = value;
    for (int i = 0; i < 8 && rest; i++) {
        const char *comma = strchr(rest, ',');
        struct str name = {rest, comma ? (size_t)(comma - rest) : strlen(rest)};
        rest = comma ? comma + 1 : NULL;
        bool is_class = memchr(name.data, '.', name.size) != NULL;
        for (size_t k = name.size; k > 0 && is_class; k--) {
            if (name.data[k - 1] != '.') continue;
            name = (struct str){name.data + k, name.size - k};
            break;
        }
        for (size_t j = 0; j < ARRAY_LENGTH(names); j++) {
            if (str_is(name, names[j][0])) {
                name = str_of(names[j][1]);
                is_class = false;
            }
        }
        if (is_class) return false;
        if (out->size > 0) text_add(out, str_of(","));
        text_add(out, name);
    }
    return rest == NULL && !out->truncated;
}

static int set_kib(rd_kafka_conf_t *conf, const char *command, const struct translation *t, const char *value) {
    int64_t size_bytes;
    if (!parse_i64(str_of(value), 1024, INT64_C(1) << 40, &size_bytes))
        return cli_usage_error(command, "%s=%s: a number of bytes from 1024 is allowed", t->java, value);
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)((size_bytes + 1023) / 1024));
    return set_native(conf, command, t->java, t->native, number);
}

static int set_assignors(rd_kafka_conf_t *conf, const char *command, const struct translation *t, const char *value) {
    char names[128];
    struct text out = TEXT_IN(names);
    if (!translate_assignors(value, &out))
        return cli_usage_error(command, "%s=%s: range, roundrobin and cooperative-sticky are allowed", t->java, value);
    return set_native(conf, command, t->java, t->native, names);
}

int perf_set(rd_kafka_conf_t *conf, enum perf_role role, const char *command, const char *key, const char *value) {
    const struct translation *t = find(key);
    // The Java producer may be told the request's time limit; librdkafka has one of that name too, for producers only.
    if (!t || (role == PERF_PRODUCER && strcmp(key, "request.timeout.ms") == 0))
        return set_native(conf, command, key, key, value);
    switch (t->rule) {
    case SAME_VALUE: return set_native(conf, command, key, t->native, value);
    case BYTES_TO_KIB: return set_kib(conf, command, t, value);
    case NOT_NEGATIVE: return set_native(conf, command, key, t->native, strcmp(value, "-1") == 0 ? "0" : value);
    case CLASS_NAME: return set_assignors(conf, command, t, value);
    case NO_EFFECT: return CLI_OK;
    case NO_COUNTERPART:
        fprintf(stderr, "tailrace %s: warning: %s has no effect here: %s\n", command, key, t->native);
        return CLI_OK;
    case REFUSED: return cli_usage_error(command, "%s is a setting of the Java client: %s", key, t->native);
    }
    return CLI_USAGE;
}

int perf_set_pair(rd_kafka_conf_t *conf, enum perf_role role, const char *command, const char *pair) {
    char key[256];
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair || (size_t)(equals - pair) >= sizeof key)
        return cli_usage_error(command, "a property is written KEY=VALUE, not '%s'", pair);
    memcpy(key, pair, (size_t)(equals - pair));
    key[equals - pair] = '\0';
    return perf_set(conf, role, command, key, equals + 1);
}

static int set_properties(rd_kafka_conf_t *conf, enum perf_role role, const char *command,
                          const struct property_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        char key[256], value[4096];
        struct text key_text = TEXT_IN(key), value_text = TEXT_IN(value);
        text_add(&key_text, list->items[i].key);
        text_add(&value_text, list->items[i].value);
        if (key_text.truncated || value_text.truncated)
            return cli_usage_error(command, "line %d: the property is too long", list->items[i].line);
        int status = perf_set(conf, role, command, key, value);
        if (status != CLI_OK) return status;
    }
    return CLI_OK;
}

int perf_set_file(rd_kafka_conf_t *conf, enum perf_role role, const char *command, const char *path) {
    struct arena arena;
    arena_init(&arena, 8 << 20);
    char reason[256];
    struct text error = TEXT_IN(reason);
    struct str file;
    struct property_list list;
    int32_t line;
    int status = CLI_FAILED;
    if (cli_read_file(&arena, command, path, PROPERTIES_SIZE_MAX, &file)) {
        if (properties_parse(&arena, file, &list, &line, &error)) {
            status = set_properties(conf, role, command, &list);
        } else {
            fprintf(stderr, "tailrace %s: %s, line %d: %s\n", command, path, line, reason);
        }
    }
    arena_drop(&arena);
    return status;
}

bool perf_has_servers(const rd_kafka_conf_t *conf) {
    char servers[8];
    size_t size = 0;
    return rd_kafka_conf_get(conf, "bootstrap.servers", NULL, &size) == RD_KAFKA_CONF_OK && size > 1 &&
           (size > sizeof servers ||
            (rd_kafka_conf_get(conf, "bootstrap.servers", servers, &size) == RD_KAFKA_CONF_OK && servers[0] != '\0'));
}
