// SPDX-License-Identifier: Apache-2.0
// Kafka's three rules, each from the oldest segment on and in this order: below the log start (any cleanup.policy); too
// large (the rest must still be retention.bytes or more); too old (now - largest timestamp > retention.ms). A segment
// goes only if all of it is below the high watermark, so that the log start never passes it.
#include "log/retention.h"
#include "base/assert.h"
#include "base/bits.h"

static int64_t segment_end(const struct retention_facts *f, size_t i) {
    return i + 1 < f->segment_count ? f->segments[i + 1].base_offset : f->log_end_offset;
}

static bool is_committed(const struct retention_facts *f, size_t i) {
    return f->high_watermark >= segment_end(f, i);
}

// An empty active segment stays: a new one would be the same.
static bool may_go(const struct retention_facts *f, size_t i) {
    bool empty_active = i + 1 == f->segment_count && f->segments[i].size_bytes == 0;
    return is_committed(f, i) && !empty_active;
}

static size_t count_below_log_start(const struct retention_facts *f, size_t first) {
    size_t i = first;
    while (i + 1 < f->segment_count && may_go(f, i) && f->segments[i + 1].base_offset <= f->log_start_offset)
        i++;
    return i - first;
}

static size_t count_by_size(const struct retention_facts *f, size_t first) {
    if (f->retention_bytes < 0) return 0;
    uint64_t size = 0;
    for (size_t i = first; i < f->segment_count; i++)
        size += f->segments[i].size_bytes;
    uint64_t limit = (uint64_t)f->retention_bytes;
    size_t i = first;
    while (i < f->segment_count && may_go(f, i) && size >= limit) {
#ifndef TAILRACE_PLANT_SIZE_RETENTION_TOO_MUCH
        if (size - limit < f->segments[i].size_bytes) break;
#endif
        size -= f->segments[i].size_bytes;
        i++;
    }
    return i - first;
}

static bool is_old(const struct retention_facts *f, size_t i) {
    const struct retention_segment *s = &f->segments[i];
    int64_t newest_ms = s->max_timestamp_ms >= 0 ? s->max_timestamp_ms : s->modified_ms;
    int64_t age_ms;
    return !__builtin_sub_overflow(f->now_ms, newest_ms, &age_ms) && age_ms > f->retention_ms;
}

static size_t count_by_time(const struct retention_facts *f, size_t first) {
    if (f->retention_ms < 0) return 0;
    size_t i = first;
    while (i < f->segment_count && may_go(f, i) && is_old(f, i))
        i++;
    return i - first;
}

struct retention_plan retention_decide(const struct retention_facts *facts) {
    ASSERT(facts->segment_count >= 1);
    ASSERT(facts->high_watermark <= facts->log_end_offset);
    struct retention_plan plan = {.log_start_offset = facts->log_start_offset};
    plan.by_log_start = count_below_log_start(facts, 0);
    plan.delete_count = plan.by_log_start;
    if (facts->delete_policy) {
        plan.by_size = count_by_size(facts, plan.delete_count);
        plan.delete_count += plan.by_size;
        plan.by_time = count_by_time(facts, plan.delete_count);
        plan.delete_count += plan.by_time;
    }
    ASSERT(plan.delete_count <= facts->segment_count);
    if (plan.delete_count > 0) {
        plan.roll = plan.delete_count == facts->segment_count;
        plan.log_start_offset = max_i64(plan.log_start_offset, segment_end(facts, plan.delete_count - 1));
    }
    ASSERT(plan.log_start_offset <= facts->high_watermark || plan.delete_count == 0);
    return plan;
}
