// SPDX-License-Identifier: Apache-2.0
// Synonyms of a broker key: its family (log.roll.ms, log.roll.hours), layer by layer; those in front of the key itself
// are left out, and if the key is in none of the layers all are. The first one left gives the source.
#include "config/describe.h"
#include "base/assert.h"
#include "config/topic.h"

static const enum config_source layer_source[CONFIG_LAYER_COUNT] = {
    [CONFIG_LAYER_BROKER] = CONFIG_SOURCE_DYNAMIC_BROKER,
    [CONFIG_LAYER_CLUSTER] = CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER,
    [CONFIG_LAYER_STATIC] = CONFIG_SOURCE_STATIC_BROKER,
};

static void add_synonym(struct config_description *out, struct str name, struct str value, enum config_source source) {
    if (str_is_null(value)) return;
    ASSERT(out->synonym_count < CONFIG_SYNONYMS_MAX);
    out->synonyms[out->synonym_count++] =
        (struct config_synonym){name, out->is_sensitive ? (struct str){0} : value, source};
}

// Kafka drops what stands in front of the first synonym that has the resource's own name.
static void drop_before(struct config_description *out, size_t from, struct str name) {
    size_t first = from;
    while (first < out->synonym_count && !str_equal(out->synonyms[first].name, name)) {
        first++;
    }
    for (size_t i = first; i < out->synonym_count; i++) {
        out->synonyms[from + i - first] = out->synonyms[i];
    }
    out->synonym_count -= first - from;
}

