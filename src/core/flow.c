// SPDX-License-Identifier: Apache-2.0
// The one loop that changes a flow's step. Tracing, per-step statistics and the
// assertions about order hang on it.
#include "core/flow.h"
#include "base/assert.h"
#include "core/core.h"

// A flow that takes this many steps without waiting is a programmer's endless
// loop.
enum { FLOW_STEPS_A_RUN_MAX = 100000 };

void flow_start(struct flow *flow, const struct flow_type *type, struct core *core) {
    ASSERT(flow->type == NULL);
    *flow = (struct flow){.type = type, .core = core};
    list_init(&flow->run_link);
    list_push_back(&core->run_queue, &flow->run_link);
}

void flow_wake(struct flow *flow) {
    if (!flow_is_active(flow)) return;
    if (flow->running) {
        flow->woken = true;
    } else if (!list_is_linked(&flow->run_link)) {
        list_push_back(&flow->core->run_queue, &flow->run_link);
    }
}

void flow_stop(struct flow *flow) {
    flow->stop = true;
    flow_wake(flow);
}

static flow_next flow_run_step(struct flow *flow, const struct flow_type *type, int step) {
    struct core *core = flow->core;
    core_trace(core, type->name, type->steps[step].name, 0);
    if (type->stats == FLOW_STATS_NONE) return type->steps[step].run(flow);
    uint64_t start_ns = os_now_ns(core->os);
    flow_next next = type->steps[step].run(flow);
    struct flow_stats *stats = &core->stats[type->stats];
    stats->type = type;
    stats->count[step]++;
    stats->time_ns[step] += os_now_ns(core->os) - start_ns;
    return next;
}

void flow_run(struct flow *flow) {
    const struct flow_type *type = flow->type;
    ASSERT(type != NULL && !flow->running && !list_is_linked(&flow->run_link));
    flow->running = true;
    const int release = type->step_count - 1;
    for (int budget = FLOW_STEPS_A_RUN_MAX; budget > 0; budget--) {
        int step = flow->step;
        ASSERT(step >= 0 && step < type->step_count);
        if (step == release) {
            flow->type = NULL; // ended: release may start the flow again or free it
            flow->running = false;
            flow_next end = flow_run_step(flow, type, release);
            ASSERT(end == FLOW_END);
            return;
        }
        flow->woken = false;
        flow_next next = flow_run_step(flow, type, step);
        ASSERT(next != FLOW_END);
        if (next == FLOW_WAIT) {
            if (flow->woken) continue;
            flow->running = false;
            return;
        }
        int to = next == FLOW_NEXT ? step + 1 : next == FLOW_FINISH ? release : next;
        ASSERT(to >= 0 && to < type->step_count);
        flow->step = (int16_t)to;
    }
    UNREACHABLE();
}
