// SPDX-License-Identifier: Apache-2.0
// The words for what the key tables hold: names of types, modes and effects, and which values a key takes.
#include "base/assert.h"
#include "config/keys.h"

const char *config_type_name(enum config_type type) {
    switch (type) {
    case CONFIG_TYPE_UNKNOWN: return "UNKNOWN";
    case CONFIG_TYPE_BOOLEAN: return "BOOLEAN";
    case CONFIG_TYPE_STRING: return "STRING";
    case CONFIG_TYPE_INT: return "INT";
    case CONFIG_TYPE_SHORT: return "SHORT";
    case CONFIG_TYPE_LONG: return "LONG";
    case CONFIG_TYPE_DOUBLE: return "DOUBLE";
    case CONFIG_TYPE_LIST: return "LIST";
    case CONFIG_TYPE_CLASS: return "CLASS";
    case CONFIG_TYPE_PASSWORD: return "PASSWORD";
    }
    UNREACHABLE();
}

const char *config_importance_name(enum config_importance importance) {
    switch (importance) {
    case CONFIG_HIGH: return "HIGH";
    case CONFIG_MEDIUM: return "MEDIUM";
    case CONFIG_LOW: return "LOW";
    }
    UNREACHABLE();
}

const char *config_update_mode_name(enum config_update_mode mode) {
    switch (mode) {
    case CONFIG_READ_ONLY: return "read-only";
    case CONFIG_PER_BROKER: return "per-broker";
    case CONFIG_CLUSTER_WIDE: return "cluster-wide";
    }
    UNREACHABLE();
}

const char *config_effect_name(enum config_effect effect) {
    switch (effect) {
    case CONFIG_WORKS: return "works";
    case CONFIG_NO_EFFECT: return "no effect here";
    case CONFIG_NOT_YET: return "not yet";
    case CONFIG_REFUSED: return "refused";
    }
    UNREACHABLE();
}

static const char *type_in_words(enum config_type type) {
    switch (type) {
    case CONFIG_TYPE_BOOLEAN: return "true or false";
    case CONFIG_TYPE_INT: return "a 32-bit whole number";
    case CONFIG_TYPE_SHORT: return "a 16-bit whole number";
    case CONFIG_TYPE_LONG: return "a 64-bit whole number";
    case CONFIG_TYPE_DOUBLE: return "a number";
    case CONFIG_TYPE_LIST: return "a list, comma separated";
    case CONFIG_TYPE_CLASS: return "the name of a Java class";
    case CONFIG_TYPE_STRING:
    case CONFIG_TYPE_PASSWORD:
    case CONFIG_TYPE_UNKNOWN: return "text";
    }
    UNREACHABLE();
}

static void range_in_words(const struct config_rule *rule, struct text *out) {
    if (rule->max > 1e300) {
        text_addf(out, ", at least %.15g", rule->min);
    } else {
        text_addf(out, ", %.15g to %.15g", rule->min, rule->max);
    }
    if (rule->other < rule->min || rule->other > rule->max) text_addf(out, ", or %.15g", rule->other);
}

void config_key_allowed(const struct config_key_info *key, struct text *out) {
    const struct config_rule *rule = &key->rule;
    switch (rule->kind) {
    case CONFIG_RULE_ONE_OF:
    case CONFIG_RULE_ONE_OF_ANY_CASE:
        text_addf(out, "%s %s", key->type == CONFIG_TYPE_LIST ? "any of" : "one of", rule->choices);
        return;
    case CONFIG_RULE_KAFKA_VERSION: text_addf(out, "a Kafka release up to 3.9, such as 3.9 or 2.8-IV1"); return;
    case CONFIG_RULE_REPLICA_LIST: text_addf(out, "partition:broker pairs, comma separated, or *"); return;
    case CONFIG_RULE_SIZE:
        text_addf(out, "a number of bytes, K, M, G or T (for example 512M)");
        range_in_words(rule, out);
        return;
    case CONFIG_RULE_NOT_EMPTY: text_addf(out, "%s, not empty", type_in_words(key->type)); return;
    case CONFIG_RULE_RANGE:
        text_addf(out, "%s", type_in_words(key->type));
        range_in_words(rule, out);
        return;
    case CONFIG_RULE_ANY: text_addf(out, "%s", type_in_words(key->type)); return;
    }
    UNREACHABLE();
}
