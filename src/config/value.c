// SPDX-License-Identifier: Apache-2.0
// See value.h: parse by type, then check by rule. Kafka's own oddities are kept: a number may begin with '+', booleans
// ignore case, an empty text is an empty list but no number.
#include "config/value.h"
#include "base/assert.h"
#include "base/bits.h"
#include "config/kafka_version.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct str config_trim(struct str s) {
    while (s.size > 0 && (unsigned char)s.data[0] <= ' ') {
        s.data++, s.size--;
    }
    while (s.size > 0 && (unsigned char)s.data[s.size - 1] <= ' ') {
        s.size--;
    }
    return s;
}

bool config_list_next(struct str *rest, struct str *entry) {
    if (str_is_null(*rest)) return false;
    const char *comma = rest->size > 0 ? memchr(rest->data, ',', rest->size) : NULL;
    if (!comma) {
        *entry = config_trim(*rest);
        *rest = (struct str){0};
        return true;
    }
    size_t size = (size_t)(comma - rest->data);
    *entry = config_trim((struct str){rest->data, size});
    rest->data = comma + 1;
    rest->size -= size + 1;
    return true;
}

bool config_host_count(struct str entry, struct str *host, uint32_t *count) {
    const char *colon = entry.size > 0 ? memrchr(entry.data, ':', entry.size) : NULL;
    if (!colon || colon == entry.data) return false;
    *host = (struct str){entry.data, (size_t)(colon - entry.data)};
    int64_t number;
    struct str digits = config_trim((struct str){colon + 1, entry.size - host->size - 1});
    if (!parse_i64(digits, 0, INT32_MAX, &number)) return false;
    *count = (uint32_t)number;
    return true;
}

static bool parse_bool(struct str s, int64_t *value) {
    if (s.size == 4 && strncasecmp(s.data, "true", 4) == 0) {
        *value = 1;
    } else if (s.size == 5 && strncasecmp(s.data, "false", 5) == 0) {
        *value = 0;
    } else {
        return false;
    }
    return true;
}

static bool parse_integer(struct str s, int64_t min, int64_t max, int64_t *value) {
    if (s.size > 1 && s.data[0] == '+' && s.data[1] != '-') s = (struct str){s.data + 1, s.size - 1};
    return parse_i64(s, min, max, value);
}

// Bytes with an optional unit: 64M, 1g, 4096.
static bool parse_size(struct str s, int64_t *value) {
    int shift = 0;
    if (s.size > 0) {
        switch (s.data[s.size - 1]) {
        case 'k':
        case 'K': shift = 10; break;
        case 'm':
        case 'M': shift = 20; break;
        case 'g':
        case 'G': shift = 30; break;
        case 't':
        case 'T': shift = 40; break;
        default: break;
        }
    }
    if (shift > 0) s.size--;
    int64_t max = INT64_MAX >> shift;
    if (!parse_integer(s, -max, max, value)) return false; // a number below 0 is one: the rule says what is allowed
    *value *= (int64_t)1 << shift;
    return true;
}

// Java's Double.toString: the shortest digits that give the same double back; an exponent below 0.001 and from
// 10,000,000 on.
static void print_double(double value, struct text *out) {
    char digits[40];
    int precision = 1;
    do {
        snprintf(digits, sizeof digits, "%.*e", precision - 1, value);
    } while (strtod(digits, NULL) != value && ++precision <= 17);
    char *e = strchr(digits, 'e');
    if (!e) { // an overflow to infinity
        text_addf(out, "%sInfinity", value < 0 ? "-" : "");
        return;
    }
    int exponent = atoi(e + 1);
    if (value == 0 || (exponent >= -3 && exponent < 7)) {
        int decimals = precision - 1 - exponent;
        text_addf(out, "%.*f", decimals < 1 ? 1 : decimals, value);
        return;
    }
    *e = '\0';
    text_addf(out, "%s%sE%d", digits, strchr(digits, '.') ? "" : ".0", exponent);
}

// Whether an entry is among "a, b, c".
static bool is_choice(const char *choices, struct str entry, bool any_case) {
    struct str rest = config_list_begin(str_of(choices)), choice;
    while (config_list_next(&rest, &choice)) {
        if (choice.size != entry.size) continue;
        if (any_case ? strncasecmp(choice.data, entry.data, entry.size) == 0
                     : memcmp(choice.data, entry.data, entry.size) == 0)
            return true;
    }
    return false;
}

static bool is_digits(struct str s) {
    if (s.size == 0) return false;
    for (size_t i = 0; i < s.size; i++) {
        if (s.data[i] < '0' || s.data[i] > '9') return false;
    }
    return true;
}

static bool is_replica(struct str s) {
    const char *colon = s.size > 0 ? memchr(s.data, ':', s.size) : NULL;
    if (!colon) return false;
    size_t left = (size_t)(colon - s.data);
    return is_digits((struct str){s.data, left}) && is_digits((struct str){colon + 1, s.size - left - 1});
}

// "*", or partition:broker entries, of which some may be empty.
static bool is_replica_list(struct str list) {
    if (str_is(list, "*")) return true;
    struct str rest = config_list_begin(list), entry;
    while (config_list_next(&rest, &entry)) {
        if (entry.size > 0 && !is_replica(entry)) return false;
    }
    return true;
}

