// SPDX-License-Identifier: Apache-2.0
#include "core/loggers.h"
#include "base/assert.h"
#include "base/bits.h"

static const char *const NAMES[LOGGER_COUNT] = {"root", "api",       "broker", "controller", "group",
                                                "log",  "metastore", "net",    "replica",    "steps"};
static const char *const LEVELS[] = {"INHERITS", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"};

_Static_assert(LOGGER_COUNT == sizeof(((struct core *)0)->logger_levels), "a place for each");

const char *logger_name(size_t logger) {
    ASSERT(logger < LOGGER_COUNT);
    return NAMES[logger];
}

bool logger_find(struct str name, size_t *logger) {
    for (size_t i = 0; i < LOGGER_COUNT; i++) {
        if (!str_is(name, NAMES[i])) continue;
        *logger = i;
        return true;
    }
    return false;
}

const char *logger_level_name(enum logger_level level) {
    ASSERT((size_t)level < ARRAY_LENGTH(LEVELS));
    return LEVELS[level];
}

bool logger_level_parse(struct str name, enum logger_level *level) {
    for (size_t i = LOGGER_TRACE; i < ARRAY_LENGTH(LEVELS); i++) {
        if (!str_is(name, LEVELS[i])) continue;
        *level = (enum logger_level)i;
        return true;
    }
    return false;
}

enum logger_level logger_level_of(const struct core *control, size_t logger) {
    ASSERT(control->is_control && logger < LOGGER_COUNT);
    enum logger_level own = control->logger_levels[logger], root = control->logger_levels[LOGGER_ROOT];
    return own != LOGGER_INHERITS ? own : root != LOGGER_INHERITS ? root : LOGGER_INFO;
}

void logger_set_level(struct core *control, size_t logger, enum logger_level level) {
    ASSERT(control->is_control && logger < LOGGER_COUNT);
    control->logger_levels[logger] = (uint8_t)level;
}

static void query_returns(struct core *core, struct message *message) {
    struct logger_query *query = container_of(message, struct logger_query, message);
    query->answered(core, query);
}

static void query_arrives(struct core *control, struct message *message) {
    struct logger_query *query = container_of(message, struct logger_query, message);
    for (size_t i = 0; i < LOGGER_COUNT; i++)
        query->levels[i] = logger_level_of(control, i);
    core_send(control, query->from_core, message, query_returns);
}

void logger_query_send(struct core *core, struct logger_query *query) {
    query->from_core = core->id;
    core_send(core, core_control(core->set)->id, &query->message, query_arrives);
}
