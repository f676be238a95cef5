// SPDX-License-Identifier: Apache-2.0
// Waiting, doorbells, helper threads, signals, clocks, the machine.
#include "fixture.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

Test(engine, a_deadline_is_never_early) {
    struct fixture f = fixture_open(8);
    static const uint64_t waits_ns[] = {1, 1000, 1000000, 20000000};
    for (int i = 0; i < 4; i++) {
        uint64_t deadline_ns = os_now_ns(f.os) + waits_ns[i];
        while (os_now_ns(f.os) < deadline_ns)
            os_wait(f.os, deadline_ns);
        uint64_t before_ns = os_now_ns(f.os);
        os_wait(f.os, before_ns + waits_ns[i]); // nothing else can end it
        cr_assert_geq(os_now_ns(f.os), before_ns + waits_ns[i]);
    }
    os_wait(f.os, 0);
    fixture_close(&f);
}

struct bell {
    struct os *os;
    int rounds;
    pthread_t thread;
    atomic_int published, seen;
};
static void *bell_ringer(void *argument) {
    struct bell *b = argument;
    for (int i = 1; i <= b->rounds; i++) {
        atomic_store(&b->published, i);
        os_ring_doorbell(b->os);
        os_ring_doorbell(b->os);
        if (i % 3 == 0) {
            while (atomic_load(&b->seen) < i)
                sched_yield(); // so that the core goes to sleep in between
        }
    }
    return NULL;
}

// Without a lost ring the core, which sleeps without a deadline, sees every number.
Test(engine, a_doorbell_from_another_thread_is_never_lost) {
    struct fixture f = fixture_open(8);
    struct bell b = {.os = f.os, .rounds = 20000};
    pthread_t thread;
    pthread_create(&thread, NULL, bell_ringer, &b);
    for (int seen = 0; seen < b.rounds;) {
        os_wait(f.os, UINT64_MAX);
        seen = atomic_load(&b.published);
        atomic_store(&b.seen, seen);
    }
    pthread_join(thread, NULL);
    fixture_close(&f);
}

Test(engine, a_doorbell_rung_before_the_first_wait_counts) {
    struct fixture f = fixture_open(8);
    os_ring_doorbell(f.os);
    os_wait(f.os, UINT64_MAX);
    fixture_close(&f);
}

struct job {
    struct os_op op;
    int value;
    atomic_int *running, *most;
    struct job *next; // started from done
    struct os *os;
};
static int64_t job_square(struct os_host *host, void *argument) {
    cr_assert_not_null(host);
    struct job *j = argument;
    if (j->running) {
        int now = atomic_fetch_add(j->running, 1) + 1, most = atomic_load(j->most);
        while (now > most && !atomic_compare_exchange_weak(j->most, &most, now)) {
        }
        sched_yield();
        atomic_fetch_sub(j->running, 1);
    }
    return (int64_t)j->value * j->value;
}
static void job_done(struct os_op *op) {
    struct job *j = (struct job *)op;
    if (j->next) os_offload(j->os, &j->next->op, job_square, j->next);
}

Test(engine, offloads_bring_their_results_and_are_bounded) {
    struct fixture f = fixture_open(8);
    enum { N = 200 };
    static struct job jobs[N];
    atomic_int running = 0, most = 0;
    for (int i = 0; i < N; i++) {
        jobs[i] = (struct job){.op = OS_OP(job_done), .value = i, .running = &running, .most = &most};
        os_offload(f.os, &jobs[i].op, job_square, &jobs[i]);
        cr_assert(jobs[i].op.in_flight);
    }
    for (int i = 0; i < N; i++)
        cr_assert_eq(op_await(f.os, &jobs[i].op), i * i);
    cr_assert_leq(atomic_load(&most), OS_HELPERS_MAX);
    fixture_close(&f);
}

static int64_t job_meet(struct os_host *host, void *argument) {
    (void)host;
    pthread_barrier_wait(argument);
    return 0;
}

// Each waits for the others inside its helper thread: started on fewer threads they would wait for ever.
Test(engine, as_many_offloads_run_at_once_as_promised) {
    struct fixture f = fixture_open(8);
    struct os_op ops[OS_HELPERS_MAX];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, OS_HELPERS_MAX);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < OS_HELPERS_MAX; i++) {
            ops[i] = OS_OP(op_note_done);
            os_offload(f.os, &ops[i], job_meet, &barrier);
        }
        for (int i = 0; i < OS_HELPERS_MAX; i++)
            cr_assert_eq(op_await(f.os, &ops[i]), 0);
    }
    pthread_barrier_destroy(&barrier);
    fixture_close(&f);
}

