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
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 512 * 1024, GUARD_BYTES = 4096 };

#ifdef SIM_ASAN
// What a fiber that was dropped in the middle left marked on its stack.
static void stack_clean(void *stack) {
    __asan_unpoison_memory_region(stack, STACK_BYTES);
}
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
static void stack_clean(void *stack) {
    (void)stack;
}
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

// Saves the registers that a call preserves on the present stack, notes the stack in *save, and goes on with another
// one.
void fiber_switch(void **save, void *load);
#if defined(__x86_64__)
__asm__(".text\n.globl fiber_switch\n.type fiber_switch, @function\nfiber_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n    ret\n"
        ".size fiber_switch, . - fiber_switch\n");
enum { SAVED_WORDS = 7, RETURN_WORD = 6, ENTRY_PADDING_WORDS = 1 }; // at a function's first instruction rsp % 16 is 8
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl fiber_switch\n.type fiber_switch, @function\nfiber_switch:\n"
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n    stp x25, x26, [sp, #48]\n"
    "    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n    stp d8, d9, [sp, #96]\n"
    "    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
    "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
    "    ldp x19, x20, [sp]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n    ldp x25, x26, [sp, #48]\n"
    "    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n    ldp d8, d9, [sp, #96]\n"
    "    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
    "    add sp, sp, #160\n    ret\n"
    ".size fiber_switch, . - fiber_switch\n");
enum { SAVED_WORDS = 20, RETURN_WORD = 11, ENTRY_PADDING_WORDS = 0 };
#else
#error "fiber_switch is written for x86-64 and arm64"
#endif

static void fiber_start(void) {
    struct fiber *fiber = sim.current_fiber;
    enter_fiber(fiber);
    fiber->run(fiber);
    fiber->finished = true;
    leave_fiber(fiber);
    fiber_switch(&fiber->stack_pointer, sim.scheduler);
    UNREACHABLE();
}

// As if fiber_start had called fiber_switch at its first instruction.
static void stack_prepare(struct fiber *fiber) {
    void **top = (void **)((char *)fiber->stack + STACK_BYTES) - ENTRY_PADDING_WORDS;
    void **saved = top - SAVED_WORDS;
    memset(saved, 0, SAVED_WORDS * sizeof *saved);
    void (*entry)(void) = fiber_start;
    memcpy(&saved[RETURN_WORD], &entry, sizeof entry);
    fiber->stack_pointer = saved;
}

struct fiber *fiber_create(struct os_host *host, void (*run)(struct fiber *), void *argument) {
    struct fiber *fiber = sim.fiber_pool;
    if (fiber) {
        sim.fiber_pool = fiber->next;
        stack_clean(fiber->stack);
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
    stack_prepare(fiber);
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
    fiber_switch(&sim.scheduler, fiber->stack_pointer);
    enter_scheduler();
    sim.current_fiber = NULL;
    sim.current_os = NULL;
    if (fiber->finished) fiber_drop(fiber);
}

void fiber_yield(void) {
    struct fiber *fiber = sim.current_fiber;
    ASSERT(fiber != NULL);
    leave_fiber(fiber);
    fiber_switch(&fiber->stack_pointer, sim.scheduler);
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
