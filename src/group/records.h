// SPDX-License-Identifier: Apache-2.0
// The records of __consumer_offsets, as Kafka 3.9 writes and reads them: keys of version 1 (an offset) and 2 (a group),
// values of version 3, or 1 for an offset with an expiry time of its own. A null value takes a record back.
#pragma once

#include "base/arena.h"
#include "group/group.h"
#include "protocol/batch_writer.h"
#include "protocol/messages/group_log.h"

// A batch that grows as records are added.
struct record_batch {
    struct batch_writer writer;
    uint8_t *memory; // NULL until the first record
    int64_t timestamp_ms;
    uint8_t *scratch;
    size_t scratch_bytes;
};
void record_batch_begin(struct record_batch *batch, int64_t timestamp_ms);
void record_batch_add_offset(struct record_batch *batch, struct str group, struct str topic, int32_t partition,
                             const struct offset_value *value); // NULL: a tombstone
// False: a text is too long for the record; nothing was added. use_next: with the assignment that is being stored.
bool record_batch_add_group(struct record_batch *batch, const struct group *group, bool use_next);
void record_batch_add_group_tombstone(struct record_batch *batch, struct str group);
static inline int32_t record_batch_count(const struct record_batch *batch) {
    return batch->memory ? batch->writer.count : 0;
}
// The batch, compressed if asked for; the caller frees it. At least one record was added.
struct bytes record_batch_end(struct record_batch *batch, enum codec codec);
void record_batch_drop(struct record_batch *batch);

enum record_kind { RECORD_OF_OFFSET, RECORD_OF_GROUP, RECORD_OF_UNKNOWN_KIND, RECORD_IS_BAD };
struct record_key {
    struct str group, topic; // topic: of an offset
    int32_t partition;
    int16_t version;
};
enum record_kind record_key_read(struct bytes key, struct record_key *out);
// False: not such a value, or a version that is not known. Views into the value.
bool record_offset_read(struct bytes value, struct offset_value *out);
bool record_group_read(struct bytes value, struct arena *arena, struct group_metadata_value *out, int16_t *version);
