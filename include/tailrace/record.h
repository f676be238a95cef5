// SPDX-License-Identifier: Apache-2.0
// Reads the records of a log segment, or of a Produce or Fetch record set: batches of magic 2 in any codec, and
// messages of magic 0 and 1 that old releases left. For programs outside of the broker; needs no other header.
//
//     struct tailrace_reader *reader = tailrace_reader_open(data, size);
//     while (tailrace_next_batch(reader, &batch) == TAILRACE_OK)
//         while (tailrace_next_record(reader, &record) == TAILRACE_OK) ...
//     tailrace_reader_close(reader);
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tailrace_status {
    TAILRACE_OK,
    TAILRACE_END,        // no more batches, or no more records in this batch
    TAILRACE_INCOMPLETE, // the data ends inside a batch: a crash's tail, or a fetch cut by its limit
    TAILRACE_CORRUPT,    // tailrace_reader_reason() says what is wrong
};

struct tailrace_batch {
    size_t position; // of its first byte in the data
    size_t size_bytes;
    int64_t base_offset, last_offset; // of a compressed message of magic 0 or 1 both are its last
    int64_t base_timestamp, max_timestamp;
    int64_t producer_id; // -1 if none
    int32_t base_sequence;
    int32_t partition_leader_epoch; // -1 in magic 0 and 1
    int32_t count;                  // -1 if not known (magic 0 and 1)
    int16_t producer_epoch;
    int8_t magic;
    int8_t codec; // 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
    bool is_log_append_time, is_transactional, is_control, has_delete_horizon;
    bool checksum_is_valid;
};

struct tailrace_bytes {
    const uint8_t *data; // NULL is null
    size_t size;
};
struct tailrace_record {
    int64_t offset;
    int64_t timestamp; // -1 if none
    int32_t sequence;  // -1 if none
    int32_t header_count;
    struct tailrace_bytes key, value;
    struct tailrace_bytes headers; // for tailrace_next_header
};

struct tailrace_reader;
// The data stays the caller's, and must stay where it is.
struct tailrace_reader *tailrace_reader_open(const void *data, size_t size_bytes);
void tailrace_reader_close(struct tailrace_reader *reader);
// The next batch, also if the last one was not read to its end. Its records can be read even if its checksum is wrong.
enum tailrace_status tailrace_next_batch(struct tailrace_reader *reader, struct tailrace_batch *batch);
// The next record of that batch. Key, value and headers are valid until the next call.
enum tailrace_status tailrace_next_record(struct tailrace_reader *reader, struct tailrace_record *record);
// Takes the next header of a record; false at the end.
bool tailrace_next_header(struct tailrace_record *record, struct tailrace_bytes *key, struct tailrace_bytes *value);
// Static text, after TAILRACE_CORRUPT.
const char *tailrace_reader_reason(const struct tailrace_reader *reader);
