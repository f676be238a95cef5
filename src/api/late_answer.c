// SPDX-License-Identifier: Apache-2.0
//   wait     for the time, or for the end of the connection or the broker
//   release  answers
#include "api/late_answer.h"
#include "base/bits.h"

#define LATE_ANSWER_STEPS(STEP) STEP(late_answer, wait) STEP(late_answer, release)
FLOW_DEFINE(late_answer, LATE_ANSWER_STEPS)

static flow_next late_answer_step_wait(struct flow *flow) {
    struct late_answer *late = container_of(flow, struct late_answer, flow);
    return late->timer.fired || flow->stop ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next late_answer_step_release(struct flow *flow) {
    struct late_answer *late = container_of(flow, struct late_answer, flow);
    flow_timer_cancel(&late->timer);
    late->call->request->flow = NULL;
    late->answer(late); // its memory goes with the request
    return FLOW_END;
}

void late_answer_begin(struct late_answer *late, struct api_call *call, void (*answer)(struct late_answer *late)) {
    late->call = call;
    late->started_ns = call->core->now_ns;
    late->answer = answer;
}

void late_answer_finish(struct late_answer *late, bool waits, int32_t timeout_ms) {
    struct core *core = late->call->core;
    uint64_t passed_ms = (core->now_ns - late->started_ns) / 1000000;
    uint64_t time_ms = (uint64_t)max_i64(timeout_ms, 0);
    if (!waits || passed_ms >= time_ms || !request_may_wait(late->call->request)) {
        late->answer(late);
        return;
    }
    late->call->request->flow = &late->flow;
    flow_start(&late->flow, &late_answer_flow, core);
    flow_timer_set(&late->timer, &late->flow, time_ms - passed_ms);
}
