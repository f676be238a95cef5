// SPDX-License-Identifier: Apache-2.0
#include "api/state.h"

void api_state_init(struct api_state *state, struct core *core) {
    *state = (struct api_state){.core = core};
    list_init(&state->producer_ids.waiting);
    fetch_sessions_init(&state->fetch_sessions, core);
}

void api_state_free(struct api_state *state) {
    decompress_cache_free(&state->decompress);
}
