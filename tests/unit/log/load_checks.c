// SPDX-License-Identifier: Apache-2.0
#include "load_checks.h"
#include <criterion/criterion.h>

void check_load(struct replica *r, struct log_load *load, int64_t start, int64_t end) {
    struct log *log = replica_load_with(r, load, 0);
    cr_assert_eq(log->start_offset, start, "start %lld: %s", (long long)log->start_offset, load->reason);
    cr_assert_eq(log->end_offset, end, "end %lld: %s", (long long)log->end_offset, load->reason);
    cr_assert_eq(log->flushed_end, end);
    cr_assert_eq(log->recovery_point, end);
    cr_assert_leq(log->high_watermark, end);
    log_free(log);
    uint64_t digest = replica_digest(r);
    struct log_load again = *load;
    log = replica_load_with(r, &again, 0);
    cr_assert_eq(log->end_offset, end, "the second time");
    log_free(log);
    cr_assert_eq(replica_digest(r), digest, "a second load changes bytes");
}

void three_segments(struct replica *r) {
    replica_open(r);
    for (int i = 0; i < 3; i++) {
        if (i > 0) replica_roll(r);
        r->epoch = i * 2;
        replica_fill(r, 40, 200);
    }
    cr_assert_eq(r->next_offset, 240);
}

void three_recovered(struct replica *r) {
    three_segments(r);
    struct log_load load = replica_load(r);
    log_free(replica_load_with(r, &load, 0));
}
