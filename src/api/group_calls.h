// SPDX-License-Identifier: Apache-2.0
// From a handler to the coordinators of groups, and back.
#pragma once

#include "api/api.h"
#include "group/call.h"

enum { GROUP_OPERATIONS = 1 << 3 | 1 << 6 | 1 << 8 }; // READ, DELETE, DESCRIBE: all allowed, without an authorizer

// A call of `item_count` groups in the request's arena; NULL: the connection has been closed.
struct group_call *call_group_begin(struct api_call *call, enum group_call_kind kind, int32_t item_count);
// done() runs on this core. It begins with call_group_end().
void call_group_send(struct group_call *g, void (*done)(struct group_call *g));
// The call that it belongs to; NULL if there is no answer to give (the connection has been closed).
struct api_call *call_group_end(struct group_call *g);
