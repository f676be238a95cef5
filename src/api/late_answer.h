// SPDX-License-Identifier: Apache-2.0
// An answer that waits until the request's time is up: a partition of a topic that was made or grown has no leader,
// because its replicas were assigned to brokers that are not there. Kafka waits for a leader that long, then says
// REQUEST_TIMED_OUT. A connection that closes ends the wait, and so does a stop.
#pragma once

#include "api/api.h"
#include "core/core.h"

struct late_answer {
    struct flow flow; // while it waits
    struct flow_timer timer;
    struct api_call *call;
    uint64_t started_ns;
    void (*answer)(struct late_answer *late);
};
// When the request has come.
void late_answer_begin(struct late_answer *late, struct api_call *call, void (*answer)(struct late_answer *late));
// When there is something to say: answers now, or, if it waits, at the end of the request's time.
void late_answer_finish(struct late_answer *late, bool waits, int32_t timeout_ms);
