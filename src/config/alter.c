// SPDX-License-Identifier: Apache-2.0
// See alter.h. The words of the reasons are those that Kafka's tools show.
#include "config/alter.h"
#include "base/assert.h"
#include "base/bits.h"
#include "config/check.h"

static void add_name(struct text *t, struct str name) {
    text_add_escaped(t, (struct str){name.data, min_size(name.size, 250)});
}

// Whether an exact entry is in a list: Kafka splits at commas here without trimming.
static bool has_entry(struct str list, struct str entry) {
    while (list.size > 0) {
        const char *comma = memchr(list.data, ',', list.size);
        size_t size = comma ? (size_t)(comma - list.data) : list.size;
        if (str_equal((struct str){list.data, size}, entry)) return true;
        if (!comma) return false;
        list.data += size + 1, list.size -= size + 1;
    }
    return false;
}

struct list_writer {
    char *data;
    size_t size;
    bool any;
};

static void write_entry(struct list_writer *w, struct str entry) {
    if (w->any) w->data[w->size++] = ',';
    if (entry.size > 0) memcpy(w->data + w->size, entry.data, entry.size);
    w->size += entry.size;
    w->any = true;
}

// Writes the entries of `list` that are not in `without`.
static void write_difference(struct list_writer *w, struct str list, struct str without) {
    while (list.size > 0) {
        const char *comma = memchr(list.data, ',', list.size);
        size_t size = comma ? (size_t)(comma - list.data) : list.size;
        struct str entry = {list.data, size};
        if (!has_entry(without, entry)) write_entry(w, entry);
        size_t step = comma ? size + 1 : size;
        list.data += step, list.size -= step;
    }
}

static enum config_alter_result alter_list(struct arena *a, enum config_operation operation, struct str present,
                                           struct str operand, struct str *out, struct text *reason) {
    struct list_writer w = {.data = arena_alloc(a, present.size + operand.size + 2)};
    if (!w.data) {
        text_addf(reason, "The value takes too much memory");
        return CONFIG_ALTER_INVALID_REQUEST;
    }
    if (operation == CONFIG_APPEND) {
        write_difference(&w, present, (struct str){0});
        write_difference(&w, operand, present);
    } else {
        write_difference(&w, present, operand);
    }
    *out = (struct str){w.data, w.size};
    return CONFIG_ALTERED;
}

static enum config_alter_result alter(struct arena *a, enum config_operation operation,
                                      const struct config_key_info *info, struct str key, struct str present,
                                      struct str operand, struct str *out, struct text *reason) {
    *out = (struct str){0};
    if (operation == CONFIG_DELETE) return CONFIG_ALTERED;
    if (str_is_null(operand)) {
        text_addf(reason, "Null value not supported for : ");
        add_name(reason, key);
        return CONFIG_ALTER_INVALID_REQUEST;
    }
    if (operation == CONFIG_SET) {
        *out = operand;
        return CONFIG_ALTERED;
    }
    if (!info) return CONFIG_ALTER_UNKNOWN_KEY;
    if (info->type != CONFIG_TYPE_LIST) {
        text_addf(reason, "Config value %s is not allowed for config key: ",
                  operation == CONFIG_APPEND ? "append" : "subtract");
        add_name(reason, key);
        return CONFIG_ALTER_INVALID_CONFIG;
    }
    if (str_is_null(present)) present = str_of(info->default_text ? info->default_text : "");
    return alter_list(a, operation, present, operand, out, reason);
}

enum config_alter_result config_alter_topic(struct arena *a, enum config_operation operation, struct str key,
                                            struct str present, struct str operand, struct str *out,
                                            struct text *reason) {
    enum topic_key known;
    bool is_known = topic_key_find(key, &known);
    return alter(a, operation, is_known ? topic_key_info(known) : NULL, key, present, operand, out, reason);
}

