// SPDX-License-Identifier: Apache-2.0
// One core: its loop, run queue, timers, and messages to and from the other
// cores. A broker has data cores 0..n-1 and the control core n.
//
//   core_turn:  messages -> timers -> flows that are ready -> what other cores
//   should see -> os_wait
//
// Everything here is called on the core's own thread, but
// core_set_create/destroy (before and after the threads run).
#pragma once

#include "core/buffers.h"
#include "core/flow.h"
#include "core/message.h"
#include "core/timer.h"
#include "os/os.h"

struct core_set;
struct broker_facts;
struct image_seat;
struct net;
struct api_state;
struct replicas;
struct groups;

// Where a simulated run's hash and a trace listen: a label, and two numbers.
// Called only if not NULL.
struct core_trace {
    void (*event)(struct core_trace *trace, struct core *core, const char *label, const char *detail, uint64_t number);
};
struct flow_stats {
    const struct flow_type *type; // NULL: none has run
    uint64_t count[FLOW_STEPS_MAX];
    uint64_t time_ns[FLOW_STEPS_MAX]; // spent running the step (not waiting)
};
struct core {
    int id;
    bool is_control;
    struct os *os;
    struct os_host *host;
    struct core_set *set;
    // Where the layers above keep what they have for this core; unknown here.
    const struct broker_facts *facts; // api/facts.h
    struct net *net;
    struct api_state *api;
    struct replicas *replicas;
    struct groups *groups;
    struct image_seat *image_seat; // metadata/'s: the present image of the cluster
    uint64_t now_ns;               // of the turn's start; os_now_ns() where it matters
    uint64_t hash_seed;
    struct list run_queue;
    struct timer_wheel timers;
    struct core_trace *trace;
    bool stopping;      // the loop ends when nothing is left to do in this turn
    uint64_t doorbells; // bit for each core that got a message in this turn
    struct flow_stats stats[FLOW_STATS_SLOTS];
    struct buffers buffers;
    uint32_t lines_in_flight; // line.h
    uint64_t lines_dropped;
    uint8_t logger_levels[10]; // loggers.h; the control core's count
    // Written every turn and read by other threads: a core that hangs is seen
    // from outside.
    _Alignas(64) _Atomic uint64_t heartbeat_ns;
    _Atomic uint32_t sleeping;
};
enum { CORES_MAX = 64 };
struct core_set {
    struct os_host *host;
    int count; // the control core included: it is the last one
    struct core *cores[CORES_MAX];
    struct core_queue *queues[CORES_MAX][CORES_MAX]; // [from][to]
};

// data_cores >= 1, below CORES_MAX. NULL and *error as os_create.
struct core_set *core_set_create(struct os_host *host, int data_cores, int *error);
void core_set_destroy(struct core_set *set);
static inline struct core *core_control(struct core_set *set) {
    return set->cores[set->count - 1];
}

// One turn of the loop; false when the core has stopped. argument: the struct
// core.
bool core_turn(void *argument);
// Any core: asks the loop of this core to end after the present turn.
void core_stop(struct core *core);

// message->deliver(receiver, message) will run on core `to` (which may be the
// sender: then in the next turn).
void core_send(struct core *from, int to, struct message *message, void (*deliver)(struct core *, struct message *));

// Monotonic milliseconds of this turn, the clock of the timers.
static inline uint64_t core_now_ms(const struct core *core) {
    return core->now_ns / 1000000;
}
static inline int64_t core_wall_ms(const struct core *core) {
    return os_wall_ms(core->os);
}
static inline void core_timer_set(struct core *core, struct timer *timer, uint64_t delay_ms) {
    timer_wheel_set(&core->timers, timer, core_now_ms(core) + delay_ms);
}
static inline void core_timer_cancel(struct core *core, struct timer *timer) {
    timer_wheel_cancel(&core->timers, timer);
}
static inline void core_trace(struct core *core, const char *label, const char *detail, uint64_t number) {
    if (core->trace) core->trace->event(core->trace, core, label, detail, number);
}

// A timer that wakes a flow.
struct flow_timer {
    struct timer timer;
    struct flow *flow;
    bool fired;
};
void flow_timer_set(struct flow_timer *t, struct flow *flow, uint64_t delay_ms);
void flow_timer_cancel(struct flow_timer *t);
// An operation that wakes a flow: look at op.in_flight and op.result in the
// step.
struct flow_op {
    struct os_op op;
    struct flow *flow;
};
void flow_op_init(struct flow_op *o, struct flow *flow);
