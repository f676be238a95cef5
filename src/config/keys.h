// SPDX-License-Identifier: Apache-2.0
// The tables of configuration keys: what Kafka 3.9 knows (broker_keys.def, topic_keys.def), and what each key does
// here. Constant data; any core may read it. The numbers of config_type and config_source are those of the
// DescribeConfigs response.
#pragma once

#include "base/slice.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_type {
    CONFIG_TYPE_UNKNOWN = 0,
    CONFIG_TYPE_BOOLEAN = 1,
    CONFIG_TYPE_STRING = 2,
    CONFIG_TYPE_INT = 3,
    CONFIG_TYPE_SHORT = 4,
    CONFIG_TYPE_LONG = 5,
    CONFIG_TYPE_DOUBLE = 6,
    CONFIG_TYPE_LIST = 7,
    CONFIG_TYPE_CLASS = 8,
    CONFIG_TYPE_PASSWORD = 9,
};
enum config_source {
    CONFIG_SOURCE_TOPIC = 1,
    CONFIG_SOURCE_DYNAMIC_BROKER = 2,
    CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER = 3,
    CONFIG_SOURCE_STATIC_BROKER = 4,
    CONFIG_SOURCE_DEFAULT = 5,
};
enum config_importance { CONFIG_HIGH, CONFIG_MEDIUM, CONFIG_LOW };
// Whether DescribeConfigs shows a key that is not set: Kafka hides its internal keys, and we hide our own.
enum config_visibility { CONFIG_LISTED, CONFIG_INTERNAL, CONFIG_OWN };
enum config_update_mode { CONFIG_READ_ONLY, CONFIG_PER_BROKER, CONFIG_CLUSTER_WIDE };
enum config_effect {
    CONFIG_WORKS,
    CONFIG_NO_EFFECT, // accepted silently: nothing here depends on it
    CONFIG_NOT_YET,   // accepted; a value other than the default is warned about: its feature is not built yet
    CONFIG_REFUSED,   // a value other than the default stops the start
};
enum config_rule_kind {
    CONFIG_RULE_ANY,
    CONFIG_RULE_RANGE,           // min <= value <= max, or value == other
    CONFIG_RULE_SIZE,            // as RANGE; the text may end in K, M, G or T (powers of 1024)
    CONFIG_RULE_ONE_OF,          // choices: "a, b"; every entry of a list
    CONFIG_RULE_ONE_OF_ANY_CASE, // the same, upper and lower case alike
    CONFIG_RULE_NOT_EMPTY,
    CONFIG_RULE_KAFKA_VERSION, // a release such as 3.9 or 3.9-IV0
    CONFIG_RULE_REPLICA_LIST,  // partition:broker entries, or *
};
struct config_rule {
    enum config_rule_kind kind;
    double min, max, other;
    const char *choices;
};

struct config_key_info {
    const char *name;
    enum config_type type;
    const char *default_text; // as a file would have it; NULL is Kafka's null
    struct config_rule rule;
    enum config_importance importance;
    enum config_visibility visibility;
    enum config_update_mode update_mode;
    enum config_effect effect;
    const char *effect_reason; // NOT_YET: the feature; REFUSED: why, and the way out
    const char *documentation;
};

enum config_key {
#define KEY(id, ...) CONFIG_##id,
#include "config/broker_keys.def"
#undef KEY
    CONFIG_KEY_COUNT
};
enum topic_key {
#define KEY(id, ...) TOPIC_##id,
#include "config/topic_keys.def"
#undef KEY
    TOPIC_KEY_COUNT
};

// Where a topic takes a value from: a broker key, and what its value is multiplied by.
struct topic_synonym {
    enum config_key key;
    int64_t factor;
};
enum { TOPIC_SYNONYMS_MAX = 3 };

const struct config_key_info *config_key_info(enum config_key key);
const struct config_key_info *topic_key_info(enum topic_key key);
// Keys that a broker by itself has no use for; standalone they are passed over in silence.
bool config_key_is_about_clusters(enum config_key key);
// False for an unknown name.
bool config_key_find(struct str name, enum config_key *key);
bool topic_key_find(struct str name, enum topic_key *key);
// The broker keys that stand in for a topic key, the first that is set wins. Returns their number; *synonyms is
// constant data.
size_t topic_key_synonyms(enum topic_key key, const struct topic_synonym **synonyms);

// Broker keys that mean the same in other units, in the order in which they win (log.roll.ms, log.roll.hours). A key
// without such relatives is alone in its list. Returns the number, at most CONFIG_FAMILY_MAX.
enum { CONFIG_FAMILY_MAX = 3 };
size_t config_key_family(enum config_key key, enum config_key family[CONFIG_FAMILY_MAX]);

// listener.name.NAME.KEY or listener.name.NAME.MECHANISM.KEY: the key that it overrides for one listener. False: not
// such a name, or KEY is unknown.
bool config_listener_override(struct str name, enum config_key *base);
// The limits on replication between brokers and log directories, which Kafka takes at run time only: they are in no
// table and in no file, but have a type and a least value. NULL: not such a name.
const struct config_key_info *config_throttle(struct str name);
// The feature that a setting of this name waits for, because it is not built; NULL: the setting is in force, or nothing
// is known about it. A limit of one listener is one; so far there are only those of all.
const char *config_missing_feature(struct str name);
// Whether Kafka hands keys of this name to somebody else (a plug-in's prefix), so that nothing can be said about it.
bool config_is_passed_through(struct str name);

// What a mistyped name was probably meant to be: a removed key's successor, or a key at a small edit distance; NULL if
// none is near.
const char *config_key_suggest(struct str name);
const char *topic_key_suggest(struct str name);

const char *config_type_name(enum config_type type);            // "INT"
const char *config_importance_name(enum config_importance i);   // "HIGH"
const char *config_update_mode_name(enum config_update_mode m); // "cluster-wide"
const char *config_effect_name(enum config_effect effect);      // "works"
// What values are allowed, for people: "a 32-bit whole number, at least 14".
void config_key_allowed(const struct config_key_info *key, struct text *out);
