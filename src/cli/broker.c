// SPDX-License-Identifier: Apache-2.0
// tailrace broker: runs a broker until it is told to stop (SIGTERM, SIGINT); a second signal ends it at once.
//
// Exit status 0 after an orderly stop, 1 if it could not start or had to give up, 2 for a wrong command line.
#include "broker/broker.h"
#include "cli/cli.h"
#include "cli/config_print.h"
#include "cli/settings.h"
#include "os/linux/host.h"
#include <stdio.h>

static int help(void) {
    printf("usage: tailrace broker FILE [--standalone] [--override KEY=VALUE]...\n"
           "       tailrace broker --standalone [--override KEY=VALUE]...\n\n"
           "Runs a broker with the settings of a server.properties file, in the foreground. Events go to standard "
           "error, a line "
           "each.\n\n"
           "  --standalone            no ZooKeeper: the metadata is kept in a file in the first log directory\n"
           "  --override KEY=VALUE    a setting that wins over the file's\n\n"
           "example: tailrace broker server.properties --standalone\n"
           "         tailrace broker --standalone --override log.dirs=./data --override "
           "listeners=PLAINTEXT://127.0.0.1:9092\n");
    return cli_finish_output("tailrace broker") ? CLI_OK : CLI_FAILED;
}

static const struct config *configuration(struct arena *a, const struct cli_settings *s) {
    struct config_report report;
    bool is_read;
    const struct config *config = cli_settings_read(a, "broker", s, &report, &is_read);
    if (!is_read) return NULL;
    if (config && !config->is_standalone) {
        int32_t line = config->settings[CONFIG_ZOOKEEPER_CONNECT].line;
        char place[24] = "";
        if (line > 0) snprintf(place, sizeof place, ":%d", line);
        fprintf(stderr,
                "%s%s: zookeeper.connect is set, so this broker would be one of a cluster, and clusters are not built "
                "yet; start it with --standalone (or tailrace.mode=standalone) to run it alone\n",
                line > 0 ? s->file : "command line", place);
        return NULL;
    }
    config_print_problems(&report);
    return config;
}

static int run(const struct config *config) {
    struct os_host *host = os_host_create();
    char reason[256] = "";
    struct broker *broker = broker_create(&(struct broker_options){.host = host, .config = config}, reason);
    if (!broker) {
        fprintf(stderr, "tailrace broker: %s\n", reason);
        os_host_destroy(host);
        return CLI_FAILED;
    }
    return broker_run(broker); // the process ends here: nothing is left to give back
}

int command_broker(int argc, char **argv) {
    static const char *const options[] = {"--standalone", "--override", "--help", NULL};
    struct cli_settings settings = {0};
    struct cli_arguments a;
    cli_arguments_init(&a, argc, argv);
    while (cli_next(&a)) {
        if (cli_is(&a, "--help") || cli_is(&a, "-h")) return help();
        enum cli_taken taken = cli_settings_take(&settings, &a);
        if (taken == CLI_NOT_MINE) return cli_unknown(&a, options);
        if (taken == CLI_TAKEN_WRONG) return CLI_USAGE;
    }
    if (!settings.file && !settings.standalone)
        return cli_usage_error(argv[0], "needs a server.properties file, or --standalone");
    struct arena arena;
    arena_init(&arena, CONFIG_ARENA_BYTES);
    const struct config *config = configuration(&arena, &settings);
    return config ? run(config) : CLI_FAILED;
}
