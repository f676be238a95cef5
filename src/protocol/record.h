// SPDX-License-Identifier: Apache-2.0
// The records inside a batch, read one after the other, through the batch's codec if it has one. A compressed batch is
// never unfolded as a whole unless record_open is told to give keys and values.
#pragma once

#include "protocol/batch.h"
#include "protocol/compress.h"

struct record {
    int8_t attributes;
    int64_t timestamp_delta;
    int32_t offset_delta;
    int32_t key_bytes;   // -1: null
    int32_t value_bytes; // -1: null
    int32_t header_count;
    // Only with RECORD_CONTENT:
    struct bytes key, value; // data == NULL is null
    struct bytes headers;    // record_header_next reads them
};

enum record_status { RECORD_OK, RECORD_END, RECORD_CORRUPT, RECORD_TOO_LARGE };
enum { RECORD_CONTENT = 1 };

struct record_reader {
    const uint8_t *at, *end; // of the current chunk
    struct decompressor decompressor;
    bool is_compressed;
    bool wants_content;
    int32_t left;               // records
    uint64_t output_left_bytes; // decompressed bytes that may still come
    enum record_status failure;
    uint8_t *content; // of a record that spans chunks
    size_t content_bytes;
};

// The batch has a known codec, and its bytes stay. Decompressed output beyond output_max_bytes is RECORD_TOO_LARGE. Not
// checked: the checksum. Always followed by record_close.
void record_open(struct record_reader *r, const struct batch *b, uint64_t output_max_bytes, int flags);
// The same with a core's cache, for many small batches.
void record_open_cached(struct record_reader *r, const struct batch *b, uint64_t output_max_bytes, int flags,
                        struct decompress_cache *cache);
// RECORD_END only if the number of records is the header's and nothing follows them. Content is valid until the next
// call.
enum record_status record_next(struct record_reader *r, struct record *record);
void record_close(struct record_reader *r);

struct record_header {
    struct str key;
    struct bytes value; // data == NULL is null
};
// Takes the next header off the front of *headers; they were checked when the record was read. False at the end.
bool record_header_next(struct bytes *headers, struct record_header *header);
