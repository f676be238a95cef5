// SPDX-License-Identifier: Apache-2.0
// See config_print.h.
#include "cli/config_print.h"
#include "base/assert.h"
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

int64_t config_print_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (int64_t)pages * page_bytes : 0;
}

static int key_count(bool topic) {
    return topic ? (int)TOPIC_KEY_COUNT : (int)CONFIG_KEY_COUNT;
}
static const struct config_key_info *key_info(int i, bool topic) {
    return topic ? topic_key_info((enum topic_key)i) : config_key_info((enum config_key)i);
}
static bool is_wanted(const struct config_key_info *info, const char *part) {
    return !part || strstr(info->name, part);
}

static void print_key(const struct config_key_info *info, bool topic) {
    char memory[300];
    struct text allowed = TEXT_IN(memory);
    config_key_allowed(info, &allowed);
    printf("%s\n    %s\n    default: %s; allowed: %s\n    ", info->name, info->documentation,
           info->default_text ? info->default_text : "none", allowed.data);
    if (!topic) printf("change: %s; ", config_update_mode_name(info->update_mode));
    printf("%s", config_effect_name(info->effect));
    if (info->effect_reason) printf(" (%s)", info->effect_reason);
    printf("\n");
}

void config_print_table(const char *part, bool topic) {
    int effects[4] = {0}, shown = 0;
    for (int i = 0; i < key_count(topic); i++) {
        const struct config_key_info *info = key_info(i, topic);
        if (!is_wanted(info, part)) continue;
        print_key(info, topic);
        effects[info->effect]++;
        shown++;
    }
    printf("%s%d of %d keys:", shown > 0 ? "\n" : "", shown, key_count(topic));
    for (int e = CONFIG_WORKS; e <= CONFIG_REFUSED; e++) {
        printf("%s %d %s", e > 0 ? "," : "", effects[e], config_effect_name((enum config_effect)e));
    }
    printf("\n");
}

static void print_json(json_t *root) {
    char *text = json_dumps(root, JSON_INDENT(2));
    ASSERT(text != NULL);
    puts(text);
    free(text);
    json_decref(root);
}

// Text from outside may be no UTF-8: then its bytes are escaped, so that the JSON stays valid.
static json_t *json_text(struct str s) {
    if (str_is_null(s)) return json_null();
    json_t *value = json_stringn(s.data, s.size);
    if (value) return value;
    char memory[1024];
    struct text t = TEXT_IN(memory);
    text_add_escaped(&t, s);
    return json_string(memory);
}

static json_t *json_of_synonyms(enum topic_key key) {
    const struct topic_synonym *synonyms;
    size_t count = topic_key_synonyms(key, &synonyms);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(config_key_info(synonyms[i].key)->name));
    }
    return list;
}

static json_t *json_of_key(int i, bool topic) {
    const struct config_key_info *info = key_info(i, topic);
    char memory[300];
    struct text allowed = TEXT_IN(memory);
    config_key_allowed(info, &allowed);
    json_t *row = json_object();
    json_object_set_new(row, "name", json_string(info->name));
    json_object_set_new(row, "type", json_string(config_type_name(info->type)));
    json_object_set_new(row, "default", info->default_text ? json_string(info->default_text) : json_null());
    json_object_set_new(row, "allowed", json_string(allowed.data));
    json_object_set_new(row, "importance", json_string(config_importance_name(info->importance)));
    if (topic) {
        json_object_set_new(row, "synonyms", json_of_synonyms((enum topic_key)i));
    } else {
        json_object_set_new(row, "updateMode", json_string(config_update_mode_name(info->update_mode)));
    }
    json_object_set_new(row, "effect", json_string(config_effect_name(info->effect)));
    if (info->effect_reason) json_object_set_new(row, "reason", json_string(info->effect_reason));
    json_object_set_new(row, "documentation", json_string(info->documentation));
    return row;
}

void config_print_table_json(const char *part, bool topic) {
    json_t *rows = json_array();
    for (int i = 0; i < key_count(topic); i++) {
        if (is_wanted(key_info(i, topic), part)) json_array_append_new(rows, json_of_key(i, topic));
    }
    json_t *root = json_object();
    json_object_set_new(root, topic ? "topicKeys" : "brokerKeys", rows);
    print_json(root);
}

