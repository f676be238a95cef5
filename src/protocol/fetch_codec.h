// SPDX-License-Identifier: Apache-2.0
// Fetch by hand, all versions: the same structs, bytes and refusals as the interpreter gives for messages/fetch.h, to
// which tests hold it. The response is written without its record bytes, which go from the page cache to the socket:
// the encoder says where they belong.
#pragma once

#include "protocol/message.h"
#include "protocol/messages/fetch.h"

bool fetch_request_decode(int16_t version, struct bytes in, size_t *consumed, struct fetch_request *out,
                          struct arena *arena, struct message_error *error);

// In a response to encode, `records` of a partition says how many bytes there are: {NULL, 0} is null, {"", 0} is empty;
// with a size, data is not looked at.
struct fetch_response_size {
    size_t message_bytes; // with all record bytes
    size_t memory_bytes;  // without them: what fetch_response_encode writes
    size_t split_count;   // partitions with record bytes
};
struct fetch_split {
    size_t offset; // the record bytes go in front of memory[offset]; rising
    const struct fetch_response_partition *partition;
};

struct fetch_response_size fetch_response_size(int16_t version, const struct fetch_response *response);
// Fills memory_bytes and the split_count splits: memory up to the first offset, that partition's records, memory up to
// the next one, and so on, then the rest.
void fetch_response_encode(int16_t version, const struct fetch_response *response, void *memory, size_t memory_bytes,
                           struct fetch_split *splits, size_t split_count);
