// SPDX-License-Identifier: Apache-2.0
// Where replicas go: pure decisions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Kafka's spreading: the first replicas go round the brokers from `start`, the others follow at a distance that grows
// by one each time round. replicas: partition_count x replication_factor, filled. brokers are distinct ids; 1 <=
// replication_factor <= broker_count; start and shift are any numbers >= 0 (random for a new topic).
void plan_assign(const int32_t *brokers, int32_t broker_count, int32_t first_partition, int32_t partition_count,
                 int32_t replication_factor, int32_t start, int32_t shift, int32_t *replicas);

// How many replicas each data core and each log directory of this broker has.
enum { PLAN_PLACES_MAX = 256 };
struct plan_load {
    int core_count, dir_count;
    int32_t cores[PLAN_PLACES_MAX], dirs[PLAN_PLACES_MAX];
    bool dir_failed[PLAN_PLACES_MAX];
};
// The one with the fewest (the first of equals) gets one more. plan_dir: -1 if all have failed.
int plan_core(struct plan_load *load);
int plan_dir(struct plan_load *load);
