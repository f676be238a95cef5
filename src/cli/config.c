// SPDX-License-Identifier: Apache-2.0
// tailrace config: with a file, everything that is wrong with it and the settings that would be in force; without one,
// the table of all keys. Fails (1) if the file has errors; warnings alone do not.
#include "config/config.h"
#include "cli/cli.h"
#include "cli/config_print.h"
#include "cli/settings.h"
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
    struct cli_settings settings;
    bool all, json, topic;
    const char *part;
};

// CLI_OK, or what to end with.
static int read_option(struct request *r, struct cli_arguments *a) {
    static const char *const options[] = {"--standalone", "--override", "--all",  "--key",
                                          "--topic",      "--json",     "--help", NULL};
    enum cli_taken taken = cli_settings_take(&r->settings, a);
    if (taken != CLI_NOT_MINE) return taken == CLI_TAKEN ? CLI_OK : CLI_USAGE;
    if (cli_is(a, "--all")) {
        r->all = true;
    } else if (cli_is(a, "--json")) {
        r->json = true;
    } else if (cli_is(a, "--topic")) {
        r->topic = true;
    } else if (cli_is(a, "--key")) {
        r->part = cli_value(a);
        return r->part ? CLI_OK : CLI_USAGE;
    } else {
        return cli_unknown(a, options);
    }
    return CLI_OK;
}

static int check_file(struct arena *a, const struct request *r) {
    struct config_report report;
    bool is_read;
    const struct config *c = cli_settings_read(a, "config", &r->settings, &report, &is_read);
    if (!is_read) return CLI_FAILED;
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
    bool is_table_option = r.topic || r.part;
    bool is_file_option = r.settings.standalone || r.all || r.settings.override_count > 0;
    if (r.settings.file && is_table_option)
        return cli_usage_error(argv[0], "--topic and --key are about the table of keys, not about a file");
    if (!r.settings.file && is_file_option)
        return cli_usage_error(argv[0], "--standalone, --override and --all need a file");
    struct arena arena;
    arena_init(&arena, CONFIG_ARENA_BYTES);
    int status = CLI_OK;
    if (r.settings.file) {
        status = check_file(&arena, &r);
    } else if (r.json) {
        config_print_table_json(r.part, r.topic);
    } else {
        config_print_table(r.part, r.topic);
    }
    arena_drop(&arena);
    return cli_finish_output("tailrace config") ? status : CLI_FAILED;
}
