// SPDX-License-Identifier: Apache-2.0
// Small files as a whole: read, replace durably, delete. Everything here blocks: for offloaded functions only. Results
// are 0 or a negative errno; what os_is_shortage knows never comes from an fsync (one that says so is reported as
// -EIO): nothing is lost then, while any other error of a write or fsync means that the directory is of no use any
// more.
#pragma once

#include "os/os.h"

enum { FILES_PATH_MAX = 4096 };

// "<directory>/<name>". False: too long.
bool path_join(char path[static FILES_PATH_MAX], const char *directory, const char *name);

// The whole file in memory that the caller frees (never NULL on success, and followed by a NUL that *size_bytes does
// not count). -EFBIG: larger than limit_bytes.
int file_read_all(struct os_host *host, const char *path, size_t limit_bytes, char **data, size_t *size_bytes);
// Goes on after short writes.
int file_write_all(struct os_host *host, int file, const void *data, size_t size_bytes, uint64_t position);
// The name holds either what it held before or all of the new bytes, whenever the power goes: <name>.tmp, fsync,
// rename, fsync of the directory. A shortage: what it held before.
int file_replace(struct os_host *host, const char *directory, const char *name, const void *data, size_t size_bytes);
// Writes in place, for files whose bytes have a checksum. sync: and fsyncs the file (not the directory).
int file_write(struct os_host *host, const char *directory, const char *name, const void *data, size_t size_bytes,
               bool sync);
// False also when the question could not be answered.
bool file_exists(struct os_host *host, const char *directory, const char *name);
// A missing file is fine.
int file_delete(struct os_host *host, const char *directory, const char *name);
int file_rename(struct os_host *host, const char *directory, const char *from, const char *to);

int directory_sync(struct os_host *host, const char *path);
// The same in two steps, for work that must not find out when it is half done that there is no descriptor left.
int directory_open(struct os_host *host, const char *path);
int directory_sync_and_close(struct os_host *host, int directory);
// With its parents, each made durable in its own parent.
int directory_create_all(struct os_host *host, const char *path);
// The directory and the files in it (directories in it too, to a small depth).
int directory_delete(struct os_host *host, const char *path);

// The names in a directory, in bytewise order, in one allocation each.
struct name_list {
    char **names;
    size_t count, capacity;
};
int name_list_read(struct os_host *host, const char *path, struct name_list *list);
bool name_list_has(const struct name_list *list, const char *name);
void name_list_free(struct name_list *list);
