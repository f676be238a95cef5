// SPDX-License-Identifier: Apache-2.0
// What may be appended, and what its batches mean for producer state, indexes and epochs. No I/O.
#pragma once

#include "log/internal.h"
#include "protocol/batch.h"

// An append (a record set) as rolling sees it.
struct append_facts {
    int64_t base_offset, last_offset;
    int64_t max_timestamp_ms;       // -1: no batch has one
    int64_t first_max_timestamp_ms; // of the first batch
};
// May it follow what ends at next_offset? KAFKA_NONE: it may (*facts is filled), or it is a duplicate
// (append->duplicate and the offsets are set, nothing is to be written). Nothing is changed but that.
int16_t append_examine(struct log *log, struct log_append *append, int64_t next_offset, struct append_facts *facts);
// After append_examine: patches offsets and epochs in place, and takes the batches into the producer state.
void append_take(struct log *log, struct log_append *append, const struct append_facts *facts);