static void print_problems_of(const struct config_report *report, bool errors) {
    for (size_t i = 0; i < report->count; i++) {
        const struct config_problem *problem = &report->problems[i];
        if (problem->is_error != errors) continue;
        fprintf(stderr, "%s: %.*s\n", errors ? "error" : "warning", (int)problem->text.size, problem->text.data);
    }
}

void config_print_problems(const struct config_report *report) {
    print_problems_of(report, true);
    print_problems_of(report, false);
    if (report->error_count + report->warning_count == 0) return;
    fprintf(stderr, "%zu error%s, %zu warning%s\n", report->error_count, report->error_count == 1 ? "" : "s",
            report->warning_count, report->warning_count == 1 ? "" : "s");
}

// Where a value comes from: "file:12", "command line", "default".
static void add_origin(struct text *t, const struct config *c, struct str name, enum config_source source) {
    enum config_key key;
    int32_t line = 0;
    if (config_key_find(name, &key)) line = c->settings[key].line;
    for (size_t i = 0; i < c->extra_count; i++) {
        if (str_equal(c->extras[i].name, name)) line = c->extras[i].line;
    }
    if (source == CONFIG_SOURCE_DEFAULT) {
        text_addf(t, "default");
    } else if (line > 0) {
        text_addf(t, "line %d", line);
    } else {
        text_addf(t, "command line");
    }
}

static void print_setting(const struct config *c, struct str name, struct str value, bool is_secret,
                          enum config_source source) {
    char shown_memory[1024], origin_memory[64];
    struct text shown = TEXT_IN(shown_memory), origin = TEXT_IN(origin_memory);
    text_add_escaped(&shown, name);
    text_addf(&shown, "=");
    if (is_secret) {
        text_addf(&shown, "[hidden]");
    } else if (str_is_null(value)) {
        text_addf(&shown, "(none)");
    } else {
        text_add_escaped(&shown, value);
    }
    add_origin(&origin, c, name, source);
    printf("%-60s  %s\n", shown.data, origin.data);
}

void config_print_settings(const struct config *c, bool all) {
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_setting *setting = &c->settings[i];
        if (!all && setting->source == CONFIG_SOURCE_DEFAULT) continue;
        const struct config_key_info *info = config_key_info((enum config_key)i);
        bool is_secret = info->type == CONFIG_TYPE_PASSWORD && !str_is_null(setting->value.text);
        print_setting(c, str_of(info->name), setting->value.text, is_secret, setting->source);
    }
    for (size_t i = 0; i < c->extra_count; i++) {
        print_setting(c, c->extras[i].name, (struct str){0}, true, CONFIG_SOURCE_STATIC_BROKER);
    }
}

static json_t *json_of_problems(const struct config_report *report) {
    json_t *list = json_array();
    for (size_t i = 0; i < report->count; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "severity", json_string(report->problems[i].is_error ? "error" : "warning"));
        json_object_set_new(row, "line",
                            report->problems[i].line > 0 ? json_integer(report->problems[i].line) : json_null());
        json_object_set_new(row, "text", json_text(report->problems[i].text));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *json_of_settings(const struct config *c, bool all) {
    json_t *list = json_array();
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_setting *setting = &c->settings[i];
        if (!all && setting->source == CONFIG_SOURCE_DEFAULT) continue;
        const struct config_key_info *info = config_key_info((enum config_key)i);
        char memory[64];
        struct text origin = TEXT_IN(memory);
        add_origin(&origin, c, str_of(info->name), setting->source);
        json_t *row = json_object();
        json_object_set_new(row, "key", json_string(info->name));
        json_object_set_new(row, "value",
                            info->type == CONFIG_TYPE_PASSWORD ? json_null() : json_text(setting->value.text));
        json_object_set_new(row, "from", json_string(memory));
        json_array_append_new(list, row);
    }
    return list;
}

void config_print_file_json(const struct config *c, const struct config_report *report, bool all) {
    json_t *root = json_object();
    json_object_set_new(root, "problems", json_of_problems(report));
    json_object_set_new(root, "settings", c ? json_of_settings(c, all) : json_array());
    print_json(root);
}
