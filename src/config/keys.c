// SPDX-License-Identifier: Apache-2.0
// The key tables and the questions about names. Tables are sorted, so that a name is found by halves; a unit test keeps
// them so.
#include "config/keys.h"
#include "base/assert.h"
#include "base/bits.h"
#include "config/edit_distance.h"

static const char feature_cluster[] = "clusters of several brokers";

// clang-format off
// Short forms for the columns of the .def files.
#define ANY                      {.kind = CONFIG_RULE_ANY}
#define AT_LEAST(low)            RANGE(low, INFINITE)
#define RANGE(low, high)         RANGE_OR(low, high, low)
#define RANGE_OR(low, high, odd) {.kind = CONFIG_RULE_RANGE, .min = low, .max = high, .other = odd}
#define SIZE(low)                {.kind = CONFIG_RULE_SIZE, .min = low, .max = INFINITE, .other = low}
#define ONE_OF(list)             {.kind = CONFIG_RULE_ONE_OF, .choices = list}
#define ONE_OF_ANY_CASE(list)    {.kind = CONFIG_RULE_ONE_OF_ANY_CASE, .choices = list}
#define NOT_EMPTY                {.kind = CONFIG_RULE_NOT_EMPTY}
#define KAFKA_VERSION            {.kind = CONFIG_RULE_KAFKA_VERSION}
#define REPLICA_LIST             {.kind = CONFIG_RULE_REPLICA_LIST}
#define INFINITE                 __builtin_inf()

#define WORKS                     CONFIG_WORKS, NULL
#define NO_EFFECT                 CONFIG_NO_EFFECT, NULL
#define NOT_YET(topic)            CONFIG_NOT_YET, FEATURE_##topic
#define REFUSED(reason)           CONFIG_REFUSED, REASON_##reason

#define FEATURE_TLS               "TLS"
#define FEATURE_SASL              "SASL"
#define FEATURE_QUOTAS            "client quotas and rate limits"
#define FEATURE_COMPACTION        "compaction"
#define FEATURE_TIERED_STORAGE    "tiered storage"
#define FEATURE_CLUSTER           feature_cluster
#define FEATURE_DELEGATION_TOKENS "delegation tokens"
#define FEATURE_MOVE_REPLICAS     "moving replicas between log directories"
#define FEATURE_RECOMPRESSION     "recompression by the broker"

#define REASON_JAVA_CLASS         "this broker has no JVM and cannot load Java classes: remove the line to use what is built in"
#define REASON_KRAFT "KRaft roles do not exist here: remove the line, and set zookeeper.connect, or start with --standalone"
#define REASON_KEY_STORE "key stores in Java's formats cannot be read: convert the store to PEM files and remove the line"
#define REASON_ZOOKEEPER_TLS "the ZooKeeper client library has no TLS: connect to a plain port of ZooKeeper on a protected network"
#define REASON_TIERED "tiered storage needs Java plug-ins: set it to false or remove the line"

struct synonym_list {
    size_t count;
    struct topic_synonym synonyms[TOPIC_SYNONYMS_MAX];
};
#define NO_SYNONYM                   .count = 0
#define SYNONYMS_1(a, x)             .count = 1, .synonyms = {{CONFIG_##a, x}}
#define SYNONYMS_2(a, x, b, y)       .count = 2, .synonyms = {{CONFIG_##a, x}, {CONFIG_##b, y}}
#define SYNONYMS_3(a, x, b, y, c, z) .count = 3, .synonyms = {{CONFIG_##a, x}, {CONFIG_##b, y}, {CONFIG_##c, z}}