enum config_alter_result config_alter_broker(struct arena *a, enum config_operation operation, struct str key,
                                             struct str present, struct str operand, struct str *out,
                                             struct text *reason) {
    enum config_key known;
    bool is_known = config_key_find(key, &known);
    return alter(a, operation, is_known ? config_key_info(known) : NULL, key, present, operand, out, reason);
}

// Key stores and trust stores change at run time only for one listener.
static bool is_store_key(enum config_key key) {
    switch (key) {
    case CONFIG_SSL_KEYSTORE_TYPE:
    case CONFIG_SSL_KEYSTORE_LOCATION:
    case CONFIG_SSL_KEYSTORE_PASSWORD:
    case CONFIG_SSL_KEY_PASSWORD:
    case CONFIG_SSL_TRUSTSTORE_TYPE:
    case CONFIG_SSL_TRUSTSTORE_LOCATION:
    case CONFIG_SSL_TRUSTSTORE_PASSWORD:
    case CONFIG_SSL_KEYSTORE_CERTIFICATE_CHAIN:
    case CONFIG_SSL_KEYSTORE_KEY:
    case CONFIG_SSL_TRUSTSTORE_CERTIFICATES: return true;
    default: return false;
    }
}

static bool is_connection_limit(enum config_key key) {
    return key == CONFIG_MAX_CONNECTIONS || key == CONFIG_MAX_CONNECTION_CREATION_RATE;
}

static bool is_cluster_level_of_listener(enum config_key key) {
    return is_connection_limit(key) || key == CONFIG_NUM_NETWORK_THREADS;
}

static void add_invalid_value(struct text *reason, const struct config_key_info *info, struct str value,
                              const char *detail) {
    if (info->type == CONFIG_TYPE_PASSWORD) value = str_of("[hidden]");
    text_addf(reason, "Invalid value ");
    text_add_escaped(reason, (struct str){value.data, min_size(value.size, 250)});
    text_addf(reason, " for configuration %s: %s", info->name, detail);
}

static bool validate_value(struct arena *scratch, const struct config_key_info *info, struct str raw,
                           struct text *reason) {
    char memory[400];
    struct text detail = TEXT_IN(memory);
    struct config_value value;
    if (!config_value_parse(scratch, info, raw, &value, &detail)) {
        add_invalid_value(reason, info, value.text, detail.data);
        return false;
    }
    bool is_default = value.text.size == 0 || str_equal(value.text, str_of(info->default_text));
    if (info->effect == CONFIG_REFUSED && !is_default) {
        add_invalid_value(reason, info, value.text, info->effect_reason);
        return false;
    }
    return true;
}

// ---- rules about a change, seen from what is in force

// In front of and behind the reason of a part of Kafka that does not take a change.
static const char refused_change[] = "Invalid value org.apache.kafka.common.config.ConfigException: ";
static const char refused_change_end[] = " for configuration Invalid dynamic configuration";

// Kafka changes the size of a thread pool by at most a factor of two at a time. Nothing here depends on it, but its
// tools see it.
static bool validate_thread_count(enum config_key key, long long present, long long count, struct text *reason) {
    if (count > 0 && count >= present / 2 && count <= 2 * present) return true;
    text_addf(reason, "%sDynamic thread count update validation failed for %s=%lld, ", refused_change,
              config_key_info(key)->name, count);
    if (count <= 0) {
        text_addf(reason, "value should be at least 1");
    } else {
        text_addf(reason, "value should %s the current value %lld",
                  count < present / 2 ? "be at least half" : "not be greater than double", present);
    }
    text_addf(reason, "%s", refused_change_end);
    return false;
}

static bool validate_cleaner_count(long long present, long long count, struct text *reason) {
    if (count >= present / 2 && count <= 2 * present) return true;
    text_addf(reason, "%sLog cleaner threads cannot be %s the current value %lld%s", refused_change,
              count < present / 2 ? "reduced to less than half" : "increased to more than double", present,
              refused_change_end);
    return false;
}

