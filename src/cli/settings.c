// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.h"
#include "cli/config_print.h"
#include "config/properties.h"

// False, and said so, if the text is not KEY=VALUE or if there are too many.
static bool override_add(struct cli_settings *s, const char *command, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        cli_usage_error(command, "--override needs KEY=VALUE, not '%s'", text);
        return false;
    }
    if (s->override_count == CLI_OVERRIDES_MAX) {
        cli_usage_error(command, "more than %d overrides", CLI_OVERRIDES_MAX);
        return false;
    }
    s->overrides[s->override_count++] = (struct config_entry){{text, (size_t)(equals - text)}, str_of(equals + 1)};
    return true;
}

enum cli_taken cli_settings_take(struct cli_settings *s, struct cli_arguments *a) {
    if (cli_is(a, "--standalone")) {
        s->standalone = true;
    } else if (cli_is(a, "--override")) {
        const char *text = cli_value(a);
        return text && override_add(s, a->argv[0], text) ? CLI_TAKEN : CLI_TAKEN_WRONG;
    } else if (!a->name && !s->file) {
        s->file = a->value;
    } else {
        return CLI_NOT_MINE;
    }
    return CLI_TAKEN;
}

const struct config *cli_settings_read(struct arena *a, const char *command, const struct cli_settings *s,
                                       struct config_report *report, bool *is_read) {
    struct str text = str_of("");
    *is_read = !s->file || cli_read_file(a, command, s->file, PROPERTIES_SIZE_MAX, &text);
    if (!*is_read) return NULL;
    const char *name = !s->file ? "command line" : strcmp(s->file, "-") == 0 ? "standard input" : s->file;
    struct config_options options = {
        .file_name = str_of(name),
        .standalone = s->standalone,
        .overrides = {s->overrides, s->override_count},
        .memory_total_bytes = config_print_memory_bytes(),
    };
    config_report_init(report, a, options.file_name);
    return config_parse(a, text, &options, report);
}
