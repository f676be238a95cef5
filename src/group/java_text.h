// SPDX-License-Identifier: Apache-2.0
// Texts as Java counts them: in UTF-16 units. Bytes that are no UTF-8 count as one replacement character each.
#pragma once

#include "base/slice.h"

size_t java_length(struct str s);
int32_t java_hash(struct str s); // String.hashCode
// The partition of an internal topic that a group (or transactional id) belongs to.
int32_t java_partition(struct str id, int32_t partition_count);
