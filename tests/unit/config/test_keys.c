// SPDX-License-Identifier: Apache-2.0
// The tables themselves: order, completeness, sound rows; suggestions and prefixes.
#include "base/bits.h"
#include "config/edit_distance.h"
#include "config/kafka_version.h"
#include "config/topic.h"
#include "fixture.h"

Test(keys, sorted_and_found) {
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        enum config_key found;
        cr_assert(config_key_find(str_of(info->name), &found), "%s", info->name);
        cr_assert_eq(found, (enum config_key)i);
        if (i > 0)
            cr_assert_lt(strcmp(config_key_info((enum config_key)(i - 1))->name, info->name), 0, "%s", info->name);
    }
    for (int i = 0; i < TOPIC_KEY_COUNT; i++) {
        enum topic_key found;
        cr_assert(topic_key_find(str_of(topic_key_info((enum topic_key)i)->name), &found));
        cr_assert_eq(found, (enum topic_key)i);
    }
    enum config_key none;
    cr_assert_not(config_key_find(str_of("log.segment.byte"), &none));
    cr_assert_not(config_key_find(str_of(""), &none));
}

Test(keys, counts_are_those_of_kafka) {
    int own = 0;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        own += config_key_info((enum config_key)i)->visibility == CONFIG_OWN;
    }
    cr_assert_eq(own, 5);
    cr_assert_eq(CONFIG_KEY_COUNT - own, 328);
    cr_assert_eq(TOPIC_KEY_COUNT, 36);
}

Test(keys, rows_are_sound) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        bool needs_reason = info->effect == CONFIG_NOT_YET || info->effect == CONFIG_REFUSED;
        cr_assert_eq(info->effect_reason != NULL, needs_reason, "%s", info->name);
        cr_assert_gt(strlen(info->documentation), 10, "%s", info->name);
        cr_assert_eq(info->documentation[strlen(info->documentation) - 1], '.', "%s", info->name);
        char memory[300];
        struct text t = TEXT_IN(memory);
        struct config_value value;
        cr_assert(config_value_parse(&arena, info, str_of(info->default_text), &value, &t), "%s: %s", info->name,
                  memory);
        // The default is written as Kafka prints it.
        if (info->default_text) cr_assert(str_is(value.text, info->default_text), "%s", info->name);
        config_key_allowed(info, &t);
        cr_assert_not(t.truncated);
    }
    arena_drop(&arena);
}

Test(keys, suggestions) {
    static const struct {
        const char *name, *suggestion;
    } cases[] = {
        {"log.segment.byte", "log.segment.bytes"},
        {"log.segmnet.bytes", "log.segment.bytes"},
        {"num.partition", "num.partitions"},
        {"advertised.listener", "advertised.listeners"},
        {"port", "listeners"},
        {"advertised.host.name", "advertised.listeners"},
        {"retention.ms", "log.retention.ms"},
        {"tailrace.core", "tailrace.cores"},
        {"completely.different.thing", NULL},
        {"x", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const char *got = config_key_suggest(str_of(cases[i].name));
        if (cases[i].suggestion) {
            cr_assert_not_null(got, "%s", cases[i].name);
            cr_assert_str_eq(got, cases[i].suggestion);
        } else {
            cr_assert_null(got, "%s: %s", cases[i].name, got);
        }
    }
    cr_assert_str_eq(topic_key_suggest(str_of("retention.mss")), "retention.ms");
}

Test(keys, edit_distance) {
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0},       {"a", "", 1},       {"abc", "abc", 0},        {"abc", "acb", 1},
                 {"abc", "abd", 1}, {"abcd", "bcd", 1}, {"kitten", "sitting", 3}, {"abcdef", "ghijkl", 6}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        cr_assert_eq(edit_distance(str_of(cases[i].a), str_of(cases[i].b), 100), cases[i].distance, "%s", cases[i].a);
        cr_assert_eq(edit_distance(str_of(cases[i].b), str_of(cases[i].a), 100), cases[i].distance, "%s", cases[i].b);
    }
    cr_assert_eq(edit_distance(str_of("abcdef"), str_of("ghijkl"), 2), 2);
}

Test(keys, listener_overrides) {
    static const struct {
        const char *name;
        int base; // -1: none
    } cases[] = {
        {"listener.name.internal.ssl.keystore.location", CONFIG_SSL_KEYSTORE_LOCATION},
        {"listener.name.internal.max.connections", CONFIG_MAX_CONNECTIONS},
        {"listener.name.internal.scram-sha-256.sasl.jaas.config", CONFIG_SASL_JAAS_CONFIG},
        {"listener.name.internal.plain.max.connections", -1},
        {"listener.name.internal.nothing", -1},
        {"listener.name.internal", -1},
        {"listener.name.", -1},
        {"ssl.keystore.location", -1},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        enum config_key base;
        bool found = config_listener_override(str_of(cases[i].name), &base);
        cr_assert_eq(found, cases[i].base >= 0, "%s", cases[i].name);
        if (found) cr_assert_eq((int)base, cases[i].base);
    }
}

Test(keys, kafka_versions) {
    static const char *const known[] = {"3.9",      "3.9.1", "3.9-IV0", "2.8-IV1", "0.10.2",
                                        "0.10.2.1", "0.8.2", "0.8.2.2", "1.0",     "0.11.0-IV2"};
    static const char *const unknown[] = {"", "3", "3.10", "3.9-IV1", "0.10", "0.8.2-IV0", "2.8-IVx", "5.0", "abc"};
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
        cr_assert(kafka_version_is_known(str_of(known[i])), "%s", known[i]);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(unknown); i++) {
        cr_assert_not(kafka_version_is_known(str_of(unknown[i])), "%s", unknown[i]);
    }
}

