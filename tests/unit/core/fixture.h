// SPDX-License-Identifier: Apache-2.0
// Real cores on the Linux engine, turned by the test itself or by threads.
#pragma once

#include "core/core.h"
#include "os/linux/host.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static inline struct core_set *cores_open(int data_cores) {
    int error = 0;
    struct core_set *set = core_set_create(os_host_create(), data_cores, &error);
    cr_assert_not_null(set, "%s", os_error_text(error));
    return set;
}
static inline void cores_close(struct core_set *set) {
    struct os_host *host = set->host;
    core_set_destroy(set);
    os_host_destroy(host);
}
// Every core on a thread of its own until all have stopped.
static inline void cores_run(struct core_set *set) {
    struct os_core_entry entries[CORES_MAX];
    for (int id = 0; id < set->count; id++)
        entries[id] = (struct os_core_entry){"core", -1, core_turn, set->cores[id]};
    os_run_cores(set->host, entries, set->count);
}
