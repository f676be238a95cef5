// SPDX-License-Identifier: Apache-2.0
// Committed offsets of a group, in memory. Topic names are kept once a core, with a list of all offsets of the topic,
// so that the deletion of a topic finds them.
//
// An offset whose record is being written is `pending`: it is not given out yet, but it keeps the group alive, does not
// expire, and is "unstable" for whoever asks. Records are appended in the order of the commits, so the one with the
// highest record offset is the newest.
#pragma once

#include "base/hashmap.h"
#include "base/list.h"
#include "group/memory.h"

struct offset_topic {
    struct hash_node node;
    struct list offsets; // of struct offset
    uint64_t mark;       // scratch
    struct str name;
};
struct offset_topics { // of one core
    struct hashmap by_name;
    uint64_t hash_seed;
    uint64_t last_mark;
    struct group_memory *memory;
};
struct offset_value {
    int64_t offset;
    int32_t leader_epoch; // -1: none
    int64_t commit_time_ms;
    int64_t expire_time_ms; // -1: by the broker's retention
    struct str metadata;    // never null
};
struct offset {
    struct hash_node node;  // in offsets->by_partition
    struct list owner_link; // in offsets->all
    struct list topic_link; // in topic->offsets
    struct offsets *owner;
    struct offset_topic *topic;
    int32_t partition;
    bool is_committed; // value and record_offset are there
    uint64_t pending;  // the last commit that is being written; 0: none
    uint64_t born;     // the commit that made it: earlier ones were of an offset that has been deleted since
    int64_t record_offset;
    struct offset_value value;
};
struct offsets {
    struct offset_topics *topics;
    struct hashmap by_partition;
    struct list all; // in order of first commit
    uint32_t committed_count, pending_count;
};

void offset_topics_init(struct offset_topics *topics, uint64_t hash_seed, struct group_memory *memory);
void offset_topics_free(struct offset_topics *topics); // no offset is left
struct offset_topic *offset_topic_find(struct offset_topics *topics, struct str name);

void offsets_init(struct offsets *offsets, struct offset_topics *topics);
void offsets_free(struct offsets *offsets);
struct offset *offsets_find(const struct offsets *offsets, struct str topic, int32_t partition);

// A commit begins: its number is later given to committed or failed. False: no memory is left.
bool offsets_prepare(struct offsets *offsets, struct str topic, int32_t partition, uint64_t commit);
// The record of the commit was written at record_offset. Nothing if the offset was deleted meanwhile.
void offsets_committed(struct offsets *offsets, struct str topic, int32_t partition, uint64_t commit,
                       int64_t record_offset, const struct offset_value *value);
void offsets_failed(struct offsets *offsets, struct str topic, int32_t partition, uint64_t commit);
// What the log says: a later record replaces an earlier one.
void offsets_load(struct offsets *offsets, struct str topic, int32_t partition, int64_t record_offset,
                  const struct offset_value *value);
void offset_remove(struct offset *offset);
