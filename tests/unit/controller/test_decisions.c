// SPDX-License-Identifier: Apache-2.0
// The pure decisions, by tables.
#include "base/bits.h"
#include "controller/elect.h"
#include "controller/plan.h"
#include <criterion/criterion.h>

Test(plan, spreads_as_kafka_does) {
    // Five brokers, factor 3, start 0, shift 0: the example of Kafka's documentation.
    static const int32_t brokers[] = {0, 1, 2, 3, 4};
    static const int32_t expected[10][3] = {{0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 0}, {4, 0, 1},
                                            {0, 2, 3}, {1, 3, 4}, {2, 4, 0}, {3, 0, 1}, {4, 1, 2}};
    int32_t replicas[30];
    plan_assign(brokers, 5, 0, 10, 3, 0, 0, replicas);
    cr_assert_eq(memcmp(replicas, expected, sizeof expected), 0);
    // One broker takes everything.
    static const int32_t one[] = {7};
    plan_assign(one, 1, 3, 4, 1, 12345, 6789, replicas);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(replicas[i], 7);
    // Whatever the start, a partition's replicas are distinct and every broker leads equally often.
    for (int start = 0; start < 7; start++) {
        int leads[5] = {0};
        plan_assign(brokers, 5, 0, 10, 3, start, start * 3, replicas);
        for (int p = 0; p < 10; p++) {
            int32_t *r = replicas + p * 3;
            leads[r[0]]++;
            cr_assert(r[0] != r[1] && r[1] != r[2] && r[0] != r[2]);
        }
        for (int i = 0; i < 5; i++)
            cr_assert_eq(leads[i], 2);
    }
}

Test(plan, places_by_load) {
    struct plan_load load = {.core_count = 3, .dir_count = 2, .cores = {2, 0, 1}, .dirs = {5, 5}};
    static const int cores[] = {1, 1, 2, 0, 1, 2};
    for (size_t i = 0; i < ARRAY_LENGTH(cores); i++)
        cr_assert_eq(plan_core(&load), cores[i], "%zu", i);
    cr_assert_eq(plan_dir(&load), 0);
    cr_assert_eq(plan_dir(&load), 1);
    load.dir_failed[0] = true;
    cr_assert_eq(plan_dir(&load), 1);
    load.dir_failed[1] = true;
    cr_assert_eq(plan_dir(&load), -1);
}

struct elect_case {
    int32_t replicas[3], isr[3], alive[3]; // -1 ends
    bool is_new, unclean;
    int32_t leader, epoch;
    int32_t new_isr[3];
};

Test(elect, table) {
    static const struct elect_case cases[] = {
        {{1, 2, 3}, {-1}, {2, 3, -1}, true, false, 2, 0, {2, 3, -1}},
        {{1, 2, 3}, {-1}, {-1}, true, true, -1, 0, {-1}},
        {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, false, false, 1, 6, {1, 2, 3}},
        {{1, 2, 3}, {3, 2, -1}, {2, 3, -1}, false, false, 2, 6, {3, 2, -1}},
        {{1, 2, 3}, {3, 1, -1}, {2, 3, -1}, false, false, 3, 6, {3, -1}},
        {{1, 2, 3}, {1, -1}, {2, 3, -1}, false, false, -1, 6, {1, -1}},
        {{1, 2, 3}, {1, -1}, {2, 3, -1}, false, true, 2, 6, {2, -1}},
        {{1, 2, 3}, {1, -1}, {-1}, false, true, -1, 6, {1, -1}},
        {{1, -1}, {1, -1}, {1, -1}, false, false, 1, 6, {1, -1}},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const struct elect_case *c = &cases[i];
        int32_t counts[4] = {0}, isr[6];
        const int32_t *lists[] = {c->replicas, c->isr, c->alive, c->new_isr};
        for (int l = 0; l < 4; l++)
            while (counts[l] < 3 && lists[l][counts[l]] >= 0)
                counts[l]++;
        struct elect_partition partition = {.replicas = c->replicas,
                                            .replica_count = counts[0],
                                            .is_new = c->is_new,
                                            .isr = c->isr,
                                            .isr_count = counts[1],
                                            .leader_epoch = 5,
                                            .alive = c->alive,
                                            .alive_count = counts[2],
                                            .unclean_allowed = c->unclean};
        struct elect_result result = elect_leader(&partition, isr);
        cr_assert_eq(result.leader, c->leader, "case %zu", i);
        cr_assert_eq(result.leader_epoch, c->epoch, "case %zu", i);
        cr_assert_eq(result.isr_count, counts[3], "case %zu", i);
        cr_assert_eq(memcmp(isr, c->new_isr, (size_t)counts[3] * sizeof *isr), 0, "case %zu", i);
    }
}
