// SPDX-License-Identifier: Apache-2.0
// ListOffsets by time. The first segment whose largest timestamp is not below the wanted one (a segment without
// timestamps counts as old as its file); in it the time index gives an offset, the offset index a position; from there
// an offloaded function walks the batch headers, and the records of the batches that may hold the answer. Where Kafka
// gives up after one segment, the search goes on to the next.
//
// For the largest timestamp: the first segment that has it knows the batch; its first record with that time counts,
// unless it is below the log start (Kafka names a record that nobody can read).
//
// Failure: damage and read errors are answered KAFKA_STORAGE_ERROR. A truncation meanwhile starts the search again.
#include "log/scan.h"
#include "log/shard.h"
#include "protocol/record.h"
#include <errno.h>
#include <stdlib.h>

#define LOOKUP_STEPS(STEP) STEP(lookup, choose) STEP(lookup, open) STEP(lookup, searched) STEP(lookup, release)
FLOW_DEFINE(lookup, LOOKUP_STEPS)

enum { RECORDS_OUTPUT_BYTES_MAX = INT32_MAX };

struct lookup {
    struct flow flow;
    struct flow_op op;
    struct log *log;
    struct log_lookup *asked;
    struct segment *segment; // held
    int64_t from_base;       // segments below it are done with
    uint32_t removals;
    struct segment_wait wait;
    // lent to the offloaded function
    struct log_scan scan;
    int64_t time_ms;
    bool is_exact; // a batch with this very maximum is looked for
    int64_t start_offset;
    int64_t found_offset, found_time_ms; // out; -1: none
    int32_t found_epoch;
};

static struct lookup *lookup_of(struct flow *flow) {
    return container_of(flow, struct lookup, flow);
}

void log_lookup_start(struct log *log, struct log_lookup *asked) {
    struct lookup *l = calloc(1, sizeof *l);
    ASSERT(l != NULL);
    l->log = log;
    l->asked = asked;
    asked->done = false;
    asked->error = KAFKA_ERROR_NONE;
    asked->offset = asked->timestamp_ms = -1;
    asked->leader_epoch = -1;
    log->readers++;
    flow_start(&l->flow, &lookup_flow, log->core);
    flow_op_init(&l->op, &l->flow);
}

// ---- offloaded
// False: the record is not in this batch. A negative errno: it cannot be read.
static int search_records(const struct batch *batch, struct lookup *l) {
    struct record_reader reader;
    struct record record;
    enum record_status status;
    if (batch_codec(batch) >= CODEC_COUNT) return -EIO;
    record_open(&reader, batch, RECORDS_OUTPUT_BYTES_MAX, 0);
    while ((status = record_next(&reader, &record)) == RECORD_OK) {
        int64_t time_ms =
            batch_is_log_append_time(batch) ? batch->max_timestamp : batch->base_timestamp + record.timestamp_delta;
        int64_t offset = batch->base_offset + record.offset_delta;
        // The record with the largest timestamp is named even if DeleteRecords has hidden it, as by Kafka.
        if (time_ms < l->time_ms || (offset < l->start_offset && !l->is_exact)) continue;
        l->found_offset = offset;
        l->found_time_ms = time_ms;
        l->found_epoch = batch->partition_leader_epoch;
        break;
    }
    record_close(&reader);
    return status == RECORD_OK || status == RECORD_END ? 0 : -EIO;
}

static int search_batch(struct os_host *host, struct lookup *l) {
    uint8_t *memory = malloc(l->scan.size_bytes);
    ASSERT(memory != NULL);
    struct batch batch;
    int64_t got = os_pread(host, l->scan.file, memory, l->scan.size_bytes, l->scan.position);
    int error = got < 0 ? (int)got : 0;
    if (error == 0 && batch_load((struct bytes){memory, (size_t)got}, &batch) != BATCH_OK) error = -EIO;
    if (error == 0) error = search_records(&batch, l);
    free(memory);
    return error;
}

static int64_t lookup_run(struct os_host *host, void *argument) {
    struct lookup *l = argument;
    enum scan_status status;
    while ((status = log_scan_walk(host, &l->scan, false, 0)) == SCAN_FOUND) {
        bool may_have = l->is_exact ? l->scan.max_timestamp_ms == l->time_ms : l->scan.max_timestamp_ms >= l->time_ms;
        int error = may_have ? search_batch(host, l) : 0;
        if (error != 0) return error;
        if (l->found_offset >= 0) return 0;
        l->scan.position += l->scan.size_bytes;
    }
    return status == SCAN_AT_END ? 0 : status == SCAN_FAILED ? l->scan.error : -EIO;
}

