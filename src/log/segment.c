// SPDX-License-Identifier: Apache-2.0
// Counting batches in, and the blocking work on a segment's files.
//
// Index entries follow Kafka 3.9.1, batch by batch: before a batch is counted, if more than index.interval.bytes came
// since the last entry, the batch gets one (last offset, start position), and the time index gets the largest timestamp
// so far, this batch's included, if it grew. The first batch of a segment never gets one.
#include "log/segment.h"
#include "base/assert.h"
#include "base/bits.h"
#include "log/files.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- in memory
struct segment *segment_new(int64_t base_offset) {
    ASSERT(base_offset >= 0);
    struct segment *segment = calloc(1, sizeof *segment);
    ASSERT(segment != NULL);
    segment->base_offset = base_offset;
    segment->max_timestamp_ms = -1;
    segment->max_timestamp_offset = -1;
    segment->first_timestamp_ms = -1;
    segment->indexes_resident = true;
    segment->file = -1;
    list_init(&segment->open_link);
    return segment;
}

void segment_free(struct segment *segment) {
    ASSERT(segment->file < 0);
    ASSERT(segment->references == 0);
    ASSERT(!list_is_linked(&segment->open_link));
    segment_forget_indexes(segment);
    free(segment);
}

void segment_forget_indexes(struct segment *segment) {
    index_free(&segment->index);
    time_index_free(&segment->time_index);
    txn_index_free(&segment->aborted);
    segment->indexes_resident = false;
}

void segment_count_aborted(struct segment *segment, const struct aborted_transaction *transaction) {
    ASSERT(segment->indexes_resident);
    txn_index_append(&segment->aborted, transaction);
    segment->indexes_durable = false;
}

static void segment_add_index_entry(struct segment *segment, const struct segment_batch *batch,
                                    const struct segment_limits *limits) {
    if (segment_indexes_full(segment, limits)) return; // a single append may be larger than what is left: it rolls next
    uint64_t position = segment->size_bytes;
#ifdef TAILRACE_PLANT_INDEX_AHEAD
    position += batch->size_bytes;
#endif
    index_append(&segment->index,
                 (struct index_entry){(int32_t)segment_relative(segment, batch->last_offset), (int32_t)position});
    time_index_append(
        &segment->time_index,
        (struct time_index_entry){segment->max_timestamp_ms,
                                  (int32_t)max_i64(0, segment->max_timestamp_offset - segment->base_offset)});
    segment->indexes_durable = false;
    segment->bytes_since_index = 0;
}

void segment_count_batch(struct segment *segment, const struct segment_batch *batch,
                         const struct segment_limits *limits) {
    ASSERT(segment->indexes_resident);
    ASSERT(batch->base_offset >= segment->base_offset);
    ASSERT(batch->last_offset >= batch->base_offset);
    ASSERT(segment_relative(segment, batch->last_offset) <= INT32_MAX);
    ASSERT(segment->size_bytes + batch->size_bytes <= INT32_MAX);
    if (segment->size_bytes == 0) segment->first_timestamp_ms = batch->max_timestamp_ms;
    if (batch->max_timestamp_ms > segment->max_timestamp_ms) {
        segment->max_timestamp_ms = batch->max_timestamp_ms;
        segment->max_timestamp_offset = batch->last_offset;
        segment->time_pending = true;
    }
    if (segment->bytes_since_index > limits->index_interval_bytes) segment_add_index_entry(segment, batch, limits);
    segment->bytes_since_index += batch->size_bytes;
    segment->size_bytes += batch->size_bytes;
}

void segment_finish_time_index(struct segment *segment) {
    ASSERT(segment->indexes_resident);
    segment->time_pending = false;
    if (segment->max_timestamp_ms < 0) return;
    struct time_index_entry last = {segment->max_timestamp_ms,
                                    (int32_t)segment_relative(segment, segment->max_timestamp_offset)};
    if (time_index_append(&segment->time_index, last)) segment->indexes_durable = false;
}

bool segment_indexes_full(const struct segment *segment, const struct segment_limits *limits) {
    size_t offsets_max = limits->index_bytes_max / INDEX_ENTRY_BYTES;
    size_t times_max = limits->index_bytes_max / TIME_INDEX_ENTRY_BYTES;
    return segment->index.count >= offsets_max || segment->time_index.count + 1 >= times_max;
}

