// SPDX-License-Identifier: Apache-2.0
// Happy path: the file's settings are put into the static layer, the mode is decided, each key's value is parsed from
// its highest layer or default, and the cross-field checks run. Every step reports all that it finds and goes on.
#include "config/config.h"
#include "base/assert.h"
#include "base/bits.h"
#include "config/check.h"
#include "config/properties.h"

enum { VALUE_SHOWN_MAX = 200, TOTAL_MEMORY_MAX = 1 << 30, MEMORY_MIN = 64 << 20 };

struct str config_map_get(struct config_map map, struct str key) {
    for (size_t i = 0; i < map.count; i++) {
        if (str_equal(map.entries[i].key, key)) return map.entries[i].value;
    }
    return (struct str){0};
}

bool config_has(const struct config *c, enum config_key key) {
    ASSERT(key < CONFIG_KEY_COUNT);
    return !str_is_null(c->settings[key].value.text);
}

int64_t config_i64(const struct config *c, enum config_key key) {
    ASSERT(config_has(c, key));
    enum config_type type = config_key_info(key)->type;
    ASSERT(type == CONFIG_TYPE_INT || type == CONFIG_TYPE_SHORT || type == CONFIG_TYPE_LONG);
    return c->settings[key].value.integer;
}

bool config_bool(const struct config *c, enum config_key key) {
    ASSERT(config_has(c, key));
    ASSERT(config_key_info(key)->type == CONFIG_TYPE_BOOLEAN);
    return c->settings[key].value.integer != 0;
}

double config_double(const struct config *c, enum config_key key) {
    ASSERT(config_has(c, key));
    ASSERT(config_key_info(key)->type == CONFIG_TYPE_DOUBLE);
    return c->settings[key].value.real;
}

struct str config_str(const struct config *c, enum config_key key) {
    ASSERT(key < CONFIG_KEY_COUNT);
    return c->settings[key].value.text;
}

bool config_is_set(const struct config *c, enum config_key key) {
    ASSERT(key < CONFIG_KEY_COUNT);
    return c->settings[key].source != CONFIG_SOURCE_DEFAULT;
}

enum config_durability config_durability(const struct config *c) {
    bool is_replicated = str_is(config_str(c, CONFIG_TAILRACE_DURABILITY), "replicated");
    return is_replicated ? CONFIG_DURABILITY_REPLICATED : CONFIG_DURABILITY_FSYNC;
}

struct str config_log_dirs(const struct config *c) {
    return config_str(c, config_has(c, CONFIG_LOG_DIRS) ? CONFIG_LOG_DIRS : CONFIG_LOG_DIR);
}

struct str config_default_text(const struct config *c, enum config_key key, char memory[24]) {
    switch (key) {
    case CONFIG_TAILRACE_MODE: return str_of(c->is_standalone ? "standalone" : "cluster");
    case CONFIG_TAILRACE_MEMORY: {
        struct text t = text_in(memory, 24);
        text_addf(&t, "%lld", (long long)c->memory_default_bytes);
        return (struct str){t.data, t.size};
    }
    case CONFIG_OFFSETS_TOPIC_REPLICATION_FACTOR:
    case CONFIG_TRANSACTION_STATE_LOG_REPLICATION_FACTOR:
    case CONFIG_TRANSACTION_STATE_LOG_MIN_ISR:
        if (c->is_standalone) return str_of("1");
        break;
    default: break;
    }
    return str_of(config_key_info(key)->default_text);
}

// "key=value", safe to show: passwords hidden, strange bytes escaped, long values cut.
static void add_setting(struct text *t, struct str name, struct str value, bool is_secret) {
    text_add_escaped(t, (struct str){name.data, min_size(name.size, VALUE_SHOWN_MAX)});
    text_addf(t, "=");
    if (is_secret) {
        text_addf(t, "[hidden]");
    } else {
        text_add_escaped(t, (struct str){value.data, min_size(value.size, VALUE_SHOWN_MAX)});
        if (value.size > VALUE_SHOWN_MAX) text_addf(t, "...");
    }
}

static void report_bad_value(struct config_report *report, bool is_error, int32_t line, struct str name,
                             struct str value, const struct config_key_info *key, const char *reason) {
    char memory[1000];
    struct text t = TEXT_IN(memory);
    add_setting(&t, name, value, key->type == CONFIG_TYPE_PASSWORD);
    text_addf(&t, ": %s; allowed: ", reason);
    config_key_allowed(key, &t);
    config_report_add(report, is_error, line, &t);
}

