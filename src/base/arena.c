// SPDX-License-Identifier: Apache-2.0
// Blocks of growing size in a list; an allocation larger than a block gets one of its own. Fails only by its limit: a
// failed malloc is a programmer error, because budgets are fixed at start.
#include "base/arena.h"
#include "base/assert.h"
#include "base/bits.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARENA_ALIGN = 16, ARENA_BLOCK_MIN_BYTES = 1024, ARENA_BLOCK_MAX_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t size_bytes; // of data
    _Alignas(ARENA_ALIGN) char data[];
};

void arena_init(struct arena *a, size_t limit_bytes) {
    *a = (struct arena){.limit_bytes = limit_bytes};
}

static bool arena_grow(struct arena *a, size_t needed_bytes) {
    size_t size = a->blocks ? min_size(a->blocks->size_bytes * 2, ARENA_BLOCK_MAX_BYTES) : ARENA_BLOCK_MIN_BYTES;
    size = max_size(size, needed_bytes);
    if (size > a->limit_bytes - a->total_bytes) size = needed_bytes;
    if (size > a->limit_bytes - a->total_bytes) return false;
    struct arena_block *block = malloc(sizeof *block + size);
    ASSERT(block != NULL);
    block->next = a->blocks;
    block->size_bytes = size;
    a->blocks = block;
    a->used_bytes = 0;
    a->total_bytes += size;
    ASSERT(a->total_bytes <= a->limit_bytes);
    return true;
}

void *arena_alloc(struct arena *a, size_t size_bytes) {
    if (size_bytes > a->limit_bytes) return NULL;
    size_t size = align_up(size_bytes, ARENA_ALIGN);
    if (!a->blocks || a->blocks->size_bytes - a->used_bytes < size) {
        if (!arena_grow(a, size)) return NULL;
    }
    void *memory = a->blocks->data + a->used_bytes;
    a->used_bytes += size;
    ASSERT(a->used_bytes <= a->blocks->size_bytes);
    memset(memory, 0, size);
    return memory;
}

void *arena_alloc_array(struct arena *a, size_t count, size_t element_bytes) {
    size_t size;
    if (__builtin_mul_overflow(count, element_bytes, &size)) return NULL;
    return arena_alloc(a, size);
}

struct str arena_copy_str(struct arena *a, struct str s) {
    if (str_is_null(s)) return s;
    char *copy = arena_alloc(a, s.size + 1);
    if (!copy) return (struct str){NULL, 0};
    if (s.size > 0) memcpy(copy, s.data, s.size);
    return (struct str){copy, s.size};
}

bool arena_hold(struct arena *a, void (*release)(void *object), void *object) {
    struct arena_hold *hold = arena_alloc(a, sizeof *hold);
    if (!hold) return false;
    *hold = (struct arena_hold){.next = a->holds, .release = release, .object = object};
    a->holds = hold;
    return true;
}

void arena_drop(struct arena *a) {
    for (struct arena_hold *hold = a->holds; hold; hold = hold->next)
        hold->release(hold->object);
    struct arena_block *block = a->blocks;
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena_init(a, a->limit_bytes);
}

struct str arena_format(struct arena *a, const char *format, ...) {
    char memory[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(memory, sizeof memory, format, arguments);
    va_end(arguments);
    ASSERT(n >= 0);
    return arena_copy_str(a, (struct str){memory, min_size((size_t)n, sizeof memory - 1)});
}
