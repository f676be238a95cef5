// SPDX-License-Identifier: Apache-2.0
// Power-of-two classes with a free list each, and a first-come-first-served budget.
#include "core/buffers.h"
#include "base/assert.h"
#include <stdlib.h>

void buffers_init(struct buffers *buffers, size_t kept_limit_bytes) {
    *buffers = (struct buffers){.kept_limit_bytes = kept_limit_bytes};
}

void buffers_free(struct buffers *buffers) {
    for (int i = 0; i < BUFFER_CLASSES; i++) {
        while (buffers->free_lists[i]) {
            struct buffer_free *next = buffers->free_lists[i]->next;
            free(buffers->free_lists[i]);
            buffers->free_lists[i] = next;
        }
    }
    buffers->kept_bytes = 0;
}

// The class that holds size_bytes; BUFFER_CLASSES if none does.
static int class_of(size_t size_bytes) {
    if (size_bytes <= (size_t)1 << BUFFER_CLASS_MIN_SHIFT) return 0;
    int shift = 64 - __builtin_clzll(size_bytes - 1);
    return shift > BUFFER_CLASS_MAX_SHIFT ? BUFFER_CLASSES : shift - BUFFER_CLASS_MIN_SHIFT;
}
static size_t class_bytes(int class) {
    return (size_t)1 << (class + BUFFER_CLASS_MIN_SHIFT);
}

void *buffer_take(struct buffers *buffers, size_t size_bytes) {
    ASSERT(size_bytes > 0);
    int class = class_of(size_bytes);
    size_t size = class == BUFFER_CLASSES ? size_bytes : class_bytes(class);
    buffers->taken_bytes += size;
    if (class < BUFFER_CLASSES && buffers->free_lists[class]) {
        struct buffer_free *buffer = buffers->free_lists[class];
        buffers->free_lists[class] = buffer->next;
        buffers->kept_bytes -= size;
        return buffer;
    }
    void *buffer = malloc(size);
    ASSERT(buffer != NULL);
    return buffer;
}

void buffer_give(struct buffers *buffers, void *memory, size_t size_bytes) {
    ASSERT(memory != NULL);
    int class = class_of(size_bytes);
    size_t size = class == BUFFER_CLASSES ? size_bytes : class_bytes(class);
    ASSERT(buffers->taken_bytes >= size);
    buffers->taken_bytes -= size;
    if (class == BUFFER_CLASSES || buffers->kept_bytes + size > buffers->kept_limit_bytes) {
        free(memory);
        return;
    }
    struct buffer_free *buffer = memory;
    buffer->next = buffers->free_lists[class];
    buffers->free_lists[class] = buffer;
    buffers->kept_bytes += size;
}

void budget_init(struct budget *budget, size_t limit_bytes) {
    budget->limit_bytes = limit_bytes;
    budget->used_bytes = 0;
    list_init(&budget->waiting);
}

static bool budget_has_room(const struct budget *budget, size_t size_bytes) {
    return budget->used_bytes == 0 ||
           (budget->used_bytes <= budget->limit_bytes && size_bytes <= budget->limit_bytes - budget->used_bytes);
}

bool budget_claim(struct budget *budget, struct budget_claim *claim, struct flow *flow, size_t size_bytes) {
    list_init(&claim->link);
    claim->flow = flow;
    claim->size_bytes = size_bytes;
    claim->granted = list_is_empty(&budget->waiting) && budget_has_room(budget, size_bytes);
    if (claim->granted) {
        budget->used_bytes += size_bytes;
    } else {
        list_push_back(&budget->waiting, &claim->link);
    }
    return claim->granted;
}

void budget_withdraw(struct budget_claim *claim) {
    ASSERT(!claim->granted);
    list_remove(&claim->link);
}

void budget_return(struct budget *budget, size_t size_bytes) {
    ASSERT(budget->used_bytes >= size_bytes);
    budget->used_bytes -= size_bytes;
    for (struct list *link = list_front(&budget->waiting); link; link = list_front(&budget->waiting)) {
        struct budget_claim *claim = container_of(link, struct budget_claim, link);
        if (!budget_has_room(budget, claim->size_bytes)) break;
        list_remove(link);
        claim->granted = true;
        budget->used_bytes += claim->size_bytes;
        flow_wake(claim->flow);
    }
}
