// SPDX-License-Identifier: Apache-2.0
// A topic's values: where they come from, the plain struct, validation with Kafka's words, and what may be altered.
#include "base/bits.h"
#include "config/alter.h"
#include "config/topic.h"
#include "fixture.h"

// {file, topic setting key and value or NULL, key asked for, its canonical value}
static const struct {
    const char *file, *key, *value;
    enum topic_key asked;
    const char *expected;
} resolutions[] = {
    {"", NULL, NULL, TOPIC_RETENTION_MS, "604800000"},
    {"log.retention.hours=1", NULL, NULL, TOPIC_RETENTION_MS, "3600000"},
    {"log.retention.hours=1\nlog.retention.minutes=2", NULL, NULL, TOPIC_RETENTION_MS, "120000"},
    {"log.retention.hours=1\nlog.retention.minutes=2\nlog.retention.ms=3", NULL, NULL, TOPIC_RETENTION_MS, "3"},
    {"log.retention.ms=3", "retention.ms", "4", TOPIC_RETENTION_MS, "4"},
    {"log.retention.ms=3", "retention.ms", "bad", TOPIC_RETENTION_MS, "3"},
    {"log.retention.hours=-1", NULL, NULL, TOPIC_RETENTION_MS, "-1"},
    {"log.retention.minutes=-5", NULL, NULL, TOPIC_RETENTION_MS, "-1"},
    {"log.retention.hours=2147483647", NULL, NULL, TOPIC_RETENTION_MS, "7730941129200000"},
    {"log.roll.hours=2", NULL, NULL, TOPIC_SEGMENT_MS, "7200000"},
    {"log.roll.hours=2\nlog.roll.ms=5", NULL, NULL, TOPIC_SEGMENT_MS, "5"},
    {"log.roll.jitter.hours=1", NULL, NULL, TOPIC_SEGMENT_JITTER_MS, "3600000"},
    {"", NULL, NULL, TOPIC_FLUSH_MS, "9223372036854775807"},
    {"log.flush.scheduler.interval.ms=7", NULL, NULL, TOPIC_FLUSH_MS, "7"},
    {"log.flush.scheduler.interval.ms=7\nlog.flush.interval.ms=8", NULL, NULL, TOPIC_FLUSH_MS, "8"},
    {"message.max.bytes=9", NULL, NULL, TOPIC_MAX_MESSAGE_BYTES, "9"},
    {"log.message.timestamp.difference.max.ms=5", NULL, NULL, TOPIC_MESSAGE_TIMESTAMP_AFTER_MAX_MS, "5"},
    {"log.message.timestamp.difference.max.ms=5\nlog.message.timestamp.after.max.ms=6", NULL, NULL,
     TOPIC_MESSAGE_TIMESTAMP_AFTER_MAX_MS, "6"},
    {"log.message.format.version=2.0", NULL, NULL, TOPIC_MESSAGE_FORMAT_VERSION, "3.0-IV1"},
    {"log.cleanup.policy=compact", "cleanup.policy", "delete , compact", TOPIC_CLEANUP_POLICY, "delete,compact"},
    {"", "leader.replication.throttled.replicas", "0:1, 1:2", TOPIC_LEADER_REPLICATION_THROTTLED_REPLICAS, "0:1,1:2"},
};

Test(topic, resolution) {
    for (size_t i = 0; i < ARRAY_LENGTH(resolutions); i++) {
        struct fixture f;
        fixture_init(&f);
        const struct config *c = fixture_parse(&f, resolutions[i].file, false);
        cr_assert_not_null(c, "case %zu", i);
        struct config_entry entry = {str_of(resolutions[i].key), str_of(resolutions[i].value)};
        struct config_value value;
        topic_value_resolve(&f.arena, c, (struct config_map){&entry, resolutions[i].key ? 1 : 0}, resolutions[i].asked,
                            &value);
        cr_assert(str_is(value.text, resolutions[i].expected), "case %zu: %.*s", i, (int)value.text.size,
                  value.text.data);
        arena_drop(&f.arena);
    }
}

