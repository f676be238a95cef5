// SPDX-License-Identifier: Apache-2.0
// What handlers know of the broker that they run in: set once at start, the same for all cores.
#pragma once

#include "api/api.h"
#include "config/config.h"
#include "controller/controller.h"
#include "log/log_dir.h"

struct checkpointer;
struct broker_facts {
    int32_t broker_id;
    const char *cluster_id;
    const struct config *config; // as it was at start; dynamic changes come with the image
    struct controller *controller;
    struct checkpointer *checkpointer; // replica/checkpointer.h
    struct log_dir **dirs;
    int dir_count;
    int data_cores;
    uint64_t decompressed_bytes_max;
};

// What every handler may ask.
static inline const struct broker_facts *facts_of(struct core *core) {
    return core->facts;
}
