// SPDX-License-Identifier: Apache-2.0
// From the batches of a log to what they mean for its producers.
#pragma once

#include "log/producers.h"
#include "protocol/batch.h"

enum { MARKER_BATCH_BYTES_MAX = 4096 };
// What the one record of a control batch says.
struct marker {
    int16_t type; // MARKER_ABORT, MARKER_COMMIT; others are KRaft's
    int32_t coordinator_epoch;
};
enum { MARKER_ABORT = 0, MARKER_COMMIT = 1 };
// The batch's bytes are all there. False: no such record in it (compaction leaves empty control batches).
bool marker_read(const struct batch *batch, struct marker *marker);

// The offsets are those in the header; bytes are needed of control batches only. False: it changes nothing for any
// producer (it has none, or is a control batch without a marker).
bool producer_append_of(const struct batch *batch, struct producer_append *append);
