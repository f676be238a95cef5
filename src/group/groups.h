// SPDX-License-Identifier: Apache-2.0
// The group coordinator of one data core: the groups whose partition of __consumer_offsets this core owns and this
// broker leads.
//
// A partition that begins to be led here is loaded (load.c): until that is done its groups answer
// COORDINATOR_LOAD_IN_PROGRESS. One that is no longer led here is unloaded: whoever waits is told NOT_COORDINATOR.
// Calls arrive by message (call.h), are answered from memory or after a record has been committed (write.c), and time
// passes by a timer for each group.
#pragma once

#include "core/core.h"
#include "group/call.h"
#include "group/group.h"
#include "group/records.h"
#include "metadata/publish.h"
#include "replica/append.h"
#include "replica/statelog.h"

#define GROUPS_TOPIC "__consumer_offsets"

struct groups_settings {
    struct group_limits limits;
    int32_t offset_metadata_max; // in UTF-16 units, as Kafka counts
    int64_t retention_ms;
    uint64_t retention_check_ms;
    uint32_t load_bytes; // of one read
    int32_t write_timeout_ms;
    int16_t write_acks;
    enum codec codec;
    size_t memory_bytes; // for all groups of the core
};
struct groups_settings groups_settings_of(const struct config *config, size_t memory_bytes);

// A partition of __consumer_offsets that is led here.
struct group_partition {
    struct groups *groups;
    struct uuid topic_id;
    int32_t index;
    bool is_loaded;
    bool is_leaving; // while it loads: it is no longer led here
    struct statelog_load load;
    struct timer retry;
    uint64_t started_ms;
    uint32_t bad_records;
    struct list deleted_topics; // while it loads: of deleted_topic
};
struct groups {
    struct core *core;
    struct groups_settings settings;
    struct group_memory memory;
    struct offset_topics topics;
    struct group_output output;
    struct hashmap by_id;
    struct list all;                     // of struct group
    uint32_t dead;                       // groups that are freed when their last record has come back
    struct group_partition **partitions; // by index; NULL: not led here
    int32_t partition_count;
    struct group_partition *loading; // one at a time
    uint32_t partitions_loading;
    struct image_listener listener;
    uint32_t writes; // in flight
    uint64_t last_commit;
    bool memory_is_short; // said once
    // expire.c
    struct timer expiry;
    struct flow sweep;
    uint32_t sweep_left;
    // stopping
    bool is_stopping;
    struct flow *stop_flow;
    bool *stop_done;
};
// Before the threads run.
void groups_init(struct groups *groups, struct core *core, const struct groups_settings *settings);
// On its core: nothing new is taken, whoever waits is told, loads are given up; wakes the flow (and sets *done) when no
// record is in flight any more.
void groups_stop(struct groups *groups, struct flow *flow, bool *done);
void groups_free(struct groups *groups); // after groups_stop, or never used

// ---- for the files of group/
void groups_take(struct groups *groups, struct group_call *call);   // take.c
void groups_forget(struct groups *groups, struct group_call *call); // take.c
int16_t groups_partition_state(const struct groups *groups, int32_t index);
struct group *groups_find(const struct groups *groups, struct str id);
// NULL: no memory is left.
struct group *groups_create(struct groups *groups, struct str id, int32_t partition);
struct group *groups_find_or_load(struct groups *groups, struct str id, int32_t partition); // whatever the memory
// A Dead group: not found any more; freed now, or when its last record has come back.
void groups_drop(struct groups *groups, struct group *group);
void groups_group_unused(struct groups *groups, struct group *group); // a record has come back
// After every event: sets the group's timer.
void groups_group_moved(struct groups *groups, struct group *group);
void groups_check_stopped(struct groups *groups);
struct group_time groups_now(const struct groups *groups);
void groups_say_memory_is_short(struct groups *groups);

void groups_partitions_follow(struct groups *groups, const struct image *image); // load.c
void groups_load_next(struct groups *groups);
void groups_unload(struct groups *groups, struct group_partition *partition);
void groups_topic_deleted_while_loading(struct groups *groups, struct str name, int32_t partition_count);

void groups_expiry_start(struct groups *groups); // expire.c
void groups_topics_deleted(struct groups *groups, const struct image *before, const struct image *now);
void groups_delete_topic(struct groups *groups, struct str name, int32_t partition_count, int32_t only_partition);
// Removes the group if it is Empty and has no offsets; its tombstone goes into the batch. True: it is gone.
bool groups_bury_if_unused(struct groups *groups, struct group *group, struct record_batch *batch);

// ---- write.c
enum group_write_kind { GROUP_WRITE_STORE, GROUP_WRITE_COMMIT, GROUP_WRITE_TOMBSTONES };
struct group_write {
    enum group_write_kind kind;
    struct group *group;          // held; NULL: it does not matter
    uint64_t id;                  // of the store, or the commit
    struct group_call *call;      // waits for it; NULL
    struct group_call_item *item; // of the call
};
// Takes the batch. STORE and COMMIT change the group when the record has been committed (or could not be).
void groups_write(struct groups *groups, int32_t partition, const struct group_write *write,
                  struct record_batch *batch);
// What a row commits.
struct offset_value group_row_value(const struct group_call_item *item, const struct group_offset_row *row,
                                    int64_t taken_ms);
