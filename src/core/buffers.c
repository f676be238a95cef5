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
    *budget = (struct budget){.limit_bytes = limit_bytes};
    for (int kind = 0; kind < BUDGET_KINDS; kind++)
        list_init(&budget->waiting[kind]);
}

static enum budget_kind kind_of(const struct budget *budget, size_t size_bytes) {
    if (size_bytes <= budget->limit_bytes >> BUDGET_TINY_SHIFT) return BUDGET_TINY;
    return size_bytes <= budget->limit_bytes >> BUDGET_SMALL_SHIFT ? BUDGET_SMALL : BUDGET_LARGE;
}

static bool fits(size_t used_bytes, size_t size_bytes, size_t limit_bytes) {
    return used_bytes <= limit_bytes && size_bytes <= limit_bytes - used_bytes;
}

static bool budget_has_room(const struct budget *budget, size_t size_bytes) {
    size_t eighth_bytes = budget->limit_bytes / 8, small_bytes = budget->used_bytes - budget->large_bytes;
    if (budget->used_bytes == 0) return true;
    if (kind_of(budget, size_bytes) == BUDGET_LARGE) {
        bool alone = budget->large_bytes == 0 && small_bytes <= eighth_bytes;
        return alone || (fits(budget->large_bytes, size_bytes, budget->limit_bytes - eighth_bytes) &&
                         fits(budget->used_bytes, size_bytes, budget->limit_bytes));
    }
    // An oversized frame that was let in alone does not keep small ones out of their eighth.
    return fits(small_bytes, size_bytes, eighth_bytes) ||
           (list_is_empty(&budget->waiting[BUDGET_LARGE]) && fits(budget->used_bytes, size_bytes, budget->limit_bytes));
}

static bool budget_has_extra(const struct budget *budget, enum budget_kind kind, size_t size_bytes) {
    if (kind != BUDGET_HERE && kind != BUDGET_TINY) return false;
    return fits(budget->extra_bytes, size_bytes, budget->limit_bytes / (kind == BUDGET_HERE ? 8 : 16));
}

static bool budget_grant(struct budget *budget, enum budget_kind kind, struct budget_claim *claim) {
    size_t size_bytes = claim->size_bytes;
    claim->is_extra = !budget_has_room(budget, size_bytes);
    claim->granted = !claim->is_extra || budget_has_extra(budget, kind, size_bytes);
    if (!claim->granted) return false;
    if (claim->is_extra) {
        budget->extra_bytes += size_bytes;
        return true;
    }
    budget->used_bytes += size_bytes;
    if (kind_of(budget, size_bytes) == BUDGET_LARGE) budget->large_bytes += size_bytes;
    return true;
}

static void budget_remove(struct budget *budget, struct budget_claim *claim) {
    ASSERT(budget->waiting_bytes >= claim->size_bytes);
    list_remove(&claim->link);
    budget->waiting_bytes -= claim->size_bytes;
}

static void budget_serve(struct budget *budget) {
    for (enum budget_kind kind = 0; kind < BUDGET_KINDS; kind++) {
        struct list *queue = &budget->waiting[kind];
        for (struct list *link = list_front(queue); link; link = list_front(queue)) {
            struct budget_claim *claim = container_of(link, struct budget_claim, link);
            if (!budget_grant(budget, kind, claim)) break;
            budget_remove(budget, claim);
            flow_wake(claim->flow);
        }
    }
}

bool budget_claim(struct budget *budget, struct budget_claim *claim, struct flow *flow, size_t size_bytes,
                  bool is_here) {
    ASSERT(size_bytes > 0);
    enum budget_kind kind = is_here ? BUDGET_HERE : kind_of(budget, size_bytes);
    list_init(&claim->link);
    claim->flow = flow;
    claim->size_bytes = size_bytes;
    claim->granted = claim->is_extra = false;
    if (list_is_empty(&budget->waiting[kind]) && budget_grant(budget, kind, claim)) return true;
    list_push_back(&budget->waiting[kind], &claim->link);
    budget->waiting_bytes += size_bytes;
    return false;
}

void budget_withdraw(struct budget *budget, struct budget_claim *claim) {
    ASSERT(!claim->granted);
    budget_remove(budget, claim);
    budget_serve(budget); // it may have been the one that the others waited for
}

void budget_return(struct budget *budget, size_t size_bytes, bool is_extra) {
    size_t *from = is_extra ? &budget->extra_bytes : &budget->used_bytes;
    ASSERT(*from >= size_bytes);
    *from -= size_bytes;
    if (!is_extra && kind_of(budget, size_bytes) == BUDGET_LARGE) {
        ASSERT(budget->large_bytes >= size_bytes);
        budget->large_bytes -= size_bytes;
    }
    budget_serve(budget);
}
