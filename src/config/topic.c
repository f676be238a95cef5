// SPDX-License-Identifier: Apache-2.0
// See topic.h. One function finds a key's value by the table; the struct is filled from it. Two of Kafka's rules are
// not in the table: retention below 0 means no limit, and the old key for timestamp limits counts where the newer two
// have their defaults.
#include "config/topic.h"
#include "base/assert.h"
#include "base/bits.h"

static void print_integer(struct arena *a, int64_t integer, struct config_value *out) {
    char memory[24];
    struct text t = TEXT_IN(memory);
    text_addf(&t, "%lld", (long long)integer);
    *out = (struct config_value){.text = arena_copy_str(a, (struct str){t.data, t.size}), .integer = integer};
}

// The topic's own value, if it has one that can be used.
static bool own_value(struct arena *a, struct config_map overrides, enum topic_key key, struct config_value *out) {
    const struct config_key_info *info = topic_key_info(key);
    struct str raw = config_map_get(overrides, str_of(info->name));
    char memory[300];
    struct text reason = TEXT_IN(memory);
    return !str_is_null(raw) && config_value_parse(a, info, raw, out, &reason);
}

static void broker_value(struct arena *a, const struct config *c, enum topic_key key, struct config_value *out) {
    const struct topic_synonym *synonyms;
    size_t count = topic_key_synonyms(key, &synonyms);
    for (size_t i = 0; i < count; i++) {
        if (!config_has(c, synonyms[i].key)) continue;
        *out = c->settings[synonyms[i].key].value;
        int64_t product;
        if (synonyms[i].factor == 1) return;
        if (__builtin_mul_overflow(out->integer, synonyms[i].factor, &product)) product = INT64_MAX;
        print_integer(a, product, out);
        return;
    }
    char memory[300];
    struct text reason = TEXT_IN(memory);
    bool ok = config_value_parse(a, topic_key_info(key), str_of(topic_key_info(key)->default_text), out, &reason);
    ASSERT(ok || reason.size > 0);
}

// Kafka's broker hands topics the old limit where the new ones have not been changed.
static void apply_old_timestamp_limit(const struct config *c, enum topic_key key, struct config_value *out) {
    bool is_limit = key == TOPIC_MESSAGE_TIMESTAMP_BEFORE_MAX_MS || key == TOPIC_MESSAGE_TIMESTAMP_AFTER_MAX_MS;
    if (is_limit && out->integer == INT64_MAX) *out = c->settings[CONFIG_LOG_MESSAGE_TIMESTAMP_DIFFERENCE_MAX_MS].value;
}

void topic_value_resolve(struct arena *a, const struct config *c, struct config_map overrides, enum topic_key key,
                         struct config_value *out) {
    ASSERT(key < TOPIC_KEY_COUNT);
    if (own_value(a, overrides, key, out)) return;
    broker_value(a, c, key, out);
    apply_old_timestamp_limit(c, key, out);
    if (key == TOPIC_RETENTION_MS && out->integer < -1) print_integer(a, -1, out);
    if (key == TOPIC_MESSAGE_FORMAT_VERSION) out->text = str_of("3.0-IV1"); // the broker's setting is ignored
}

static enum topic_compression compression_of(struct str text) {
    static const struct {
        const char *name;
        enum topic_compression compression;
    } names[] = {
        {"producer", TOPIC_COMPRESSION_PRODUCER}, {"uncompressed", TOPIC_COMPRESSION_NONE},
        {"gzip", TOPIC_COMPRESSION_GZIP},         {"snappy", TOPIC_COMPRESSION_SNAPPY},
        {"lz4", TOPIC_COMPRESSION_LZ4},           {"zstd", TOPIC_COMPRESSION_ZSTD},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_is(text, names[i].name)) return names[i].compression;
    }
    UNREACHABLE(); // the key's rule has let nothing else in
}

static unsigned cleanup_of(struct str list) {
    unsigned policy = 0;
    struct str rest = config_list_begin(list), entry;
    while (config_list_next(&rest, &entry)) {
        policy |= str_is(entry, "compact") ? TOPIC_CLEANUP_COMPACT : TOPIC_CLEANUP_DELETE;
    }
    return policy;
}

struct resolver {
    struct arena *scratch;
    const struct config *config;
    struct config_map overrides;
};

