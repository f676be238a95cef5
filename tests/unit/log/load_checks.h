// SPDX-License-Identifier: Apache-2.0
// For the tests of log/load: logs to be loaded, and a load that is checked.
#pragma once

#include "log/load.h"
#include "replica.h"

// Loads, checks start and end, and that a second load of what is there now changes no byte.
void check_load(struct replica *r, struct log_load *load, int64_t start, int64_t end);
// 3 segments, 40 batches of about 500 bytes each: offsets 0-79, 80-159, 160-239.
void three_segments(struct replica *r);
// The same, with everything that recovery makes.
void three_recovered(struct replica *r);
