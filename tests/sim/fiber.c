// SPDX-License-Identifier: Apache-2.0
// Fibers: a process's main function, its cores and its offloaded functions run on stacks of their own, so that they can
// block in the middle (and the machine can die there).
#include "world.h"
#include <stdint.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif
#ifdef SIM_ASAN
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 512 * 1024, GUARD_BYTES = 4096 };

#ifdef SIM_ASAN
static void *scheduler_fake_stack;
static const void *scheduler_bottom;
static size_t scheduler_size;
static void leave_scheduler(struct fiber *fiber) {
    __sanitizer_start_switch_fiber(&scheduler_fake_stack, fiber->stack, STACK_BYTES);
}
static void enter_scheduler(void) {
    __sanitizer_finish_switch_fiber(scheduler_fake_stack, NULL, NULL);
}
static void leave_fiber(struct fiber *fiber) {
    __sanitizer_start_switch_fiber(fiber->finished ? NULL : &fiber->fake_stack, scheduler_bottom, scheduler_size);
}
static void enter_fiber(struct fiber *fiber) {
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &scheduler_bottom, &scheduler_size);
}
#else
static void leave_scheduler(struct fiber *fiber) {
    (void)fiber;
}
static void enter_scheduler(void) {}
static void leave_fiber(struct fiber *fiber) {
    (void)fiber;
}
static void enter_fiber(struct fiber *fiber) {
    (void)fiber;
}
#endif

static void fiber_start(unsigned high, unsigned low) {
    struct fiber *fiber = (struct fiber *)(((uintptr_t)high << 32) | low); // makecontext passes ints only
    enter_fiber(fiber);
    fiber->run(fiber);
    fiber->finished = true;
    leave_fiber(fiber);
    setcontext(&sim.scheduler);
    UNREACHABLE();
}

// Alone in a function: getcontext returns as setjmp does, and compilers distrust what lives around it.
static void context_get(ucontext_t *context) {
    getcontext(context);
}

struct fiber *fiber_create(struct os_host *host, void (*run)(struct fiber *), void *argument) {
    struct fiber *fiber = sim.fiber_pool;
    if (fiber) {
        sim.fiber_pool = fiber->next;
    } else {
        fiber = calloc(1, sizeof *fiber);
        ASSERT(fiber != NULL);
        char *memory =
            mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT(memory != MAP_FAILED);
        int protected = mprotect(memory, GUARD_BYTES, PROT_NONE);
        ASSERT(protected == 0);
        fiber->stack = memory + GUARD_BYTES;
    }
    void *stack = fiber->stack;
    *fiber = (struct fiber){.stack = stack, .host = host, .run = run, .argument = argument, .next = host->fibers};
    host->fibers = fiber;
    context_get(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    uintptr_t address = (uintptr_t)fiber;
    makecontext(&fiber->context, (void (*)(void))fiber_start, 2, (unsigned)(address >> 32), (unsigned)address);
    return fiber;
}

void fiber_drop(struct fiber *fiber) {
    struct fiber **link = &fiber->host->fibers;
    while (*link && *link != fiber)
        link = &(*link)->next;
    ASSERT(*link == fiber && sim.current_fiber != fiber);
    *link = fiber->next;
    fiber->next = sim.fiber_pool;
    sim.fiber_pool = fiber;
}

void fiber_resume(struct fiber *fiber) {
    ASSERT(!sim.current_fiber && !sim.current_os && !fiber->finished);
    sim.current_fiber = fiber;
    sim.current_os = fiber->os;
    leave_scheduler(fiber);
    swapcontext(&sim.scheduler, &fiber->context);
    enter_scheduler();
    sim.current_fiber = NULL;
    sim.current_os = NULL;
    if (fiber->finished) fiber_drop(fiber);
}

void fiber_yield(void) {
    struct fiber *fiber = sim.current_fiber;
    ASSERT(fiber != NULL);
    leave_fiber(fiber);
    swapcontext(&fiber->context, &sim.scheduler);
    enter_fiber(fiber);
    ASSERT(sim.current_fiber == fiber);
}

static void wake_fiber(struct event *event) {
    fiber_resume(event->a);
}

void fiber_wake_after(struct fiber *fiber, uint64_t delay_ns) {
    event_add(delay_ns, wake_fiber, fiber->host, fiber, NULL, 0);
}

void sim_block(struct os_host *host, const char *what, uint64_t delay_ns) {
    if (!sim.current_fiber) return;
    SIM_CHECK(!sim.current_os || host->may_block, "%s may sleep: a core must not call it in its turn", what);
    fiber_wake_after(sim.current_fiber, delay_ns);
    fiber_yield();
}