// The columns "rule", "effect" and "synonyms" expand to several initialisers each.
static const struct config_key_info broker_keys[CONFIG_KEY_COUNT] = {
#define KEY(id, name, type, text, rule, importance, visibility, mode, effect, documentation)                                         \
    [CONFIG_##id] = {name, CONFIG_TYPE_##type, text, rule, CONFIG_##importance, CONFIG_##visibility, CONFIG_##mode, effect, documentation},
#include "config/broker_keys.def"
#undef KEY
};
static const struct config_key_info topic_keys[TOPIC_KEY_COUNT] = {
#define KEY(id, name, type, text, rule, importance, effect, synonyms, documentation)                                                 \
    [TOPIC_##id] = {name, CONFIG_TYPE_##type, text, rule, CONFIG_##importance, CONFIG_LISTED, CONFIG_CLUSTER_WIDE, effect, documentation},
#include "config/topic_keys.def"
#undef KEY
};
static const struct synonym_list topic_synonyms[TOPIC_KEY_COUNT] = {
#define KEY(id, name, type, text, rule, importance, effect, synonyms, documentation) [TOPIC_##id] = {synonyms},
#include "config/topic_keys.def"
#undef KEY
};
// clang-format on

const struct config_key_info *config_key_info(enum config_key key) {
    ASSERT(key < CONFIG_KEY_COUNT);
    return &broker_keys[key];
}

const struct config_key_info *topic_key_info(enum topic_key key) {
    ASSERT(key < TOPIC_KEY_COUNT);
    return &topic_keys[key];
}

bool config_key_is_about_clusters(enum config_key key) {
    return config_key_info(key)->effect_reason == feature_cluster;
}

// The index of a name in a sorted table, or -1.
static int find_name(const struct config_key_info *table, int count, struct str name) {
    int low = 0, high = count - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        int order = str_compare(name, str_of(table[middle].name));
        if (order == 0) return middle;
        if (order < 0) {
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    return -1;
}

bool config_key_find(struct str name, enum config_key *key) {
    int i = find_name(broker_keys, CONFIG_KEY_COUNT, name);
    if (i >= 0) *key = (enum config_key)i;
    return i >= 0;
}

bool topic_key_find(struct str name, enum topic_key *key) {
    int i = find_name(topic_keys, TOPIC_KEY_COUNT, name);
    if (i >= 0) *key = (enum topic_key)i;
    return i >= 0;
}

size_t topic_key_synonyms(enum topic_key key, const struct topic_synonym **synonyms) {
    ASSERT(key < TOPIC_KEY_COUNT);
    *synonyms = topic_synonyms[key].synonyms;
    return topic_synonyms[key].count;
}

size_t config_key_family(enum config_key key, enum config_key family[CONFIG_FAMILY_MAX]) {
    switch (key) {
    case CONFIG_LOG_ROLL_MS:
    case CONFIG_LOG_ROLL_HOURS: family[0] = CONFIG_LOG_ROLL_MS, family[1] = CONFIG_LOG_ROLL_HOURS; return 2;
    case CONFIG_LOG_ROLL_JITTER_MS:
    case CONFIG_LOG_ROLL_JITTER_HOURS:
        family[0] = CONFIG_LOG_ROLL_JITTER_MS, family[1] = CONFIG_LOG_ROLL_JITTER_HOURS;
        return 2;
    case CONFIG_LOG_FLUSH_INTERVAL_MS: // in one direction only: the scheduler's key does not name this one as its
                                       // relative
        family[0] = CONFIG_LOG_FLUSH_INTERVAL_MS, family[1] = CONFIG_LOG_FLUSH_SCHEDULER_INTERVAL_MS;
        return 2;
    case CONFIG_LOG_RETENTION_MS:
    case CONFIG_LOG_RETENTION_MINUTES:
    case CONFIG_LOG_RETENTION_HOURS:
        family[0] = CONFIG_LOG_RETENTION_MS, family[1] = CONFIG_LOG_RETENTION_MINUTES,
        family[2] = CONFIG_LOG_RETENTION_HOURS;
        return 3;
    default: family[0] = key; return 1;
    }
}

static bool has_prefix(struct str name, const char *prefix) {
    size_t size = strlen(prefix);
    return name.size > size && memcmp(name.data, prefix, size) == 0;
}

static struct str after_dot(struct str name) {
    const char *dot = memchr(name.data, '.', name.size);
    if (!dot) return (struct str){0};
    return (struct str){dot + 1, name.size - (size_t)(dot + 1 - name.data)};
}

bool config_listener_override(struct str name, enum config_key *base) {
    static const char prefix[] = "listener.name.";
    if (!has_prefix(name, prefix)) return false;
    struct str rest = after_dot((struct str){name.data + sizeof prefix - 1, name.size - (sizeof prefix - 1)});
    if (str_is_null(rest)) return false;
    if (config_key_find(rest, base)) return true;
    // Only the keys of one SASL mechanism have the mechanism's name in between.
    struct str of_mechanism = after_dot(rest);
    if (str_is_null(of_mechanism) || !config_key_find(of_mechanism, base)) return false;
    return *base == CONFIG_SASL_JAAS_CONFIG || *base == CONFIG_SASL_LOGIN_CALLBACK_HANDLER_CLASS ||
           *base == CONFIG_SASL_LOGIN_CLASS || *base == CONFIG_SASL_SERVER_CALLBACK_HANDLER_CLASS ||
           *base == CONFIG_CONNECTIONS_MAX_REAUTH_MS;
}

const struct config_key_info *config_throttle(struct str name) {
    static const struct config_key_info throttles[] = {
#define THROTTLE(name, effect)                                                                                         \
    {name,          CONFIG_TYPE_LONG, "9223372036854775807", AT_LEAST(0),                                              \
     CONFIG_MEDIUM, CONFIG_LISTED,    CONFIG_CLUSTER_WIDE,   effect,                                                   \
     NULL}
        THROTTLE("follower.replication.throttled.rate", NOT_YET(CLUSTER)),
        THROTTLE("leader.replication.throttled.rate", NOT_YET(CLUSTER)),
        THROTTLE("replica.alter.log.dirs.io.max.bytes.per.second", NOT_YET(MOVE_REPLICAS)),
#undef THROTTLE
    };
    for (size_t i = 0; i < ARRAY_LENGTH(throttles); i++) {
        if (str_is(name, throttles[i].name)) return &throttles[i];
    }
    return NULL;
}

const char *config_missing_feature(struct str name) {
    enum config_key key;
    const struct config_key_info *info = config_throttle(name);
    if (config_key_find(name, &key)) {
        info = config_key_info(key);
    } else if (config_listener_override(name, &key)) {
        if (key == CONFIG_MAX_CONNECTIONS) return "limits of one listener";
        info = config_key_info(key);
    }
    return info && info->effect == CONFIG_NOT_YET ? info->effect_reason : NULL;
}

bool config_is_passed_through(struct str name) {
    static const char *const prefixes[] = {"listener.name.", "rlmm.config.", "rsm.config.", "metrics.jmx.",
                                           "kafka.metrics.reporters."};
    for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++) {
        if (has_prefix(name, prefixes[i])) return true;
    }
    return false;
}

// Keys that old guides still show: Kafka removed them, so that no edit distance finds what took their place.
static const struct {
    const char *name, *successor;
} removed_keys[] = {
    {"advertised.host.name", "advertised.listeners"},
    {"advertised.port", "advertised.listeners"},
    {"host.name", "listeners"},
    {"log.retention.policy", "log.cleanup.policy"},
    {"port", "listeners"},
    {"replica.lag.max.messages", "replica.lag.time.max.ms"},
};

// The nearest name within a third of its length.
static const char *nearest(const struct config_key_info *table, int count, struct str name) {
    const char *best = NULL;
    size_t best_distance = name.size / 3 + 1;
    for (int i = 0; i < count; i++) {
        size_t distance = edit_distance(name, str_of(table[i].name), best_distance);
        if (distance < best_distance) {
            best = table[i].name;
            best_distance = distance;
        }
    }
    return best;
}

const char *config_key_suggest(struct str name) {
    for (size_t i = 0; i < ARRAY_LENGTH(removed_keys); i++) {
        if (str_is(name, removed_keys[i].name)) return removed_keys[i].successor;
    }
    // A topic's name for it, written into the broker's file.
    enum topic_key topic;
    if (topic_key_find(name, &topic) && topic_synonyms[topic].count > 0)
        return broker_keys[topic_synonyms[topic].synonyms[0].key].name;
    return nearest(broker_keys, CONFIG_KEY_COUNT, name);
}

const char *topic_key_suggest(struct str name) {
    return nearest(topic_keys, TOPIC_KEY_COUNT, name);
}
