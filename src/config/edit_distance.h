// SPDX-License-Identifier: Apache-2.0
// How far two names are apart: insertions, deletions, changes and swaps of neighbours. For suggestions after a typing
// mistake.
#pragma once

#include "base/slice.h"

enum { EDIT_DISTANCE_NAME_MAX = 128 };
// The distance, or `limit` if it is not smaller. Names longer than EDIT_DISTANCE_NAME_MAX are never near.
size_t edit_distance(struct str a, struct str b, size_t limit);
