// SPDX-License-Identifier: Apache-2.0
// From an offset to a range of a segment file that holds whole batches.
//
//   start   the segment (binary search), then the position: known from an earlier read or write, else the index and a
//           walk over batch headers
//   end     whatever comes first: the position of max_offset, the byte limit, the segment's end. Known boundaries
//           first; then the index takes the walk near to its end.
//
// Readers that follow the end, and readers that read on from where they were, need no header at all, or one. Everything
// is tried at once against the page cache; what is cold, or needs a closed file or an unread index, goes on in a flow
// and an offloaded walk. A truncation meanwhile starts the search again.
//
// Failure: damage in the file or an error in reading it is KAFKA_STORAGE_ERROR for this read (-EIO and -EROFS fail the
// directory).
#include "log/scan.h"
#include "log/shard.h"
#include <errno.h>

#define READ_STEPS(STEP) STEP(read, search) STEP(read, release)
FLOW_DEFINE(read, READ_STEPS)

enum {
    WALK_INLINE_MAX = 96, // headers that are read on the core in one go: 4096 / 61 and some
    TRIM_LOSS_SHIFT = 2,  // a range that loses less than a quarter at its end is long enough
};
enum read_stage { READ_BEGIN, READ_FIND, READ_FOUND, READ_BOUND, READ_ENDED, READ_ABORTED, READ_STAGES };
enum read_progress { READ_GOES_ON, READ_DONE, READ_NEEDS_FILE, READ_NEEDS_INDEX, READ_NEEDS_WALK };

// ---- known boundaries
void log_forget_boundaries(struct log *log) {
    for (int i = 0; i < LOG_RECENT_ENDS; i++)
        log->recent_ends[i].segment_base = -1;
    for (int i = 0; i < LOG_NEXT_POSITIONS; i++)
        log->next_positions[i].segment_base = -1;
}

void log_remember_end(struct log *log, int64_t offset, uint64_t position) {
    log->recent_ends[log->recent_end_next++ % LOG_RECENT_ENDS] =
        (struct log_boundary){log_active_segment(log)->base_offset, offset, position};
}

static void remember_next(struct log *log, const struct segment *segment, int64_t offset, uint64_t position) {
    for (int i = 0; i < LOG_NEXT_POSITIONS; i++)
        if (log->next_positions[i].segment_base == segment->base_offset && log->next_positions[i].offset == offset)
            return;
    log->next_positions[log->next_position_next++ % LOG_NEXT_POSITIONS] =
        (struct log_boundary){segment->base_offset, offset, position};
}

static bool boundary_among(const struct log_boundary *boundaries, int count, const struct segment *segment,
                           int64_t offset, uint64_t *position) {
    for (int i = 0; i < count; i++) {
        if (boundaries[i].offset != offset || boundaries[i].segment_base != segment->base_offset) continue;
        *position = boundaries[i].position;
        return true;
    }
    return false;
}

static bool boundary_known(const struct log *log, const struct segment *segment, int64_t offset, uint64_t *position) {
    if (offset == segment->base_offset) {
        *position = 0;
        return true;
    }
    return boundary_among(log->recent_ends, LOG_RECENT_ENDS, segment, offset, position) ||
           boundary_among(log->next_positions, LOG_NEXT_POSITIONS, segment, offset, position);
}

// ---- answers
static enum read_progress read_fail(struct log_read *read, int16_t error) {
    read->error = error;
    read->size_bytes = 0;
    txn_index_free(&read->aborted);
    return READ_DONE;
}

static enum read_progress read_nothing(struct log_read *read) {
    return read_fail(read, KAFKA_ERROR_NONE);
}

