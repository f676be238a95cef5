// SPDX-License-Identifier: Apache-2.0
// tailrace config: with a file, everything that is wrong with it and the settings that would be in force; without one,
// the table of all keys. Fails (1) if the file has errors; warnings alone do not.
#include "config/config.h"
#include "cli/cli.h"
#include "cli/config_print.h"
#include "cli/overrides.h"
#include "config/properties.h"
#include <stdio.h>

static int help(void) {
    printf("usage: tailrace config FILE [--standalone] [--override KEY=VALUE]... [--all] [--json]\n"
           "       tailrace config [--key PART] [--topic] [--json]\n\n"
           "Checks a server.properties file (- is standard input) and prints the settings that differ from the "
           "defaults, with where each\n"
           "comes from. Without a file: the table of all broker keys, or of all topic keys.\n\n"
           "  --standalone            as 'tailrace broker --standalone' would read it\n"
           "  --override KEY=VALUE    a setting that wins over the file's\n"
           "  --all                   defaults too\n"
           "  --key PART              only keys that contain PART\n"
           "  --topic                 the keys of topics\n"
           "  --json                  as JSON\n\n"
           "example: tailrace config server.properties --standalone\n"
           "         tailrace config --key log.retention\n");
    return cli_finish_output("tailrace config") ? CLI_OK : CLI_FAILED;
}

struct request {
    const char *file;
    bool standalone, all, json, topic;
    const char *part;
    struct cli_overrides overrides;
};

// CLI_OK, or what to end with.
static int read_option(struct request *r, struct cli_arguments *a) {
    static const char *const options[] = {"--standalone", "--override", "--all",  "--key",
                                          "--topic",      "--json",     "--help", NULL};
    if (cli_is(a, "--standalone")) {
        r->standalone = true;
    } else if (cli_is(a, "--all")) {
        r->all = true;
    } else if (cli_is(a, "--json")) {
        r->json = true;
    } else if (cli_is(a, "--topic")) {
        r->topic = true;
    } else if (cli_is(a, "--key")) {
        r->part = cli_value(a);
        return r->part ? CLI_OK : CLI_USAGE;
    } else if (cli_is(a, "--override")) {
        const char *text = cli_value(a);
        return text && cli_override_add(&r->overrides, a->argv[0], text) ? CLI_OK : CLI_USAGE;
    } else if (!a->name && !r->file) {
        r->file = a->value;
    } else {
        return cli_unknown(a, options);
    }
    return CLI_OK;
}

static int check_file(struct arena *a, const struct request *r) {
    struct str text;
    if (!cli_read_file(a, "config", r->file, PROPERTIES_SIZE_MAX, &text)) return CLI_FAILED;
    struct config_options options = {
        .file_name = str_of(strcmp(r->file, "-") == 0 ? "standard input" : r->file),
        .standalone = r->standalone,
        .overrides = {r->overrides.entries, r->overrides.count},
        .memory_total_bytes = config_print_memory_bytes(),
    };
    struct config_report report;
    config_report_init(&report, a, options.file_name);
    const struct config *c = config_parse(a, text, &options, &report);
    if (r->json) {
        config_print_file_json(c, &report, r->all);
    } else {
        config_print_problems(&report);
        if (c) config_print_settings(c, r->all);
    }
    return c ? CLI_OK : CLI_FAILED;
}

int command_config(int argc, char **argv) {
    struct request r = {0};
    struct cli_arguments a;
    cli_arguments_init(&a, argc, argv);
    while (cli_next(&a)) {
        if (cli_is(&a, "--help") || cli_is(&a, "-h")) return help();
        int status = read_option(&r, &a);
        if (status != CLI_OK) return status;
    }
    bool is_table_option = r.topic || r.part, is_file_option = r.standalone || r.all || r.overrides.count > 0;
    if (r.file && is_table_option)
        return cli_usage_error(argv[0], "--topic and --key are about the table of keys, not about a file");
    if (!r.file && is_file_option) return cli_usage_error(argv[0], "--standalone, --override and --all need a file");
    struct arena arena;
    arena_init(&arena, CONFIG_ARENA_BYTES);
    int status = CLI_OK;
    if (r.file) {
        status = check_file(&arena, &r);
    } else if (r.json) {
        config_print_table_json(r.part, r.topic);
    } else {
        config_print_table(r.part, r.topic);
    }
    arena_drop(&arena);
    return cli_finish_output("tailrace config") ? status : CLI_FAILED;
}
