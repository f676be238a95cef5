// SPDX-License-Identifier: Apache-2.0
// Level 0 has a slot for each of the next 64 ms, level n a slot for 64^n ms. A
// timer sits on the level of the highest group of 6 bits in which its deadline
// differs from now; when the clock enters a slot of a higher level, its timers
// move down. The levels together count to 2^48 ms (8,900 years): a later deadline
// is never reached, and waits at the end.
#include "core/timer.h"
#include "base/assert.h"

enum { SLOT_BITS = 6 };
static const uint64_t TIMER_END_MS = (1ull << (SLOT_BITS * TIMER_LEVELS)) - 1;

void timer_wheel_init(struct timer_wheel *wheel, uint64_t now_ms) {
    wheel->now_ms = now_ms;
    wheel->count = 0;
    for (int level = 0; level < TIMER_LEVELS; level++) {
        wheel->occupied[level] = 0;
        for (int slot = 0; slot < TIMER_SLOTS; slot++)
            list_init(&wheel->slots[level][slot]);
    }
}

static unsigned slot_of(uint64_t time_ms, int level) {
    return (unsigned)(time_ms >> (SLOT_BITS * level)) & (TIMER_SLOTS - 1);
}

static void timer_place(struct timer_wheel *wheel, struct timer *timer) {
    uint64_t due = timer->deadline_ms > wheel->now_ms ? timer->deadline_ms : wheel->now_ms + 1;
    if (due > TIMER_END_MS) due = TIMER_END_MS;
    ASSERT(due > wheel->now_ms);
    int level = (63 - __builtin_clzll(due ^ wheel->now_ms)) / SLOT_BITS;
    ASSERT(level < TIMER_LEVELS);
    unsigned slot = slot_of(due, level);
    list_push_back(&wheel->slots[level][slot], &timer->link);
    wheel->occupied[level] |= 1ull << slot;
}

static void occupied_update(struct timer_wheel *wheel, struct list *link) {
    // Only needed when the list that held the link became empty; found by address
    // within the slots array.
    struct list *neighbour = link->next;
    if (neighbour != link->prev) return; // other timers stay
    if (neighbour < &wheel->slots[0][0] || neighbour > &wheel->slots[TIMER_LEVELS - 1][TIMER_SLOTS - 1]) return;
    size_t index = (size_t)(neighbour - &wheel->slots[0][0]);
    wheel->occupied[index / TIMER_SLOTS] &= ~(1ull << (index % TIMER_SLOTS));
}

void timer_wheel_cancel(struct timer_wheel *wheel, struct timer *timer) {
    if (!timer_is_set(timer)) return;
    ASSERT(wheel->count > 0);
    occupied_update(wheel, &timer->link);
    list_remove(&timer->link);
    wheel->count--;
}

void timer_wheel_set(struct timer_wheel *wheel, struct timer *timer, uint64_t deadline_ms) {
    ASSERT(timer->fire != NULL);
    timer_wheel_cancel(wheel, timer);
    timer->deadline_ms = deadline_ms;
    timer_place(wheel, timer);
    wheel->count++;
}

static void slot_take(struct timer_wheel *wheel, int level, unsigned slot, struct list *into) {
    struct list *from = &wheel->slots[level][slot];
    for (struct list *link = list_pop_front(from); link; link = list_pop_front(from))
        list_push_back(into, link);
    wheel->occupied[level] &= ~(1ull << slot);
}

// Moves the clock to `to_ms`, at most to the next slot border of the level that
// has something, and collects what is due.
static void wheel_step(struct timer_wheel *wheel, uint64_t to_ms, struct list *due) {
    uint64_t before = wheel->now_ms;
    wheel->now_ms = to_ms;
    struct list moved;
    list_init(&moved);
    for (int level = TIMER_LEVELS - 1; level >= 0; level--) {
        if ((before >> (SLOT_BITS * level)) == (to_ms >> (SLOT_BITS * level))) continue;
        slot_take(wheel, level, slot_of(to_ms, level), &moved);
    }
    for (struct list *link = list_pop_front(&moved); link; link = list_pop_front(&moved)) {
        struct timer *timer = container_of(link, struct timer, link);
        if (timer->deadline_ms <= to_ms) {
            list_push_back(due, link);
        } else {
            timer_place(wheel, timer);
        }
    }
}

uint64_t timer_wheel_next_ms(const struct timer_wheel *wheel) {
    for (int level = 0; level < TIMER_LEVELS; level++) {
        if (wheel->occupied[level] == 0) continue;
        unsigned now_slot = slot_of(wheel->now_ms, level);
        // All occupied slots of a level lie ahead of now in the same turn of that
        // level's wheel.
        uint64_t ahead = now_slot == TIMER_SLOTS - 1 ? 0 : wheel->occupied[level] & ~((2ull << now_slot) - 1);
        ASSERT(ahead != 0);
        unsigned slot = (unsigned)__builtin_ctzll(ahead);
        uint64_t turn = wheel->now_ms >> (SLOT_BITS * (level + 1)) << (SLOT_BITS * (level + 1));
        return turn + ((uint64_t)slot << (SLOT_BITS * level));
    }
    return UINT64_MAX; // nothing is set but perhaps timers that are firing just now
}

void timer_wheel_advance(struct timer_wheel *wheel, uint64_t now_ms) {
    ASSERT(now_ms < TIMER_END_MS);
    struct list due;
    list_init(&due);
    while (wheel->now_ms < now_ms) {
        uint64_t next = timer_wheel_next_ms(wheel);
        if (next > now_ms) {
            wheel->now_ms = now_ms;
            break;
        }
        wheel_step(wheel, next, &due);
    }
    // Fired one by one from the list's front: a timer that fires may cancel or
    // move another one that is still in it.
    for (struct list *link = list_pop_front(&due); link; link = list_pop_front(&due)) {
        wheel->count--;
        struct timer *timer = container_of(link, struct timer, link);
        timer->fire(timer);
    }
}
