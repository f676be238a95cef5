// SPDX-License-Identifier: Apache-2.0
// Arrays for the hot codecs, in memory of an arena.
#pragma once

#include "base/arena.h"
#include "protocol/wire.h"

// Room for the elements of an array that may not be null, or NULL with *count 0: an empty array, or a failed reader.
static inline void *read_array(struct reader *r, bool flexible, size_t wire_min_bytes, size_t element_bytes,
                               int32_t *count, struct arena *arena) {
    int32_t n = read_count(r, flexible, wire_min_bytes);
    *count = 0;
    if (n < 0) reader_fail(r, "null where an array is needed");
    if (r->error || n == 0) return NULL;
    void *elements = arena_alloc_array(arena, (size_t)n, element_bytes);
    if (!elements) {
        reader_fail(r, "message needs more memory than it may use");
        return NULL;
    }
    *count = n;
    return elements;
}