// A file may say 0. At run time it would shut out whoever could take it back.
static bool validate_limit(enum config_key key, int64_t limit, struct text *reason) {
    if (limit > 0) return true;
    text_addf(reason, "%sInvalid %s %lld%s", refused_change, config_key_info(key)->name, (long long)limit,
              refused_change_end);
    return false;
}

// Kafka opens and closes listeners while it runs. Here they are those of the file until the next start, and a change
// that only DescribeConfigs saw would be a lie.
static bool validate_addresses(const struct config *c, enum config_key key, struct str value, struct text *reason) {
    char memory[24];
    struct str raw = c->settings[key].raw[CONFIG_LAYER_STATIC];
    struct str present = config_trim(str_is_null(raw) ? config_default_text(c, key, memory) : raw);
    if (str_equal(config_trim(value), present)) return true;
    add_invalid_value(reason, config_key_info(key), value,
                      "listeners change at a start only: put it into the configuration file and restart the broker");
    return false;
}

// What will be in force, beside what is; an unchanged value is as good as it was.
static bool validate_counts(const struct config *c, const struct config *changed, struct text *reason) {
    static const enum config_key counts[] = {
        CONFIG_NUM_IO_THREADS,     CONFIG_NUM_NETWORK_THREADS,          CONFIG_NUM_REPLICA_FETCHERS,
        CONFIG_BACKGROUND_THREADS, CONFIG_LOG_CLEANER_THREADS,          CONFIG_NUM_RECOVERY_THREADS_PER_DATA_DIR,
        CONFIG_MAX_CONNECTIONS,    CONFIG_MAX_CONNECTION_CREATION_RATE,
    };
    for (size_t i = 0; i < ARRAY_LENGTH(counts); i++) {
        enum config_key key = counts[i];
        int64_t present = config_i64(c, key), count = config_i64(changed, key);
        bool ok = count == present                    ? true
                  : is_connection_limit(key)          ? validate_limit(key, count, reason)
                  : key == CONFIG_LOG_CLEANER_THREADS ? validate_cleaner_count(present, count, reason)
                                                      : validate_thread_count(key, present, count, reason);
        if (!ok) return false;
    }
    return true;
}

// One setting that is about listeners.
static bool validate_listener(struct arena *scratch, const struct config *c, enum config_key key, bool is_override,
                              struct str raw, struct text *reason) {
    struct config_value value;
    bool is_address =
        key == CONFIG_LISTENERS || key == CONFIG_ADVERTISED_LISTENERS || key == CONFIG_LISTENER_SECURITY_PROTOCOL_MAP;
    if (is_address && !is_override) return validate_addresses(c, key, raw, reason);
    if (!is_override || !is_connection_limit(key)) return true;
    return config_value_parse(scratch, config_key_info(key), raw, &value, reason) &&
           validate_limit(key, value.integer, reason);
}

// ---- which keys may be changed at all

enum key_place { KEY_MAY_CHANGE, KEY_READ_ONLY, KEY_OF_LISTENER, KEY_OF_BROKER, KEY_PLACES };
static const char *const refusals[KEY_PLACES] = {
    [KEY_READ_ONLY] = "Cannot update these configs dynamically: Set(",
    [KEY_OF_LISTENER] =
        "These security configs can be dynamically updated only per-listener using the listener prefix: HashSet(",
    [KEY_OF_BROKER] = "Cannot update these configs at default cluster level, broker id must be specified: Set(",
};

// False: some plug-in's, for all that Kafka knows.
static bool find_key(struct str name, enum config_key *key, bool *is_override) {
    *is_override = !config_key_find(name, key) && config_listener_override(name, key);
    return *is_override || config_key_find(name, key);
}

