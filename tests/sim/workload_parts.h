// SPDX-License-Identifier: Apache-2.0
// What workload.c and workload_producer.c share.
#pragma once

#include "client.h"
#include "tailrace/error.h"
#include "workload.h"

// Both may run into a broker that is starting: what a retry can cure is retried.
void workload_check_retriable(int16_t error, const char *what);
bool workload_pause_is_over(struct flow *flow, struct flow_timer *timer);
int16_t workload_version(int16_t key, int16_t low, int16_t high);
void workload_producer_start(struct core *core, struct workload *w, uint32_t number);