// ---- on the core
size_t log_segment_ends(const struct log *log, int64_t time_ms, size_t max, int64_t **offsets) {
    const size_t segments = log->segment_count;
    const bool has_end = log->segments[segments - 1]->size_bytes > 0;
    const size_t ends = segments + (has_end ? 1 : 0);
    size_t n = ends; // the ends that are old enough: the first n
    if (time_ms == LOG_TIME_EARLIEST) {
        n = 1;
    } else if (time_ms != LOG_TIME_LATEST) {
        if (has_end && core_wall_ms(log->core) > time_ms) n = segments;
        // Not a binary search: files may have been touched in any order.
        while (n > 0 && n <= segments && log->segments[n - 1]->modified_ms > time_ms)
            n--;
    }
    const size_t count = min_size(n, max);
    *offsets = malloc(count * sizeof **offsets + 1);
    ASSERT(*offsets != NULL);
    for (size_t i = 0; i < count; i++) {
        size_t end = n - 1 - i;
        (*offsets)[i] = end == segments ? log->end_offset : max_i64(log->segments[end]->base_offset, log->start_offset);
    }
    return count;
}

static int64_t largest_timestamp(const struct segment *segment) {
    return segment->max_timestamp_ms >= 0 ? segment->max_timestamp_ms : segment->modified_ms;
}

static struct segment *choose_by_time(const struct lookup *l) {
    for (size_t i = 0; i < l->log->segment_count; i++) {
        struct segment *segment = l->log->segments[i];
        if (segment->base_offset >= l->from_base && largest_timestamp(segment) >= l->asked->time_ms) return segment;
    }
    return NULL;
}

static struct segment *choose_latest(const struct lookup *l) {
    struct segment *latest = NULL;
    for (size_t i = 0; i < l->log->segment_count; i++) {
        struct segment *segment = l->log->segments[i];
        if (segment->size_bytes == 0) continue;
        if (!latest || segment->max_timestamp_ms > latest->max_timestamp_ms) latest = segment;
    }
    return latest;
}

static void lookup_let_go(struct lookup *l) {
    if (l->segment) segment_release(l->segment);
    l->segment = NULL;
}

static flow_next lookup_step_choose(struct flow *flow) {
    struct lookup *l = lookup_of(flow);
    struct log *log = l->log;
    lookup_let_go(l);
    if (log_dir_is_failed(log->dir)) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    l->is_exact = l->asked->time_ms == LOG_TIME_MAX;
    l->removals = log->removals;
    l->segment = l->is_exact ? choose_latest(l) : choose_by_time(l);
    if (!l->segment) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    segment_hold(l->segment);
    l->wait = (struct segment_wait){0};
    return FLOW_NEXT;
}

static uint64_t lookup_position(const struct lookup *l) {
    const struct segment *segment = l->segment;
    // Without any timestamp the first record has the largest one: -1.
    int64_t relative = segment->max_timestamp_ms < 0 ? 0 : segment_relative(segment, segment->max_timestamp_offset);
    if (!l->is_exact) {
        relative = time_index_floor(&segment->time_index, l->time_ms).relative_offset;
        relative = max_i64(relative, segment_relative(segment, l->start_offset));
    }
    return (uint64_t)index_floor_offset(&segment->index, relative).position;
}

static flow_next lookup_step_open(struct flow *flow) {
    struct lookup *l = lookup_of(flow);
    if (l->removals != l->log->removals) return FLOW_GOTO(lookup, choose);
    if (!segment_want(l->log, l->segment, true, &l->wait, flow)) return FLOW_WAIT;
    if (l->wait.error != 0) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    l->time_ms = l->is_exact ? l->segment->max_timestamp_ms : l->asked->time_ms;
    l->start_offset = l->log->start_offset;
    l->found_offset = l->found_time_ms = -1;
    l->scan = (struct log_scan){.file = l->segment->file,
                                .position = lookup_position(l),
                                .end_position = l->segment->size_bytes,
                                .offset = INT64_MAX,
                                .limit_position = 0};
    os_offload(l->log->core->os, &l->op.op, lookup_run, l);
    return FLOW_NEXT;
}

static flow_next lookup_step_searched(struct flow *flow) {
    struct lookup *l = lookup_of(flow);
    if (l->op.op.in_flight) return FLOW_WAIT;
    if (l->removals != l->log->removals) return FLOW_GOTO(lookup, choose);
    if (l->op.op.result < 0) return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    if (l->found_offset < 0 && !l->is_exact) {
        l->from_base = l->segment->base_offset + 1;
        return FLOW_GOTO(lookup, choose);
    }
    if (l->found_offset >= 0 && l->found_offset < l->asked->max_offset) {
        l->asked->offset = l->found_offset;
        l->asked->timestamp_ms = l->found_time_ms;
        l->asked->leader_epoch = l->found_epoch;
    }
    return FLOW_DONE(flow, KAFKA_ERROR_NONE);
}

static flow_next lookup_step_release(struct flow *flow) {
    struct lookup *l = lookup_of(flow);
    struct log *log = l->log;
    lookup_let_go(l);
    l->asked->error = flow->error;
    l->asked->done = true;
    flow_wake(l->asked->flow);
    free(l);
    log_reader_ends(log);
    return FLOW_END;
}