static enum key_place place_of(struct str name, bool per_broker) {
    enum config_key key;
    bool is_override;
    if (!find_key(name, &key, &is_override)) return KEY_MAY_CHANGE;
    if (is_override) return per_broker || is_cluster_level_of_listener(key) ? KEY_MAY_CHANGE : KEY_OF_BROKER;
    enum config_update_mode mode = config_key_info(key)->update_mode;
    if (mode == CONFIG_READ_ONLY) return KEY_READ_ONLY;
    if (is_store_key(key)) return KEY_OF_LISTENER;
    return !per_broker && mode == CONFIG_PER_BROKER ? KEY_OF_BROKER : KEY_MAY_CHANGE;
}

// All that are refused for the first of the reasons that there is.
static bool check_places(bool per_broker, struct config_map settings, struct text *reason) {
    for (enum key_place place = KEY_READ_ONLY; place < KEY_PLACES; place++) {
        bool any = false;
        for (size_t i = 0; i < settings.count && !reason->truncated; i++) {
            if (place_of(settings.entries[i].key, per_broker) != place) continue;
            text_addf(reason, "%s", any ? ", " : refusals[place]);
            add_name(reason, settings.entries[i].key);
            any = true;
        }
        if (!any) continue;
        text_addf(reason, ")");
        return false;
    }
    return true;
}

static bool check_value(struct arena *scratch, const struct config_entry *entry, struct text *reason) {
    enum config_key key;
    bool is_override;
    const struct config_key_info *info =
        find_key(entry->key, &key, &is_override) ? config_key_info(key) : config_throttle(entry->key);
    return !info || validate_value(scratch, info, entry->value, reason);
}

static bool check_listener(struct arena *scratch, const struct config *c, const struct config_entry *entry,
                           struct text *reason) {
    enum config_key key;
    bool is_override;
    if (!find_key(entry->key, &key, &is_override)) return true;
    return validate_listener(scratch, c, key, is_override, entry->value, reason);
}

// The dynamic settings of one layer, as a map.
static struct config_map layer_settings(struct arena *a, const struct config *c, enum config_layer layer) {
    struct config_entry *entries = arena_alloc_array(a, CONFIG_KEY_COUNT + c->extra_count, sizeof *entries);
    struct config_map map = {.entries = entries};
    for (int key = 0; entries && key < CONFIG_KEY_COUNT; key++) {
        struct str raw = c->settings[key].raw[layer];
        if (str_is_null(raw)) continue;
        entries[map.count++] = (struct config_entry){str_of(config_key_info((enum config_key)key)->name), raw};
    }
    for (size_t i = 0; entries && i < c->extra_count; i++) {
        struct str raw = c->extras[i].raw[layer];
        if (!str_is_null(raw)) entries[map.count++] = (struct config_entry){c->extras[i].name, raw};
    }
    return map;
}

bool config_validate_dynamic(struct arena *scratch, const struct config *c, bool per_broker, struct config_map settings,
                             struct text *reason) {
    if (!check_places(per_broker, settings, reason)) return false;
    for (size_t i = 0; i < settings.count; i++) {
        ASSERT(!str_is_null(settings.entries[i].value));
        if (!check_value(scratch, &settings.entries[i], reason)) return false;
    }
    // The rules between fields, as if the settings were in force over those of the other layer.
    struct config_report report;
    config_report_init(&report, scratch, str_of(""));
    struct config_map cluster = per_broker ? layer_settings(scratch, c, CONFIG_LAYER_CLUSTER) : settings;
    struct config_map broker = per_broker ? settings : layer_settings(scratch, c, CONFIG_LAYER_BROKER);
    const struct config *changed = config_with_dynamic(scratch, c, cluster, broker, &report);
    if (!changed) {
        text_addf(reason, "The settings take too much memory");
        return false;
    }
    config_check_fields(changed, scratch, &report);
    for (size_t i = 0; i < report.count; i++) {
        if (!report.problems[i].is_error) continue;
        text_add(reason, report.problems[i].text);
        return false;
    }
    for (size_t i = 0; i < settings.count; i++) {
        if (!check_listener(scratch, c, &settings.entries[i], reason)) return false;
    }
    return validate_counts(c, changed, reason);
}
