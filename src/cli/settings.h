// SPDX-License-Identifier: Apache-2.0
// Where a broker's settings come from: FILE, --standalone, and --override KEY=VALUE, as often as wanted.
#pragma once

#include "cli/cli.h"
#include "config/config.h"

enum { CLI_OVERRIDES_MAX = 256 };
struct cli_settings {
    const char *file; // NULL: none named; "-": standard input
    bool standalone;
    struct config_entry overrides[CLI_OVERRIDES_MAX]; // they win over the file's
    size_t override_count;
};
enum cli_taken { CLI_NOT_MINE, CLI_TAKEN, CLI_TAKEN_WRONG };
// Takes the present argument if it is one of the three, or says what is wrong with it. Its text stays.
enum cli_taken cli_settings_take(struct cli_settings *s, struct cli_arguments *a);

// Reads the file (if one is named) and all that wins over it. NULL if there are errors: they are in the report, which
// is made here, or have been said if *is_read is false, since then the file could not be read.
const struct config *cli_settings_read(struct arena *a, const char *command, const struct cli_settings *s,
                                       struct config_report *report, bool *is_read);
