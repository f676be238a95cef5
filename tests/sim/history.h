// SPDX-License-Identifier: Apache-2.0
// What clients have been promised and have seen, and whether it is one story. Kept by the scenario, outside of every
// simulated process, so it survives all crashes.
//
// A record's value says who wrote it: producer and number. For each partition the history knows, by offset, what lies
// there, from acknowledgements and from reads; two answers that differ end the run. At the end every acknowledged
// record has been read at its offset, and what an idempotent producer wrote has been read once and in order.
#pragma once

#include "base/slice.h"
#include <stdbool.h>
#include <stdint.h>

struct history_fact {
    uint32_t producer; // + 1; 0: nothing known of this offset
    uint64_t number;
    bool acknowledged, read;
};
struct history_partition {
    const char *topic;
    int index;
    struct history_fact *facts; // by offset
    int64_t known_end, capacity;
    int64_t high_watermark; // the largest that was seen
    int64_t acknowledged_end;
    int64_t next_read; // offsets below it have been read
};
struct history_producer {
    bool is_idempotent;
    uint64_t acknowledged; // numbers below it
    uint64_t seen;         // in log order: of an idempotent producer the next number that must come
};

void history_acknowledge(struct history_partition *p, int64_t offset, uint32_t producer, uint64_t number);
// A record was read at `offset`, the first time or again.
void history_read(struct history_partition *p, struct history_producer *producers, uint32_t producer_count,
                  int64_t offset, struct bytes value);
void history_high_watermark(struct history_partition *p, int64_t high_watermark);
// After everything below `end` was read: nothing acknowledged is missing.
void history_check(const struct history_partition *p, int64_t end);

enum { HISTORY_VALUE_MIN_BYTES = 16 };
// Fills a value of size_bytes (at least the minimum): who, which, and bytes that can be checked.
void history_value_make(uint8_t *value, size_t size_bytes, uint32_t producer, uint64_t number);
