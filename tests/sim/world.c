// SPDX-License-Identifier: Apache-2.0
// Virtual time, randomness, the trace and its hash. The scheduler is the heap of events: sim_run takes the earliest
// one, moves the clock there and runs it. Two events at the same nanosecond run in the order in which they were
// planned.
#include "world.h"
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

struct world sim;
static XXH3_state_t *trace_hash;

// A run that makes more events than this does not end: virtual time hardly moves, or the scenario is too big.
enum { EVENTS_MAX = 40 * 1000 * 1000 };

// ---- randomness: xoshiro256**, seeded with splitmix64
// ------------------------------------------------------------------
static uint64_t splitmix(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int by) {
    return (x << by) | (x >> (64 - by));
}

uint64_t sim_random(enum sim_stream stream) {
    uint64_t *s = sim.random[stream];
    uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t sim_range(enum sim_stream stream, uint64_t low, uint64_t high) {
    ASSERT(low <= high);
    uint64_t span = high - low + 1; // 0: all 64 bits
    uint64_t r = sim_random(stream);
    return span == 0 ? r : low + (uint64_t)(((unsigned __int128)r * span) >> 64);
}

bool sim_chance(enum sim_stream stream, uint32_t per_million) {
    // No draw for what cannot happen: a fault that is off leaves the stream as it is.
    return per_million > 0 && sim_range(stream, 0, 999999) < per_million;
}

void sim_create(uint64_t seed, const char *scenario, bool verbose) {
    ASSERT(trace_hash == NULL);
    sim = (struct world){.seed = seed, .scenario = scenario, .verbose = verbose, .now_ns = SIM_SECOND};
    for (int stream = 0; stream < SIM_STREAMS; stream++) {
        uint64_t state = seed * SIM_STREAMS + (uint64_t)stream;
        for (int i = 0; i < 4; i++)
            sim.random[stream][i] = splitmix(&state);
    }
    trace_hash = XXH3_createState();
    ASSERT(trace_hash != NULL);
    XXH3_64bits_reset(trace_hash);
    // Each run has a temper of its own: fast or slow cores, near or far machines.
    sim.turn_min_ns = sim_range(SIM_SCHEDULE, 200, 2 * SIM_US);
    sim.turn_max_ns = sim.turn_min_ns + sim_range(SIM_SCHEDULE, 1 * SIM_US, 60 * SIM_US);
    sim.net.latency_min_ns = sim_range(SIM_NETWORK, 5 * SIM_US, 50 * SIM_US);
    sim.net.latency_max_ns = sim.net.latency_min_ns + sim_range(SIM_NETWORK, 10 * SIM_US, 2 * SIM_MS);
    sim.net.bytes_per_ms = sim_range(SIM_NETWORK, 10 * 1000, 1000 * 1000);
    sim.net.split = (uint32_t)sim_range(SIM_NETWORK, 0, 300000);
    sim.net.window_bytes = (uint32_t)sim_range(SIM_NETWORK, 4 << 10, 256 << 10);
}

uint64_t sim_seed(void) {
    return sim.seed;
}
uint64_t sim_now_ns(void) {
    return sim.now_ns;
}
uint64_t sim_hash(void) {
    return XXH3_64bits_digest(trace_hash);
}
uint64_t sim_events(void) {
    return sim.events_run;
}
struct sim_net_options *sim_net(void) {
    return &sim.net;
}

// ---- the trace
// -----------------------------------------------------------------------------------------------------------
void sim_trace(struct os_host *host, int core_id, const char *label, const char *detail, uint64_t number) {
    struct {
        uint64_t now_ns, number;
        int32_t host, core;
    } fixed = {sim.now_ns, number, host ? host->id : -1, core_id};
    XXH3_64bits_update(trace_hash, &fixed, sizeof fixed);
    XXH3_64bits_update(trace_hash, label, strlen(label) + 1);
    XXH3_64bits_update(trace_hash, detail, strlen(detail) + 1);
    if (!sim.verbose) return;
    char core[16] = "-";
    if (core_id >= 0) snprintf(core, sizeof core, "%d", core_id);
    printf("%10.6f %-8s %2s %-16s %s %llu\n", (double)sim.now_ns / 1e9, host ? host->name : "-", core, label, detail,
           (unsigned long long)number);
}

static void print_last_log_lines(void) {
    enum { SHOWN = 12 };
    for (int h = 0; h < sim.host_count; h++) {
        struct os_host *host = sim.hosts[h];
        for (int i = host->log_count > SHOWN ? host->log_count - SHOWN : 0; i < host->log_count; i++)
            fprintf(stderr, "  %s: %s\n", host->name, host->log[i]);
    }
}

static _Noreturn void end_with_failure(void) {
    fprintf(stderr, "  reproduce: tools/sim --scenario %s --seed %llu -v\n", sim.scenario,
            (unsigned long long)sim.seed);
    fflush(stdout);
    fflush(stderr);
    _exit(1);
}

static void print_where(void) {
    fprintf(stderr, "FAILED scenario %s, seed %llu, virtual time %.6f s", sim.scenario, (unsigned long long)sim.seed,
            (double)sim.now_ns / 1e9);
    if (sim.current_fiber) fprintf(stderr, ", host %s", sim.current_fiber->host->name);
    if (sim.current_os) fprintf(stderr, " core %d", sim.current_os->core_id);
    fprintf(stderr, ": ");
}

_Noreturn void sim_fail(const char *format, ...) {
    fflush(stdout);
    print_where();
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    print_last_log_lines();
    end_with_failure();
}

_Noreturn void assert_failed(const char *file, int line, const char *expression) {
    fflush(stdout);
    print_where();
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
    print_last_log_lines();
    if (getenv("SIM_ABORT")) abort(); // for a debugger
    end_with_failure();
}

// ---- events
// ----------------------------------------------------------------------------------------------------------------
static bool event_before(const struct event *x, const struct event *y) {
    return x->time_ns != y->time_ns ? x->time_ns < y->time_ns : x->sequence < y->sequence;
}

static void heap_push(struct event *event) {
    if (sim.heap_count == sim.heap_capacity) {
        sim.heap_capacity = sim.heap_capacity ? sim.heap_capacity * 2 : 256;
        sim.heap = realloc(sim.heap, sim.heap_capacity * sizeof *sim.heap);
        ASSERT(sim.heap != NULL);
    }
    size_t at = sim.heap_count++;
    while (at > 0 && event_before(event, sim.heap[(at - 1) / 2])) {
        sim.heap[at] = sim.heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    sim.heap[at] = event;
}

static struct event *heap_pop(void) {
    ASSERT(sim.heap_count > 0);
    struct event *first = sim.heap[0], *last = sim.heap[--sim.heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= sim.heap_count) break;
        if (child + 1 < sim.heap_count && event_before(sim.heap[child + 1], sim.heap[child])) child++;
        if (!event_before(sim.heap[child], last)) break;
        sim.heap[at] = sim.heap[child];
        at = child;
    }
    if (sim.heap_count > 0) sim.heap[at] = last;
    return first;
}

void event_add(uint64_t delay_ns, void (*run)(struct event *), struct os_host *process, void *a, void *b, uint64_t n) {
    struct event *event = sim.free_events;
    if (event) {
        sim.free_events = event->a;
    } else {
        event = malloc(sizeof *event);
        ASSERT(event != NULL);
    }
    *event = (struct event){.time_ns = sim.now_ns + delay_ns,
                            .sequence = sim.next_sequence++,
                            .host = process,
                            .incarnation = process ? process->incarnation : 0,
                            .run = run,
                            .a = a,
                            .b = b,
                            .n = n};
    heap_push(event);
}

static void run_one_event(void) {
    struct event *event = heap_pop();
    ASSERT(event->time_ns >= sim.now_ns);
    bool stale = event->host && (event->host->incarnation != event->incarnation || !event->host->running);
    if (!stale) {
        sim.now_ns = event->time_ns;
        event->run(event);
        SIM_CHECK(++sim.events_run < EVENTS_MAX, "the run does not end: %d events", EVENTS_MAX);
    }
    event->a = sim.free_events;
    sim.free_events = event;
}

bool sim_run(uint64_t within_ns, bool (*condition)(void *), void *context) {
    ASSERT(!sim.current_os && !sim.current_fiber);
    uint64_t end_ns = sim.now_ns + within_ns;
    if (condition && condition(context)) return true;
    while (sim.heap_count > 0 && sim.heap[0]->time_ns <= end_ns) {
        run_one_event();
        if (condition && condition(context)) return true;
    }
    sim.now_ns = end_ns;
    return condition == NULL;
}

struct callback {
    void (*function)(void *);
    void *context;
};
static void run_callback(struct event *event) {
    struct callback callback = *(struct callback *)event->a;
    free(event->a);
    callback.function(callback.context);
}

void sim_after(uint64_t delay_ns, void (*function)(void *), void *context) {
    struct callback *callback = malloc(sizeof *callback);
    ASSERT(callback != NULL);
    *callback = (struct callback){function, context};
    event_add(delay_ns, run_callback, NULL, callback, NULL, 0);
}
