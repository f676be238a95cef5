// SPDX-License-Identifier: Apache-2.0
// Asking many partitions one question each and waiting for all answers. The calls live in the request's arena.
#pragma once

#include "api/api.h"
#include "replica/partition_call.h"

struct scatter {
    struct core *core;
    uint32_t pending;
    void (*all_done)(struct scatter *scatter); // on the request's core; may come within scatter_end()
};
void scatter_begin(struct scatter *scatter, struct core *core, void (*all_done)(struct scatter *scatter));
// The call's kind and inputs are set; its done and context are taken by this. Errors that are known without a trip (no
// such topic or partition, offline, not here) are put into call->error at once.
void scatter_send(struct scatter *scatter, struct partition_call *call, const struct image_topic *topic, int32_t index);
// Every call has been sent: all_done runs now if nothing is pending, else after the last answer.
void scatter_end(struct scatter *scatter);
