// SPDX-License-Identifier: Apache-2.0
// find (the partition, when its log is there) -> read (a range of whole batches) -> copy (into memory, off the core's
// thread if the disk has to be asked) -> replay -> read ... until the end of the log.
//
// One buffer of the size of a read is held, so memory does not grow with the log, and a turn replays one read at most.
// Batches are checked again: what is replayed decides who consumes what. Control batches and aborted data do not exist
// before transactions do. A batch that fails its checksum, or does not unfold, ends the load with an error: part of a
// state is worse than none.
#include "replica/statelog.h"
#include "protocol/record.h"
#include "replica/replica.h"
#include <stdlib.h>

#define STATELOG_STEPS(STEP)                                                                                           \
    STEP(statelog, find) STEP(statelog, read) STEP(statelog, copy) STEP(statelog, replay) STEP(statelog, release)
FLOW_DEFINE(statelog, STATELOG_STEPS)

enum {
    FIND_RETRY_MS = 20,
    FIND_RETRIES_MAX = 500, // the order to become leader is on its way: 10 s
    UNFOLDED_BYTES_MAX = 256 << 20,
};

static struct statelog_load *self(struct flow *flow) {
    return container_of(flow, struct statelog_load, flow);
}

void statelog_load_start(struct core *core, struct statelog_load *load) {
    load->error = KAFKA_ERROR_NONE;
    load->reason = "";
    load->leader_epoch = -1;
    load->start_offset = load->end_offset = -1;
    load->records = load->bytes = 0;
    load->partition = NULL;
    load->watch = (struct partition_watch){0};
    load->timer = (struct flow_timer){0};
    load->waits = 0;
    load->read_held = false;
    load->op = (struct flow_op){0};
    load->buffer = NULL;
    flow_start(&load->flow, &statelog_flow, core);
}

void statelog_load_stop(struct statelog_load *load) {
    flow_stop(&load->flow);
}

static flow_next fail(struct statelog_load *load, int16_t error, const char *reason) {
    load->error = error;
    load->reason = reason;
    return FLOW_DONE(&load->flow, error);
}

static flow_next statelog_step_find(struct flow *flow) {
    struct statelog_load *load = self(flow);
    if (flow->stop) return fail(load, KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER, "stopped");
    partition_watch_remove(&load->watch);
    struct partition *p = load->partition;
    if (!p) {
        p = replicas_find(replicas_of(flow->core), load->topic_id, load->index);
        if (!p) {
            if (++load->waits > FIND_RETRIES_MAX)
                return fail(load, KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER, "the partition did not come");
            flow_timer_set(&load->timer, flow, FIND_RETRY_MS);
            return FLOW_WAIT;
        }
        partition_hold(p);
        load->partition = p;
    }
    bool is_here = p->state == PARTITION_ONLINE && p->leader >= 0;
    if (!is_here && p->state != PARTITION_STOPPING && p->state != PARTITION_OFFLINE) {
        partition_watch_add(p, &load->watch, flow); // woken when it gets its role
        return FLOW_WAIT;
    }
    int16_t error = partition_check_leader(p, -1);
    if (error != KAFKA_ERROR_NONE) return fail(load, error, "the partition cannot be read here");
    load->leader_epoch = p->leader_epoch;
    load->start_offset = load->end_offset = log_start_offset(p->log);
    return FLOW_NEXT;
}

static void let_go_of_read(struct statelog_load *load) {
    if (load->read_held) log_read_release(load->partition->log, &load->read);
    load->read_held = false;
}

