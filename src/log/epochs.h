// SPDX-License-Identifier: Apache-2.0
// Which leader epoch each part of a log was written in: pairs (epoch, start offset), both rising. In memory, and as the
// text of the leader-epoch-checkpoint file. Pure: no I/O.
//
// A new leader's epoch is known from the moment it became leader on (trap 52), before anything was written in it. The
// file is due at the first append of the epoch: `version` then differs from `written_version`.
#pragma once

#include "base/slice.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct epoch_entry {
    int32_t epoch;
    int64_t start_offset;
};
struct epochs {
    struct epoch_entry *entries; // both fields strictly rising
    size_t count, capacity;
    uint32_t version;         // goes up with every change
    uint32_t written_version; // the version that the file holds; set by whoever wrote it
};
// Entries that a file may hold: more is taken for damage.
enum { EPOCHS_MAX = 1000000 };

void epochs_init(struct epochs *e);
void epochs_free(struct epochs *e);
void epochs_clear(struct epochs *e);

// `epoch` (>= 0) begins at start_offset. Nothing happens if the newest entry is that epoch already, at or below that
// offset. Entries that contradict the new one (epoch or offset not below it) go. True: something changed.
bool epochs_assign(struct epochs *e, int32_t epoch, int64_t start_offset);
// The log ends at end_offset now: entries that start at or after it go.
bool epochs_truncate_end(struct epochs *e, int64_t end_offset);
// The log starts at start_offset now: the entry in force there begins there, older ones go.
bool epochs_truncate_start(struct epochs *e, int64_t start_offset);

// -1: none.
int32_t epochs_latest(const struct epochs *e);
int32_t epochs_at(const struct epochs *e, int64_t offset);
// The answer to OffsetForLeaderEpoch. -1 or above all known: -1 and -1. The latest: itself and the log's end. An older
// one: the largest known epoch at or below it, and the start of the next. One below all known: itself, and the start of
// the first known.
void epochs_end_of(const struct epochs *e, int32_t epoch, int64_t log_end_offset, int32_t *found_epoch,
                   int64_t *end_offset);

// The file's text, in memory that the caller frees; *size_bytes without the final NUL.
char *epochs_encode(const struct epochs *e, size_t *size_bytes);
// Replaces what is in e; empty text is no entries. False: not a valid file, e is empty, *reason says why.
bool epochs_decode(struct epochs *e, struct str text, struct text *reason);
