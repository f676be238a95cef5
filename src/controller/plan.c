// SPDX-License-Identifier: Apache-2.0
#include "controller/plan.h"
#include "base/assert.h"

void plan_assign(const int32_t *brokers, int32_t broker_count, int32_t first_partition, int32_t partition_count,
                 int32_t replication_factor, int32_t start, int32_t shift, int32_t *replicas) {
    ASSERT(replication_factor >= 1 && replication_factor <= broker_count);
    ASSERT(first_partition >= 0 && partition_count >= 0 && start >= 0 && shift >= 0);
    start %= broker_count;
    shift %= broker_count;
    for (int32_t i = 0; i < partition_count; i++) {
        int32_t partition = first_partition + i;
        if (partition > 0 && partition % broker_count == 0) shift = (shift + 1) % broker_count;
        int32_t first = (int32_t)(((int64_t)partition + start) % broker_count);
        int32_t *row = replicas + (int64_t)i * replication_factor;
        row[0] = brokers[first];
        for (int32_t j = 0; j + 1 < replication_factor; j++)
            row[j + 1] = brokers[(first + 1 + (shift + j) % (broker_count - 1)) % broker_count];
    }
}

static int least(const int32_t *counts, const bool *excluded, int count) {
    int best = -1;
    for (int i = 0; i < count; i++)
        if (!(excluded && excluded[i]) && (best < 0 || counts[i] < counts[best])) best = i;
    return best;
}

int plan_core(struct plan_load *load) {
    ASSERT(load->core_count > 0 && load->core_count <= PLAN_PLACES_MAX);
    int core = least(load->cores, 0, load->core_count);
    load->cores[core]++;
    return core;
}

int plan_dir(struct plan_load *load) {
    ASSERT(load->dir_count > 0 && load->dir_count <= PLAN_PLACES_MAX);
    int dir = least(load->dirs, load->dir_failed, load->dir_count);
    if (dir >= 0) load->dirs[dir]++;
    return dir;
}
