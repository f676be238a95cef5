// SPDX-License-Identifier: Apache-2.0
// Loading the state that an internal topic's partition holds: its log is read from start to end and every record handed
// to the owner, in order. For groups (and, later, transactions), on the core that owns the partition.
#pragma once

#include "replica/partition.h"

struct statelog_record {
    int64_t offset, batch_base_offset;
    int64_t timestamp_ms;
    struct bytes key, value; // data NULL is null; good during the call
};
struct statelog_load {
    // in
    struct uuid topic_id;
    int32_t index;
    uint32_t read_bytes_max; // of one read; a batch that is larger is read whole
    void (*record)(struct statelog_load *load, const struct statelog_record *record);
    void (*done)(struct statelog_load *load); // may start it again, or free it
    // out
    int16_t error;      // NONE; NOT_LEADER_OR_FOLLOWER; KAFKA_STORAGE_ERROR, CORRUPT_MESSAGE: see reason
    const char *reason; // static text
    int32_t leader_epoch;
    int64_t start_offset, end_offset; // read up to end_offset
    uint64_t records, bytes;
    // private
    struct flow flow;
    struct partition *partition;
    struct partition_watch watch;
    struct flow_timer timer;
    int waits;
    struct log_read read;
    bool read_held;
    struct flow_op op;
    uint8_t *buffer;
};
// Waits until the partition is here and its log has been loaded.
void statelog_load_start(struct core *core, struct statelog_load *load);
// It ends soon, with NOT_LEADER_OR_FOLLOWER.
void statelog_load_stop(struct statelog_load *load);