// ---- files
bool segment_path(char path[static LOG_PATH_BYTES_MAX], const char *directory, int64_t base_offset,
                  const char *suffix) {
    int length = snprintf(path, LOG_PATH_BYTES_MAX, "%s/%020" PRId64 "%s", directory, base_offset, suffix);
    return length > 0 && length < LOG_PATH_BYTES_MAX;
}

static int open_with_suffix(struct os_host *host, const char *directory, int64_t base_offset, const char *suffix,
                            int flags) {
    char path[LOG_PATH_BYTES_MAX];
    if (!segment_path(path, directory, base_offset, suffix)) return -ENAMETOOLONG;
    return os_open(host, path, flags);
}

int segment_create_files(struct os_host *host, const char *directory, int64_t base_offset, uint64_t allocate_bytes) {
    static const char *const suffixes[] = {".index", ".timeindex", ".log"};
    int file = -1;
    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
        if (file >= 0) os_close(host, file);
        file =
            open_with_suffix(host, directory, base_offset, suffixes[i], OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE);
        if (file < 0) return file;
    }
    int error = allocate_bytes > 0 ? os_allocate(host, file, allocate_bytes) : 0;
    if (error == 0) return file;
    os_close(host, file);
    return error;
}

int segment_open_file(struct os_host *host, const char *directory, int64_t base_offset) {
    return open_with_suffix(host, directory, base_offset, ".log", OS_READ | OS_WRITE);
}

// The file's bytes, in memory that the caller frees (NULL if empty).
static int read_whole(struct os_host *host, const char *directory, int64_t base_offset, const char *suffix,
                      uint64_t size_max, struct bytes *bytes) {
    *bytes = (struct bytes){0};
    int file = open_with_suffix(host, directory, base_offset, suffix, OS_READ);
    if (file < 0) return file;
    struct os_stat stat;
    int error = os_stat_file(host, file, &stat);
    if (error == 0 && stat.size_bytes > size_max) error = -EINVAL;
    if (error == 0 && stat.size_bytes > 0) {
        uint8_t *data = malloc(stat.size_bytes);
        ASSERT(data != NULL);
        int64_t got = os_pread(host, file, data, stat.size_bytes, 0);
        if (got < 0) {
            free(data);
            error = (int)got;
        } else {
            *bytes = (struct bytes){data, (size_t)got};
        }
    }
    os_close(host, file);
    return error;
}

// segment.index.bytes is an int32, and a file of Kafka's is never larger.
enum { INDEX_FILE_BYTES_MAX = INT32_MAX };

int segment_read_aborted(struct os_host *host, const char *directory, struct segment *segment, struct text *reason) {
    struct bytes bytes;
    if (!segment->aborted_file) return 0;
    text_addf(reason, "%020" PRId64 ".txnindex: ", segment->base_offset);
    int error = read_whole(host, directory, segment->base_offset, ".txnindex", INDEX_FILE_BYTES_MAX, &bytes);
    if (error != 0) return error;
    bool good = txn_index_decode(&segment->aborted, bytes, segment->base_offset, reason);
    free((void *)bytes.data);
    if (good) reason->size = 0;
    return good ? 0 : -EINVAL;
}

int segment_read_indexes(struct os_host *host, const char *directory, struct segment *segment, struct text *reason) {
    struct bytes bytes;
    text_addf(reason, "%020" PRId64 ".index: ", segment->base_offset);
    int error = read_whole(host, directory, segment->base_offset, ".index", INDEX_FILE_BYTES_MAX, &bytes);
    if (error != 0) return error;
    bool good = index_decode(&segment->index, bytes, segment->size_bytes, reason);
    bool trim = bytes.size > segment->index.count * INDEX_ENTRY_BYTES;
    free((void *)bytes.data);
    if (!good) return -EINVAL;

    reason->size = 0;
    text_addf(reason, "%020" PRId64 ".timeindex: ", segment->base_offset);
    error = read_whole(host, directory, segment->base_offset, ".timeindex", INDEX_FILE_BYTES_MAX, &bytes);
    good = error == 0 && time_index_decode(&segment->time_index, bytes, reason);
    trim = trim || (good && bytes.size > segment->time_index.count * TIME_INDEX_ENTRY_BYTES);
    free((void *)bytes.data);
    if (!good) {
        index_free(&segment->index);
        return error != 0 ? error : -EINVAL;
    }
    reason->size = 0;
    reason->data[0] = '\0';
    segment->indexes_trim = segment->indexes_trim || trim;
    segment->indexes_resident = true;
    return 0;
}

