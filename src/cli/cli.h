// SPDX-License-Identifier: Apache-2.0
// What the sub-commands share: exit statuses, options, reading a file, words for mistakes.
#pragma once

#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>

enum cli_status { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli_command {
    const char *name;
    const char *help; // one line
    int (*run)(int argc, char **argv);
};
#define COMMAND(name, help) int command_##name(int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

// Finds and runs the sub-command argv[1]. The whole program but main().
int cli_main(int argc, char **argv);

// One option of a command: "--json" or, with a value, "--key NAME" or "--key=NAME". Give each use to cli_option in
// turn.
struct cli_arguments {
    int argc;
    char **argv;
    int next;             // the index of the next argument; begin with 1
    const char *name;     // "--key", or NULL for a positional argument
    const char *value;    // the text behind '=', or the positional argument
    bool only_positional; // after "--"
};
void cli_arguments_init(struct cli_arguments *a, int argc, char **argv);
// The next argument into name and value. False: none left.
bool cli_next(struct cli_arguments *a);
bool cli_is(const struct cli_arguments *a, const char *name);
// The value of the present option: behind '=', or the next argument. NULL, and said so, if there is none.
const char *cli_value(struct cli_arguments *a);
// Says that the present argument is not known, with the nearest of `names` (NULL at the end); returns CLI_USAGE.
int cli_unknown(const struct cli_arguments *a, const char *const *names);
// Says what is wrong with the command line, and where help is; returns CLI_USAGE.
__attribute__((format(printf, 2, 3))) int cli_usage_error(const char *command, const char *format, ...);

// The nearest of `names` (NULL at the end) to a mistyped word, or NULL.
const char *cli_suggest(const char *word, const char *const *names);

// The whole file into the arena ("-": standard input). False, and said so on standard error, if it cannot be read or is
// longer than max_bytes.
bool cli_read_file(struct arena *a, const char *command, const char *path, size_t max_bytes, struct str *out);
// Flushes standard output: false if what was printed did not get there (a full disk, a closed pipe).
bool cli_finish_output(const char *command);
