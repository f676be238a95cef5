// SPDX-License-Identifier: Apache-2.0
// One thread for each core: named, pinned, turning until it has had enough.
#include "os/linux/engine.h"
#include <sched.h>
#include <stdlib.h>

static void thread_pin(int cpu) {
    cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
    ASSERT(set != NULL);
    size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    (void)pthread_setaffinity_np(pthread_self(), size, set); // a CPU that was taken away: the thread runs where it may
    CPU_FREE(set);
}

static void *core_main(void *argument) {
    const struct os_core_entry *entry = argument;
    pthread_setname_np(pthread_self(), entry->name);
    if (entry->cpu >= 0) thread_pin(entry->cpu);
    while (entry->turn(entry->argument)) {
    }
    return NULL;
}

void os_run_cores(struct os_host *host, struct os_core_entry *entries, int count) {
    (void)host;
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    ASSERT(threads != NULL);
    for (int i = 0; i < count; i++) {
        ASSERT(strlen(entries[i].name) <= 15);
        int rc = pthread_create(&threads[i], NULL, core_main, &entries[i]);
        ASSERT(rc == 0); // a broker with a part of its cores cannot run
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}
