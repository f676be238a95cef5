// SPDX-License-Identifier: Apache-2.0
#include "history.h"
#include "base/bits.h"
#include "sim.h"
#include <stdlib.h>

static uint8_t filling(uint32_t producer, uint64_t number, size_t at) {
    return (uint8_t)(producer * 131 + number * 17 + at);
}

void history_value_make(uint8_t *value, size_t size_bytes, uint32_t producer, uint64_t number) {
    store_be32(value, producer);
    store_be32(value + 4, (uint32_t)size_bytes);
    store_be64(value + 8, number);
    for (size_t i = HISTORY_VALUE_MIN_BYTES; i < size_bytes; i++)
        value[i] = filling(producer, number, i);
}

static struct history_fact *fact_at(struct history_partition *p, int64_t offset) {
    SIM_CHECK(offset >= 0 && offset < INT64_C(1) << 32, "%s-%d: offset %lld", p->topic, p->index, (long long)offset);
    if (offset >= p->capacity) {
        int64_t capacity = max_i64(offset + 1, p->capacity * 2);
        p->facts = realloc(p->facts, (size_t)capacity * sizeof *p->facts);
        SIM_CHECK(p->facts, "no memory for the history");
        memset(p->facts + p->capacity, 0, (size_t)(capacity - p->capacity) * sizeof *p->facts);
        p->capacity = capacity;
    }
    if (offset >= p->known_end) p->known_end = offset + 1;
    return &p->facts[offset];
}

static struct history_fact *agree(struct history_partition *p, int64_t offset, uint32_t producer, uint64_t number,
                                  const char *how) {
    struct history_fact *fact = fact_at(p, offset);
    SIM_CHECK(fact->producer == 0 || (fact->producer == producer + 1 && fact->number == number),
              "%s-%d offset %lld: record %llu of producer %u was %s here, but record %llu of producer %u %s before",
              p->topic, p->index, (long long)offset, (unsigned long long)number, producer, how,
              (unsigned long long)fact->number, fact->producer - 1, fact->acknowledged ? "acknowledged" : "read");
    fact->producer = producer + 1;
    fact->number = number;
    return fact;
}

void history_acknowledge(struct history_partition *p, int64_t offset, uint32_t producer, uint64_t number) {
    agree(p, offset, producer, number, "acknowledged")->acknowledged = true;
    p->acknowledged_end = max_i64(p->acknowledged_end, offset + 1);
}

void history_read(struct history_partition *p, struct history_producer *producers, uint32_t producer_count,
                  int64_t offset, struct bytes value) {
    SIM_CHECK(value.data && value.size >= HISTORY_VALUE_MIN_BYTES && load_be32(value.data + 4) == value.size,
              "%s-%d offset %lld: not a record of ours", p->topic, p->index, (long long)offset);
    uint32_t producer = load_be32(value.data);
    uint64_t number = load_be64(value.data + 8);
    SIM_CHECK(producer < producer_count, "%s-%d offset %lld: unknown producer", p->topic, p->index, (long long)offset);
    for (size_t i = HISTORY_VALUE_MIN_BYTES; i < value.size; i++)
        SIM_CHECK(value.data[i] == filling(producer, number, i), "%s-%d offset %lld: byte %zu of the value is wrong",
                  p->topic, p->index, (long long)offset, i);
    struct history_fact *fact = agree(p, offset, producer, number, "read");
    fact->read = true;
    if (offset != p->next_read) return; // read again
    p->next_read++;
    struct history_producer *who = &producers[producer];
    if (who->is_idempotent)
        SIM_CHECK(number == who->seen, "%s-%d offset %lld: record %llu of idempotent producer %u, expected %llu: %s",
                  p->topic, p->index, (long long)offset, (unsigned long long)number, producer,
                  (unsigned long long)who->seen, number < who->seen ? "duplicated or reordered" : "one is missing");
    if (number >= who->seen) who->seen = number + 1;
}

void history_high_watermark(struct history_partition *p, int64_t high_watermark) {
    SIM_CHECK(high_watermark >= p->high_watermark, "%s-%d: the high watermark went back from %lld to %lld", p->topic,
              p->index, (long long)p->high_watermark, (long long)high_watermark);
    p->high_watermark = high_watermark;
}

void history_check(const struct history_partition *p, int64_t end) {
    SIM_CHECK(p->acknowledged_end <= end, "%s-%d: offset %lld was acknowledged, the log ends at %lld", p->topic,
              p->index, (long long)p->acknowledged_end - 1, (long long)end);
    SIM_CHECK(p->next_read == end, "%s-%d: read up to %lld of %lld", p->topic, p->index, (long long)p->next_read,
              (long long)end);
    for (int64_t offset = 0; offset < end; offset++)
        SIM_CHECK(p->facts[offset].read, "%s-%d: nothing was read at offset %lld", p->topic, p->index,
                  (long long)offset);
}
