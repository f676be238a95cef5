// SPDX-License-Identifier: Apache-2.0
// Files and directories that are out of use, and are deleted some time later (file_delete_delay_ms).
#pragma once

#include "log/shard.h"

// [offloaded] Every file of the segment gets the suffix .deleted, the log first. 0 or a negative errno.
int deletion_mark_segment(struct os_host *host, const char *directory, int64_t base_offset);
// [offloaded] Renames a partition's directory `from` in `parent` to `to`, durably; where a full disk has no room for
// that name, deletes it (*is_deleted tells which). 0 or a negative errno; without a descriptor (os_is_shortage) nothing
// has happened.
int deletion_mark_directory(struct os_host *host, const char *parent, const char *from, const char *to,
                            bool *is_deleted);
// Deletes the marked files of these segments after delay_ms. Takes `bases` over (malloc).
void deletion_of_segments(struct log_shard *shard, const char *directory, int64_t *bases, size_t count,
                          int64_t delay_ms);
// Deletes the directory with what is in it after delay_ms.
void deletion_of_directory(struct log_shard *shard, const char *directory, int64_t delay_ms);