static struct config_value value_of(const struct resolver *r, enum topic_key key) {
    struct config_value value;
    topic_value_resolve(r->scratch, r->config, r->overrides, key, &value);
    return value;
}
static int64_t i64_of(const struct resolver *r, enum topic_key key) {
    return value_of(r, key).integer;
}
static int32_t i32_of(const struct resolver *r, enum topic_key key) {
    int64_t value = i64_of(r, key);
    ASSERT(value >= INT32_MIN && value <= INT32_MAX);
    return (int32_t)value;
}
static bool bool_of(const struct resolver *r, enum topic_key key) {
    return i64_of(r, key) != 0;
}

// The text that lives as long as the topic's settings: its own, untouched, where it is good.
static struct str replicas_of(const struct resolver *r, enum topic_key key) {
    struct config_value value;
    if (!own_value(r->scratch, r->overrides, key, &value)) return str_of("");
    return config_map_get(r->overrides, str_of(topic_key_info(key)->name));
}

void topic_config_resolve(struct arena *scratch, const struct config *c, struct config_map overrides,
                          struct topic_config *out) {
    const struct resolver r = {scratch, c, overrides};
    *out = (struct topic_config){
        .segment_bytes = i32_of(&r, TOPIC_SEGMENT_BYTES),
        .segment_ms = i64_of(&r, TOPIC_SEGMENT_MS),
        .segment_jitter_ms = i64_of(&r, TOPIC_SEGMENT_JITTER_MS),
        .segment_index_bytes = i32_of(&r, TOPIC_SEGMENT_INDEX_BYTES),
        .index_interval_bytes = i32_of(&r, TOPIC_INDEX_INTERVAL_BYTES),
        .retention_ms = i64_of(&r, TOPIC_RETENTION_MS),
        .retention_bytes = i64_of(&r, TOPIC_RETENTION_BYTES),
        .file_delete_delay_ms = i64_of(&r, TOPIC_FILE_DELETE_DELAY_MS),
        .flush_messages = i64_of(&r, TOPIC_FLUSH_MESSAGES),
        .flush_ms = i64_of(&r, TOPIC_FLUSH_MS),
        .max_message_bytes = i32_of(&r, TOPIC_MAX_MESSAGE_BYTES),
        .compression = compression_of(value_of(&r, TOPIC_COMPRESSION_TYPE).text),
        .compression_gzip_level = i32_of(&r, TOPIC_COMPRESSION_GZIP_LEVEL),
        .compression_lz4_level = i32_of(&r, TOPIC_COMPRESSION_LZ4_LEVEL),
        .compression_zstd_level = i32_of(&r, TOPIC_COMPRESSION_ZSTD_LEVEL),
        .timestamp_type = str_is(value_of(&r, TOPIC_MESSAGE_TIMESTAMP_TYPE).text, "LogAppendTime")
                              ? TOPIC_LOG_APPEND_TIME
                              : TOPIC_CREATE_TIME,
        .timestamp_before_max_ms = i64_of(&r, TOPIC_MESSAGE_TIMESTAMP_BEFORE_MAX_MS),
        .timestamp_after_max_ms = i64_of(&r, TOPIC_MESSAGE_TIMESTAMP_AFTER_MAX_MS),
        .cleanup_policy = cleanup_of(value_of(&r, TOPIC_CLEANUP_POLICY).text),
        .min_insync_replicas = i32_of(&r, TOPIC_MIN_INSYNC_REPLICAS),
        .unclean_leader_election_enable = bool_of(&r, TOPIC_UNCLEAN_LEADER_ELECTION_ENABLE),
        .preallocate = bool_of(&r, TOPIC_PREALLOCATE),
        .message_downconversion_enable = bool_of(&r, TOPIC_MESSAGE_DOWNCONVERSION_ENABLE),
        .delete_retention_ms = i64_of(&r, TOPIC_DELETE_RETENTION_MS),
        .min_compaction_lag_ms = i64_of(&r, TOPIC_MIN_COMPACTION_LAG_MS),
        .max_compaction_lag_ms = i64_of(&r, TOPIC_MAX_COMPACTION_LAG_MS),
        .min_cleanable_dirty_ratio = value_of(&r, TOPIC_MIN_CLEANABLE_DIRTY_RATIO).real,
        .leader_throttled_replicas = replicas_of(&r, TOPIC_LEADER_REPLICATION_THROTTLED_REPLICAS),
        .follower_throttled_replicas = replicas_of(&r, TOPIC_FOLLOWER_REPLICATION_THROTTLED_REPLICAS),
    };
    // As LogConfig does in Kafka: the old limit of the topic itself counts too where the newer ones are the default.
    int64_t old_limit = i64_of(&r, TOPIC_MESSAGE_TIMESTAMP_DIFFERENCE_MAX_MS);
    if (out->timestamp_before_max_ms == INT64_MAX) out->timestamp_before_max_ms = old_limit;
    if (out->timestamp_after_max_ms == INT64_MAX) out->timestamp_after_max_ms = old_limit;
}

