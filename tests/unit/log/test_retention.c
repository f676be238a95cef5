// SPDX-License-Identifier: Apache-2.0
// log/retention: which segments go, by table. Segments of 100 offsets and 1,000 bytes, one hour apart.
#include "log/retention.h"
#include <criterion/criterion.h>

enum { HOUR = 3600 * 1000 };

struct retention_case {
    const char *name;
    size_t segments; // each 100 offsets, the last one has `active` offsets
    int64_t active, log_start, high_watermark;
    bool delete_policy;
    int64_t retention_ms, retention_bytes, now_ms;
    size_t goes;
    bool roll;
    int64_t log_start_after;
};

Test(retention, table) {
    static const struct retention_case cases[] = {
        {"nothing is due", 3, 50, 0, 250, true, -1, -1, 99 * HOUR, 0, false, 0},
        {"by log start", 3, 50, 150, 250, true, -1, -1, 0, 1, false, 150},
        {"by log start, exactly at a base", 3, 50, 200, 250, true, -1, -1, 0, 2, false, 200},
        {"by log start, compacted too", 3, 50, 200, 250, false, 1, 1, 99 * HOUR, 2, false, 200},
        {"never the active one by log start", 1, 50, 50, 50, true, -1, -1, 0, 0, false, 50},
        {"by time", 3, 50, 0, 250, true, HOUR, -1, 3 * HOUR, 2, false, 200},
        {"by time, at the edge not", 3, 50, 0, 250, true, HOUR, -1, 2 * HOUR, 1, false, 100},
        {"by time, all: roll", 3, 50, 0, 250, true, HOUR, -1, 99 * HOUR, 3, true, 250},
        {"by time, an empty active one stays", 3, 0, 0, 200, true, HOUR, -1, 99 * HOUR, 2, false, 200},
        {"compact only is never deleted by time", 3, 50, 0, 250, false, HOUR, 0, 99 * HOUR, 0, false, 0},
        {"not above the high watermark", 3, 50, 0, 199, true, HOUR, -1, 99 * HOUR, 1, false, 100},
        {"by size: the rest stays at or above", 3, 50, 0, 250, true, -1, 1000, 0, 2, false, 200},
        {"by size: one byte more is needed", 3, 50, 0, 250, true, -1, 1001, 0, 1, false, 100},
        {"by size: 0 deletes all", 3, 50, 0, 250, true, -1, 0, 0, 3, true, 250},
        {"by size, then by time", 3, 50, 0, 250, true, HOUR, 2000, 3 * HOUR, 2, false, 200},
        {"a log start inside stays", 3, 50, 120, 250, true, HOUR, -1, 2 * HOUR, 1, false, 120},
        {"retention.ms 0", 3, 50, 0, 250, true, 0, -1, 3 * HOUR, 3, true, 250},
        {"a clock far back", 3, 50, 0, 250, true, HOUR, -1, INT64_MIN, 0, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct retention_case *c = &cases[i];
        struct retention_segment segments[8] = {0};
        for (size_t s = 0; s < c->segments; s++)
            segments[s] = (struct retention_segment){.base_offset = (int64_t)s * 100,
                                                     .size_bytes = 1000,
                                                     .max_timestamp_ms = (int64_t)s * HOUR,
                                                     .modified_ms = INT64_MIN};
        // the second has no timestamps: its file's time counts
        segments[1].modified_ms = segments[1].max_timestamp_ms;
        segments[1].max_timestamp_ms = -1;
        if (c->active == 0) segments[c->segments - 1].size_bytes = 0;
        struct retention_facts facts = {.segments = segments,
                                        .segment_count = c->segments,
                                        .log_start_offset = c->log_start,
                                        .high_watermark = c->high_watermark,
                                        .log_end_offset = ((int64_t)c->segments - 1) * 100 + c->active,
                                        .now_ms = c->now_ms,
                                        .delete_policy = c->delete_policy,
                                        .retention_ms = c->retention_ms,
                                        .retention_bytes = c->retention_bytes};
        struct retention_plan plan = retention_decide(&facts);
        cr_assert_eq(plan.delete_count, c->goes, "%s: %zu go", c->name, plan.delete_count);
        cr_assert_eq(plan.roll, c->roll, "%s", c->name);
        cr_assert_eq(plan.log_start_offset, c->log_start_after, "%s: %lld", c->name, (long long)plan.log_start_offset);
        cr_assert_eq(plan.by_log_start + plan.by_size + plan.by_time, plan.delete_count);
    }
}