static flow_next statelog_step_read(struct flow *flow) {
    struct statelog_load *load = self(flow);
    struct log *log = load->partition->log;
    if (!load->read_held) {
        int16_t error = partition_check_leader(load->partition, -1);
        if (flow->stop || error != KAFKA_ERROR_NONE)
            return fail(load, error ? error : KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER, "stopped");
        int64_t start = log_start_offset(log); // may have moved: then what was below it is gone
        if (load->end_offset < start) load->end_offset = start;
        if (load->end_offset >= log_end_offset(log)) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
        load->read = (struct log_read){.offset = load->end_offset,
                                       .max_offset = log_end_offset(log),
                                       .max_bytes = load->read_bytes_max,
                                       .at_least_one = true,
                                       .flow = flow};
        load->read_held = true;
        if (!log_read_start(log, &load->read)) return FLOW_WAIT;
    }
    if (!load->read.done) return FLOW_WAIT;
    if (load->read.error != KAFKA_ERROR_NONE) return fail(load, load->read.error, "the log could not be read");
    if (load->read.size_bytes == 0) return FLOW_DONE(flow, KAFKA_ERROR_NONE); // nothing is left below the end
    load->buffer = malloc(load->read.size_bytes);
    ASSERT(load->buffer != NULL);
    flow_op_init(&load->op, flow);
    os_pread_start(flow->core->os, &load->op.op, load->read.file, load->buffer, load->read.size_bytes,
                   load->read.position);
    return FLOW_NEXT;
}

static flow_next statelog_step_copy(struct flow *flow) {
    struct statelog_load *load = self(flow);
    if (load->op.op.in_flight) return FLOW_WAIT;
    let_go_of_read(load);
    if (load->op.op.result != load->read.size_bytes)
        return fail(load, KAFKA_ERROR_KAFKA_STORAGE_ERROR, "the segment's file could not be read");
    return FLOW_NEXT;
}

static bool replay_batch(struct statelog_load *load, const struct batch *b) {
    if (batch_codec(b) >= CODEC_COUNT) return false;
    struct record_reader reader;
    struct record record;
    enum record_status status;
    record_open(&reader, b, UNFOLDED_BYTES_MAX, RECORD_CONTENT);
    while ((status = record_next(&reader, &record)) == RECORD_OK) {
        const struct statelog_record r = {.offset = b->base_offset + record.offset_delta,
                                          .batch_base_offset = b->base_offset,
                                          .timestamp_ms = b->base_timestamp + record.timestamp_delta,
                                          .key = record.key,
                                          .value = record.value};
        load->record(load, &r);
        load->records++;
    }
    record_close(&reader);
    return status == RECORD_END;
}

static flow_next statelog_step_replay(struct flow *flow) {
    struct statelog_load *load = self(flow);
    struct bytes rest = {load->buffer, load->read.size_bytes};
    int64_t before = load->end_offset;
    struct batch b;
    enum batch_status status;
    while ((status = batch_next(&rest, &b)) == BATCH_OK) {
        if (!batch_crc_is_valid(&b)) return fail(load, KAFKA_ERROR_CORRUPT_MESSAGE, "a batch fails its checksum");
        if (batch_last_offset(&b) < load->end_offset) continue; // read again: it is before where this read began
        if (!batch_is_control(&b) && !replay_batch(load, &b))
            return fail(load, KAFKA_ERROR_CORRUPT_MESSAGE, "a batch's records are malformed");
        load->end_offset = batch_last_offset(&b) + 1;
    }
    load->bytes += load->read.size_bytes;
    free(load->buffer);
    load->buffer = NULL;
    // The log gives whole batches; old formats are not in the logs of internal topics that any supported release wrote.
    if (status == BATCH_OLD_FORMAT)
        return fail(load, KAFKA_ERROR_CORRUPT_MESSAGE, "a batch is of a format older than magic 2");
    if (load->end_offset <= before) return fail(load, KAFKA_ERROR_CORRUPT_MESSAGE, "a read brought no whole batch");
    return FLOW_GOTO(statelog, read);
}

static flow_next statelog_step_release(struct flow *flow) {
    struct statelog_load *load = self(flow);
    ASSERT(!load->op.op.in_flight);
    flow_timer_cancel(&load->timer);
    partition_watch_remove(&load->watch);
    let_go_of_read(load);
    free(load->buffer);
    load->buffer = NULL;
    if (load->partition) partition_release(load->partition);
    load->partition = NULL;
    load->done(load);
    return FLOW_END;
}
