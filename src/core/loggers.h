// SPDX-License-Identifier: Apache-2.0
// Which log lines are shown: a level for each area and for "root", from which the others inherit. They are what the
// configuration APIs call a broker's loggers; a change is not kept over a restart. The levels live on the control core,
// which prints.
#pragma once

#include "base/slice.h"
#include "core/core.h"

// Those of log4j, the quietest last. No line is below INFO or above ERROR.
enum logger_level {
    LOGGER_INHERITS, // root: INFO
    LOGGER_TRACE,
    LOGGER_DEBUG,
    LOGGER_INFO,
    LOGGER_WARN,
    LOGGER_ERROR,
    LOGGER_FATAL
};
enum { LOGGER_ROOT = 0, LOGGER_COUNT = 10 };

const char *logger_name(size_t logger); // below LOGGER_COUNT
// The area's logger; false: there is none.
bool logger_find(struct str name, size_t *logger);
const char *logger_level_name(enum logger_level level);
// Capital letters, as Kafka wants them; not "INHERITS".
bool logger_level_parse(struct str name, enum logger_level *level);

// On the control core: the level in force, and its change.
enum logger_level logger_level_of(const struct core *control, size_t logger);
void logger_set_level(struct core *control, size_t logger, enum logger_level level);

// From another core: the levels in force.
struct logger_query {
    enum logger_level levels[LOGGER_COUNT]; // out
    void (*answered)(struct core *core, struct logger_query *query);
    // private
    struct message message;
    int from_core;
};
void logger_query_send(struct core *core, struct logger_query *query);
