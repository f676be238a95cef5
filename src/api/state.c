// SPDX-License-Identifier: Apache-2.0
#include "api/state.h"

void api_state_init(struct api_state *state, struct core *core, uint64_t validation_cost_max_ns) {
    *state = (struct api_state){.core = core};
    list_init(&state->producer_ids.waiting);
    fetch_sessions_init(&state->fetch_sessions, core);
    validations_init(&state->validations, core, validation_cost_max_ns);
}

void api_state_free(struct api_state *state) {
    validations_free(&state->validations);
}
