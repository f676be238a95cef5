// SPDX-License-Identifier: Apache-2.0
// Producer snapshot files: <offset>.snapshot holds the producer state before that offset. Everything here blocks.
#pragma once

#include "log/files.h"
#include "log/producers.h"

enum { SNAPSHOT_FILE_BYTES_MAX = 64 << 20 };

// Offsets in rising order.
struct offset_list {
    int64_t *offsets;
    size_t count, capacity;
};
void offset_list_add(struct offset_list *list, int64_t offset);
void offset_list_free(struct offset_list *list);
// The offsets of the directory's snapshot files.
void snapshot_pick(const struct name_list *names, struct offset_list *list);
int snapshot_list(struct os_host *host, const char *directory, struct offset_list *list);

// Writes the state as <offset>.snapshot and notes it in producers->snapshot_offset. sync: the file is on stable storage
// (its name only after an fsync of the directory).
int snapshot_write(struct os_host *host, const char *directory, int64_t offset, struct producers *producers, bool sync);
int snapshot_delete(struct os_host *host, const char *directory, int64_t offset);
// Fills `producers` from the newest valid one of `list` above log_start_offset and at or below max_offset; those that
// turn out damaged are deleted (*warning names them). *offset: which it was, -1 if there is none (producers is empty
// then).
struct snapshot_limits {
    int64_t log_start_offset, max_offset;
    int64_t now_ms, expiration_ms;
};
int snapshot_load_newest(struct os_host *host, const char *directory, const struct offset_list *list,
                         const struct snapshot_limits *limits, struct producers *producers, int64_t *offset,
                         struct text *warning);
// Deletes those of `list` that loading does not keep: snapshots at or below the log start or above the end, and those
// that are neither at the base of a segment nor the newest at or above the last base.
int snapshot_delete_strays(struct os_host *host, const char *directory, const struct offset_list *list,
                           const struct offset_list *bases, int64_t log_start_offset, int64_t end_offset);
