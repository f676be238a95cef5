// SPDX-License-Identifier: Apache-2.0
// Processes and cores: os_create to os_exit of src/os/os.h.
//
// A core's turn runs on the scheduler's stack. os_wait inside it delivers what is due and notes until when the core has
// nothing to do; after the turn the next one is planned: soon (the core was busy), at the deadline, or when a
// completion or the doorbell comes. A process's main function and the offloaded functions run in fibers.
#include "world.h"
#include <errno.h>
#include <stdio.h>

// ---- hosts
// -----------------------------------------------------------------------------------------------------------------
struct os_host *sim_host_create(const char *name, struct sim_host_options options) {
    ASSERT(sim.host_count < (int)ARRAY_LENGTH(sim.hosts) && strlen(name) < sizeof sim.hosts[0]->name);
    struct os_host *host = calloc(1, sizeof *host);
    ASSERT(host != NULL);
    host->id = sim.host_count;
    host->options = options;
    snprintf(host->name, sizeof host->name, "%s", name);
    snprintf(host->address, sizeof host->address, "10.0.0.%d", (host->id & 63) + 1);
    host->boot_ns = sim.now_ns - sim_range(SIM_SCHEDULE, SIM_SECOND / 2, SIM_SECOND);
    sim.hosts[sim.host_count++] = host;
    disk_host_init(host);
    net_host_init(host);
    return host;
}

struct handle *handle_get(struct os_host *host, int descriptor) {
    if (descriptor < 0 || descriptor >= host->handle_capacity) return NULL;
    struct handle *handle = &host->handles[descriptor];
    return handle->kind == HANDLE_FREE ? NULL : handle;
}

int handle_new(struct os_host *host, enum handle_kind kind) {
    int descriptor = 3;
    while (descriptor < host->handle_capacity && host->handles[descriptor].kind != HANDLE_FREE)
        descriptor++;
    if (descriptor >= SIM_HANDLES_MAX) return -EMFILE;
    if (descriptor >= host->handle_capacity) {
        int capacity = host->handle_capacity ? host->handle_capacity * 2 : 64;
        host->handles = realloc(host->handles, (size_t)capacity * sizeof *host->handles);
        ASSERT(host->handles != NULL);
        memset(host->handles + host->handle_capacity, 0,
               (size_t)(capacity - host->handle_capacity) * sizeof *host->handles);
        host->handle_capacity = capacity;
    }
    host->handles[descriptor] = (struct handle){.kind = kind};
    return descriptor;
}

int os_close(struct os_host *host, int file) {
    struct handle *handle = handle_get(host, file);
    SIM_CHECK(handle != NULL, "os_close(%d): not open", file);
    if (handle->kind == HANDLE_FILE) {
        disk_close(host, handle);
    } else {
        net_close(host, handle);
    }
    handle->kind = HANDLE_FREE;
    return 0;
}

// ---- the life of a process
// ---------------------------------------------------------------------------------------------------
static void process_end(struct os_host *host, enum sim_crash how) {
    ASSERT(host->running);
    sim_trace(host, -1, "process-end", how == SIM_KILL ? "" : "power", (uint64_t)host->exit_status);
    net_process_died(host, how == SIM_KILL);
    for (int i = 0; i < host->handle_capacity; i++) {
        if (host->handles[i].kind == HANDLE_FILE) disk_close(host, &host->handles[i]);
        host->handles[i].kind = HANDLE_FREE;
    }
    host->running = false;
    host->incarnation++; // its events are stale from now on
    host->core_count = 0;
    host->offloads = NULL;
    host->offloads_running = 0;
    host->signal_op = NULL;
    host->signal_pending = 0;
    // The memory of the dead process is not given back: nobody knows what is in it.
    for (struct fiber *fiber = host->fibers, *next; fiber; fiber = next) {
        next = fiber->next;
        if (fiber != sim.current_fiber) fiber_drop(fiber);
    }
}

static void run_main(struct fiber *fiber) {
    struct os_host *host = fiber->host;
    int status = host->main(host, host->main_argument);
    host->exit_status = status;
    for (int i = 0; i < host->core_count; i++)
        SIM_CHECK(host->cores[i]->in_flight == 0, "core %d ended with operations in flight", host->cores[i]->core_id);
    process_end(host, SIM_KILL);
}

void sim_start(struct os_host *host, sim_main *main, void *argument) {
    ASSERT(!host->running);
    host->running = true;
    host->powered_off = false;
    host->starts++;
    host->incarnation++;
    host->main = main;
    host->main_argument = argument;
    host->exit_status = -1;
    host->offloads_last = &host->offloads;
    host->main_fiber = fiber_create(host, run_main, NULL);
    sim_trace(host, -1, "process-start", "", 0);
    fiber_wake_after(host->main_fiber, sim_range(SIM_SCHEDULE, 1 * SIM_US, 1 * SIM_MS));
}