static bool check_number(const struct config_rule *rule, double number, struct text *reason) {
    if (number == rule->other || (number >= rule->min && number <= rule->max)) return true;
    if (rule->other < rule->min) {
        text_addf(reason, "Value must be between %.15g and %.15g or equal to %.15g", rule->min, rule->max, rule->other);
    } else if (number < rule->min) {
        text_addf(reason, "Value must be at least %.15g", rule->min);
    } else {
        text_addf(reason, "Value must be no more than %.15g", rule->max);
    }
    return false;
}

static bool check_choice(const struct config_key_info *key, struct config_value *value, struct text *reason) {
    struct str text = value->text;
    bool any_case = key->rule.kind == CONFIG_RULE_ONE_OF_ANY_CASE;
    struct str rest = config_list_begin(text), entry = text;
    bool is_list = key->type == CONFIG_TYPE_LIST;
    while (!is_list || config_list_next(&rest, &entry)) {
        if (!is_choice(key->rule.choices, entry, any_case)) {
            text_addf(reason, "String must be one of%s: %s", any_case ? " (case insensitive)" : "", key->rule.choices);
            value->text = entry;
            return false;
        }
        if (!is_list) break;
    }
    return true;
}

static bool check_rule(const struct config_key_info *key, struct config_value *value, struct text *reason) {
    switch (key->rule.kind) {
    case CONFIG_RULE_ANY: return true;
    case CONFIG_RULE_RANGE:
    case CONFIG_RULE_SIZE:
        return check_number(&key->rule, key->type == CONFIG_TYPE_DOUBLE ? value->real : (double)value->integer, reason);
    case CONFIG_RULE_ONE_OF:
    case CONFIG_RULE_ONE_OF_ANY_CASE: return check_choice(key, value, reason);
    case CONFIG_RULE_NOT_EMPTY:
        if (value->text.size > 0) return true;
        text_addf(reason, "String must be non-empty");
        return false;
    case CONFIG_RULE_KAFKA_VERSION:
        if (kafka_version_is_known(value->text)) return true;
        text_addf(reason, "Version ");
        text_add_escaped(reason, (struct str){value->text.data, min_size(value->text.size, 50)});
        text_addf(reason, " is not a valid version");
        return false;
    case CONFIG_RULE_REPLICA_LIST:
        if (is_replica_list(value->text)) return true;
        text_addf(reason,
                  "%s must be the literal '*' or a list of replicas in the following format: "
                  "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
                  key->name);
        return false;
    }
    UNREACHABLE();
}

// The entries with single commas between them.
static struct str join_list(struct arena *a, struct str trimmed) {
    char *joined = arena_alloc(a, trimmed.size + 1);
    if (!joined) return (struct str){0};
    size_t size = 0;
    for (size_t i = 0; i < trimmed.size;) {
        const char *comma = memchr(trimmed.data + i, ',', trimmed.size - i);
        size_t end = comma ? (size_t)(comma - trimmed.data) : trimmed.size;
        struct str entry = config_trim((struct str){trimmed.data + i, end - i});
        if (entry.size > 0) memcpy(joined + size, entry.data, entry.size);
        size += entry.size;
        if (comma) joined[size++] = ',';
        i = end + 1;
    }
    return (struct str){joined, size};
}

static struct str copy_text(struct arena *a, struct text *t) {
    return arena_copy_str(a, (struct str){t->data, t->size});
}

static bool parse_by_type(struct arena *a, const struct config_key_info *key, struct str s, struct config_value *out,
                          struct text *reason) {
    char memory[48];
    struct text printed = TEXT_IN(memory);
    bool ok = true;
    switch (key->type) {
    case CONFIG_TYPE_BOOLEAN:
        if (!parse_bool(s, &out->integer)) {
            text_addf(reason, "Expected value to be either true or false");
            return false;
        }
        out->text = str_of(out->integer ? "true" : "false");
        return true;
    case CONFIG_TYPE_INT: ok = parse_integer(s, INT32_MIN, INT32_MAX, &out->integer); break;
    case CONFIG_TYPE_SHORT: ok = parse_integer(s, INT16_MIN, INT16_MAX, &out->integer); break;
    case CONFIG_TYPE_LONG:
        ok = key->rule.kind == CONFIG_RULE_SIZE ? parse_size(s, &out->integer)
                                                : parse_integer(s, INT64_MIN, INT64_MAX, &out->integer);
        break;
    case CONFIG_TYPE_DOUBLE: ok = parse_double(s, &out->real); break;
    case CONFIG_TYPE_LIST: out->text = join_list(a, s); return true;
    case CONFIG_TYPE_STRING:
    case CONFIG_TYPE_CLASS:
    case CONFIG_TYPE_PASSWORD:
    case CONFIG_TYPE_UNKNOWN: out->text = s; return true;
    }
    if (!ok) {
        text_addf(reason, "Not a number of type %s", config_type_name(key->type));
        return false;
    }
    if (key->type == CONFIG_TYPE_DOUBLE) {
        print_double(out->real, &printed);
    } else {
        text_addf(&printed, "%lld", (long long)out->integer);
    }
    out->text = copy_text(a, &printed);
    return true;
}

bool config_value_parse(struct arena *a, const struct config_key_info *key, struct str raw, struct config_value *out,
                        struct text *reason) {
    *out = (struct config_value){0};
    if (str_is_null(raw)) return true;
    struct config_value value = {0};
    if (!parse_by_type(a, key, config_trim(raw), &value, reason)) {
        out->text = raw;
        return false;
    }
    if (str_is_null(value.text)) {
        text_addf(reason, "No memory left for the value");
        return false;
    }
    bool ok = check_rule(key, &value, reason);
    if (ok) {
        *out = value;
    } else {
        out->text = value.text;
    }
    return ok;
}
