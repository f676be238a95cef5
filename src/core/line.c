// SPDX-License-Identifier: Apache-2.0
// Formats on the core where the event happened and prints on the control core.
#include "core/line.h"
#include "base/date.h"
#include "base/text.h"
#include "core/core.h"
#include "core/loggers.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_BYTES = 1024, LINES_IN_FLIGHT_MAX = 1000 };

struct line_message {
    struct message message;
    int from;
    enum logger_level level;
    size_t logger;
    struct text text;
    char memory[LINE_BYTES];
};

static void add_time(struct text *text, int64_t wall_ms) {
    int64_t days = wall_ms / 86400000, ms = wall_ms % 86400000;
    struct date date = date_of_days(days);
    text_addf(text, "%04d-%02d-%02d %02d:%02d:%02d.%03d", (int)date.year, date.month, date.day, (int)(ms / 3600000),
              (int)(ms / 60000 % 60), (int)(ms / 1000 % 60), (int)(ms % 1000));
}

static void line_return(struct core *core, struct message *message) {
    ASSERT(core->lines_in_flight > 0);
    core->lines_in_flight--;
    free(container_of(message, struct line_message, message));
}

static void line_print(struct core *core, struct message *message) {
    struct line_message *m = container_of(message, struct line_message, message);
    if (m->level >= logger_level_of(core, m->logger)) os_print_error(core->host, m->text.data, m->text.size);
    core_send(core, m->from, message, line_return);
}

void line(struct core *core, enum line_level level, const char *area, const char *subject, const char *event,
          const char *details, ...) {
    if (core->lines_in_flight >= LINES_IN_FLIGHT_MAX) {
        core->lines_dropped++;
        return;
    }
    static const char *const levels[] = {"INFO ", "WARN ", "ERROR"};
    struct line_message *m = malloc(sizeof *m);
    ASSERT(m != NULL);
    m->from = core->id;
    m->level = LOGGER_INFO + (enum logger_level)level;
    if (!logger_find(str_of(area), &m->logger)) m->logger = LOGGER_ROOT;
    m->text = TEXT_IN(m->memory);
    struct text *text = &m->text;
    add_time(text, core_wall_ms(core));
    text_addf(text, " %s %s core=%d", levels[level], area, core->id);
    if (subject[0]) text_addf(text, " %s", subject);
    text_addf(text, " %s", event);
    if (core->lines_dropped > 0) text_addf(text, " lines_dropped=%llu", (unsigned long long)core->lines_dropped);
    core->lines_dropped = 0;
    if (details[0]) text_addf(text, " ");
    char formatted[LINE_BYTES / 2];
    va_list arguments;
    va_start(arguments, details);
    vsnprintf(formatted, sizeof formatted, details, arguments);
    va_end(arguments);
    text_add(text, str_of(formatted));
    if (text->truncated || text->size == text->capacity - 1) text->size = text->capacity - 2;
    text->data[text->size++] = '\n';
    text->data[text->size] = '\0';
    core->lines_in_flight++;
    core_send(core, core_control(core->set)->id, &m->message, line_print);
}
