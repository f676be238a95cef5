// SPDX-License-Identifier: Apache-2.0
// The text of the four checkpoint files of a log directory (log/log_dir.h reads and writes them):
//   0
//   <number of entries>
//   <topic> <partition> <offset>        a line each, in any order
#pragma once

#include "base/text.h"
#include "log/log_dir.h"

// Larger files are taken for damage: it is room for half a million partitions.
enum { CHECKPOINT_FILE_BYTES_MAX = 64 << 20 };

const char *checkpoint_file_name(enum checkpoint_kind kind);
// Empty text, or a lone version line, is no entries. False: *reason names the line; *checkpoint is empty.
bool checkpoint_parse(struct str text, struct checkpoint *checkpoint, struct text *reason);
// In memory that the caller frees; *size_bytes without the final NUL.
char *checkpoint_format(const struct checkpoint *checkpoint, size_t *size_bytes);
// By topic (bytewise), then partition, so that checkpoint_find can be used. Of lines that repeat, the last counts.
void checkpoint_sort(struct checkpoint *checkpoint);
// NULL: no such entry. The checkpoint is sorted.
const struct checkpoint_entry *checkpoint_find(const struct checkpoint *checkpoint, const char *topic,
                                               int32_t partition);
// checkpoint_read(), with the reason for -EINVAL.
int checkpoint_read_explained(struct os_host *host, struct log_dir *dir, enum checkpoint_kind kind,
                              struct checkpoint *checkpoint, struct text *reason);
