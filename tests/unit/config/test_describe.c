// SPDX-License-Identifier: Apache-2.0
// DescribeConfigs against Kafka itself: kafka_3.9.1_describe.tsv is what a Kafka 3.9.1 broker with the settings below
// answered for its own resource, the resource of all brokers, and a topic (resource, name, type, value, source,
// sensitive, read-only, synonyms).
#include "base/bits.h"
#include "config/describe.h"
#include "fixture.h"

static const char file[] =
    "broker.id=0\nlisteners=PLAINTEXT://127.0.0.1:23092\nlog.dirs=/tmp/kafka-logs\nzookeeper.connect=127.0.0.1:23181\n"
    "offsets.topic.replication.factor=1\ngroup.initial.rebalance.delay.ms=0\nlog.retention.hours=100\n"
    "log.roll.hours = 24\nfoo.bar=1\nnum.partitions=007\nlog.cleanup.policy=delete , compact\n"
    "log.initial.task.delay.ms=20000\nlistener.name.plaintext.ssl.keystore.type=PKCS12\n"
    "unclean.leader.election.enable=TRUE\nlog.cleaner.min.cleanable.ratio=1e-1\n"
    "log.flush.scheduler.interval.ms=5000\nlog.message.timestamp.difference.max.ms=1000\n";
static const struct config_entry cluster[] = {{{"log.retention.ms", 16}, {"5000000", 7}},
                                              {{"message.max.bytes", 17}, {"2000000", 7}}};
static const struct config_entry broker[] = {{{"message.max.bytes", 17}, {"3000000", 7}},
                                             {{"my.key", 6}, {"3000000", 7}}};
static const struct config_entry topic[] = {{{"segment.bytes", 13}, {"2000000", 7}},
                                            {{"cleanup.policy", 14}, {"compact, delete", 15}}};

static const char *source_name(enum config_source source) {
    switch (source) {
    case CONFIG_SOURCE_TOPIC: return "DYNAMIC_TOPIC_CONFIG";
    case CONFIG_SOURCE_DYNAMIC_BROKER: return "DYNAMIC_BROKER_CONFIG";
    case CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER: return "DYNAMIC_DEFAULT_BROKER_CONFIG";
    case CONFIG_SOURCE_STATIC_BROKER: return "STATIC_BROKER_CONFIG";
    case CONFIG_SOURCE_DEFAULT: return "DEFAULT_CONFIG";
    }
    return "?";
}

static void add(struct text *t, struct str s) {
    text_add(t, str_is_null(s) ? str_of("null") : s);
}

static void print(struct text *t, const char *resource, const struct config_description *d) {
    text_addf(t, "\n%s\t", resource);
    add(t, d->name);
    text_addf(t, "\t%s\t", config_type_name(d->type));
    add(t, d->value);
    text_addf(t, "\t%s\t%s\t%s\t", source_name(d->source), d->is_sensitive ? "S" : "-", d->is_read_only ? "RO" : "-");
    for (size_t i = 0; i < d->synonym_count; i++) {
        text_addf(t, i > 0 ? "; " : "");
        add(t, d->synonyms[i].name);
        text_addf(t, "|");
        add(t, d->synonyms[i].value);
        text_addf(t, "|%s", source_name(d->synonyms[i].source));
    }
    text_addf(t, "\n");
}

static size_t count_lines(const char *text) {
    size_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

// Each answer must be a line of Kafka's.
static size_t check(const char *golden, const char *resource, const struct config_description *d) {
    static char memory[8192];
    struct text t = TEXT_IN(memory);
    print(&t, resource, d);
    cr_assert_not(t.truncated);
    cr_assert_not_null(strstr(golden, memory), "Kafka does not say%s", memory);
    return 1;
}

Test(describe, answers_are_those_of_kafka) {
    static char golden[200000] = "\n";
    FILE *f = fopen(TAILRACE_SOURCE_DIR "/tests/unit/config/kafka_3.9.1_describe.tsv", "r");
    cr_assert_not_null(f);
    size_t size = fread(golden + 1, 1, sizeof golden - 2, f);
    fclose(f);
    cr_assert_lt(size, sizeof golden - 2);

    struct fixture fixture;
    fixture_init(&fixture);
    struct arena *a = &fixture.arena;
    const struct config *c = fixture_parse(&fixture, file, false);
    cr_assert_not_null(c);
    c = config_with_dynamic(a, c, (struct config_map){cluster, 2}, (struct config_map){broker, 2}, &fixture.report);
    struct config_description d;
    size_t answers = 0, position = 0;
    while (config_describe_broker(a, c, &position, &d)) {
        answers += check(golden, "BROKER", &d);
    }
    position = 0;
    while (config_describe_cluster(a, c, &position, &d)) {
        answers += check(golden, "BROKER", &d);
    }
    position = 0;
    while (config_describe_topic(a, c, (struct config_map){topic, 2}, &position, &d)) {
        answers += check(golden, "TOPIC", &d);
    }
    cr_assert_eq(answers, count_lines(golden + 1));
    arena_drop(a);
}

Test(describe, own_and_internal_keys_are_shown_when_set) {
    struct fixture fixture;
    fixture_init(&fixture);
    const struct config *c = fixture_parse(&fixture, "tailrace.cores=2", false);
    struct config_description d;
    size_t position = 0, own = 0;
    while (config_describe_broker(&fixture.arena, c, &position, &d)) {
        if (memmem(d.name.data, d.name.size, "tailrace.", 9)) own++;
        cr_assert(d.documentation && *d.documentation);
    }
    cr_assert_eq(own, 1);
    arena_drop(&fixture.arena);
}

// They are in no table of Kafka's, but it knows what they are, and so that they are no secrets.
Test(describe, limits_on_replication) {
    struct fixture fixture;
    fixture_init(&fixture);
    struct config_entry entries[] = {{str_of("leader.replication.throttled.rate"), str_of("100")}};
    const struct config *c = fixture_parse(&fixture, "", false);
    c = config_with_dynamic(&fixture.arena, c, (struct config_map){0}, (struct config_map){entries, 1},
                            &fixture.report);
    struct config_description d;
    size_t position = CONFIG_KEY_COUNT;
    cr_assert(config_describe_broker(&fixture.arena, c, &position, &d));
    cr_assert(str_is(d.name, "leader.replication.throttled.rate") && str_is(d.value, "100"));
    cr_assert(!d.is_sensitive && d.type == CONFIG_TYPE_LONG && d.source == CONFIG_SOURCE_DYNAMIC_BROKER);
    cr_assert(d.synonym_count == 1 && str_is(d.synonyms[0].value, "100"));
    arena_drop(&fixture.arena);
}

Test(describe, unknown_topic_settings) {
    struct fixture fixture;
    fixture_init(&fixture);
    const struct config *c = fixture_parse(&fixture, "", false);
    struct config_entry entries[] = {{str_of("some.other"), str_of("1")}};
    struct config_description d;
    size_t position = 0, count = 0;
    while (config_describe_topic(&fixture.arena, c, (struct config_map){entries, 1}, &position, &d)) {
        count++;
    }
    cr_assert_eq(count, TOPIC_KEY_COUNT + 1);
    cr_assert(d.is_sensitive && str_is_null(d.value) && d.source == CONFIG_SOURCE_TOPIC &&
              d.type == CONFIG_TYPE_UNKNOWN);
    arena_drop(&fixture.arena);
}