Test(topic, plain_struct_of_defaults) {
    struct fixture f;
    fixture_init(&f);
    struct topic_config t;
    topic_config_resolve(&f.arena, fixture_parse(&f, "", false), (struct config_map){0}, &t);
    cr_assert_eq(t.segment_bytes, 1 << 30);
    cr_assert_eq(t.segment_ms, 604800000);
    cr_assert_eq(t.segment_jitter_ms, 0);
    cr_assert_eq(t.segment_index_bytes, 10 << 20);
    cr_assert_eq(t.index_interval_bytes, 4096);
    cr_assert_eq(t.retention_ms, 604800000);
    cr_assert_eq(t.retention_bytes, -1);
    cr_assert_eq(t.file_delete_delay_ms, 60000);
    cr_assert_eq(t.flush_messages, INT64_MAX);
    cr_assert_eq(t.flush_ms, INT64_MAX);
    cr_assert_eq(t.max_message_bytes, 1048588);
    cr_assert_eq(t.compression, TOPIC_COMPRESSION_PRODUCER);
    cr_assert_eq(t.compression_lz4_level, 9);
    cr_assert_eq(t.timestamp_type, TOPIC_CREATE_TIME);
    cr_assert_eq(t.timestamp_before_max_ms, INT64_MAX);
    cr_assert_eq(t.timestamp_after_max_ms, INT64_MAX);
    cr_assert_eq(t.cleanup_policy, TOPIC_CLEANUP_DELETE);
    cr_assert_eq(t.min_insync_replicas, 1);
    cr_assert_not(t.unclean_leader_election_enable);
    cr_assert(t.message_downconversion_enable);
    cr_assert_float_eq(t.min_cleanable_dirty_ratio, 0.5, 1e-9);
    cr_assert_eq(t.leader_throttled_replicas.size, 0);
    arena_drop(&f.arena);
}

Test(topic, plain_struct_of_settings) {
    struct fixture f;
    fixture_init(&f);
    struct config_entry entries[] = {{str_of("cleanup.policy"), str_of("compact,delete")},
                                     {str_of("compression.type"), str_of("zstd")},
                                     {str_of("message.timestamp.type"), str_of("LogAppendTime")},
                                     {str_of("message.timestamp.difference.max.ms"), str_of("77")},
                                     {str_of("follower.replication.throttled.replicas"), str_of("*")},
                                     {str_of("unknown.key"), str_of("1")}};
    struct topic_config t;
    topic_config_resolve(&f.arena, fixture_parse(&f, "", false), (struct config_map){entries, ARRAY_LENGTH(entries)},
                         &t);
    cr_assert_eq(t.cleanup_policy, TOPIC_CLEANUP_DELETE | TOPIC_CLEANUP_COMPACT);
    cr_assert_eq(t.compression, TOPIC_COMPRESSION_ZSTD);
    cr_assert_eq(t.timestamp_type, TOPIC_LOG_APPEND_TIME);
    cr_assert_eq(t.timestamp_before_max_ms, 77);
    cr_assert(str_is(t.follower_throttled_replicas, "*"));
    arena_drop(&f.arena);
}

static const struct {
    const char *key, *value, *reason; // reason NULL: good
} validations[] = {
    {"retention.ms", "1", NULL},
    {"retention.ms", "-2", "Invalid value -2 for configuration retention.ms: Value must be at least -1"},
    {"retention.ms", "abc", "Invalid value abc for configuration retention.ms: Not a number of type LONG"},
    {"retention.mss", "1", "Unknown topic config name: retention.mss"},
    {"log.retention.ms", "1", "Unknown topic config name: log.retention.ms"},
    {"max.compaction.lag.ms", "5", NULL},
    {"remote.storage.enable", "true",
     "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."},
    {"remote.log.copy.disable", "true",
     "It is invalid to set `remote.log.delete.on.disable` or `remote.log.copy.disable` under Zookeeper's mode."},
    {"message.format.version", "2.8", NULL},
    {"message.format.version", "9.9",
     "Invalid value 9.9 for configuration message.format.version: Version 9.9 is not a valid version"},
    {"cleanup.policy", "delete,",
     "Invalid value  for configuration cleanup.policy: String must be one of: compact, delete"},
    {"min.cleanable.dirty.ratio", "2",
     "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: Value must be no more than 1"},
    {"leader.replication.throttled.replicas", "x",
     "Invalid value [x] for configuration leader.replication.throttled.replicas: leader.replication.throttled.replicas "
     "must be the literal "
     "'*' or a list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."},
};

// The topic is named in front of bad values, not of unknown names and broken rules.
Test(topic, validation_of_alterations) {
    static const struct {
        const char *key, *value, *reason;
    } altered[] = {
        {"retention.ms", "abc",
         "Invalid config value for resource ConfigResource(type=TOPIC, name='t1'): Invalid value abc for configuration "
         "retention.ms: Not a "
         "number of type LONG"},
        {"nothing", "1", "Unknown topic config name: nothing"},
        {"retention.ms", "1", NULL},
    };
    struct fixture f;
    fixture_init(&f);
    const struct config *c = fixture_parse(&f, "", false);
    for (size_t i = 0; i < ARRAY_LENGTH(altered); i++) {
        char memory[600];
        struct text reason = TEXT_IN(memory);
        struct config_entry entry = {str_of(altered[i].key), str_of(altered[i].value)};
        bool ok = topic_config_validate_alter(&f.arena, c, str_of("t1"), (struct config_map){&entry, 1}, &reason);
        cr_assert_eq(ok, altered[i].reason == NULL);
        cr_assert_str_eq(memory, altered[i].reason ? altered[i].reason : "");
    }
    arena_drop(&f.arena);
}

