// SPDX-License-Identifier: Apache-2.0
// Builds a record batch of magic 2 in the caller's memory: for internal topics, converted messages, tools and tests.
#pragma once

#include "protocol/batch.h"
#include "protocol/record.h"

struct batch_options {
    int64_t base_offset;
    int32_t partition_leader_epoch;
    int64_t producer_id; // with epoch and sequence; BATCH_OPTIONS_PLAIN has -1 for all three
    int16_t producer_epoch;
    int32_t base_sequence;
    bool is_transactional, is_control, log_append_time;
    int64_t log_append_time_ms; // the maximum timestamp if log_append_time
};
#define BATCH_OPTIONS_PLAIN                                                                                            \
    (struct batch_options) {                                                                                           \
        .producer_id = -1, .producer_epoch = -1, .base_sequence = -1                                                   \
    }

struct batch_writer {
    uint8_t *memory;
    size_t size_bytes; // so far
    size_t capacity_bytes;
    struct batch_options options;
    int64_t base_timestamp, max_timestamp;
    int32_t count;
};

// capacity_bytes >= BATCH_HEADER_BYTES
void batch_writer_begin(struct batch_writer *w, void *memory, size_t capacity_bytes, struct batch_options options);
// False (and nothing is written) if there is no room. data == NULL is null; a header's key may not be null.
bool batch_writer_add(struct batch_writer *w, int64_t timestamp, struct bytes key, struct bytes value,
                      const struct record_header *headers, int32_t header_count);
// Fills in the header and checksum; the size of the batch. At least one record was added.
size_t batch_writer_end(struct batch_writer *w);
// What a record adds at most, beside its key, value and headers.
enum { RECORD_OVERHEAD_MAX_BYTES = 5 + 1 + 10 + 5 + 5 + 5 + 5, RECORD_HEADER_OVERHEAD_MAX_BYTES = 10 };

// Writes the batch (uncompressed) with its records compressed; the size, 0 if `out` is too small
// (BATCH_HEADER_BYTES + codec_compress_bound of the records is enough).
size_t batch_compress(struct bytes batch, enum codec codec, int level, void *out, size_t out_bytes);
