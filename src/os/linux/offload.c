// SPDX-License-Identifier: Apache-2.0
// Helper threads, in two pools: for what may sleep, and for what computes. Started when there is work and nobody idle,
// at most as many as the pool may have, and kept until the host ends. Jobs of a pool start in the order in which they
// came. A finished job goes back through its core's list and doorbell.
#include "os/linux/engine.h"
#include <errno.h>
#include <stdio.h>

enum { COMPUTERS_MIN = 2 }; // one long function is not in the way of all others

struct job { // in os_op.private
    struct os *os;
    os_offload_function *function;
    void *argument;
};
_Static_assert(sizeof(struct job) <= sizeof((struct os_op *)0)->private, "a job lives in its op");

static struct job *job_of(struct os_op *op) {
    return (struct job *)op->private;
}

// With host->lock held, so that os_destroy(), which takes it too, cannot run while the core's doorbell is still to be
// rung.
static void job_report(struct os *os, struct os_op *op) {
    struct os_op *first = atomic_load_explicit(&os->offloaded, memory_order_relaxed);
    do {
        op->next = first;
    } while (
        !atomic_compare_exchange_weak_explicit(&os->offloaded, &first, op, memory_order_release, memory_order_relaxed));
    os_ring_doorbell(os);
}

static void job_run(struct os_host *host, struct os_op *op) {
    const struct job job = *job_of(op);
    pthread_mutex_unlock(&host->lock);
    op->result = job.function(host, job.argument);
    pthread_mutex_lock(&host->lock);
    job_report(job.os, op);
}

static void *helper_main(void *argument) {
    struct helper_pool *pool = argument;
    struct os_host *host = pool->host;
    pthread_setname_np(pthread_self(), pool->thread_name);
    pthread_mutex_lock(&host->lock);
    for (;;) {
        struct os_op *op = op_queue_pop(&pool->jobs);
        if (op) {
            pool->jobs_waiting--;
            job_run(host, op);
        } else if (host->stopping) {
            break;
        } else {
            pool->idle++;
            pthread_cond_wait(&pool->work, &host->lock);
            pool->idle--;
        }
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

// With host->lock held. False: there is no thread at all.
static bool helper_start(struct helper_pool *pool) {
    if (pool->count == pool->count_max) return true;
    // A thread starts on the CPUs of the one that makes it, and that is pinned.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, CPU_ALLOC_SIZE(CPUS_MAX), pool->host->cpus);
    if (pthread_create(&pool->threads[pool->count], &attributes, helper_main, pool) == 0) pool->count++;
    pthread_attr_destroy(&attributes);
    return pool->count > 0;
}

static void job_start(struct os *os, struct helper_pool *pool, struct os_op *op, const struct job *job) {
    engine_begin(os, op);
    *job_of(op) = *job;
    struct os_host *host = os->host;
    pthread_mutex_lock(&host->lock);
    ASSERT(!host->stopping);
    bool taken = pool->idle > pool->jobs_waiting || helper_start(pool);
    if (taken) {
        pool->jobs_waiting++;
        op_queue_push(&pool->jobs, op);
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&host->lock);
    if (!taken) engine_finish(os, op, -EAGAIN); // the system gives no thread
}

void os_offload(struct os *os, struct os_op *op, os_offload_function *function, void *argument) {
    job_start(os, &os->host->sleepers, op, &(struct job){os, function, argument});
}

void os_compute(struct os *os, struct os_op *op, os_offload_function *function, void *argument) {
    job_start(os, &os->host->computers, op, &(struct job){os, function, argument});
}

// The list is newest first; delivery is in the order of completion.
void offload_collect(struct os *os) {
    if (atomic_load_explicit(&os->offloaded, memory_order_relaxed) == NULL) return;
    struct os_op *newest = atomic_exchange_explicit(&os->offloaded, NULL, memory_order_acquire);
    struct os_op *oldest = NULL;
    while (newest) {
        struct os_op *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct os_op *next = oldest->next;
        engine_finish(os, oldest, oldest->result);
        oldest = next;
    }
}

void offload_forget(struct os *os) {
    pthread_mutex_lock(&os->host->lock);
    ASSERT(atomic_load_explicit(&os->offloaded, memory_order_relaxed) == NULL);
    pthread_mutex_unlock(&os->host->lock);
}

static void pool_init(struct helper_pool *pool, struct os_host *host, const char *thread_name, int count_max) {
    ASSERT(count_max > 0 && count_max <= HELPER_THREADS_MAX);
    *pool = (struct helper_pool){.host = host, .thread_name = thread_name, .count_max = count_max};
    pthread_cond_init(&pool->work, NULL);
}

void offload_init(struct os_host *host) {
    int cpus = CPU_COUNT_S(CPU_ALLOC_SIZE(CPUS_MAX), host->cpus);
    int computers = cpus < COMPUTERS_MIN ? COMPUTERS_MIN : cpus;
    if (computers > OS_COMPUTERS_MAX) computers = OS_COMPUTERS_MAX;
    pool_init(&host->sleepers, host, "tr-helper", OS_HELPERS_MAX);
    pool_init(&host->computers, host, "tr-compute", computers);
}

static void pool_stop(struct helper_pool *pool) {
    pthread_cond_broadcast(&pool->work);
    for (int i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    ASSERT(!pool->jobs.first);
    pthread_cond_destroy(&pool->work);
}

void offload_stop(struct os_host *host) {
    pthread_mutex_lock(&host->lock);
    host->stopping = true;
    pthread_mutex_unlock(&host->lock);
    pool_stop(&host->sleepers);
    pool_stop(&host->computers);
}
