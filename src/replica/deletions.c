// SPDX-License-Identifier: Apache-2.0
#include "replica/deletions.h"
#include "replica/replica.h"

static void deletions_return(struct core *core, struct message *message) {
    (void)core;
    struct deletions_request *request = container_of(message, struct deletions_request, message);
    request->done(request);
}

static void deletions_gone(struct log_hurry *hurry) {
    struct deletions_request *request = container_of(hurry, struct deletions_request, hurry);
    core_send(request->core, request->from, &request->message, deletions_return);
}

static void deletions_begin(struct core *core, struct message *message) {
    struct deletions_request *request = container_of(message, struct deletions_request, message);
    const struct replicas *replicas = replicas_of(core);
    request->core = core;
    for (int i = 0; i < replicas->dir_count; i++)
        if (atomic_load_explicit(&replicas->dirs[i]->short_of_space, memory_order_relaxed))
            log_dir_hurry(replicas->dirs[i], core, &request->hurry);
    if (request->hurry.pending == 0) deletions_gone(&request->hurry);
}

void deletions_hurry_send(struct core *core, int to, struct deletions_request *request) {
    request->from = core->id;
    request->hurry = (struct log_hurry){.done = deletions_gone};
    core_send(core, to, &request->message, deletions_begin);
}
