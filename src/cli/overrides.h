// SPDX-License-Identifier: Apache-2.0
// --override KEY=VALUE, as often as wanted: settings that win over the file's.
#pragma once

#include "config/config.h"

enum { CLI_OVERRIDES_MAX = 256 };
struct cli_overrides {
    struct config_entry entries[CLI_OVERRIDES_MAX];
    size_t count;
};
// `text` stays. False, and said so, if it is not KEY=VALUE or if there are too many.
bool cli_override_add(struct cli_overrides *o, const char *command, const char *text);
