// SPDX-License-Identifier: Apache-2.0
// A directory of its own for each test, on the real file system, and helpers to look at files.
#pragma once

#include "os/os.h"
#include <stdbool.h>

struct fixture {
    struct os_host *host;
    char path[128]; // an empty directory
};
void fixture_open(struct fixture *f);
// Deletes the directory.
void fixture_close(struct fixture *f);
// "<path>/<name>" in static memory (a ring of a few).
const char *fixture_path(const struct fixture *f, const char *name);
void fixture_write(const struct fixture *f, const char *name, const void *data, size_t size_bytes);
void fixture_write_text(const struct fixture *f, const char *name, const char *text);
// In memory that the caller frees, followed by a NUL; NULL if there is no such file.
char *fixture_read(const struct fixture *f, const char *name, size_t *size_bytes);
bool fixture_has(const struct fixture *f, const char *name);
void fixture_mkdir(const struct fixture *f, const char *name);
// A digest of every file below `name` with its name and bytes: equal for equal trees.
uint64_t fixture_digest(const struct fixture *f, const char *name);
