// SPDX-License-Identifier: Apache-2.0
// How a core finds its partitions. The broker (the top layer) keeps one `struct replicas` for each core and registers
// it with the core.
#pragma once

#include "replica/partition.h"

static inline struct replicas *replicas_of(struct core *core) {
    return core->replicas;
}
