// SPDX-License-Identifier: Apache-2.0
// tailrace log: looks into log directories, Kafka's and Tailrace's, of stopped and of running brokers, and changes
// nothing.
#include "cli/log_commands.h"
#include "os/linux/host.h"
#include <errno.h>
#include <stdio.h>

static int help(void) {
    printf("usage: tailrace log ls DIR [TOPIC[-PARTITION]]...   what a log directory holds\n"
           "       tailrace log dump PATH...                    batches, records, and every other file\n"
           "       tailrace log verify PATH...                  is all of it sound?\n\n"
           "Works on Kafka's directories and Tailrace's, of a stopped or a running broker, and changes nothing.\n"
           "'tailrace log COMMAND --help' has the options.\n\n"
           "example: tailrace log ls data\n"
           "         tailrace log dump data/orders-0 --records --from-offset 1000 --limit 10\n"
           "         tailrace log verify data\n");
    return cli_finish_output("tailrace log") ? CLI_OK : CLI_FAILED;
}

int log_path_error(const char *command, const char *path, int error) {
    const char *why = error == -ESPIPE ? "neither a file nor a directory" : os_error_text(error);
    fprintf(stderr, "tailrace log %s: %s: %s\n", command, path, why);
    return CLI_FAILED;
}

int log_file_error(const char *command, const char *directory, const char *file, int error) {
    char path[4096];
    struct text t = TEXT_IN(path);
    text_add_escaped(&t, str_of(directory));
    text_addf(&t, "/%s", file);
    return log_path_error(command, path, error);
}

const char *log_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// A partition's directory has segments in it, a log directory has directories.
static bool is_partition_directory(struct os_host *host, const char *path) {
    struct inspect_segments segments;
    if (inspect_segments_read(host, path, &segments) < 0) return false;
    bool has_segments = segments.count > 0;
    inspect_segments_free(&segments);
    return has_segments;
}

bool log_open_directory(struct os_host *host, const char *command, const char *path, struct inspect_dir *dir,
                        const struct inspect_listener *listener) {
    bool is_partition = is_partition_directory(host, path);
    int is_log_dir = is_partition ? 0 : inspect_is_log_dir(host, path);
    if (is_log_dir < 0) {
        log_path_error(command, path, is_log_dir);
        return false;
    }
    if (!is_partition && is_log_dir == 0) {
        fprintf(
            stderr,
            "tailrace log %s: %s: neither a log directory (no meta.properties, no checkpoint file, no partition) nor "
            "a partition's (no segment)\n",
            command, path);
        return false;
    }
    int error = is_partition ? inspect_dir_of_partition(host, path, dir, listener)
                             : inspect_dir_read(host, path, dir, listener);
    if (error == 0) return true;
    if (error == -EINVAL)
        fprintf(stderr, "tailrace log %s: %s: a partition's directory is called topic-partition\n", command, path);
    else
        log_path_error(command, path, error);
    return false;
}

int command_log(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(struct os_host *host, int argc, char **argv);
    } commands[] = {{"ls", log_command_ls}, {"dump", log_command_dump}, {"verify", log_command_verify}};
    static const char *const names[] = {"ls", "dump", "verify", NULL};
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        int status = help();
        return argc < 2 ? CLI_USAGE : status;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        struct os_host *host = os_host_create();
        if (!host) {
            fprintf(stderr, "tailrace log: no memory\n");
            return CLI_FAILED;
        }
        os_host_leave_signals(); // Ctrl-C, and a reader that has had enough (| head)
        char name[32];
        snprintf(name, sizeof name, "log %s", commands[i].name);
        argv[1] = name; // what messages call the command
        int status = commands[i].run(host, argc - 1, argv + 1);
        os_host_destroy(host);
        return cli_finish_output("tailrace log") ? status : CLI_FAILED;
    }
    const char *suggestion = cli_suggest(argv[1], names);
    return cli_usage_error("log", "'%s' is not a command; %s%s", argv[1], suggestion ? "did you mean " : "",
                           suggestion ? suggestion : "there are ls, dump and verify");
}