bool sim_is_running(const struct os_host *host) {
    return host->running;
}
uint32_t sim_starts(const char *host_name) {
    for (int i = 0; i < sim.host_count; i++)
        if (strcmp(sim.hosts[i]->name, host_name) == 0) return sim.hosts[i]->starts;
    sim_fail("there is no host %s", host_name);
}
int sim_exit_status(const struct os_host *host) {
    return host->exit_status;
}
void sim_allow_blocking_cores(struct os_host *host) {
    host->may_block = true;
}
void sim_stall(struct os_host *host, uint64_t duration_ns) {
    host->stalled_until_ns = sim.now_ns + duration_ns;
}
void sim_stall_core(struct os_host *host, int core, uint64_t duration_ns) {
    if (core < host->core_count) host->cores[core]->stalled_until_ns = sim.now_ns + duration_ns;
}

void sim_crash(struct os_host *host, enum sim_crash how) {
    ASSERT(!sim.current_os && !sim.current_fiber);
    host->exit_status = 128 + 9;
    if (host->running) process_end(host, how);
    if (how == SIM_POWER) {
        disk_power_cut(host);
        host->powered_off = true;
        host->boot_ns = sim.now_ns - SIM_SECOND;
    }
}

void sim_sleep(struct os_host *host, uint64_t duration_ns) {
    ASSERT(sim.current_fiber && !sim.current_os);
    sim_block(host, "sim_sleep", duration_ns);
}

void os_exit(struct os_host *host, int status) {
    host->exit_status = status;
    sim_trace(host, sim.current_os ? sim.current_os->core_id : -1, "exit", "", (uint64_t)status);
    ASSERT(sim.current_fiber && sim.current_fiber->host == host);
    process_end(host, SIM_KILL);
    sim.current_fiber->finished = true; // fiber_resume drops it
    fiber_yield();
    UNREACHABLE();
}

static void deliver_signal(struct event *event) {
    struct os_host *host = event->host;
    if (!host->signal_op) {
        host->signal_pending = (int)event->n;
        return;
    }
    struct os_op *op = host->signal_op;
    host->signal_op = NULL;
    host->signal_delivered = op;
    op_complete(host->signal_os, op, (int64_t)event->n);
}
void sim_terminate(struct os_host *host) {
    sim_trace(host, -1, "signal", "", 15);
    event_add(sim_range(SIM_SCHEDULE, 1 * SIM_US, 1 * SIM_MS), deliver_signal, host, NULL, NULL, 15);
}
void os_signal_start(struct os *os, struct os_op *op) {
    op_begin(os, op);
    ASSERT(!os->host->signal_op);
    if (os->host->signal_pending) {
        op_complete(os, op, os->host->signal_pending);
        os->host->signal_pending = 0;
        return;
    }
    os->host->signal_op = op;
    os->host->signal_os = os;
}

// ---- cores
// ---------------------------------------------------------------------------------------------------------------------
struct os *os_create(struct os_host *host, int core_id, uint32_t depth, int *error) {
    (void)depth;
    ASSERT(host->core_count < SIM_CORES_MAX);
    struct os *os = calloc(1, sizeof *os);
    ASSERT(os != NULL);
    os->host = host;
    os->core_id = core_id;
    os->ready_last = &os->ready;
    host->cores[host->core_count++] = os;
    *error = 0;
    return os;
}

void os_destroy(struct os *os) {
    struct os_host *host = os->host;
    if (host->signal_op && host->signal_os == os) { // nothing can end the wait for a signal but a signal
        host->signal_op->in_flight = false;
        host->signal_op = NULL;
        os->in_flight--;
    }
    for (const struct os_op *op = os->ready; op; op = op->next)
        if (op == host->signal_delivered) os->in_flight--; // that came after the last turn
    SIM_CHECK(os->in_flight == 0, "os_destroy of core %d with %llu operations in flight", os->core_id,
              (unsigned long long)os->in_flight);
    int at = 0;
    while (at < host->core_count && host->cores[at] != os)
        at++;
    ASSERT(at < host->core_count);
    memmove(&host->cores[at], &host->cores[at + 1], (size_t)(host->core_count - at - 1) * sizeof host->cores[0]);
    host->core_count--;
    free(os);
}

struct os_host *os_host_of(struct os *os) {
    return os->host;
}

