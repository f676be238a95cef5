// SPDX-License-Identifier: Apache-2.0
// What the handlers keep on a core between requests. The broker has one for each data core (core->api).
#pragma once

#include "api/fetch_session.h"
#include "api/validation.h"
#include "core/core.h"

// A block of producer ids that this core hands out; a new one is asked for when it is used up.
struct producer_ids {
    int64_t next, end;
    bool asking;
    struct list waiting; // of init_producer_id_call
    struct controller_request *request;
};
struct api_state {
    struct core *core;
    struct producer_ids producer_ids;
    bool offsets_topic_asked; // its creation, by FindCoordinator
    struct fetch_sessions fetch_sessions;
    struct validations validations; // of Produce
};
// validation_cost_max_ns: of one batch, and of a turn, on the core.
void api_state_init(struct api_state *state, struct core *core, uint64_t validation_cost_max_ns);
void api_state_free(struct api_state *state);