// Entries [written, count) are encoded in `bytes` of `size`.
static int write_index_file(struct os_host *host, const char *directory, int64_t base_offset, const char *suffix,
                            struct bytes bytes, uint64_t position, bool trim, bool durable) {
    if (bytes.size == 0 && !trim && !durable) return 0;
    int file = open_with_suffix(host, directory, base_offset, suffix, OS_READ | OS_WRITE | OS_CREATE);
    if (file < 0) return file;
    int error = file_write_all(host, file, bytes.data, bytes.size, position);
    if (error == 0 && trim) error = os_truncate(host, file, position + bytes.size);
    if (error == 0 && durable) error = os_fsync(host, file);
    os_close(host, file);
    return error;
}

static int write_aborted(struct os_host *host, const char *directory, struct segment *segment, bool trim,
                         bool durable) {
    struct txn_index *aborted = &segment->aborted;
    if (segment->aborted_damaged || (aborted->count == 0 && !segment->aborted_file)) return 0;
    size_t size = (aborted->count - aborted->written) * TXN_INDEX_ENTRY_BYTES;
    uint8_t *memory = malloc(size + 1);
    ASSERT(memory != NULL);
    txn_index_encode(aborted, aborted->written, memory);
    int error = write_index_file(host, directory, segment->base_offset, ".txnindex", (struct bytes){memory, size},
                                 aborted->written * TXN_INDEX_ENTRY_BYTES, trim, durable);
    free(memory);
    if (error != 0) return error;
    aborted->written = aborted->count;
    segment->aborted_file = true;
    return 0;
}

int segment_write_indexes(struct os_host *host, const char *directory, struct segment *segment, bool trim,
                          bool durable) {
    ASSERT(segment->indexes_resident);
    struct index *index = &segment->index;
    struct time_index *times = &segment->time_index;
    ASSERT(index->written <= index->count);
    ASSERT(times->written <= times->count);
    ASSERT(segment->aborted.written <= segment->aborted.count);
    trim = trim || segment->indexes_trim;
    size_t index_bytes = (index->count - index->written) * INDEX_ENTRY_BYTES;
    size_t time_bytes = (times->count - times->written) * TIME_INDEX_ENTRY_BYTES;
    uint8_t *memory = malloc(max_size(1, max_size(index_bytes, time_bytes)));
    ASSERT(memory != NULL);
    index_encode(index, index->written, memory);
    int error = write_index_file(host, directory, segment->base_offset, ".index", (struct bytes){memory, index_bytes},
                                 index->written * INDEX_ENTRY_BYTES, trim, durable);
    if (error == 0) {
        index->written = index->count;
        time_index_encode(times, times->written, memory);
        error =
            write_index_file(host, directory, segment->base_offset, ".timeindex", (struct bytes){memory, time_bytes},
                             times->written * TIME_INDEX_ENTRY_BYTES, trim, durable);
    }
    free(memory);
    if (error == 0) times->written = times->count;
    if (error == 0) error = write_aborted(host, directory, segment, trim, durable);
    if (error != 0) return error;
    segment->indexes_trim = false;
    if (durable) segment->indexes_durable = true;
    return 0;
}

static bool is_zero_entry(const uint8_t entry[static TIME_INDEX_ENTRY_BYTES]) {
    return load_be64(entry) == 0 && load_be32(entry + 8) == 0;
}

int segment_read_last_timestamp(struct os_host *host, const char *directory, struct segment *segment) {
    segment->max_timestamp_ms = -1;
    segment->max_timestamp_offset = -1;
    int file = open_with_suffix(host, directory, segment->base_offset, ".timeindex", OS_READ);
    if (file < 0) return file;
    struct os_stat stat;
    int error = os_stat_file(host, file, &stat);
    uint64_t count = error == 0 ? stat.size_bytes / TIME_INDEX_ENTRY_BYTES : 0;
    // A clean file ends with its last entry; zeros before it are the tail of a file that was not cut.
    for (uint64_t i = count; i > 0 && error == 0; i--) {
        uint8_t entry[TIME_INDEX_ENTRY_BYTES];
        int64_t got = os_pread(host, file, entry, sizeof entry, (i - 1) * sizeof entry);
        if (got != (int64_t)sizeof entry) error = got < 0 ? (int)got : -EIO;
        if (error != 0 || is_zero_entry(entry)) continue;
        segment->max_timestamp_ms = (int64_t)load_be64(entry);
        segment->max_timestamp_offset = segment->base_offset + (int32_t)load_be32(entry + 8);
        break;
    }
    os_close(host, file);
    return error;
}