// {key, text, canonical text or NULL, reason}
static const struct {
    enum config_key key;
    const char *raw, *text, *reason;
} values[] = {
    {CONFIG_NUM_PARTITIONS, "007", "7", NULL},
    {CONFIG_NUM_PARTITIONS, " +12\t", "12", NULL},
    {CONFIG_NUM_PARTITIONS, "0", NULL, "Value must be at least 1"},
    {CONFIG_NUM_PARTITIONS, "1.5", NULL, "Not a number of type INT"},
    {CONFIG_NUM_PARTITIONS, "", NULL, "Not a number of type INT"},
    {CONFIG_NUM_PARTITIONS, "+-1", NULL, "Not a number of type INT"},
    {CONFIG_NUM_PARTITIONS, "2147483648", NULL, "Not a number of type INT"},
    {CONFIG_LOG_RETENTION_BYTES, "9223372036854775807", "9223372036854775807", NULL},
    {CONFIG_LOG_RETENTION_BYTES, "9223372036854775808", NULL, "Not a number of type LONG"},
    {CONFIG_OFFSETS_TOPIC_REPLICATION_FACTOR, "40000", NULL, "Not a number of type SHORT"},
    {CONFIG_COMPRESSION_GZIP_LEVEL, "-1", "-1", NULL},
    {CONFIG_COMPRESSION_GZIP_LEVEL, "0", NULL, "Value must be between 1 and 9 or equal to -1"},
    {CONFIG_COMPRESSION_GZIP_LEVEL, "10", NULL, "Value must be between 1 and 9 or equal to -1"},
    {CONFIG_UNCLEAN_LEADER_ELECTION_ENABLE, "TRUE", "true", NULL},
    {CONFIG_UNCLEAN_LEADER_ELECTION_ENABLE, "yes", NULL, "Expected value to be either true or false"},
    {CONFIG_LOG_CLEANUP_POLICY, "delete , compact", "delete,compact", NULL},
    {CONFIG_LOG_CLEANUP_POLICY, "", "", NULL},
    {CONFIG_LOG_CLEANUP_POLICY, "delete,", NULL, "String must be one of: compact, delete"},
    {CONFIG_LOG_CLEANUP_POLICY, "Delete", NULL, "String must be one of: compact, delete"},
    {CONFIG_GROUP_CONSUMER_MIGRATION_POLICY, "Upgrade", "Upgrade", NULL},
    {CONFIG_COMPRESSION_TYPE, "zstd", "zstd", NULL},
    {CONFIG_COMPRESSION_TYPE, "none", NULL, "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"},
    {CONFIG_LOG_CLEANER_MIN_CLEANABLE_RATIO, "1e-1", "0.1", NULL},
    {CONFIG_LOG_CLEANER_MIN_CLEANABLE_RATIO, "1", "1.0", NULL},
    {CONFIG_LOG_CLEANER_MIN_CLEANABLE_RATIO, "0.0001", "1.0E-4", NULL},
    {CONFIG_LOG_CLEANER_MIN_CLEANABLE_RATIO, "1.1", NULL, "Value must be no more than 1"},
    {CONFIG_LOG_CLEANER_MIN_CLEANABLE_RATIO, "half", NULL, "Not a number of type DOUBLE"},
    {CONFIG_LOG_CLEANER_IO_MAX_BYTES_PER_SECOND, "12345678.9", "1.23456789E7", NULL},
    {CONFIG_LOG_CLEANER_IO_MAX_BYTES_PER_SECOND, "1234567", "1234567.0", NULL},
    {CONFIG_LOG_CLEANER_IO_MAX_BYTES_PER_SECOND, "0.001", "0.001", NULL},
    {CONFIG_INTER_BROKER_PROTOCOL_VERSION, "3.8", "3.8", NULL},
    {CONFIG_INTER_BROKER_PROTOCOL_VERSION, "9", NULL, "Version 9 is not a valid version"},
    {CONFIG_TAILRACE_MEMORY, "512M", "536870912", NULL},
    {CONFIG_TAILRACE_MEMORY, "2g", "2147483648", NULL},
    {CONFIG_TAILRACE_MEMORY, "1k", NULL, "Value must be at least 67108864"},
    {CONFIG_TAILRACE_MEMORY, "9223372036854775807G", NULL, "Not a number of type LONG"},
    {CONFIG_TAILRACE_MEMORY, "G", NULL, "Not a number of type LONG"},
};

Test(keys, values) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        char memory[300];
        struct text reason = TEXT_IN(memory);
        struct config_value value;
        bool ok = config_value_parse(&arena, config_key_info(values[i].key), str_of(values[i].raw), &value, &reason);
        cr_assert_eq(ok, values[i].text != NULL, "%zu '%s': %s", i, values[i].raw, memory);
        if (ok) {
            cr_assert(str_is(value.text, values[i].text), "%zu: %.*s", i, (int)value.text.size, value.text.data);
        } else {
            cr_assert_str_eq(memory, values[i].reason);
        }
    }
    arena_drop(&arena);
}

Test(keys, replica_lists) {
    static const struct {
        const char *list;
        bool ok;
    } cases[] = {{"", true},   {"*", true},   {"0:1", true},  {"0:1, 1:2", true}, {"0:1,", true},
                 {"0", false}, {":1", false}, {"a:1", false}, {"*,0:1", false}};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char memory[300];
        struct text reason = TEXT_IN(memory);
        bool ok = topic_config_validate_value(&arena, str_of("leader.replication.throttled.replicas"),
                                              str_of(cases[i].list), &reason);
        cr_assert_eq(ok, cases[i].ok, "'%s'", cases[i].list);
    }
    arena_drop(&arena);
}
