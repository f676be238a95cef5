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
    cr_assert(budget_claim(&budget, &a, &flow, 60));
    cr_assert_not(budget_claim(&budget, &b, &flow, 50));
    cr_assert_not(budget_claim(&budget, &c, &flow, 10)); // would fit, but b was first
    budget_return(&budget, 60);
    cr_assert(b.granted && c.granted);
    budget_return(&budget, 60);
    cr_assert(budget_claim(&budget, &huge, &flow, 1000)); // larger than the limit: alone
    cr_assert_not(budget_claim(&budget, &a, &flow, 1));
    budget_withdraw(&a);
    budget_return(&budget, 1000);
    cr_assert_eq(budget.used_bytes, 0);
}
