// SPDX-License-Identifier: Apache-2.0
// What the groups of one core hold in memory, counted against a limit: members with their metadata and assignments,
// committed offsets, topic names. What would pass the limit is refused; nothing is evicted.
#pragma once

#include "base/assert.h"
#include "base/slice.h"

struct group_memory {
    size_t used_bytes, limit_bytes;
};

static inline bool group_memory_fits(const struct group_memory *memory, size_t size_bytes) {
    return memory->used_bytes <= memory->limit_bytes && size_bytes <= memory->limit_bytes - memory->used_bytes;
}
// Loading takes what the log holds, whatever the limit is: so taking never fails, and who may refuse asks first.
static inline void group_memory_take(struct group_memory *memory, size_t size_bytes) {
    memory->used_bytes += size_bytes;
}
static inline void group_memory_give(struct group_memory *memory, size_t size_bytes) {
    ASSERT(memory->used_bytes >= size_bytes);
    memory->used_bytes -= size_bytes;
}

// Copies that their owner frees with str_free and bytes_free. Null stays null, empty stays empty.
struct str str_duplicate(struct str s);
void str_free(struct str *s);
struct bytes bytes_duplicate(struct bytes b);
void bytes_free(struct bytes *b);
