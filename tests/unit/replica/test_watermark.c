// SPDX-License-Identifier: Apache-2.0
// The rules of the high watermark and of min.insync.replicas.
#include "replica/watermark.h"
#include <criterion/criterion.h>

Test(watermark, is_the_least_acknowledged_end_and_never_goes_back) {
    struct replica_end ends[] = {{1, 10}, {2, 7}, {3, 9}};
    cr_assert_eq(watermark_of(0, ends, 1), 10);
    cr_assert_eq(watermark_of(0, ends, 3), 7);
    cr_assert_eq(watermark_of(8, ends, 3), 8);
}

Test(insync, is_capped_at_the_replication_factor) {
    cr_assert(insync_is_enough(1, 1, 1));
    cr_assert(insync_is_enough(1, 3, 1)); // one replica, min.insync.replicas=3
    cr_assert_not(insync_is_enough(1, 2, 3));
    cr_assert(insync_is_enough(2, 2, 3));
}
