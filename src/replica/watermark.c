// SPDX-License-Identifier: Apache-2.0
#include "replica/watermark.h"
#include "base/assert.h"

int64_t watermark_of(int64_t present, const struct replica_end *ends, int32_t count) {
    ASSERT(count >= 1);
    int64_t least = ends[0].acknowledged_end;
    for (int32_t i = 1; i < count; i++) {
        if (ends[i].acknowledged_end < least) least = ends[i].acknowledged_end;
    }
    return least > present ? least : present;
}

bool insync_is_enough(int32_t isr_count, int32_t min_insync, int32_t replication_factor) {
    int32_t needed = min_insync < replication_factor ? min_insync : replication_factor;
    return isr_count >= needed;
}