Test(topic, validation) {
    struct fixture f;
    fixture_init(&f);
    const struct config *c = fixture_parse(&f, "", false);
    for (size_t i = 0; i < ARRAY_LENGTH(validations); i++) {
        char memory[600];
        struct text reason = TEXT_IN(memory);
        struct config_entry entry = {str_of(validations[i].key), str_of(validations[i].value)};
        bool ok = topic_config_validate(&f.arena, c, (struct config_map){&entry, 1}, &reason);
        cr_assert_eq(ok, validations[i].reason == NULL, "case %zu: %s", i, memory);
        if (!ok) cr_assert_str_eq(memory, validations[i].reason);
    }
    struct config_entry lags[] = {{str_of("min.compaction.lag.ms"), str_of("10")},
                                  {str_of("max.compaction.lag.ms"), str_of("5")}};
    char memory[600];
    struct text reason = TEXT_IN(memory);
    cr_assert_not(topic_config_validate(&f.arena, c, (struct config_map){lags, 2}, &reason));
    cr_assert_str_eq(memory, "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)");
    cr_assert_not(topic_config_validate_value(&f.arena, str_of("retention.ms"), (struct str){0}, &reason));
    arena_drop(&f.arena);
}

static const struct {
    enum config_operation operation;
    const char *key, *present, *operand, *expected; // expected NULL: removed, or refused
    enum config_alter_result result;
} alterations[] = {
    {CONFIG_SET, "retention.ms", NULL, "5", "5", CONFIG_ALTERED},
    {CONFIG_SET, "any.name", "1", "5", "5", CONFIG_ALTERED}, // the name is judged by topic_config_validate
    {CONFIG_SET, "retention.ms", NULL, NULL, NULL, CONFIG_ALTER_INVALID_REQUEST},
    {CONFIG_DELETE, "retention.ms", "5", NULL, NULL, CONFIG_ALTERED},
    {CONFIG_DELETE, "unknown", NULL, NULL, NULL, CONFIG_ALTERED},
    {CONFIG_APPEND, "cleanup.policy", NULL, "compact", "delete,compact", CONFIG_ALTERED},
    {CONFIG_APPEND, "cleanup.policy", "compact", "compact,delete", "compact,delete", CONFIG_ALTERED},
    {CONFIG_APPEND, "cleanup.policy", "", "compact", "compact", CONFIG_ALTERED},
    {CONFIG_SUBTRACT, "cleanup.policy", "compact,delete", "compact", "delete", CONFIG_ALTERED},
    {CONFIG_SUBTRACT, "cleanup.policy", NULL, "delete", "", CONFIG_ALTERED},
    {CONFIG_SUBTRACT, "cleanup.policy", "delete", "compact", "delete", CONFIG_ALTERED},
    {CONFIG_APPEND, "retention.ms", NULL, "5", NULL, CONFIG_ALTER_INVALID_CONFIG},
    {CONFIG_SUBTRACT, "unknown", NULL, "5", NULL, CONFIG_ALTER_UNKNOWN_KEY},
};

Test(topic, alterations) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LENGTH(alterations); i++) {
        char memory[600];
        struct text reason = TEXT_IN(memory);
        struct str out;
        enum config_alter_result result =
            config_alter_topic(&arena, alterations[i].operation, str_of(alterations[i].key),
                               str_of(alterations[i].present), str_of(alterations[i].operand), &out, &reason);
        cr_assert_eq(result, alterations[i].result, "case %zu: %s", i, memory);
        cr_assert(str_equal(out, str_of(alterations[i].expected)), "case %zu: %.*s", i, (int)out.size, out.data);
        cr_assert_eq(reason.size > 0, result != CONFIG_ALTERED && result != CONFIG_ALTER_UNKNOWN_KEY);
    }
    arena_drop(&arena);
}

