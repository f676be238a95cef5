// SPDX-License-Identifier: Apache-2.0
// Partition directories made by code: batches into .log files, loading them, and what should come out.
#pragma once

#include "fixture.h"
#include "log/internal.h"
#include "protocol/batch_writer.h"

enum { REPLICA_BATCHES_MAX = 512 };
struct replica_batch {
    int64_t segment_base, base_offset, last_offset, max_timestamp;
    uint64_t position, size_bytes;
};
struct replica {
    struct fixture f;
    struct log_dir dir;
    struct replica_batch batches[REPLICA_BATCHES_MAX]; // of what was written, in order
    size_t batch_count;
    int64_t segment_base, next_offset; // of the segment being written
    int32_t epoch;
    int64_t clock_ms; // timestamp of the next batch; goes up by 10
};
// The partition is t-0. Its directory exists, empty.
void replica_open(struct replica *r);
void replica_close(struct replica *r);
const char *replica_file(const struct replica *r, int64_t base_offset, const char *suffix); // "t-0/<base><suffix>"
// The next batches go into a new segment.
void replica_roll(struct replica *r);
// A batch of `records` records with values of value_bytes; options' offsets and epochs are filled in.
void replica_append(struct replica *r, int records, size_t value_bytes, struct batch_options options);
// `count` plain batches of 2 records.
void replica_fill(struct replica *r, int count, size_t value_bytes);
// A marker of the producer's open transaction.
void replica_marker(struct replica *r, int64_t producer_id, int16_t epoch, bool abort);
// XORs a byte / cuts / extends with zeros.
void replica_flip(const struct replica *r, const char *file, uint64_t byte, uint8_t mask);
void replica_truncate(const struct replica *r, const char *file, uint64_t size_bytes);

// Loads t-0. Defaults: not clean, durable, no checkpoints.
struct log_load replica_load(struct replica *r);
// expected: a Kafka error code.
struct log *replica_load_with(struct replica *r, struct log_load *load, int64_t expected);
// The files of t-0 have exactly the indexes that the written batches (those below end_offset) should have.
void replica_check_indexes(const struct replica *r, int64_t end_offset);
uint64_t replica_digest(const struct replica *r);