static void report_unknown(struct config_report *report, int32_t line, struct str name) {
    char memory[600];
    struct text t = TEXT_IN(memory);
    text_addf(&t, "unknown key ");
    text_add_escaped(&t, (struct str){name.data, min_size(name.size, VALUE_SHOWN_MAX)});
    const char *suggestion = config_key_suggest(name);
    if (suggestion) text_addf(&t, "; did you mean %s?", suggestion);
    config_report_add(report, false, line, &t);
}

static void report_repeated(struct config_report *report, int32_t line, struct str name, int32_t earlier_line) {
    char memory[600];
    struct text t = TEXT_IN(memory);
    text_add_escaped(&t, (struct str){name.data, min_size(name.size, VALUE_SHOWN_MAX)});
    text_addf(&t, " is set again; line %d no longer counts", earlier_line);
    config_report_add(report, false, line, &t);
}

static struct config_extra *find_extra(const struct config *c, struct str name) {
    for (size_t i = 0; i < c->extra_count; i++) {
        if (str_equal(c->extras[i].name, name)) return &c->extras[i];
    }
    return NULL;
}

static void report_without_effect(struct config_report *report, const struct config_extra *extra,
                                  const struct config_key_info *base) {
    const char *feature = config_missing_feature(extra->name);
    if (!feature) return;
    char memory[600];
    struct text t = TEXT_IN(memory);
    add_setting(&t, extra->name, extra->raw[CONFIG_LAYER_STATIC], base->type == CONFIG_TYPE_PASSWORD);
    text_addf(&t, ": no effect yet: %s: not built", feature);
    config_report_add(report, false, extra->line, &t);
}

// Names without a row in the table: value errors of listener overrides are found here; about the rest one can only
// guess.
static void check_extras(const struct config *c, struct arena *a, struct config_report *report) {
    for (size_t i = 0; i < c->extra_count; i++) {
        const struct config_extra *extra = &c->extras[i];
        enum config_key base;
        char memory[300];
        struct text reason = TEXT_IN(memory);
        struct config_value parsed;
        struct str value = extra->raw[CONFIG_LAYER_STATIC];
        if (!config_listener_override(extra->name, &base)) {
            if (!config_is_passed_through(extra->name)) report_unknown(report, extra->line, extra->name);
        } else if (!config_value_parse(a, config_key_info(base), value, &parsed, &reason)) {
            report_bad_value(report, true, extra->line, extra->name, value, config_key_info(base), reason.data);
        } else {
            report_without_effect(report, extra, config_key_info(base));
        }
    }
}

static void put(struct config *c, struct config_report *report, struct str name, struct str value, int32_t line) {
    enum config_key key;
    int32_t *earlier;
    if (config_key_find(name, &key)) {
        c->settings[key].raw[CONFIG_LAYER_STATIC] = value;
        earlier = &c->settings[key].line;
    } else {
        struct config_extra *extra = find_extra(c, name);
        if (!extra) {
            extra = &c->extras[c->extra_count++];
            *extra = (struct config_extra){.name = name};
        }
        extra->raw[CONFIG_LAYER_STATIC] = value;
        earlier = &extra->line;
    }
    if (*earlier > 0 && line > 0) report_repeated(report, line, name, *earlier);
    *earlier = line;
}

// Kafka has two names for the number of a broker.
static void join_broker_and_node_id(struct config *c) {
    struct config_setting *broker = &c->settings[CONFIG_BROKER_ID], *node = &c->settings[CONFIG_NODE_ID];
    struct str *broker_raw = &broker->raw[CONFIG_LAYER_STATIC], *node_raw = &node->raw[CONFIG_LAYER_STATIC];
    if (str_is_null(*broker_raw) && !str_is_null(*node_raw)) {
        *broker_raw = *node_raw;
        broker->line = node->line;
        broker->is_copied = true;
    } else if (!str_is_null(*broker_raw) && str_is_null(*node_raw)) {
        *node_raw = *broker_raw;
        node->line = broker->line;
        node->is_copied = true;
    }
}

