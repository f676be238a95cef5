// SPDX-License-Identifier: Apache-2.0
// Memory of one request (or one image): allocations are dropped together, and things that the request holds are
// released with it. An arena has a limit, so that no input can make a request take more than its share. Owned by one
// core at a time.
#pragma once

#include "base/slice.h"
#include <stddef.h>

struct arena_block;
struct arena_hold {
    struct arena_hold *next;
    void (*release)(void *object);
    void *object;
};
struct arena {
    struct arena_block *blocks; // newest first
    struct arena_hold *holds;   // newest first
    size_t used_bytes;          // of the newest block
    size_t total_bytes;         // taken from the allocator so far
    size_t limit_bytes;         // total_bytes never exceeds it
};

// Nothing is allocated before the first arena_alloc.
void arena_init(struct arena *a, size_t limit_bytes);
// Zeroed memory aligned to 16 bytes, or NULL when the limit would be passed: the caller ends the request. size_bytes
// may be 0.
void *arena_alloc(struct arena *a, size_t size_bytes);
// count elements; an overflowing product is "over the limit" (NULL).
void *arena_alloc_array(struct arena *a, size_t count, size_t element_bytes);
// A copy, terminated by NUL for the convenience of printing; null stays null. Over the limit: data == NULL.
struct str arena_copy_str(struct arena *a, struct str s);
// Text of at most 1 KiB, the rest is cut off. Over the limit: null.
__attribute__((format(printf, 2, 3))) struct str arena_format(struct arena *a, const char *format, ...);
// Calls release(object) when the arena is dropped, newest first. False when over the limit (nothing is registered
// then).
bool arena_hold(struct arena *a, void (*release)(void *object), void *object);
// Releases what is held, then the memory. The arena can be used again.
void arena_drop(struct arena *a);