static const struct {
    bool per_broker;
    const char *key, *value, *reason;
} dynamics[] = {
    {false, "message.max.bytes", "5", NULL},
    {true, "message.max.bytes", "5", NULL},
    {true, "message.max.bytes", "-1", "Invalid value -1 for configuration message.max.bytes: Value must be at least 0"},
    {true, "my.own.key", "5", NULL},
    {true, "leader.replication.throttled.rate", "5", NULL},
    {false, "follower.replication.throttled.rate", "x",
     "Invalid value x for configuration follower.replication.throttled.rate: Not a number of type LONG"},
    {true, "replica.alter.log.dirs.io.max.bytes.per.second", "-1",
     "Invalid value -1 for configuration replica.alter.log.dirs.io.max.bytes.per.second: Value must be at least 0"},
    {true, "num.io.threads", "16", NULL},
    {true, "num.io.threads", "17",
     "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed for "
     "num.io.threads=17, "
     "value should not be greater than double the current value 8 for configuration Invalid dynamic configuration"},
    {true, "num.io.threads", "3",
     "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed for "
     "num.io.threads=3, "
     "value should be at least half the current value 8 for configuration Invalid dynamic configuration"},
    {true, "metric.reporters", "a.B",
     "Invalid value a.B for configuration metric.reporters: this broker has no JVM and cannot load Java classes: "
     "remove the line to use "
     "what is built in"},
    {true, "metric.reporters", "", NULL},
    {true, "broker.rack", "a", "Cannot update these configs dynamically: Set(broker.rack)"},
    {false, "sasl.enabled.mechanisms", "PLAIN",
     "Cannot update these configs at default cluster level, broker id must be specified: Set(sasl.enabled.mechanisms)"},
    {true, "sasl.enabled.mechanisms", "PLAIN", NULL},
    {true, "ssl.keystore.location", "/x",
     "These security configs can be dynamically updated only per-listener using the listener prefix: "
     "HashSet(ssl.keystore.location)"},
    {true, "listener.name.plaintext.ssl.keystore.location", "/x", NULL},
    {false, "listener.name.plaintext.max.connections", "5", NULL},
    {false, "listener.name.plaintext.ssl.keystore.location", "/x",
     "Cannot update these configs at default cluster level, broker id must be specified: "
     "Set(listener.name.plaintext.ssl.keystore.location)"},
    {false, "log.cleaner.threads", "1000",
     "log.cleaner.dedupe.buffer.size=134217728: must be more than 1 MiB for each of log.cleaner.threads"},
    {false, "log.cleaner.threads", "2", NULL},
    {false, "log.cleaner.threads", "3",
     "Invalid value org.apache.kafka.common.config.ConfigException: Log cleaner threads cannot be increased to more "
     "than double the current value 1 for configuration Invalid dynamic configuration"},
    {true, "num.replica.fetchers", "0",
     "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed for "
     "num.replica.fetchers=0, value should be at least 1 for configuration Invalid dynamic configuration"},
    {false, "max.connections", "1", NULL},
    {false, "max.connections", "0",
     "Invalid value org.apache.kafka.common.config.ConfigException: Invalid max.connections 0 for configuration "
     "Invalid "
     "dynamic configuration"},
    {true, "listener.name.plaintext.max.connections", "0",
     "Invalid value org.apache.kafka.common.config.ConfigException: Invalid max.connections 0 for configuration "
     "Invalid "
     "dynamic configuration"},
    {true, "max.connection.creation.rate", "0",
     "Invalid value org.apache.kafka.common.config.ConfigException: Invalid max.connection.creation.rate 0 for "
     "configuration Invalid dynamic configuration"},
    {true, "listeners", " PLAINTEXT://h:9092", NULL}, // as it is
    {true, "listeners", "PLAINTEXT://h:9093",
     "Invalid value PLAINTEXT://h:9093 for configuration listeners: listeners change at a start only: put it into the "
     "configuration file and restart the broker"},
    {true, "listeners", "x",
     "listeners=x: 'x' is not NAME://host:port (port 0 to 65535, IPv6 addresses in brackets, an empty host for every "
     "interface)"},
    {true, "advertised.listeners", "PLAINTEXT://h:9093",
     "Invalid value PLAINTEXT://h:9093 for configuration advertised.listeners: listeners change at a start only: put "
     "it into the configuration file and restart the broker"},
    {true, "listener.security.protocol.map", "PLAINTEXT:PLAINTEXT",
     "Invalid value PLAINTEXT:PLAINTEXT for configuration listener.security.protocol.map: listeners change at a start "
     "only: put it into the configuration file and restart the broker"},
    {true, "log.retention.ms", "0", "log.retention.ms=0: must be -1 (no limit) or at least 1"},
};

Test(topic, dynamic_broker_settings) {
    struct fixture f;
    fixture_init(&f);
    const struct config *c = fixture_parse(&f, "log.retention.ms=5\nlisteners=PLAINTEXT://h:9092", false);
    for (size_t i = 0; i < ARRAY_LENGTH(dynamics); i++) {
        char memory[600];
        struct text reason = TEXT_IN(memory);
        struct config_entry entry = {str_of(dynamics[i].key), str_of(dynamics[i].value)};
        bool ok = config_validate_dynamic(&f.arena, c, dynamics[i].per_broker, (struct config_map){&entry, 1}, &reason);
        cr_assert_eq(ok, dynamics[i].reason == NULL, "case %zu: %s", i, memory);
        if (!ok) cr_assert_str_eq(memory, dynamics[i].reason);
    }
    arena_drop(&f.arena);
}
