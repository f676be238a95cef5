// SPDX-License-Identifier: Apache-2.0
// Produce by hand, all versions: the same structs, the same bytes and the same refusals as the interpreter gives for
// messages/produce.h, to which tests hold it, at a fraction of the cost.
#pragma once

#include "protocol/message.h"
#include "protocol/messages/produce.h"

bool produce_request_decode(int16_t version, struct bytes in, size_t *consumed, struct produce_request *out,
                            struct arena *arena, struct message_error *error);

// The response must be one that the interpreter would take: no nulls but where they may be, strings up to 32767 bytes.
size_t produce_response_size(int16_t version, const struct produce_response *response);
void produce_response_encode(int16_t version, const struct produce_response *response, void *memory, size_t size_bytes);