static void end_wait(struct event *event);
static uint64_t stalled_until_ns(const struct os *os) {
    const uint64_t host_ns = os->host->stalled_until_ns;
    return host_ns > os->stalled_until_ns ? host_ns : os->stalled_until_ns;
}
static void plan_end_of_wait(struct os *os, uint64_t at_ns) {
    if (at_ns < stalled_until_ns(os)) at_ns = stalled_until_ns(os);
    if (at_ns < sim.now_ns) at_ns = sim.now_ns;
    event_add(at_ns - sim.now_ns, end_wait, os->host, os, NULL, ++os->wait);
}
static void end_wait(struct event *event) {
    struct os *os = event->a;
    if (event->n != os->wait) return; // something else woke it
    if (sim.now_ns < stalled_until_ns(os)) {
        plan_end_of_wait(os, stalled_until_ns(os));
        return;
    }
    os->wait++;
    os->idle = false;
    fiber_resume(os->waiter);
}

static uint64_t turn_cost_ns(void) {
    return sim_range(SIM_SCHEDULE, sim.turn_min_ns, sim.turn_max_ns);
}

void core_wake(struct os *os) {
    if (!os->idle) return;
    os->idle = false;
    plan_end_of_wait(os, sim.now_ns + turn_cost_ns());
}

void os_ring_doorbell(struct os *os) {
    os->doorbell = true;
    core_wake(os);
}

static void deliver_ready(struct os *os) {
    struct os_op *op = os->ready;
    os->ready = NULL;
    os->ready_last = &os->ready;
    while (op) {
        struct os_op *next = op->next;
        ASSERT(op->in_flight && os->in_flight > 0);
        op->in_flight = false;
        os->in_flight--;
        op->done(op);
        op = next;
    }
}

void os_wait(struct os *os, uint64_t deadline_ns) {
    ASSERT(sim.current_fiber && sim.current_fiber->host == os->host);
    os->waiter = sim.current_fiber;
    if (os->ready || os->doorbell || deadline_ns == 0) {
        plan_end_of_wait(os, sim.now_ns + turn_cost_ns()); // what the turn until here took
    } else {
        os->idle = true;
        os->wait++;
        if (deadline_ns != UINT64_MAX) plan_end_of_wait(os, deadline_ns + os->host->boot_ns + turn_cost_ns());
    }
    fiber_yield();
    sim_trace(os->host, os->core_id, "turn", "", 0);
    os->doorbell = false;
    deliver_ready(os);
}

static void run_core(struct fiber *fiber) {
    struct os *os = fiber->os;
    struct os_core_entry *entry = fiber->argument;
    while (entry->turn(entry->argument)) {
    }
    if (--os->host->run_cores_left == 0) fiber_wake_after(os->host->main_fiber, 0);
}

void os_run_cores(struct os_host *host, struct os_core_entry *entries, int count) {
    ASSERT(count >= 1 && count <= host->core_count && sim.current_fiber == host->main_fiber);
    host->run_cores_left = count;
    for (int i = 0; i < count; i++) {
        struct os *os = host->cores[i];
        if (entries[i].turn == core_turn) {
            struct core *core = entries[i].argument;
            os = core->os;
            sim_trace_core(core);
        }
        struct fiber *fiber = fiber_create(host, run_core, &entries[i]);
        fiber->os = os;
        fiber_wake_after(fiber, sim_range(SIM_SCHEDULE, 1 * SIM_US, 100 * SIM_US));
    }
    fiber_yield();
    ASSERT(host->run_cores_left == 0);
}

// ---- operations
// --------------------------------------------------------------------------------------------------------------
void op_begin(struct os *os, struct os_op *op) {
    SIM_CHECK(!op->in_flight, "an operation was started while it was in flight");
    ASSERT(op->done != NULL);
    op->in_flight = true;
    op->next = NULL;
    os->in_flight++;
}

void op_complete(struct os *os, struct os_op *op, int64_t result) {
    ASSERT(op->in_flight);
    op->result = result;
    op->next = NULL;
    *os->ready_last = op;
    os->ready_last = &op->next;
    sim_trace(os->host, os->core_id, "completion", "", (uint64_t)result);
    core_wake(os);
}

static void complete_later(struct event *event) {
    op_complete(event->a, event->b, (int64_t)event->n);
}
void op_complete_after(struct os *os, struct os_op *op, int64_t result, uint64_t delay_ns) {
    event_add(delay_ns, complete_later, os->host, os, op, (uint64_t)result);
}

// ---- offload
// -------------------------------------------------------------------------------------------------------------------
static void offload_start_next(struct os_host *host);
static void run_offload(struct fiber *fiber) {
    struct offload *offload = fiber->argument;
    struct os_host *host = fiber->host;
    int64_t result = offload->function(host, offload->argument);
    sim_trace(host, offload->os->core_id, "offload-end", "", (uint64_t)result);
    // What computes takes long.
    uint64_t longest_ns = offload->computes ? 20 * SIM_MS : 100 * SIM_US;
    op_complete_after(offload->os, offload->op, result, sim_range(SIM_SCHEDULE, 1 * SIM_US, longest_ns));
    free(offload);
    host->offloads_running--;
    offload_start_next(host);
}

