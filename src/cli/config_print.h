// SPDX-License-Identifier: Apache-2.0
// How tailrace config shows keys, settings and problems, for people and as JSON.
#pragma once

#include "config/config.h"

// The table of broker or topic keys; part: only names that contain it, NULL is all.
void config_print_table(const char *part, bool topic);
void config_print_table_json(const char *part, bool topic);
// Problems to standard error, one a line, errors first, and how many there are.
void config_print_problems(const struct config_report *report);
// Key, value and where it comes from; all: the defaults too. Passwords are never shown.
void config_print_settings(const struct config *c, bool all);
// {"problems": [...], "settings": [...]}; c NULL: no settings.
void config_print_file_json(const struct config *c, const struct config_report *report, bool all);
// The memory of this machine, of which the default of tailrace.memory is a part.
int64_t config_print_memory_bytes(void);
