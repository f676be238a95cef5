// SPDX-License-Identifier: Apache-2.0
// See report.h. A report that is full, or an arena that is, still counts.
#include "config/report.h"

void config_report_init(struct config_report *report, struct arena *a, struct str file_name) {
    *report = (struct config_report){.arena = a, .file_name = file_name};
}

void config_report_add(struct config_report *report, bool is_error, int32_t line, const struct text *text) {
    if (is_error) {
        report->error_count++;
    } else {
        report->warning_count++;
    }
    if (!report->problems)
        report->problems = arena_alloc_array(report->arena, CONFIG_REPORT_MAX, sizeof *report->problems);
    if (!report->problems || report->count == CONFIG_REPORT_MAX) return;
    char memory[1200];
    struct text whole = TEXT_IN(memory);
    text_add_escaped(&whole, report->file_name);
    if (line > 0) text_addf(&whole, ":%d", line);
    if (whole.size > 0) text_addf(&whole, ": ");
    text_add(&whole, (struct str){text->data, text->size});
    struct str copy = arena_copy_str(report->arena, (struct str){whole.data, whole.size});
    if (str_is_null(copy)) return;
    report->problems[report->count++] = (struct config_problem){is_error, line, copy};
}
