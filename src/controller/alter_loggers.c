// SPDX-License-Identifier: Apache-2.0
// Changes of the levels of this broker's loggers, by IncrementalAlterConfigs: all of a resource or none. They are in
// force at once and not kept.
#include "controller/internal.h"
#include "core/loggers.h"

static bool refuse(struct controller_alter_config *row, int16_t error, struct str message) {
    row->error = error;
    row->message = message;
    return false;
}

static bool check_name(const struct controller *c, struct controller_alter_config *row, struct arena *texts) {
    int64_t id;
    if (!parse_java_i64(row->name, INT32_MIN, INT32_MAX, &id))
        return refuse(row, KAFKA_ERROR_INVALID_REQUEST,
                      arena_format(texts, "Node id must be an integer, but it is: %.*s",
                                   (int)min_size(row->name.size, 64), row->name.data));
    if (id == c->options.broker_id) return true;
    return refuse(row, KAFKA_ERROR_INVALID_REQUEST, // Kafka prints its own id twice
                  arena_format(texts, "Unexpected node id. Expected %d, but received %d", c->options.broker_id,
                               c->options.broker_id));
}

// The level that a change asks for.
static bool check_change(struct controller_alter_config *row, const struct controller_setting *change,
                         struct arena *texts, size_t *logger, enum logger_level *level) {
    int key_size = (int)min_size(change->key.size, 200), value_size = (int)min_size(change->value.size, 64);
    const char *key = change->key.data ? change->key.data : "";
    switch (change->operation) {
    case CONFIG_SET:
    case CONFIG_DELETE: break;
    case CONFIG_APPEND:
    case CONFIG_SUBTRACT:
        return refuse(row, KAFKA_ERROR_INVALID_REQUEST,
                      arena_format(texts, "%s operation is not allowed for the BROKER_LOGGER resource",
                                   change->operation == CONFIG_APPEND ? "APPEND" : "SUBTRACT"));
    default: return refuse(row, KAFKA_ERROR_UNKNOWN_SERVER_ERROR, (struct str){0}); // Kafka has no rule for it
    }
    if (!logger_find(change->key, logger))
        return refuse(row, KAFKA_ERROR_INVALID_CONFIG,
                      arena_format(texts, "Logger %.*s does not exist!", key_size, key));
    *level = LOGGER_INHERITS;
    if (change->operation == CONFIG_DELETE) {
        if (*logger != LOGGER_ROOT) return true;
        return refuse(row, KAFKA_ERROR_INVALID_REQUEST,
                      str_of("Removing the log level of the root logger is not allowed"));
    }
    if (logger_level_parse(change->value, level)) return true;
    return refuse(row, KAFKA_ERROR_INVALID_CONFIG,
                  arena_format(texts,
                               "Cannot set the log level of %.*s to %.*s as it is not a supported log level. Valid log "
                               "levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN",
                               key_size, key, value_size, change->value.data ? change->value.data : ""));
}

void alter_loggers(struct controller *c, struct controller_request *request, struct controller_alter_config *row) {
    size_t logger;
    enum logger_level level;
    if (!check_name(c, row, request->arena)) return;
    for (size_t i = 0; i < row->setting_count; i++)
        if (!check_change(row, &row->settings[i], request->arena, &logger, &level)) return;
    if (request->validate_only) return;
    for (size_t i = 0; i < row->setting_count; i++) {
        bool is_good = check_change(row, &row->settings[i], request->arena, &logger, &level);
        ASSERT(is_good);
        logger_set_level(c->core, logger, level);
        line(c->core, LINE_WARN, "controller", "", "log_level_changed", "logger=%s level=%s", logger_name(logger),
             logger_level_name(level));
    }
}