struct hold {
    atomic_bool released;
    atomic_int running, most;
};
static int64_t job_hold(struct os_host *host, void *argument) {
    (void)host;
    struct hold *h = argument;
    int now = atomic_fetch_add(&h->running, 1) + 1, most = atomic_load(&h->most);
    while (now > most && !atomic_compare_exchange_weak(&h->most, &most, now)) {
    }
    while (!atomic_load(&h->released))
        sched_yield();
    atomic_fetch_sub(&h->running, 1);
    return 1;
}

// More of the one kind than there are threads, and the other kind still runs.
Test(engine, what_sleeps_does_not_wait_for_what_computes) {
    struct fixture f = fixture_open(8);
    enum { N = OS_COMPUTERS_MAX + 4 };
    struct os_op computing[N];
    struct hold hold = {0};
    for (int i = 0; i < N; i++) {
        computing[i] = OS_OP(op_note_done);
        os_compute(f.os, &computing[i], job_hold, &hold);
    }
    struct job job = {.op = OS_OP(job_done), .value = 3};
    os_offload(f.os, &job.op, job_square, &job);
    cr_assert_eq(op_await(f.os, &job.op), 9);
    while (atomic_load(&hold.running) < 2)
        sched_yield(); // two at least, whatever the machine
    for (int i = 0; i < N; i++)
        cr_assert(computing[i].in_flight);
    atomic_store(&hold.released, true);
    for (int i = 0; i < N; i++)
        cr_assert_eq(op_await(f.os, &computing[i]), 1);
    cr_assert_leq(atomic_load(&hold.most), OS_COMPUTERS_MAX);
    fixture_close(&f);
}

Test(engine, an_operation_can_be_started_from_done) {
    struct fixture f = fixture_open(8);
    struct job last = {.op = OS_OP(job_done), .value = 4, .os = f.os};
    struct job middle = {.op = OS_OP(job_done), .value = 3, .os = f.os, .next = &last};
    struct job first = {.op = OS_OP(job_done), .value = 2, .os = f.os, .next = &middle};
    os_offload(f.os, &first.op, job_square, &first);
    cr_assert_eq(op_await(f.os, &first.op), 4);
    cr_assert_eq(op_await(f.os, &middle.op), 9);
    cr_assert_eq(op_await(f.os, &last.op), 16);
    fixture_close(&f);
}

static int64_t job_count_cpus(struct os_host *host, void *argument) {
    (void)host;
    (void)argument;
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}
static bool turn_offload(void *argument) {
    struct job *j = argument;
    os_offload(j->os, &j->op, job_count_cpus, NULL);
    op_await(j->os, &j->op);
    return false;
}

Test(engine, helper_threads_are_not_pinned_to_the_core_that_started_them) {
    struct fixture f = fixture_open(8);
    struct job job = {.op = OS_OP(op_note_done), .os = f.os};
    int cpus[64], count = os_cpus(f.host, cpus, 64);
    struct os_core_entry entry = {"core-0", cpus[0], turn_offload, &job};
    os_run_cores(f.host, &entry, 1);
    cr_assert_geq(job.op.result, count);
    fixture_close(&f);
}

struct turning {
    struct os *os;
    int turns, left;
    char name[16];
};
static bool turn(void *argument) {
    struct turning *t = argument;
    if (t->turns == 0) pthread_getname_np(pthread_self(), t->name, sizeof t->name);
    t->turns++;
    os_wait(t->os, os_now_ns(t->os) + 1000);
    return --t->left > 0;
}

// Engines are made by one thread and used by others.
Test(engine, cores_run_on_threads_of_their_own) {
    struct os_host *host = os_host_create();
    struct turning turning[3] = {{.left = 5}, {.left = 1}, {.left = 9}};
    struct os_core_entry entries[3];
    int cpus[64];
    cr_assert_gt(os_cpus(host, cpus, 64), 0);
    for (int i = 0; i < 3; i++) {
        int error;
        turning[i].os = os_create(host, i, 8, &error);
        cr_assert_not_null(turning[i].os);
        static const char *const names[] = {"core-0", "core-1", "control"};
        entries[i] = (struct os_core_entry){names[i], i == 2 ? -1 : cpus[0], turn, &turning[i]};
    }
    os_run_cores(host, entries, 3);
    cr_assert_eq(turning[0].turns, 5);
    cr_assert_eq(turning[1].turns, 1);
    cr_assert_eq(turning[2].turns, 9);
    for (int i = 0; i < 3; i++) {
        cr_assert_str_eq(turning[i].name, entries[i].name);
        os_destroy(turning[i].os);
    }
    os_host_destroy(host);
}

