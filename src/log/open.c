// SPDX-License-Identifier: Apache-2.0
// A segment's file and indexes, brought in when they are needed: one offloaded opening in flight a segment, awaited by
// all who want it. Also references: who holds a segment may use its file, whatever happens to the log.
//
// An index file that is missing or not valid is built again in memory from the batch headers; the next checkpoint
// writes it. A file that cannot be opened fails whoever asked.
#include "log/scan.h"
#include "log/shard.h"
#include "protocol/batch.h"
#include <errno.h>
#include <stdlib.h>

struct segment_open {
    struct os_op op;
    struct segment *segment;
    struct list waiters; // of segment_wait
    // Lent to the offloaded function, which has nothing else.
    const char *directory;
    struct segment_limits limits;
    struct segment copy; // what is known of the segment; takes the indexes in
    bool open_file, read_indexes;
    int file;
    uint32_t removals;
};

// ---- offloaded
static int rebuild_indexes(struct os_host *host, struct segment_open *o, int file) {
    struct segment fresh = {.base_offset = o->copy.base_offset,
                            .max_timestamp_ms = -1,
                            .max_timestamp_offset = -1,
                            .first_timestamp_ms = -1,
                            .indexes_resident = true,
                            .indexes_trim = true,
                            .file = -1};
    struct log_scan scan = {.file = file,
                            .end_position = o->copy.size_bytes,
                            .offset = INT64_MAX,
                            .limit_position = 0}; // stops at every batch
    enum scan_status status = log_scan_walk(host, &scan, false, 0);
    while (status == SCAN_FOUND) {
        struct segment_batch batch = {scan.base_offset, scan.last_offset, scan.size_bytes, scan.max_timestamp_ms};
        if (batch.base_offset < fresh.base_offset || batch.last_offset - fresh.base_offset > INT32_MAX) break;
        segment_count_batch(&fresh, &batch, &o->limits);
        scan.position += scan.size_bytes;
        status = log_scan_walk(host, &scan, false, 0);
    }
    if (status == SCAN_FAILED) {
        index_free(&fresh.index);
        time_index_free(&fresh.time_index);
        return scan.error;
    }
    // Batches behind damage have no entries: reads that come there meet the damage.
    segment_finish_time_index(&fresh);
    o->copy.index = fresh.index;
    o->copy.time_index = fresh.time_index;
    o->copy.indexes_resident = true;
    o->copy.indexes_trim = true;
    return 0;
}

static int read_first_timestamp(struct os_host *host, struct segment_open *o, int file) {
    uint8_t header[BATCH_HEADER_BYTES];
    int64_t got = os_pread(host, file, header, sizeof header, 0);
    if (got < 0) return (int)got;
    o->copy.first_timestamp_ms = got == (int64_t)sizeof header ? (int64_t)load_be64(header + BATCH_MAX_TIMESTAMP) : -1;
    return 0;
}

static int close_opened(struct os_host *host, struct segment_open *o, int error) {
    os_close(host, o->file);
    o->file = -1;
    return error;
}

static int64_t segment_open_run(struct os_host *host, void *argument) {
    struct segment_open *o = argument;
    struct segment *copy = &o->copy;
    o->file = segment_open_file(host, o->directory, copy->base_offset);
    if (o->file < 0) return o->file;
    int error = 0;
    if (o->read_indexes) {
        char memory[256];
        struct text reason = TEXT_IN(memory);
        error = segment_read_aborted(host, o->directory, copy, &reason);
        copy->aborted_damaged = error == -EINVAL || error == -ENOENT;
        if (error != 0 && !copy->aborted_damaged) return close_opened(host, o, error);
        reason.size = 0;
        error = segment_read_indexes(host, o->directory, copy, &reason);
        if (error == -EINVAL || error == -ENOENT) error = rebuild_indexes(host, o, o->file);
    }
    if (error == 0 && copy->first_timestamp_ms == SEGMENT_UNKNOWN && copy->size_bytes > 0)
        error = read_first_timestamp(host, o, o->file);
    return error != 0 || !o->open_file ? close_opened(host, o, error) : 0;
}

