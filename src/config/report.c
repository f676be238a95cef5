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
    if (report->file_name.size > 0) {
        text_add_escaped(&whole, line == CONFIG_LINE_OVERRIDE ? str_of("command line") : report->file_name);
        if (line > 0) text_addf(&whole, ":%d", line);
        text_addf(&whole, ": ");
    }
    text_add(&whole, (struct str){text->data, text->size});
    struct str copy = arena_copy_str(report->arena, (struct str){whole.data, whole.size});
    if (str_is_null(copy)) return;
    report->problems[report->count++] = (struct config_problem){is_error, line, copy};
}

// What is about no line comes behind what is.
static int32_t sorted_line(const struct config_problem *problem) {
    return problem->line > 0 ? problem->line : INT32_MAX;
}

static bool comes_before(const struct config_problem *a, const struct config_problem *b) {
    return a->is_error != b->is_error ? a->is_error : sorted_line(a) < sorted_line(b);
}

void config_report_sort(struct config_report *report) {
    for (size_t i = 1; i < report->count; i++) {
        struct config_problem problem = report->problems[i];
        size_t j = i;
        for (; j > 0 && comes_before(&problem, &report->problems[j - 1]); j--) {
            report->problems[j] = report->problems[j - 1];
        }
        report->problems[j] = problem;
    }
}