// Kafka has two exceptions behind INVALID_CONFIG, of which one gets the topic's name in front.
enum verdict { GOOD, BAD_SETTING, BAD_VALUE };

static enum verdict judge_value(struct arena *scratch, struct str key, struct str value, struct text *reason) {
    enum topic_key known;
    if (!topic_key_find(key, &known)) {
        text_addf(reason, "Unknown topic config name: ");
        text_add_escaped(reason, (struct str){key.data, min_size(key.size, 250)});
        return BAD_SETTING;
    }
    char memory[400];
    struct text detail = TEXT_IN(memory);
    struct config_value parsed = {.text = str_of("null")};
    if (!str_is_null(value) && config_value_parse(scratch, topic_key_info(known), value, &parsed, &detail)) return GOOD;
    bool is_replica_list = topic_key_info(known)->rule.kind == CONFIG_RULE_REPLICA_LIST;
    text_addf(reason, "Invalid value %s", is_replica_list ? "[" : "");
    text_add_escaped(reason, (struct str){parsed.text.data, min_size(parsed.text.size, 250)});
    text_addf(reason, "%s for configuration %s%s%s", is_replica_list ? "]" : "", topic_key_info(known)->name,
              detail.size > 0 ? ": " : "", detail.data);
    return BAD_VALUE;
}

bool topic_config_validate_value(struct arena *scratch, struct str key, struct str value, struct text *reason) {
    return judge_value(scratch, key, value, reason) == GOOD;
}

// Tiered storage: what Kafka with ZooKeeper and without tiered storage answers.
static enum verdict judge_tiered(const struct resolver *r, struct text *reason) {
    if (bool_of(r, TOPIC_REMOTE_LOG_DELETE_ON_DISABLE) || bool_of(r, TOPIC_REMOTE_LOG_COPY_DISABLE)) {
        text_addf(
            reason,
            "It is invalid to set `remote.log.delete.on.disable` or `remote.log.copy.disable` under Zookeeper's mode.");
        return BAD_SETTING;
    }
    if (bool_of(r, TOPIC_REMOTE_STORAGE_ENABLE)) {
        text_addf(reason, "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with "
                          "remote log storage.");
        return BAD_VALUE;
    }
    return GOOD;
}

static enum verdict judge(struct arena *scratch, const struct config *c, struct config_map overrides,
                          struct text *reason) {
    for (size_t i = 0; i < overrides.count; i++) { // unknown names come before bad values
        enum topic_key known;
        if (topic_key_find(overrides.entries[i].key, &known)) continue;
        return judge_value(scratch, overrides.entries[i].key, overrides.entries[i].value, reason);
    }
    for (size_t i = 0; i < overrides.count; i++) {
        enum verdict verdict = judge_value(scratch, overrides.entries[i].key, overrides.entries[i].value, reason);
        if (verdict != GOOD) return verdict;
    }
    const struct resolver r = {scratch, c, overrides};
    int64_t min_lag = i64_of(&r, TOPIC_MIN_COMPACTION_LAG_MS), max_lag = i64_of(&r, TOPIC_MAX_COMPACTION_LAG_MS);
    if (min_lag > max_lag) {
        text_addf(reason, "conflict topic config setting min.compaction.lag.ms (%lld) > max.compaction.lag.ms (%lld)",
                  (long long)min_lag, (long long)max_lag);
        return BAD_SETTING;
    }
    return judge_tiered(&r, reason);
}

bool topic_config_validate(struct arena *scratch, const struct config *c, struct config_map overrides,
                           struct text *reason) {
    return judge(scratch, c, overrides, reason) == GOOD;
}

bool topic_config_validate_alter(struct arena *scratch, const struct config *c, struct str topic,
                                 struct config_map overrides, struct text *reason) {
    char memory[1000];
    struct text detail = TEXT_IN(memory);
    enum verdict verdict = judge(scratch, c, overrides, &detail);
    if (verdict == BAD_VALUE) {
        text_addf(reason, "Invalid config value for resource ConfigResource(type=TOPIC, name='");
        text_add_escaped(reason, (struct str){topic.data, min_size(topic.size, 249)});
        text_addf(reason, "'): ");
    }
    text_add(reason, (struct str){detail.data, detail.size});
    return verdict == GOOD;
}