// A child: signals are the process's, and a test runner has its own ideas about them.
Test(engine, a_signal_completes_the_operation_and_a_second_one_again) {
    pid_t child = fork();
    if (child == 0) {
        struct fixture f = fixture_open(8);
        struct os_op op = OS_OP(op_note_done);
        os_signal_start(f.os, &op);
        os_wait(f.os, 0);
        if (!op.in_flight) _exit(1);
        kill(getpid(), SIGTERM);
        if (op_await(f.os, &op) != SIGTERM) _exit(2);
        kill(getpid(), SIGINT); // nobody waits now: kept
        os_signal_start(f.os, &op);
        if (op_await(f.os, &op) != SIGINT) _exit(3);
        os_signal_start(f.os, &op);
        kill(getpid(), SIGUSR1);
        if (op_await(f.os, &op) != OS_SIGNAL_REPORT) _exit(4);
        kill(getpid(), SIGPIPE); // ignored
        fixture_close(&f);
        os_exit(NULL, 7);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %x", status);
}

static void refuse_call(long number, int error) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(9);
}

// As containers do it.
Test(engine, a_refused_ring_is_told_at_once) {
    static const struct {
        long number;
        int error, told;
    } cases[] = {{SYS_io_uring_setup, EPERM, EPERM},   {SYS_io_uring_setup, ENOSYS, ENOSYS},
                 {SYS_io_uring_setup, ENOMEM, ENOMEM}, {SYS_io_uring_enter, EPERM, EPERM},
                 {SYS_io_uring_enter, ENOSYS, ENOSYS}, {SYS_io_uring_register, EPERM, ENOSYS}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct os_host *host = os_host_create();
            refuse_call(cases[i].number, cases[i].error);
            int error = 0;
            if (os_create(host, 0, 8, &error) != NULL) _exit(1);
            if (error != -cases[i].told) _exit(2);
            os_host_destroy(host);
            _exit(0);
        }
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert_eq(status, 0, "status %x", status);
    }
}

static void nothing(int signal) {
    (void)signal;
}
static void *signal_sender(void *argument) {
    struct bell *b = argument;
    for (int i = 0; i < 200; i++) {
        pthread_kill(b->thread, SIGUSR1);
        sched_yield();
    }
    os_ring_doorbell(b->os);
    atomic_store(&b->published, 1);
    return NULL;
}

// EINTR in the middle of a wait loses nothing.
Test(engine, signals_with_handlers_do_not_hurt_a_wait) {
    struct fixture f = fixture_open(8);
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGUSR1, &action, NULL);
    struct bell b = {.os = f.os, .thread = pthread_self()};
    pthread_t thread;
    pthread_create(&thread, NULL, signal_sender, &b);
    struct job job = {.op = OS_OP(job_done), .value = 5};
    for (int i = 0; i < 100; i++) {
        os_offload(f.os, &job.op, job_square, &job);
        cr_assert_eq(op_await(f.os, &job.op), 25);
    }
    while (!atomic_load(&b.published))
        os_wait(f.os, os_now_ns(f.os) + SECOND_NS);
    pthread_join(thread, NULL);
    fixture_close(&f);
}

Test(engine, clocks_and_randomness) {
    struct fixture f = fixture_open(8);
    uint64_t first_ns = os_now_ns(f.os);
    cr_assert_gt(first_ns, 0);
    cr_assert_geq(os_now_ns(f.os), first_ns);
    cr_assert_gt(os_wall_ms(f.os), 1500000000000);
    cr_assert_geq(os_host_wall_ms(f.host), os_wall_ms(f.os) - 1000);
    uint64_t ones = 0, zeros = 0;
    for (int i = 0; i < 200; i++) {
        uint64_t r = os_random(f.os);
        ones |= r;
        zeros |= ~r;
    }
    cr_assert(ones == UINT64_MAX && zeros == UINT64_MAX);
    cr_assert_neq(os_host_random(f.host), os_host_random(f.host));
    fixture_close(&f);
}

Test(engine, the_machine) {
    struct os_host *host = os_host_create();
    cr_assert_gt(os_memory_bytes(host), 16 << 20);
    cr_assert_gt(os_raise_descriptor_limit(host), 64);
    cr_assert_str_eq(os_error_text(-ENOENT), "No such file or directory");
    cr_assert_str_eq(os_error_text(EAGAIN), os_error_text(-EAGAIN));
    cr_assert_str_eq(os_error_text(123456), "unknown error");
    os_host_destroy(host);
}