static void decide_mode(struct config *c, const struct config_options *options) {
    struct str mode = config_trim(c->settings[CONFIG_TAILRACE_MODE].raw[CONFIG_LAYER_STATIC]);
    struct str zookeeper = config_trim(c->settings[CONFIG_ZOOKEEPER_CONNECT].raw[CONFIG_LAYER_STATIC]);
    struct config_setting *setting = &c->settings[CONFIG_TAILRACE_MODE];
    bool is_sensible = str_is_null(mode) || str_is(mode, "standalone") || str_is(mode, "cluster");
    if (options->standalone && is_sensible) {
        c->is_standalone = true;
        setting->raw[CONFIG_LAYER_STATIC] = str_of("standalone");
        setting->line = CONFIG_LINE_OVERRIDE;
    } else if (!str_is_null(mode)) {
        c->is_standalone = str_is(mode, "standalone");
    } else {
        c->is_standalone = zookeeper.size == 0;
    }
}

static int64_t memory_default(int64_t total_bytes) {
    if (total_bytes <= 0) return TOTAL_MEMORY_MAX;
    return max_i64(min_i64(total_bytes / 4, TOTAL_MEMORY_MAX), MEMORY_MIN);
}

static void resolve_default(struct config *c, struct arena *a, enum config_key key) {
    char memory[24], reason_memory[100];
    struct text reason = TEXT_IN(reason_memory);
    struct config_setting *setting = &c->settings[key];
    struct str text = config_default_text(c, key, memory);
    if (text.data == memory) text = arena_copy_str(a, text);
    // Some defaults are outside of what may be set (an empty list where none may be given); the table is right about
    // them.
    struct config_key_info unchecked = *config_key_info(key);
    if (unchecked.rule.kind != CONFIG_RULE_SIZE) unchecked.rule.kind = CONFIG_RULE_ANY;
    bool ok = config_value_parse(a, &unchecked, text, &setting->value, &reason);
    ASSERT(ok || reason.size > 0);
    setting->source = CONFIG_SOURCE_DEFAULT;
}

static const enum config_source layer_source[CONFIG_LAYER_COUNT] = {
    [CONFIG_LAYER_BROKER] = CONFIG_SOURCE_DYNAMIC_BROKER,
    [CONFIG_LAYER_CLUSTER] = CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER,
    [CONFIG_LAYER_STATIC] = CONFIG_SOURCE_STATIC_BROKER,
};

// The value from the highest layer whose text can be used. A bad dynamic value is dropped, a bad static one is an
// error.
static void resolve_key(struct config *c, struct arena *a, enum config_key key, bool static_counts,
                        struct config_report *report) {
    const struct config_key_info *info = config_key_info(key);
    struct config_setting *setting = &c->settings[key];
    for (int layer = 0; layer < CONFIG_LAYER_COUNT; layer++) {
        bool is_static = layer == CONFIG_LAYER_STATIC;
        if (str_is_null(setting->raw[layer]) || (is_static && !static_counts)) continue;
        char memory[300];
        struct text reason = TEXT_IN(memory);
        if (config_value_parse(a, info, setting->raw[layer], &setting->value, &reason)) {
            setting->source = layer_source[layer];
            return;
        }
        if (!is_static || !setting->is_copied)
            report_bad_value(report, is_static, is_static ? setting->line : 0, str_of(info->name), setting->raw[layer],
                             info, reason.data);
        if (!is_static) setting->raw[layer] = (struct str){0};
    }
    resolve_default(c, a, key);
}

// A dynamic value pushes aside what the file says about its relatives, as in Kafka: log.retention.hours is its default
// again while log.retention.ms is set at run time.
static bool has_dynamic_relative(const struct config *c, enum config_key key) {
    static const enum config_key heads[] = {CONFIG_LOG_ROLL_MS, CONFIG_LOG_ROLL_JITTER_MS, CONFIG_LOG_FLUSH_INTERVAL_MS,
                                            CONFIG_LOG_RETENTION_MS};
    for (size_t i = 0; i < ARRAY_LENGTH(heads); i++) {
        const struct str *raw = c->settings[heads[i]].raw;
        if (heads[i] == key || (str_is_null(raw[CONFIG_LAYER_BROKER]) && str_is_null(raw[CONFIG_LAYER_CLUSTER])))
            continue;
        enum config_key family[CONFIG_FAMILY_MAX];
        size_t count = config_key_family(heads[i], family);
        for (size_t j = 0; j < count; j++) {
            if (family[j] == key) return true;
        }
    }
    return false;
}

