// SPDX-License-Identifier: Apache-2.0
// Validation of produced records: byte 0 chooses the topic's rules, byte 1 the Produce version; bit 3 of byte 0 repairs
// length and checksum, to get past them. What is accepted must be a batch that reads to its end.
#include "base/assert.h"
#include "base/bits.h"
#include "base/crc32c.h"
#include "protocol/batch_validate.h"
#include "protocol/record.h"
#include "tailrace/record.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUTPUT_MAX_BYTES = 1 << 20 };

static void repair(uint8_t *batch, size_t size) {
    store_be64(batch + BATCH_BASE_OFFSET, 0);
    store_be32(batch + BATCH_LENGTH, (uint32_t)size - BATCH_OVERHEAD_BYTES);
    store_be32(batch + BATCH_CRC, crc32c(0, batch + BATCH_ATTRIBUTES, size - BATCH_ATTRIBUTES));
}

static void check_accepted(const struct batch *batch) {
    struct record_reader reader;
    struct record record;
    struct record_header header;
    enum record_status status;
    int32_t count = 0;
    ASSERT(batch_crc_is_valid(batch));
    record_open(&reader, batch, OUTPUT_MAX_BYTES, RECORD_CONTENT);
    while ((status = record_next(&reader, &record)) == RECORD_OK) {
        int32_t headers = 0;
        while (record_header_next(&record.headers, &header))
            headers++;
        ASSERT(headers == record.header_count);
        count++;
    }
    ASSERT(status == RECORD_END && count == batch->count);
    record_close(&reader);
}

static void read_all(const uint8_t *data, size_t size) {
    struct tailrace_reader *reader = tailrace_reader_open(data, size);
    struct tailrace_batch batch;
    struct tailrace_record record;
    struct tailrace_bytes key, value;
    while (tailrace_next_batch(reader, &batch) == TAILRACE_OK) {
        while (tailrace_next_record(reader, &record) == TAILRACE_OK) {
            while (tailrace_next_header(&record, &key, &value)) {
            }
        }
    }
    tailrace_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct append_rules rules = {.now_ms = 1000,
                                 .log_append_time = data[0] & 1,
                                 .is_compacted = data[0] & 2,
                                 .timestamp_before_max_ms = data[0] & 4 ? 10 : INT64_MAX,
                                 .timestamp_after_max_ms = INT64_MAX,
                                 .max_batch_bytes = 1 << 20,
                                 .produce_version = (int16_t)(data[1] % 12),
                                 .decompressed_max_bytes = OUTPUT_MAX_BYTES};
    bool repaired = data[0] & 8;
    size -= 2;
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data + 2, size);
    if (repaired && size >= BATCH_HEADER_BYTES && copy[BATCH_MAGIC] == 2) repair(copy, size);
    struct arena arena;
    struct append_check check;
    arena_init(&arena, 2 * OUTPUT_MAX_BYTES);
    if (data[0] & 16) { // a first attempt that may be given up
        rules.cost_max_ns = 5000;
        append_validate((struct bytes){copy, size}, &rules, &arena, &check);
        rules.cost_max_ns = 0;
        arena_drop(&arena);
    }
    append_validate((struct bytes){copy, size}, &rules, &arena, &check);
    read_all(copy, size);
    if (check.error == 0 && check.batch.bytes.size > 0) check_accepted(&check.batch);
    arena_drop(&arena);
    free(copy);
    return 0;
}
