// SPDX-License-Identifier: Apache-2.0
#include "cli/overrides.h"
#include "cli/cli.h"

bool cli_override_add(struct cli_overrides *o, const char *command, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        cli_usage_error(command, "--override needs KEY=VALUE, not '%s'", text);
        return false;
    }
    if (o->count == CLI_OVERRIDES_MAX) {
        cli_usage_error(command, "more than %d overrides", CLI_OVERRIDES_MAX);
        return false;
    }
    o->entries[o->count++] = (struct config_entry){{text, (size_t)(equals - text)}, str_of(equals + 1)};
    return true;
}