static void add_key_synonyms(struct arena *a, const struct config *c, enum config_key key,
                             struct config_description *out) {
    size_t from = out->synonym_count;
    enum config_key family[CONFIG_FAMILY_MAX];
    size_t count = config_key_family(key, family);
    for (int layer = 0; layer < CONFIG_LAYER_COUNT; layer++) {
        for (size_t i = 0; i < count; i++) {
            add_synonym(out, str_of(config_key_info(family[i])->name), c->settings[family[i]].raw[layer],
                        layer_source[layer]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        char memory[24];
        struct str text = config_default_text(c, family[i], memory);
        if (text.data == memory) text = arena_copy_str(a, text);
        add_synonym(out, str_of(config_key_info(family[i])->name), text, CONFIG_SOURCE_DEFAULT);
    }
    drop_before(out, from, str_of(config_key_info(key)->name));
}

static void begin(struct config_description *out, struct str name, const struct config_key_info *info) {
    *out = (struct config_description){
        .name = name,
        .type = info ? info->type : CONFIG_TYPE_UNKNOWN,
        // Of a key that nobody knows, nobody knows whether it is secret.
        .is_sensitive = !info || info->type == CONFIG_TYPE_PASSWORD,
        .documentation = info ? info->documentation : NULL,
    };
}

static void finish(struct config_description *out, struct str value) {
    out->value = out->is_sensitive ? (struct str){0} : value;
    out->source = out->synonym_count > 0 ? out->synonyms[0].source : CONFIG_SOURCE_DEFAULT;
}

static bool is_shown(const struct config *c, enum config_key key) {
    if (config_key_info(key)->visibility == CONFIG_LISTED) return true;
    const struct str *raw = c->settings[key].raw;
    return !str_is_null(raw[CONFIG_LAYER_BROKER]) || !str_is_null(raw[CONFIG_LAYER_CLUSTER]) ||
           !str_is_null(raw[CONFIG_LAYER_STATIC]);
}

static void describe_key(struct arena *a, const struct config *c, enum config_key key, struct config_description *out) {
    const struct config_key_info *info = config_key_info(key);
    begin(out, str_of(info->name), info);
    out->is_read_only = info->update_mode == CONFIG_READ_ONLY;
    add_key_synonyms(a, c, key, out);
    finish(out, c->settings[key].value.text);
}

// An override for one listener has the key that it overrides as a second synonym.
static void describe_extra(struct arena *a, const struct config *c, const struct config_extra *extra,
                           struct config_description *out) {
    enum config_key base;
    bool is_override = config_listener_override(extra->name, &base);
    begin(out, extra->name, is_override ? config_key_info(base) : config_throttle(extra->name));
    out->documentation = NULL;
    out->is_read_only = true; // Kafka says so of every name that is not in its table, whether it can be changed or not
    struct str value = {0};
    for (int layer = 0; layer < CONFIG_LAYER_COUNT; layer++) {
        if (str_is_null(value)) value = extra->raw[layer];
        add_synonym(out, extra->name, extra->raw[layer], layer_source[layer]);
        if (is_override)
            add_synonym(out, str_of(config_key_info(base)->name), c->settings[base].raw[layer], layer_source[layer]);
    }
    char memory[24];
    if (is_override) {
        struct str text = config_default_text(c, base, memory);
        if (text.data == memory) text = arena_copy_str(a, text);
        add_synonym(out, str_of(config_key_info(base)->name), text, CONFIG_SOURCE_DEFAULT);
    }
    drop_before(out, 0, extra->name);
    finish(out, value);
}

bool config_describe_broker(struct arena *a, const struct config *c, size_t *position, struct config_description *out) {
    while (*position < CONFIG_KEY_COUNT) {
        enum config_key key = (enum config_key)(*position)++;
        if (!is_shown(c, key)) continue;
        describe_key(a, c, key, out);
        return true;
    }
    size_t extra = *position - CONFIG_KEY_COUNT;
    if (extra >= c->extra_count) return false;
    (*position)++;
    describe_extra(a, c, &c->extras[extra], out);
    return true;
}

// Of the synonyms only what was set for all brokers is left.
static void keep_cluster_synonyms(struct config_description *out) {
    size_t kept = 0;
    for (size_t i = 0; i < out->synonym_count; i++) {
        if (out->synonyms[i].source == CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER) out->synonyms[kept++] = out->synonyms[i];
    }
    out->synonym_count = kept;
}

bool config_describe_cluster(struct arena *a, const struct config *c, size_t *position,
                             struct config_description *out) {
    for (; *position < CONFIG_KEY_COUNT + c->extra_count; (*position)++) {
        bool is_key = *position < CONFIG_KEY_COUNT;
        size_t extra = is_key ? 0 : *position - CONFIG_KEY_COUNT;
        struct str raw =
            is_key ? c->settings[*position].raw[CONFIG_LAYER_CLUSTER] : c->extras[extra].raw[CONFIG_LAYER_CLUSTER];
        if (str_is_null(raw)) continue;
        if (is_key) {
            describe_key(a, c, (enum config_key) * position, out);
        } else {
            describe_extra(a, c, &c->extras[extra], out);
        }
        keep_cluster_synonyms(out);
        finish(out, raw);
        (*position)++;
        return true;
    }
    return false;
}

static void describe_topic_key(struct arena *a, const struct config *c, struct config_map overrides, enum topic_key key,
                               struct config_description *out) {
    const struct config_key_info *info = topic_key_info(key);
    begin(out, str_of(info->name), info);
    struct config_value value;
    topic_value_resolve(a, c, overrides, key, &value);
    if (!str_is_null(config_map_get(overrides, out->name)))
        add_synonym(out, out->name, value.text, CONFIG_SOURCE_TOPIC);
    const struct topic_synonym *synonyms;
    if (topic_key_synonyms(key, &synonyms) > 0) add_key_synonyms(a, c, synonyms[0].key, out);
    finish(out, value.text);
}

// A setting of a topic that has no row in the table: some other broker's, or an older release's.
static void describe_unknown_topic_key(const struct config_entry *entry, struct config_description *out) {
    begin(out, entry->key, NULL);
    add_synonym(out, entry->key, entry->value, CONFIG_SOURCE_TOPIC);
    finish(out, entry->value);
}

bool config_describe_topic(struct arena *a, const struct config *c, struct config_map overrides, size_t *position,
                           struct config_description *out) {
    if (*position < TOPIC_KEY_COUNT) {
        describe_topic_key(a, c, overrides, (enum topic_key)(*position)++, out);
        return true;
    }
    for (; *position < TOPIC_KEY_COUNT + overrides.count; (*position)++) {
        const struct config_entry *entry = &overrides.entries[*position - TOPIC_KEY_COUNT];
        enum topic_key known;
        if (topic_key_find(entry->key, &known)) continue;
        describe_unknown_topic_key(entry, out);
        (*position)++;
        return true;
    }
    return false;
}
