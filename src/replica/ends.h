// SPDX-License-Identifier: Apache-2.0
// What the checkpoint files say of a core's partitions: taken on that core, written by the control core.
#pragma once

#include "replica/partition.h"

struct partition_ends {
    char *topic;
    int32_t partition;
    int dir;
    int64_t recovery_point, log_start_offset, high_watermark; // the last two: -1, no line
};
struct ends_list {
    struct partition_ends *entries; // malloc
    size_t count, capacity;
};
// What the partition's log says now (without the topic). A partition whose log is not loaded (yet, or because it is
// damaged) keeps the lines it had.
struct partition_ends ends_of(const struct partition *p);
void ends_add(struct ends_list *list, const struct partition *p);
void ends_add_values(struct ends_list *list, const char *topic, const struct partition_ends *values);
// Appends `from`, which is empty afterwards.
void ends_move(struct ends_list *into, struct ends_list *from);
void ends_free(struct ends_list *list);

// Asks a core for all its partitions' ends. The list is the receiver's when done() is called.
struct ends_request {
    struct message message;
    void (*done)(struct ends_request *request); // on the sender's core
    void *context;                              // the sender's
    struct ends_list ends;
    int from;
};
void ends_send(struct core *core, int to, struct ends_request *request);
