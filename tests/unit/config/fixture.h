// SPDX-License-Identifier: Apache-2.0
// An arena, a configuration made from text, and the problems found in it as one text.
#pragma once

#include "config/config.h"
#include <criterion/criterion.h>
#include <stdio.h>

struct fixture {
    struct arena arena;
    struct config_report report;
};

static inline void fixture_init(struct fixture *f) {
    arena_init(&f->arena, CONFIG_ARENA_BYTES);
}
static inline const struct config *fixture_parse(struct fixture *f, const char *file, bool standalone) {
    struct config_options options = {
        .file_name = str_of("server.properties"), .standalone = standalone, .memory_total_bytes = (int64_t)8 << 30};
    config_report_init(&f->report, &f->arena, options.file_name);
    return config_parse(&f->arena, str_of(file), &options, &f->report);
}
// "E text|W text"
static inline const char *fixture_problems(const struct fixture *f, char *memory, size_t capacity) {
    struct text t = text_in(memory, capacity);
    for (size_t i = 0; i < f->report.count; i++) {
        text_addf(&t, "%s%s ", i > 0 ? "|" : "", f->report.problems[i].is_error ? "E" : "W");
        text_add(&t, f->report.problems[i].text);
    }
    return memory;
}
