// SPDX-License-Identifier: Apache-2.0
// Has a core delete at once what it would delete later, in the log directories that are short of space.
#pragma once

#include "core/core.h"
#include "log/log.h"

struct deletions_request {
    struct message message;
    void (*done)(struct deletions_request *request); // on the sender's core
    void *context;                                   // the sender's
    struct log_hurry hurry;                          // count: so many are gone
    // private
    struct core *core; // that deletes
    int from;
};
void deletions_hurry_send(struct core *core, int to, struct deletions_request *request);