static enum read_progress read_range(struct log_read *read, uint64_t end_position) {
    struct log *log = read->log;
    ASSERT(end_position >= read->position);
    ASSERT(end_position <= read->held->size_bytes);
    read->size_bytes = (uint32_t)(end_position - read->position);
    read->file = read->held->file;
    if (read->next_offset >= 0 && read->size_bytes > 0) remember_next(log, read->held, read->next_offset, end_position);
    if (!read->want_aborted || !log->has_aborted || read->size_bytes == 0) return READ_DONE;
    read->aborted_from = read->held->base_offset;
    read->stage = READ_ABORTED;
    return READ_GOES_ON;
}

// ---- the search: each stage can be entered again until it moves on to another
static void hold_segment(struct log_read *read, struct segment *segment) {
    if (segment) segment_hold(segment);
    if (read->held) segment_release(read->held);
    read->held = segment;
}

static enum read_progress walk_then(struct log_read *read, enum read_stage stage, uint64_t position, int64_t offset,
                                    uint64_t limit_position) {
    uint32_t reads = read->scan.reads;
    read->scan = (struct log_scan){.file = read->held->file,
                                   .position = position,
                                   .end_position = read->held->size_bytes,
                                   .offset = offset,
                                   .limit_position = limit_position,
                                   .next_offset = -1,
                                   .reads = reads};
    read->stage = stage;
    return READ_NEEDS_WALK;
}

