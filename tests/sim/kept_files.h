// SPDX-License-Identifier: Apache-2.0
// What lies in log directories at one moment, to be compared with what lies there later.
#pragma once

#include "sim.h"

enum { KEPT_FILES_MAX = 8192, KEPT_PATH_MAX = 400 };
struct kept_file {
    char path[KEPT_PATH_MAX];
    uint8_t *bytes;
    uint64_t size;
};
struct kept_files {
    struct os_host *host;
    size_t count;
    struct kept_file files[KEPT_FILES_MAX];
};
// Adds the files of a log directory and of its partitions, as processes see them; none that waits for its deletion, and
// of a partition's producer snapshots only the last, which is the only one that counts.
void kept_files_add(struct kept_files *kept, const char *log_dir);
void kept_files_forget(struct kept_files *kept, const char *prefix); // of paths
// All are there, and as they were.
void kept_files_check_same(const struct kept_files *kept);
// The logs of a topic are there, and begin as they were.
void kept_files_check_logs_go_on(const struct kept_files *kept, const char *topic);
void kept_files_clear(struct kept_files *kept);
