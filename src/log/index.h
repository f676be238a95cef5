// SPDX-License-Identifier: Apache-2.0
// The offset index and the time index of one segment in memory, and as the bytes of their files. Pure: no I/O.
//
//   .index      (offset - base, position): the batch at this position ends with this offset. Strictly rising.
//   .timeindex  (max timestamp so far, offset - base): the last offset of the first batch with that timestamp. Strictly
//               rising in both.
//
// Entries are collected in memory and written in blocks; `written` says how many of them the file holds already. A file
// of Kafka's may have a tail of zeros (its active files are preallocated): it is not taken for entries.
#pragma once

#include "base/slice.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INDEX_ENTRY_BYTES = 8, TIME_INDEX_ENTRY_BYTES = 12 };

struct index_entry {
    int32_t relative_offset; // of the batch's last offset
    int32_t position;        // of the batch's first byte
};
struct index {
    struct index_entry *entries;
    size_t count, capacity;
    size_t written; // so many of them are in the file
};
struct time_index_entry {
    int64_t timestamp_ms;
    int32_t relative_offset;
};
struct time_index {
    struct time_index_entry *entries;
    size_t count, capacity;
    size_t written;
};

void index_free(struct index *index);
// Must rise in both fields: a programmer's error otherwise.
void index_append(struct index *index, struct index_entry entry);
// Drops the entries of batches that end at or after relative_offset. `written` follows.
void index_truncate(struct index *index, int64_t relative_offset);
// The last entry at or below; {0, 0}, the start of the segment, if there is none.
struct index_entry index_floor_offset(const struct index *index, int64_t relative_offset);
struct index_entry index_floor_position(const struct index *index, uint64_t position);
// Replaces what is in `index` by a file's bytes. False: the size is no multiple of an entry, entries do not rise, or a
// position lies outside of the segment; then `index` is empty and *reason says where. All of it counts as written.
bool index_decode(struct index *index, struct bytes file, uint64_t segment_size_bytes, struct text *reason);
// Entries [from, count) as file bytes; `to` has room for them.
void index_encode(const struct index *index, size_t from, uint8_t *to);

void time_index_free(struct time_index *index);
// False, and nothing happens, unless the timestamp is above that of the last entry (and >= 0).
bool time_index_append(struct time_index *index, struct time_index_entry entry);
void time_index_truncate(struct time_index *index, int64_t relative_offset);
// The last entry with a timestamp <= timestamp_ms; {-1, 0} if there is none.
struct time_index_entry time_index_floor(const struct time_index *index, int64_t timestamp_ms);
bool time_index_decode(struct time_index *index, struct bytes file, struct text *reason);
void time_index_encode(const struct time_index *index, size_t from, uint8_t *to);
