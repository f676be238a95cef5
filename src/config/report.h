// SPDX-License-Identifier: Apache-2.0
// What is wrong with a configuration: all of it, not just the first thing. Errors stop the start, warnings do not.
#pragma once

#include "base/arena.h"
#include "base/text.h"

enum {
    CONFIG_REPORT_MAX = 200,
    CONFIG_LINE_OVERRIDE = -1, // instead of a line of the file: the command line says it
};

struct config_problem {
    bool is_error;
    int32_t line;    // 0: about no line of the file, or CONFIG_LINE_OVERRIDE
    struct str text; // "server.properties:12: log.segment.bytes=abc: Not a number of type INT; allowed: ..."
};
struct config_report {
    struct arena *arena;
    struct str file_name;
    struct config_problem *problems; // CONFIG_REPORT_MAX of them, made at the first
    size_t count;
    size_t error_count, warning_count; // with those that found no room
};

void config_report_init(struct config_report *report, struct arena *a, struct str file_name);
// The place is put in front of the text. What came from the file must have gone through text_add_escaped or be a known
// name.
void config_report_add(struct config_report *report, bool is_error, int32_t line, const struct text *text);
// Errors first, both in the order of the file.
void config_report_sort(struct config_report *report);
