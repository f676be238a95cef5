// SPDX-License-Identifier: Apache-2.0
// See cli.h.
#include "cli/cli.h"
#include "base/assert.h"
#include "base/bits.h"
#include "config/edit_distance.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const struct cli_command commands[] = {
#define COMMAND(name, help) {#name, help, command_##name},
#include "cli/commands.def"
#undef COMMAND
};

static int print_help(void) {
    printf("Tailrace %s: an Apache Kafka broker.\n\nusage: tailrace COMMAND [options]\n\n", TAILRACE_VERSION);
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    }
    printf("\n'tailrace COMMAND --help' shows the options of a command; 'tailrace --version' the version.\n"
           "Exit status: 0 done, 1 failed, 2 a mistake on the command line.\n");
    return cli_finish_output("tailrace") ? CLI_OK : CLI_FAILED;
}

static int unknown_command(const char *name) {
    const char *names[ARRAY_LENGTH(commands) + 1] = {NULL};
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        names[i] = commands[i].name;
    }
    const char *suggestion = cli_suggest(name, names);
    fprintf(stderr, "tailrace: unknown command '%s'", name);
    if (suggestion) fprintf(stderr, "; did you mean '%s'?", suggestion);
    fprintf(stderr, "\n'tailrace --help' lists the commands\n");
    return CLI_USAGE;
}

int cli_main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "tailrace: no command given\n'tailrace --help' lists the commands\n");
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        printf("tailrace %s\n", TAILRACE_VERSION);
        return cli_finish_output("tailrace") ? CLI_OK : CLI_FAILED;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    }
    return unknown_command(argv[1]);
}

void cli_arguments_init(struct cli_arguments *a, int argc, char **argv) {
    ASSERT(argc >= 1);
    *a = (struct cli_arguments){.argc = argc, .argv = argv, .next = 1};
}

bool cli_next(struct cli_arguments *a) {
    a->name = a->value = NULL;
    if (a->next < a->argc && !a->only_positional && strcmp(a->argv[a->next], "--") == 0) {
        a->only_positional = true;
        a->next++;
    }
    if (a->next >= a->argc) return false;
    char *argument = a->argv[a->next++];
    if (a->only_positional || argument[0] != '-' || argument[1] == '\0') {
        a->value = argument;
        return true;
    }
    a->name = argument;
    char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
    if (equals) a->value = equals + 1;
    return true;
}

// The length of an option's name without its "=value".
static size_t name_size(const struct cli_arguments *a) {
    ASSERT(a->name != NULL);
    return a->value ? (size_t)(a->value - 1 - a->name) : strlen(a->name);
}

bool cli_is(const struct cli_arguments *a, const char *name) {
    return a->name && strlen(name) == name_size(a) && memcmp(a->name, name, strlen(name)) == 0;
}

const char *cli_value(struct cli_arguments *a) {
    ASSERT(a->name != NULL);
    if (!a->value && a->next < a->argc) a->value = a->argv[a->next++];
    if (!a->value) cli_usage_error(a->argv[0], "%s needs a value", a->name);
    return a->value;
}

int cli_unknown(const struct cli_arguments *a, const char *const *names) {
    if (!a->name) return cli_usage_error(a->argv[0], "one argument too many: '%s'", a->value);
    char name[64] = "";
    size_t size = min_size(name_size(a), sizeof name - 1);
    memcpy(name, a->name, size);
    const char *suggestion = cli_suggest(name, names);
    if (suggestion) return cli_usage_error(a->argv[0], "unknown option '%s'; did you mean '%s'?", name, suggestion);
    return cli_usage_error(a->argv[0], "unknown option '%s'", name);
}

int cli_usage_error(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "tailrace %s: ", command);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n'tailrace %s --help' shows how it is used\n", command);
    return CLI_USAGE;
}

const char *cli_suggest(const char *word, const char *const *names) {
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 2;
    for (; *names; names++) {
        size_t distance = edit_distance(str_of(word), str_of(*names), best_distance);
        if (distance >= best_distance) continue;
        best = *names;
        best_distance = distance;
    }
    return best;
}

static bool read_all(struct arena *a, FILE *file, size_t max_bytes, struct str *out) {
    char *data = arena_alloc(a, max_bytes + 1);
    if (!data) {
        errno = ENOMEM;
        return false;
    }
    size_t size = fread(data, 1, max_bytes + 1, file);
    *out = (struct str){data, size};
    if (ferror(file)) return false; // errno is fread's
    errno = EFBIG;
    return size <= max_bytes;
}

bool cli_read_file(struct arena *a, const char *command, const char *path, size_t max_bytes, struct str *out) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rbe");
    bool ok = file && read_all(a, file, max_bytes, out);
    if (!ok) fprintf(stderr, "tailrace %s: cannot read %s: %s\n", command, path, strerror(errno));
    if (file && !is_stdin) fclose(file);
    return ok;
}

bool cli_finish_output(const char *command) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", command, strerror(errno));
    return false;
}
