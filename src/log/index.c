// SPDX-License-Identifier: Apache-2.0
// Sorted arrays and binary search. Entries come from our own appends (asserted to rise) or from files (checked: a file
// that is not a valid index is refused as a whole, and built again by recovery or read around).
#include "log/index.h"
#include "base/assert.h"
#include "base/bits.h"
#include <inttypes.h>
#include <stdlib.h>

enum { INDEX_CAPACITY_FIRST = 16 };

static void *grown(void *entries, size_t count, size_t *capacity, size_t entry_bytes) {
    if (count < *capacity) return entries;
    *capacity = *capacity == 0 ? INDEX_CAPACITY_FIRST : *capacity * 2;
    void *more = realloc(entries, *capacity * entry_bytes);
    ASSERT(more != NULL);
    return more;
}

// ---- offset index
void index_free(struct index *index) {
    free(index->entries);
    *index = (struct index){0};
}

void index_append(struct index *index, struct index_entry entry) {
    ASSERT(entry.relative_offset >= 0);
    ASSERT(entry.position >= 0);
    if (index->count > 0) {
        ASSERT(entry.relative_offset > index->entries[index->count - 1].relative_offset);
        ASSERT(entry.position > index->entries[index->count - 1].position);
    }
    index->entries = grown(index->entries, index->count, &index->capacity, sizeof entry);
    index->entries[index->count++] = entry;
}

void index_truncate(struct index *index, int64_t relative_offset) {
    while (index->count > 0 && index->entries[index->count - 1].relative_offset >= relative_offset)
        index->count--;
    index->written = min_size(index->written, index->count);
}

struct index_entry index_floor_offset(const struct index *index, int64_t relative_offset) {
    size_t low = 0, high = index->count; // entries below `low` are at or below, from `high` on above
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->entries[middle].relative_offset <= relative_offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? (struct index_entry){0, 0} : index->entries[low - 1];
}

struct index_entry index_floor_position(const struct index *index, uint64_t position) {
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uint64_t)index->entries[middle].position <= position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? (struct index_entry){0, 0} : index->entries[low - 1];
}

static bool is_all_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static bool size_is_whole(struct bytes file, size_t entry_bytes, struct text *reason) {
    if (file.size % entry_bytes == 0) return true;
    text_addf(reason, "size %zu is no multiple of %zu", file.size, entry_bytes);
    return false;
}

bool index_decode(struct index *index, struct bytes file, uint64_t segment_size_bytes, struct text *reason) {
    index_free(index);
    if (!size_is_whole(file, INDEX_ENTRY_BYTES, reason)) return false;
    int64_t before_offset = -1, before_position = -1;
    for (size_t at = 0; at < file.size; at += INDEX_ENTRY_BYTES) {
        int32_t offset = (int32_t)load_be32(file.data + at), position = (int32_t)load_be32(file.data + at + 4);
        // The first batch of a segment has no entry, so an entry of zeros is the unused tail.
        if (offset == 0 && position == 0 && is_all_zero(file.data + at, file.size - at)) break;
        if (offset <= before_offset || position <= before_position || (uint64_t)position >= segment_size_bytes) {
            text_addf(reason, "entry at byte %zu (offset +%" PRId32 ", position %" PRId32 ") does not fit", at, offset,
                      position);
            index_free(index);
            return false;
        }
        index_append(index, (struct index_entry){offset, position});
        before_offset = offset;
        before_position = position;
    }
    index->written = index->count;
    return true;
}

void index_encode(const struct index *index, size_t from, uint8_t *to) {
    for (size_t i = from; i < index->count; i++, to += INDEX_ENTRY_BYTES) {
        store_be32(to, (uint32_t)index->entries[i].relative_offset);
        store_be32(to + 4, (uint32_t)index->entries[i].position);
    }
}

// ---- time index
void time_index_free(struct time_index *index) {
    free(index->entries);
    *index = (struct time_index){0};
}

bool time_index_append(struct time_index *index, struct time_index_entry entry) {
    ASSERT(entry.relative_offset >= 0);
    if (entry.timestamp_ms < 0) return false;
    if (index->count > 0) {
        const struct time_index_entry *last = &index->entries[index->count - 1];
        if (entry.timestamp_ms <= last->timestamp_ms) return false;
        ASSERT(entry.relative_offset > last->relative_offset);
    }
    index->entries = grown(index->entries, index->count, &index->capacity, sizeof entry);
    index->entries[index->count++] = entry;
    return true;
}

void time_index_truncate(struct time_index *index, int64_t relative_offset) {
    while (index->count > 0 && index->entries[index->count - 1].relative_offset >= relative_offset)
        index->count--;
    index->written = min_size(index->written, index->count);
}

struct time_index_entry time_index_floor(const struct time_index *index, int64_t timestamp_ms) {
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->entries[middle].timestamp_ms <= timestamp_ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? (struct time_index_entry){-1, 0} : index->entries[low - 1];
}

bool time_index_decode(struct time_index *index, struct bytes file, struct text *reason) {
    time_index_free(index);
    if (!size_is_whole(file, TIME_INDEX_ENTRY_BYTES, reason)) return false;
    int64_t before_time = -1, before_offset = -1;
    for (size_t at = 0; at < file.size; at += TIME_INDEX_ENTRY_BYTES) {
        int64_t time = (int64_t)load_be64(file.data + at);
        int32_t offset = (int32_t)load_be32(file.data + at + 8);
        // A lone entry of zeros may also be a record of 1970 at the segment's base: nothing is lost by not knowing it.
        if (time == 0 && offset == 0 && is_all_zero(file.data + at, file.size - at)) break;
        if (time <= before_time || offset <= before_offset) {
            text_addf(reason, "entry at byte %zu (time %" PRId64 ", offset +%" PRId32 ") does not rise", at, time,
                      offset);
            time_index_free(index);
            return false;
        }
        time_index_append(index, (struct time_index_entry){time, offset});
        before_time = time;
        before_offset = offset;
    }
    index->written = index->count;
    return true;
}

void time_index_encode(const struct time_index *index, size_t from, uint8_t *to) {
    for (size_t i = from; i < index->count; i++, to += TIME_INDEX_ENTRY_BYTES) {
        store_be64(to, (uint64_t)index->entries[i].timestamp_ms);
        store_be32(to + 8, (uint32_t)index->entries[i].relative_offset);
    }
}
