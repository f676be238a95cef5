// SPDX-License-Identifier: Apache-2.0
// Buffers by class, and the budget that frames are charged to.
#include "core/buffers.h"
#include <criterion/criterion.h>

Test(buffers, are_kept_up_to_a_limit_and_used_again) {
    struct buffers buffers;
    buffers_init(&buffers, 4096);
    void *a = buffer_take(&buffers, 1000), *b = buffer_take(&buffers, 4096);
    cr_assert_eq(buffers.taken_bytes, 1024 + 4096);
    buffer_give(&buffers, a, 1000);
    cr_assert_eq(buffer_take(&buffers, 600), a);
    buffer_give(&buffers, a, 600);
    buffer_give(&buffers, b, 4096); // beyond the limit: given back to the system
    cr_assert_eq(buffers.kept_bytes, 1024);
    void *large = buffer_take(&buffers, 10 << 20);
    buffer_give(&buffers, large, 10 << 20);
    cr_assert_eq(buffers.taken_bytes, 0);
    buffers_free(&buffers);
}

Test(budget, grants_in_order_of_arrival) {
    struct budget budget;
    budget_init(&budget, 100);
    struct flow flow = {0};
    struct budget_claim a, b, c, huge;
    cr_assert(budget_claim(&budget, &a, &flow, 60, false));
    cr_assert_not(budget_claim(&budget, &b, &flow, 50, false));
    cr_assert_not(budget_claim(&budget, &c, &flow, 10, false)); // would fit, but b was first
    budget_return(&budget, 60, false);
    cr_assert(b.granted && c.granted);
    budget_return(&budget, 60, false);
    cr_assert(budget_claim(&budget, &huge, &flow, 1000, false)); // larger than the limit: alone
    cr_assert_not(budget_claim(&budget, &a, &flow, 2, false));
    budget_withdraw(&budget, &a);
    budget_return(&budget, 1000, false);
    cr_assert_eq(budget.used_bytes, 0);
}

Test(budget, large_frames_do_not_keep_small_ones_out_nor_small_ones_large_ones) {
    struct budget budget;
    budget_init(&budget, 6400);
    struct flow flow = {0};
    struct budget_claim large, next, small[64];
    cr_assert(budget_claim(&budget, &large, &flow, 5600, false)); // seven eighths
    cr_assert_not(budget_claim(&budget, &next, &flow, 200, false));
    for (int i = 0; i < 8; i++)
        cr_assert(budget_claim(&budget, &small[i], &flow, 100, false));
    cr_assert_not(budget_claim(&budget, &small[8], &flow, 100, false)); // all of 6400 is held
    budget_return(&budget, 100, false);
    cr_assert(small[8].granted && !next.granted);
    cr_assert_not(budget_claim(&budget, &small[9], &flow, 100, false));
    budget_return(&budget, 5600, false);
    cr_assert(next.granted && small[9].granted);
    budget_return(&budget, 200, false);
    for (int i = 10; i < 64; i++)
        cr_assert(budget_claim(&budget, &small[i], &flow, 100, false)); // nobody large waits: small ones may have all
    cr_assert_not(budget_claim(&budget, &next, &flow, 5600, false));
    for (int i = 0; i < 55; i++)
        budget_return(&budget, 100, false);
    cr_assert(next.granted);
}

Test(budget, whoever_withdraws_makes_way) {
    struct budget budget;
    budget_init(&budget, 6400);
    struct flow flow = {0};
    struct budget_claim held, first, second;
    cr_assert(budget_claim(&budget, &held, &flow, 3000, false));
    cr_assert_not(budget_claim(&budget, &first, &flow, 5000, false));
    cr_assert_not(budget_claim(&budget, &second, &flow, 1000, false));
    budget_withdraw(&budget, &first);
    cr_assert(second.granted);
}

enum { LIMIT = 1 << 20, TINY = LIMIT / 4096, SMALL = LIMIT / 64 };

Test(budget, tiny_frames_and_those_that_are_here_pass_by_the_crowd) {
    struct budget budget;
    budget_init(&budget, LIMIT);
    struct flow flow = {0};
    struct budget_claim crowd[64], waiting, tiny[257], here;
    for (int i = 0; i < 64; i++)
        cr_assert(budget_claim(&budget, &crowd[i], &flow, SMALL, false)); // all of it
    cr_assert_not(budget_claim(&budget, &waiting, &flow, SMALL, false));
    for (int i = 0; i < 256; i++)
        cr_assert(budget_claim(&budget, &tiny[i], &flow, TINY, false)); // a sixteenth more
    cr_assert_not(budget_claim(&budget, &tiny[256], &flow, TINY, false));
    cr_assert_eq(budget.waiting_bytes, SMALL + TINY);
    cr_assert(budget_claim(&budget, &here, &flow, SMALL, true));
    cr_assert(tiny[0].is_extra && here.is_extra && !crowd[0].is_extra);
    budget_return(&budget, SMALL, true);
    cr_assert_not(tiny[256].granted || waiting.granted);
    budget_return(&budget, TINY, true);
    cr_assert(tiny[256].granted && !waiting.granted);
    cr_assert(budget_is_short(&budget));
    for (int i = 0; i < 256; i++)
        budget_return(&budget, TINY, true);
    cr_assert_not(waiting.granted);
    budget_return(&budget, SMALL, false);
    cr_assert(waiting.granted);
    cr_assert_not(budget_is_short(&budget));
}

// However many requests are on their way: clients that send whole frames and read no answer use up no memory.
Test(budget, what_is_here_is_bounded_too) {
    struct budget budget;
    budget_init(&budget, LIMIT);
    struct flow flow = {0};
    static struct budget_claim claims[4 * 64];
    size_t granted = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(claims); i++)
        granted += budget_claim(&budget, &claims[i], &flow, SMALL, true);
    cr_assert_eq(granted, 64 + 8);
    cr_assert_eq(budget.used_bytes + budget.extra_bytes, LIMIT + LIMIT / 8);
    for (size_t i = 0; i < ARRAY_LENGTH(claims); i++) {
        cr_assert(claims[i].granted, "claim %zu", i);
        budget_return(&budget, SMALL, claims[i].is_extra);
    }
    cr_assert_eq(budget.used_bytes + budget.extra_bytes + budget.waiting_bytes, 0);
}

Test(budget, a_large_frame_gets_its_turn_however_many_requests_are_here) {
    struct budget budget;
    budget_init(&budget, LIMIT);
    struct flow flow = {0};
    struct budget_claim here[16], large;
    for (int i = 0; i < 16; i++)
        cr_assert(budget_claim(&budget, &here[i], &flow, SMALL, true)); // a quarter
    cr_assert_not(budget_claim(&budget, &large, &flow, LIMIT, false));
    for (int i = 0; i < 100 && !large.granted; i++) { // each one that ends is followed by another
        budget_return(&budget, SMALL, here[i % 16].is_extra);
        cr_assert(budget_claim(&budget, &here[i % 16], &flow, SMALL, true), "request %d", i);
    }
    cr_assert(large.granted);
}
