// SPDX-License-Identifier: Apache-2.0
// The memory of a broker, divided.
//
//   half        request frames, split evenly over the data cores: what clients can make us hold
//   an eighth   buffers that were freed and are kept, split likewise
//   an eighth   members and committed offsets of groups, split likewise
//   the rest    arenas, images, producer state, indexes in memory
//
// A connection costs about 6 KiB when idle (its struct and a 4 KiB buffer), so an eighth of the memory bounds their
// number.
#include "broker/internal.h"

enum { CONNECTION_BYTES = 6 * 1024, ARENA_BYTES_MIN = 16 << 20 };

struct broker_budget broker_budget_divide(uint64_t memory_bytes, int data_cores) {
    ASSERT(data_cores > 0);
    size_t each = memory_bytes / (uint64_t)data_cores;
    return (struct broker_budget){
        .frames_bytes = each / 2,
        .arena_bytes = max_size(each / 8, ARENA_BYTES_MIN),
        .kept_bytes = each / 8,
        .groups_bytes = each / 8,
        .connections = (uint32_t)min_size(each / 8 / CONNECTION_BYTES, 1 << 20),
    };
}