static void resolve(struct config *c, struct arena *a, struct config_report *report) {
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        resolve_key(c, a, (enum config_key)key, !has_dynamic_relative(c, (enum config_key)key), report);
    }
}

const struct config *config_parse(struct arena *a, struct str file, const struct config_options *options,
                                  struct config_report *report) {
    char memory[300];
    struct text error = TEXT_IN(memory);
    struct property_list properties;
    int32_t line;
    if (!properties_parse(a, file, &properties, &line, &error)) {
        config_report_add(report, true, line, &error);
        return NULL;
    }
    struct config *c = arena_alloc(a, sizeof *c);
    if (c) c->extras = arena_alloc_array(a, properties.count + options->overrides.count, sizeof *c->extras);
    if (!c || !c->extras) {
        text_addf(&error, "the configuration takes too much memory");
        config_report_add(report, true, 0, &error);
        return NULL;
    }
    for (size_t i = 0; i < properties.count; i++) {
        put(c, report, properties.items[i].key, properties.items[i].value, properties.items[i].line);
    }
    for (size_t i = 0; i < options->overrides.count; i++) {
        put(c, report, options->overrides.entries[i].key, options->overrides.entries[i].value, CONFIG_LINE_OVERRIDE);
    }
    check_extras(c, a, report);
    join_broker_and_node_id(c);
    decide_mode(c, options);
    c->memory_total_bytes = options->memory_total_bytes;
    c->memory_default_bytes = memory_default(options->memory_total_bytes);
    resolve(c, a, report);
    config_check_effects(c, report);
    // Checks between fields would repeat what is already said about a bad value.
    if (report->error_count == 0) config_check_fields(c, a, report);
    config_report_sort(report);
    return report->error_count == 0 ? c : NULL;
}

static void put_dynamic(struct config *c, struct arena *a, enum config_layer layer, const struct config_entry *entry) {
    enum config_key key;
    struct str value = arena_copy_str(a, entry->value);
    if (config_key_find(entry->key, &key)) {
        c->settings[key].raw[layer] = value;
        return;
    }
    struct config_extra *extra = find_extra(c, entry->key);
    if (!extra) {
        extra = &c->extras[c->extra_count++];
        *extra = (struct config_extra){.name = arena_copy_str(a, entry->key)};
    }
    extra->raw[layer] = value;
}

// The base image without its dynamic layers, with its texts copied.
static void copy_static(struct config *c, struct arena *a, const struct config *base) {
    c->is_standalone = base->is_standalone;
    c->memory_default_bytes = base->memory_default_bytes;
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        c->settings[key].line = base->settings[key].line;
        c->settings[key].is_copied = base->settings[key].is_copied;
        c->settings[key].raw[CONFIG_LAYER_STATIC] = arena_copy_str(a, base->settings[key].raw[CONFIG_LAYER_STATIC]);
    }
    for (size_t i = 0; i < base->extra_count; i++) {
        const struct config_extra *from = &base->extras[i];
        if (str_is_null(from->raw[CONFIG_LAYER_STATIC])) continue;
        struct config_extra *to = &c->extras[c->extra_count++];
        *to = (struct config_extra){.name = arena_copy_str(a, from->name), .line = from->line};
        to->raw[CONFIG_LAYER_STATIC] = arena_copy_str(a, from->raw[CONFIG_LAYER_STATIC]);
    }
}

const struct config *config_with_dynamic(struct arena *a, const struct config *base, struct config_map cluster,
                                         struct config_map broker, struct config_report *report) {
    struct config *c = arena_alloc(a, sizeof *c);
    if (!c) return NULL;
    c->extras = arena_alloc_array(a, base->extra_count + cluster.count + broker.count, sizeof *c->extras);
    if (!c->extras) return NULL;
    copy_static(c, a, base);
    for (size_t i = 0; i < cluster.count; i++) {
        put_dynamic(c, a, CONFIG_LAYER_CLUSTER, &cluster.entries[i]);
    }
    for (size_t i = 0; i < broker.count; i++) {
        put_dynamic(c, a, CONFIG_LAYER_BROKER, &broker.entries[i]);
    }
    resolve(c, a, report);
    return c;
}