static enum read_progress stage_begin(struct log_read *read) {
    struct log *log = read->log;
    hold_segment(read, NULL);
    txn_index_free(&read->aborted);
    read->removals = log->removals;
    read->next_offset = -1;
    if (log_dir_is_failed(log->dir)) return read_fail(read, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    if (read->offset < log->start_offset || read->offset > log->end_offset)
        return read_fail(read, KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
    if (read->offset >= min_i64(read->max_offset, log->end_offset)) return read_nothing(read);
    hold_segment(read, log->segments[log_segment_index(log, read->offset)]);
    read->stage = READ_FIND;
    return READ_GOES_ON;
}

static enum read_progress stage_find(struct log_read *read) {
    struct segment *segment = read->held;
    if (segment->file < 0) return READ_NEEDS_FILE;
    if (boundary_known(read->log, segment, read->offset, &read->position)) {
        read->stage = READ_BOUND;
        return READ_GOES_ON;
    }
    if (!segment->indexes_resident) return READ_NEEDS_INDEX;
    struct index_entry entry = index_floor_offset(&segment->index, segment_relative(segment, read->offset));
    return walk_then(read, READ_FOUND, (uint64_t)entry.position, read->offset, UINT64_MAX);
}

// Compaction may leave a segment without the offsets at its end: the next batch is in a later one.
static enum read_progress go_to_next_segment(struct log_read *read) {
    struct log *log = read->log;
    size_t next = log_segment_index(log, read->held->base_offset) + 1;
    if (next == log->segment_count) return read_nothing(read);
    hold_segment(read, log->segments[next]);
    read->stage = READ_FIND;
    return READ_GOES_ON;
}

static enum read_progress stage_found(struct log_read *read) {
    if (read->walk_status == SCAN_AT_END) return go_to_next_segment(read);
    if (read->walk_status != SCAN_FOUND) return read_fail(read, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    if (read->scan.base_offset >= read->max_offset) return read_nothing(read);
    read->position = read->scan.position;
    read->stage = READ_BOUND;
    return READ_GOES_ON;
}

// Where max_offset cuts, if that can be told without a walk, and the offset that follows.
static bool bound_known(const struct log_read *read, uint64_t *bound, int64_t *next_offset) {
    const struct log *log = read->log;
    size_t index = log_segment_index(log, read->held->base_offset);
    ASSERT(log->segments[index] == read->held);
    int64_t segment_end = log_segment_end(log, index);
    if (read->max_offset >= segment_end) {
        *bound = read->held->size_bytes;
        *next_offset = segment_end;
        return true;
    }
    *next_offset = read->max_offset;
    return boundary_known(log, read->held, read->max_offset, bound);
}

// The last batch known to the index that begins at or below the limit and ends below max_offset.
static uint64_t jump_position(const struct log_read *read, uint64_t limit) {
    const struct segment *segment = read->held;
    struct index_entry by_position = index_floor_position(&segment->index, limit);
    struct index_entry by_offset = index_floor_offset(&segment->index, segment_relative(segment, read->max_offset - 1));
    int32_t position = by_position.position < by_offset.position ? by_position.position : by_offset.position;
    return max_size(read->position, (uint64_t)position);
}

// A range that ends before `position`; one look at the batch there tells where a sequential reader goes on.
static enum read_progress read_until_batch(struct log_read *read, uint64_t position) {
    (void)walk_then(read, READ_BOUND, position, INT64_MIN, UINT64_MAX);
    if (log_scan_walk(read->log->core->host, &read->scan, true, 1) == SCAN_FOUND)
        read->next_offset = read->scan.base_offset;
    return read_range(read, position);
}

static enum read_progress stage_bound(struct log_read *read) {
    struct segment *segment = read->held;
    if (segment->file < 0) return READ_NEEDS_FILE;
    uint64_t bound, limit = read->position + read->max_bytes;
    int64_t next_offset;
    bool is_known = bound_known(read, &bound, &next_offset);
    if (is_known && bound <= read->position) return go_to_next_segment(read);
    if (is_known && bound <= limit) {
        read->next_offset = next_offset;
        return read_range(read, bound);
    }
    if (!segment->indexes_resident) return READ_NEEDS_INDEX;
    uint64_t jump = jump_position(read, limit);
    read->is_trimmed = is_known;
    if (is_known && jump > read->position && limit - jump <= read->max_bytes >> TRIM_LOSS_SHIFT)
        return read_until_batch(read, jump);
    return walk_then(read, READ_ENDED, jump, read->max_offset, limit);
}

static enum read_progress stage_ended(struct log_read *read) {
    const struct log_scan *scan = &read->scan;
    if (read->walk_status == SCAN_DAMAGED || read->walk_status == SCAN_FAILED) {
        // Batches before the damage can still be read.
        if (scan->position == read->position) return read_fail(read, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    }
    read->next_offset = scan->next_offset;
    if (scan->position > read->position) return read_range(read, scan->position);
    if (read->walk_status == SCAN_AT_END) return go_to_next_segment(read);
    ASSERT(read->walk_status == SCAN_FOUND);
    if (scan->last_offset >= read->max_offset || !read->at_least_one) return read_nothing(read);
    read->next_offset = scan->last_offset + 1;
    return read_range(read, scan->position + scan->size_bytes);
}

// ---- aborted transactions
// A transaction is in the index of the segment that has its marker, which may be a later one than that of its records.
// An entry whose last stable offset is not below the end of the range says that there are no more (Kafka's rule). True:
// that one was met.
static bool collect_aborted(struct log_read *read, const struct txn_index *index) {
    int64_t end = read->next_offset >= 0 ? read->next_offset : read->max_offset;
    for (size_t i = 0; i < index->count; i++) {
        const struct aborted_transaction *entry = &index->entries[i];
        if (entry->last_offset >= read->offset && entry->first_offset < end) txn_index_append(&read->aborted, entry);
        if (entry->last_stable_offset >= end) return true;
    }
    return false;
}

static enum read_progress stage_aborted(struct log_read *read) {
    struct log *log = read->log;
    for (size_t i = log_segment_index(log, read->aborted_from); i < log->segment_count; i++) {
        struct segment *segment = log->segments[i];
        read->aborted_from = segment->base_offset;
        read->wanted = segment;
        if (!segment->indexes_resident && segment->aborted_file) return READ_NEEDS_INDEX;
        if (segment->aborted_damaged) return read_fail(read, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
        if (collect_aborted(read, &segment->aborted)) break;
    }
    return READ_DONE;
}

// True: read->walk_status is final. What is not in the page cache, or long, is for a helper thread.
static bool walk_inline(struct log_read *read) {
    enum scan_status status = log_scan_walk(read->log->core->host, &read->scan, true, WALK_INLINE_MAX);
    read->walk_status = status;
    if (status != SCAN_AGAIN) return true;
    return read->stage == READ_ENDED && read->is_trimmed && read->scan.position > read->position;
}

static enum read_progress read_advance(struct log_read *read) {
    static enum read_progress (*const stages[READ_STAGES])(struct log_read *) = {
        [READ_BEGIN] = stage_begin, [READ_FIND] = stage_find,   [READ_FOUND] = stage_found,
        [READ_BOUND] = stage_bound, [READ_ENDED] = stage_ended, [READ_ABORTED] = stage_aborted,
    };
    for (;;) {
        if (read->stage != READ_BEGIN && read->removals != read->log->removals) read->stage = READ_BEGIN;
        read->wanted = NULL;
        enum read_progress progress = stages[read->stage](read);
        if (progress == READ_NEEDS_WALK && walk_inline(read)) progress = READ_GOES_ON;
        if (progress != READ_GOES_ON) return progress;
    }
}

// ---- at once, or in a flow
static void read_finish(struct log_read *read) {
    if (read->held) log_shard_touch(read->held->shard, read->held);
    read->older_segment = read->held && read->held->log && read->held != log_active_segment(read->log);
    if (read->size_bytes == 0) {
        hold_segment(read, NULL);
        read->file = -1;
    }
    read->done = true;
}

bool log_read_start(struct log *log, struct log_read *read) {
    read->done = false;
    read->error = KAFKA_ERROR_NONE;
    read->file = -1;
    read->position = 0;
    read->size_bytes = 0;
    read->older_segment = false;
    read->held = read->wanted = NULL;
    read->aborted = (struct txn_index){0};
    read->log = log;
    read->stage = READ_BEGIN;
    read->scan.reads = 0;
    read->work = (struct flow){0};
    enum read_progress progress = read_advance(read);
    if (progress == READ_DONE) {
        read_finish(read);
        return true;
    }
    log->readers++;
    flow_start(&read->work, &read_flow, log->core);
    flow_op_init(&read->op, &read->work);
    read->wait = (struct segment_wait){0};
    if (progress == READ_NEEDS_WALK) os_offload(log->core->os, &read->op.op, log_scan_run, &read->scan);
    return false;
}

static flow_next read_step_search(struct flow *flow) {
    struct log_read *read = container_of(flow, struct log_read, work);
    struct log *log = read->log;
    if (read->op.op.in_flight) return FLOW_WAIT;
    if (read->stage == READ_FOUND || read->stage == READ_ENDED) read->walk_status = (int)read->op.op.result;
    for (;;) {
        enum read_progress progress = read_advance(read);
        if (progress == READ_DONE) return FLOW_NEXT;
        if (progress == READ_NEEDS_WALK) {
            os_offload(log->core->os, &read->op.op, log_scan_run, &read->scan);
            return FLOW_WAIT;
        }
        struct segment *wanted = read->wanted ? read->wanted : read->held;
        if (!segment_want(log, wanted, progress == READ_NEEDS_INDEX, &read->wait, flow)) return FLOW_WAIT;
        if (read->wait.error != 0) {
            read_fail(read, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
            return FLOW_NEXT;
        }
    }
}

static flow_next read_step_release(struct flow *flow) {
    struct log_read *read = container_of(flow, struct log_read, work);
    struct log *log = read->log;
    read_finish(read);
    flow_wake(read->flow);
    log_reader_ends(log);
    return FLOW_END;
}

void log_read_release(struct log *log, struct log_read *read) {
    (void)log; // it may be gone: a held segment outlives it
    ASSERT(read->done);
    if (read->held) segment_release(read->held);
    read->held = NULL;
    read->file = -1;
    txn_index_free(&read->aborted);
}