static void offload_start_next(struct os_host *host) {
    while (host->offloads && host->offloads_running < OS_HELPERS_MAX) {
        struct offload *offload = host->offloads;
        host->offloads = offload->next;
        if (!host->offloads) host->offloads_last = &host->offloads;
        host->offloads_running++;
        fiber_wake_after(fiber_create(host, run_offload, offload), sim_range(SIM_SCHEDULE, 1 * SIM_US, 300 * SIM_US));
    }
}

static void offload_add(struct os *os, const struct offload *job) {
    op_begin(os, job->op);
    struct offload *offload = malloc(sizeof *offload);
    ASSERT(offload != NULL);
    *offload = *job;
    *os->host->offloads_last = offload;
    os->host->offloads_last = &offload->next;
    offload_start_next(os->host);
}

void os_offload(struct os *os, struct os_op *op, os_offload_function *function, void *argument) {
    offload_add(os, &(struct offload){.os = os, .op = op, .function = function, .argument = argument});
}
void os_compute(struct os *os, struct os_op *op, os_offload_function *function, void *argument) {
    offload_add(os,
                &(struct offload){.os = os, .op = op, .function = function, .argument = argument, .computes = true});
}

// ---- clocks, randomness, the machine
// -------------------------------------------------------------------------------------
static const int64_t WALL_START_MS = 1750000000000;

uint64_t os_now_ns(struct os *os) {
    return sim.now_ns - os->host->boot_ns;
}
int64_t os_host_wall_ms(struct os_host *host) {
    return WALL_START_MS + (int64_t)(sim.now_ns / SIM_MS) + host->options.wall_skew_ms;
}
void sim_jump_wall_clock(struct os_host *host, int64_t by_ms) {
    host->options.wall_skew_ms += by_ms;
    sim_trace(host, -1, "clock", "jump", (uint64_t)by_ms);
}
int64_t os_wall_ms(struct os *os) {
    return os_host_wall_ms(os->host);
}
uint64_t os_random(struct os *os) {
    (void)os;
    return sim_random(SIM_OS_RANDOM);
}
uint64_t os_host_random(struct os_host *host) {
    (void)host;
    return sim_random(SIM_OS_RANDOM);
}
uint64_t os_memory_bytes(struct os_host *host) {
    return host->options.memory_bytes;
}
int os_cpus(struct os_host *host, int *cpus, int capacity) {
    int count = host->options.cpus < capacity ? host->options.cpus : capacity;
    for (int i = 0; i < count; i++)
        cpus[i] = i;
    return count;
}
int64_t os_raise_descriptor_limit(struct os_host *host) {
    (void)host;
    return SIM_HANDLES_MAX;
}

static void keep_line(struct os_host *host, const char *line, size_t size) {
    if (host->log_count == SIM_LOG_LINES_MAX) {
        free(host->log[0]);
        memmove(host->log, host->log + 1, sizeof host->log - sizeof host->log[0]);
        host->log_count--;
    }
    host->log[host->log_count++] = strndup(line, size);
    sim_trace(host, -1, "log", host->log[host->log_count - 1], 0);
}
void os_print_error(struct os_host *host, const char *text, size_t size) {
    while (size > 0) {
        const char *newline = memchr(text, '\n', size);
        size_t line = newline ? (size_t)(newline - text) : size;
        keep_line(host, text, line);
        size_t taken = newline ? line + 1 : line;
        text += taken;
        size -= taken;
    }
}
int sim_log_lines_with(const struct os_host *host, const char *text) {
    int lines = 0;
    for (int i = 0; i < host->log_count; i++)
        lines += strstr(host->log[i], text) != NULL;
    return lines;
}

const char *os_error_text(int error) {
    const char *text = strerrordesc_np(error < 0 ? -error : error);
    return text ? text : "unknown error";
}

// ---- programs of a scenario
// ----------------------------------------------------------------------------------------------
static void core_event(struct core_trace *trace, struct core *core, const char *label, const char *detail,
                       uint64_t number) {
    (void)trace;
    sim_trace(core->host, core->id, label, detail, number);
}
static struct core_trace core_listener = {core_event};

void sim_trace_core(struct core *core) {
    core->trace = &core_listener;
}

int sim_program_main(struct os_host *host, void *argument) {
    struct sim_program *program = argument;
    int error = 0, data_cores = program->data_cores ? program->data_cores : 1;
    struct core_set *set = core_set_create(host, data_cores, &error);
    ASSERT(set != NULL);
    program->start(set->cores[0], program->argument);
    struct os_core_entry entries[CORES_MAX];
    for (int i = 0; i < set->count; i++)
        entries[i] = (struct os_core_entry){.name = "core", .cpu = -1, .turn = core_turn, .argument = set->cores[i]};
    os_run_cores(host, entries, set->count);
    core_set_destroy(set);
    return 0;
}
