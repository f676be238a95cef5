// SPDX-License-Identifier: Apache-2.0
// Helper threads: started when there is work and nobody idle, at most OS_HELPERS_MAX, and kept until the host ends.
// Jobs start in the order in which they came. A finished job goes back through its core's list and doorbell.
#include "os/linux/engine.h"
#include <errno.h>
#include <stdio.h>

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
    struct os_host *host = argument;
    pthread_setname_np(pthread_self(), "tr-helper");
    pthread_mutex_lock(&host->lock);
    for (;;) {
        struct os_op *op = op_queue_pop(&host->jobs);
        if (op) {
            host->jobs_waiting--;
            job_run(host, op);
        } else if (host->stopping) {
            break;
        } else {
            host->helpers_idle++;
            pthread_cond_wait(&host->work, &host->lock);
            host->helpers_idle--;
        }
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

// With host->lock held. False: there is no helper at all.
static bool helper_start(struct os_host *host) {
    if (host->helper_count == OS_HELPERS_MAX) return true;
    // A thread starts on the CPUs of the one that makes it, and that is pinned.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, CPU_ALLOC_SIZE(CPUS_MAX), host->cpus);
    if (pthread_create(&host->helpers[host->helper_count], &attributes, helper_main, host) == 0) host->helper_count++;
    pthread_attr_destroy(&attributes);
    return host->helper_count > 0;
}

void os_offload(struct os *os, struct os_op *op, os_offload_function *function, void *argument) {
    engine_begin(os, op);
    *job_of(op) = (struct job){.os = os, .function = function, .argument = argument};
    struct os_host *host = os->host;
    pthread_mutex_lock(&host->lock);
    ASSERT(!host->stopping);
    bool taken = host->helpers_idle > host->jobs_waiting || helper_start(host);
    if (taken) {
        host->jobs_waiting++;
        op_queue_push(&host->jobs, op);
        pthread_cond_signal(&host->work);
    }
    pthread_mutex_unlock(&host->lock);
    if (!taken) engine_finish(os, op, -EAGAIN); // the system gives no thread
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

void offload_stop(struct os_host *host) {
    pthread_mutex_lock(&host->lock);
    host->stopping = true;
    pthread_cond_broadcast(&host->work);
    pthread_mutex_unlock(&host->lock);
    for (int i = 0; i < host->helper_count; i++)
        pthread_join(host->helpers[i], NULL);
}
