// SPDX-License-Identifier: Apache-2.0
// A flow: an asynchronous operation of several steps (a produce request, an
// append, a controller procedure), embedded in the object that it drives. Its
// steps are listed once, at the top of its file, and the list is the file's
// table of contents:
//
//     // The life of a Produce request on the core that owns the connection.
//     #define PRODUCE_STEPS(STEP) STEP(produce, decode) STEP(produce,
//     authorize) STEP(produce, route) ... STEP(produce, release)
//     FLOW_DEFINE(produce, PRODUCE_STEPS)
//
//     static flow_next produce_step_decode(struct flow *flow) { ... return
//     FLOW_NEXT; }
//
// A step runs to completion and says what comes next:
//   FLOW_NEXT                  the following step, at once
//   FLOW_GOTO(produce, gather) that step, at once
//   FLOW_WAIT                  this same step again after flow_wake(); the step
//   re-checks its condition, since two wakes may be one and a
//                              wake may come for another reason (the stop flag)
//   FLOW_DONE(flow, error)     the last step, whatever the present one is;
//   flow->error is kept (KAFKA_ERROR_NONE or a Kafka error code)
// The last step is always called `release`: it runs exactly once on every path,
// gives back everything (it may free the object that the flow is embedded in),
// and returns FLOW_END. No other step returns FLOW_END.
//
// Nobody cancels a flow: flow_stop() sets its flag and wakes it; operations
// that it has in flight are awaited by its steps. A wake puts the flow on its
// core's run queue; it never runs inside the waker. All of this happens on the
// flow's core.
#pragma once

#include "base/list.h"
#include <stdbool.h>
#include <stdint.h>

struct core;
struct flow;

typedef int flow_next; // a step's index, or one of:
enum { FLOW_NEXT = -1, FLOW_WAIT = -2, FLOW_FINISH = -3, FLOW_END = -4 };

struct flow_step {
    const char *name;
    flow_next (*run)(struct flow *flow);
};
// Slots of the per-core step statistics; NONE is not counted.
enum flow_stats_slot {
    FLOW_STATS_NONE,
    FLOW_STATS_PRODUCE,
    FLOW_STATS_APPEND,
    FLOW_STATS_FETCH,
    FLOW_STATS_FETCH_SHARE,
    FLOW_STATS_SLOTS
};
enum { FLOW_STEPS_MAX = 16 };
struct flow_type {
    const char *name;
    const struct flow_step *steps;
    int step_count; // the last one is release
    enum flow_stats_slot stats;
};
struct flow {
    const struct flow_type *type; // NULL: not started, or ended
    struct core *core;
    struct list run_link; // in the core's run queue, or in nothing
    int16_t step;
    int16_t error; // a Kafka error code, see FLOW_DONE
    bool stop;     // somebody wants it to end: steps that wait look at it
    bool running;
    bool woken; // a wake that came while it ran
};

// Puts the flow at its first step and on the core's run queue. The flow is zero
// or has ended.
void flow_start(struct flow *flow, const struct flow_type *type, struct core *core);
// Harmless when the flow is already queued, has not been started or has ended.
void flow_wake(struct flow *flow);
void flow_stop(struct flow *flow);
static inline bool flow_is_active(const struct flow *flow) {
    return flow->type != NULL;
}
// For the core's loop only: runs steps until one waits or the flow has ended.
void flow_run(struct flow *flow);

static inline flow_next FLOW_DONE(struct flow *flow, int16_t error) {
    flow->error = error;
    return FLOW_FINISH;
}
#define FLOW_GOTO(name, step)         ((flow_next)name##_at_##step)

#define FLOW_DECLARE_STEP(name, step) static flow_next name##_step_##step(struct flow *flow);
#define FLOW_INDEX_STEP(name, step)   name##_at_##step,
#define FLOW_ROW_STEP(name, step)     {#step, name##_step_##step},
#define FLOW_DEFINE_COUNTED(name, STEPS, slot)                                                                         \
    STEPS(FLOW_DECLARE_STEP)                                                                                           \
    enum { STEPS(FLOW_INDEX_STEP) name##_step_count };                                                                 \
    _Static_assert(name##_at_release == name##_step_count - 1, "the last step is release");                            \
    _Static_assert((int)name##_step_count <= (int)FLOW_STEPS_MAX, "too many steps");                                   \
    static const struct flow_step name##_steps[] = {STEPS(FLOW_ROW_STEP)};                                             \
    static const struct flow_type name##_flow = {#name, name##_steps, name##_step_count, slot};
#define FLOW_DEFINE(name, STEPS) FLOW_DEFINE_COUNTED(name, STEPS, FLOW_STATS_NONE)