// ---- on the core
static void opening_install(struct log *log, struct segment_open *o) {
    struct segment *segment = o->segment;
    if (o->copy.indexes_resident && !segment->indexes_resident) {
        segment->index = o->copy.index;
        segment->time_index = o->copy.time_index;
        segment->aborted = o->copy.aborted;
        segment->aborted_damaged = o->copy.aborted_damaged;
        segment->indexes_resident = true;
        segment->indexes_trim = o->copy.indexes_trim;
        if (o->copy.indexes_trim) segment->indexes_durable = false; // built again, or longer than its entries
        o->copy.index = (struct index){0};
        o->copy.time_index = (struct time_index){0};
        o->copy.aborted = (struct txn_index){0};
    }
    if (segment->first_timestamp_ms == SEGMENT_UNKNOWN) segment->first_timestamp_ms = o->copy.first_timestamp_ms;
    int file = o->file;
    if (segment->file >= 0) file = -1; // cannot be: one opening at a time
    ASSERT(file == o->file);
    o->file = -1;
    log_shard_opened(log->shard, segment, file);
}

static void opening_done(struct os_op *op) {
    struct segment_open *o = container_of(op, struct segment_open, op);
    struct segment *segment = o->segment;
    struct log *log = segment->log;
    int error = (int)op->result;
    segment->open = NULL;
    // Cut meanwhile: the waiters look again, and start over.
    if (error == 0 && log && log->removals == o->removals) opening_install(log, o);
    if (o->file >= 0) os_close(segment->shard->core->host, o->file);
    index_free(&o->copy.index);
    time_index_free(&o->copy.time_index);
    txn_index_free(&o->copy.aborted);
    for (struct list *link = list_pop_front(&o->waiters); link; link = list_pop_front(&o->waiters)) {
        struct segment_wait *wait = container_of(link, struct segment_wait, link);
        wait->error = error;
        flow_wake(wait->flow);
    }
    segment_release(segment);
    free(o);
}

static void opening_start(struct log *log, struct segment *segment, bool indexes) {
    struct segment_open *o = calloc(1, sizeof *o);
    ASSERT(o != NULL);
    o->op = OS_OP(opening_done);
    o->segment = segment;
    list_init(&o->waiters);
    o->directory = log->path;
    o->limits = log_segment_limits(log);
    o->copy.base_offset = segment->base_offset;
    o->copy.size_bytes = segment->size_bytes;
    o->copy.aborted_file = segment->aborted_file;
    o->copy.first_timestamp_ms = segment->first_timestamp_ms;
    o->open_file = segment->file < 0;
    o->read_indexes = indexes && !segment->indexes_resident;
    o->file = -1;
    o->removals = log->removals;
    segment->open = o;
    segment_hold(segment);
    os_offload(log->core->os, &o->op, segment_open_run, o);
}

bool segment_want(struct log *log, struct segment *segment, bool indexes, struct segment_wait *wait,
                  struct flow *flow) {
    ASSERT(segment->log == log);
    if (wait->link.next == NULL) list_init(&wait->link);
    if (segment->file >= 0 && (segment->indexes_resident || !indexes)) {
        wait->error = 0;
        log_shard_touch(log->shard, segment);
        return true;
    }
    if (list_is_linked(&wait->link)) return false;
    if (wait->error != 0) return true; // of the attempt that was waited for
    if (!segment->open) opening_start(log, segment, indexes);
    wait->flow = flow;
    list_push_back(&segment->open->waiters, &wait->link);
    return false;
}

void segment_hold(struct segment *segment) {
    segment->references++;
}

static void segment_end(struct segment *segment) {
    struct log_shard *shard = segment->shard;
    log_shard_close_file(shard, segment);
    list_remove(&segment->open_link);
    segment_free(segment);
    log_shard_leave(shard);
}

void segment_release(struct segment *segment) {
    ASSERT(segment->references > 0);
    segment->references--;
    if (segment->references == 0 && !segment->log) segment_end(segment);
}

void log_detach_segment(struct log *log, struct segment *segment) {
    ASSERT(segment->log == log);
    segment->log = NULL;
    log->shard->users++; // until segment_end
    if (segment->references == 0) segment_end(segment);
}

void log_remove_first_segments(struct log *log, size_t count) {
    ASSERT(count < log->segment_count);
    log->removals++;
    for (size_t i = 0; i < count; i++)
        log_detach_segment(log, log->segments[i]);
    log->segment_count -= count;
    memmove(log->segments, log->segments + count, log->segment_count * sizeof *log->segments);
}

void log_remove_last_segments(struct log *log, size_t count) {
    ASSERT(count <= log->segment_count);
    log->removals++;
    for (size_t i = 0; i < count; i++)
        log_detach_segment(log, log->segments[--log->segment_count]);
}
