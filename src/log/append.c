// SPDX-License-Identifier: Apache-2.0
// The writer of a log: a flow that runs while appends wait. Each round it takes what waits (the group), in order,
// checks each append against the state that the ones before it leave, and writes the group with one pwritev; then the
// group is committed to the log's state and its flows are woken. One write is in flight at a time.
//
//   begin   take the writer's turn          open    the active segment's file and indexes
//   gather  check, give offsets             roll    if the first of the group needs a new segment
//   write   inline if small, by the ring if large, on after a short write
//   cut     the write failed for want of space: back to the last whole batch
//   commit  state, indexes, epochs; answers
//
// Failure: ENOSPC, EDQUOT or a write that gets nowhere: the file is cut back, the producer state taken back, the group
// is answered KAFKA_STORAGE_ERROR, and the next append is tried again. Any other error of the write, or of the cut,
// fails the directory.
#include "log/check.h"
#include "log/roll.h"
#include "log/shard.h"
#include "os/shortage.h"
#include <errno.h>
#include <stdlib.h>

#define WRITER_STEPS(STEP)                                                                                             \
    STEP(writer, begin)                                                                                                \
    STEP(writer, open)                                                                                                 \
    STEP(writer, gather)                                                                                               \
    STEP(writer, write)                                                                                                \
    STEP(writer, writing)                                                                                              \
    STEP(writer, commit)                                                                                               \
    STEP(writer, cut) STEP(writer, cutting) STEP(writer, roll) STEP(writer, rolling) STEP(writer, release)
FLOW_DEFINE(writer, WRITER_STEPS)

enum {
    GROUP_BYTES_MAX = 256 << 10,  // a group ends when it has so much (a larger append goes alone)
    INLINE_BYTES_MAX = 128 << 10, // from here on through the ring
    WRITEBACK_BYTES = 8 << 20,    // started whenever so much was appended
};

struct cut_job {
    int file;
    uint64_t size_bytes;
};
struct log_writer {
    struct log *log;
    struct log_turn_wait turn, maintenance;
    struct segment_wait wait;
    struct list group; // of log_append.link
    struct os_vector vectors[OS_VECTORS_MAX];
    int vector_count, vector_first; // those before vector_first are written
    uint64_t start_position, written_bytes, size_bytes;
    int64_t start_offset, next_offset;
    int64_t first_max_timestamp_ms;
    int error; // of the write
    struct flow_op op;
    struct flush_wait flush_wait;
    struct cut_job cut;
    struct log_roll roll;
};

static struct log *log_of(struct flow *flow) {
    return container_of(flow, struct log, writer);
}

static void answer(struct log_append *append, int16_t error) {
    if (error != KAFKA_ERROR_NONE) append->base_offset = append->end_offset = -1;
    append->error = error;
    append->done = true;
    flow_wake(append->flow);
}

static void answer_all(struct list *appends, int16_t error) {
    for (struct list *link = list_pop_front(appends); link; link = list_pop_front(appends))
        answer(container_of(link, struct log_append, link), error);
}

void log_append_start(struct log *log, struct log_append *append) {
    ASSERT(append->size_bytes > 0);
    append->done = false;
    append->error = KAFKA_ERROR_NONE;
    append->duplicate = false;
    append->base_offset = append->end_offset = append->duplicate_time_ms = -1;
    list_init(&append->link);
    if (log->closer) {
        answer(append, KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER);
        return;
    }
    list_push_back(&log->appends, &append->link);
    if (flow_is_active(&log->writer)) return; // it looks again before it ends
    ASSERT(!log->write);
    log->write = calloc(1, sizeof *log->write);
    ASSERT(log->write != NULL);
    log->write->log = log;
    list_init(&log->write->group);
    flow_start(&log->writer, &writer_flow, log->core);
    flow_op_init(&log->write->op, &log->writer);
}

static flow_next writer_step_begin(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    ASSERT(list_is_empty(&w->group));
    if (list_is_empty(&log->appends)) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    if (!log_turn_take(&log->writer_turn, &w->turn, flow)) return FLOW_WAIT;
    w->wait = (struct segment_wait){0};
    return FLOW_NEXT;
}

static flow_next writer_step_open(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    if (!segment_want(log, log_active_segment(log), true, &w->wait, flow)) return FLOW_WAIT;
    if (w->wait.error == 0 && !log_dir_is_failed(log->dir)) return FLOW_NEXT;
    if (w->wait.error == -EIO || w->wait.error == -EROFS) log_fail_directory(log, "opening a segment", w->wait.error);
    answer_all(&log->appends, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
}

// ---- gather
static void group_begin(struct log_writer *w) {
    struct log *log = w->log;
    w->vector_count = w->vector_first = 0;
    w->start_position = log_active_segment(log)->size_bytes;
    w->written_bytes = w->size_bytes = 0;
    w->start_offset = w->next_offset = log->end_offset;
    w->first_max_timestamp_ms = SEGMENT_UNKNOWN;
    w->error = 0;
}

static bool group_is_full(const struct log_writer *w, const struct log_append *append) {
    return w->vector_count == OS_VECTORS_MAX || w->size_bytes + append->size_bytes > GROUP_BYTES_MAX;
}

static void group_add(struct log_writer *w, struct log_append *append, const struct append_facts *facts) {
    append_take(w->log, append, facts);
    list_remove(&append->link);
    list_push_back(&w->group, &append->link);
    w->vectors[w->vector_count++] = (struct os_vector){append->records, append->size_bytes};
    w->size_bytes += append->size_bytes;
    w->next_offset = append->end_offset;
    if (w->first_max_timestamp_ms == SEGMENT_UNKNOWN) w->first_max_timestamp_ms = facts->first_max_timestamp_ms;
}

static bool needs_roll(const struct log_writer *w, const struct log_append *append, const struct append_facts *facts) {
    struct roll_question question = {.base_offset = facts->base_offset,
                                     .last_offset = facts->last_offset,
                                     .max_timestamp_ms = facts->max_timestamp_ms,
                                     .set_bytes = append->size_bytes,
                                     .segment_bytes = w->start_position + w->size_bytes,
                                     .group_first_timestamp_ms = w->first_max_timestamp_ms};
    return log_must_roll(w->log, &question);
}

enum gather { GATHER_MORE, GATHER_ENOUGH, GATHER_ROLL };

// What an answer (error, duplicate) says must be true of what is written, not of what is about to be: the group in hand
// comes first.
static enum gather gather_one(struct log_writer *w, struct log_append *append) {
    struct log *log = w->log;
    bool is_first = list_is_empty(&w->group);
    if (!is_first && group_is_full(w, append)) return GATHER_ENOUGH;
    struct append_facts facts;
    int16_t error = append_examine(log, append, w->next_offset, &facts);
    if (error != KAFKA_ERROR_NONE || append->duplicate) {
        if (!is_first) {
            append->duplicate = false;
            return GATHER_ENOUGH;
        }
        list_remove(&append->link);
        answer(append, error);
        return GATHER_MORE;
    }
    if (needs_roll(w, append, &facts)) return is_first ? GATHER_ROLL : GATHER_ENOUGH;
    group_add(w, append, &facts);
    return GATHER_MORE;
}

static flow_next writer_step_gather(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    group_begin(w);
    enum gather gather = GATHER_MORE;
    while (gather == GATHER_MORE && !list_is_empty(&log->appends))
        gather = gather_one(w, container_of(list_front(&log->appends), struct log_append, link));
    if (gather == GATHER_ROLL) return FLOW_GOTO(writer, roll);
    if (!list_is_empty(&w->group)) return FLOW_NEXT;
    log_turn_give(&log->writer_turn, &w->turn);
    return FLOW_GOTO(writer, begin);
}

// ---- write
// Takes in the result of one write: true if that was all of it or the end.
static bool write_took(struct log_writer *w, int64_t result) {
    if (result <= 0) {
        w->error = result == 0 ? -ENOSPC : (int)result;
        return true;
    }
    w->written_bytes += (uint64_t)result;
    ASSERT(w->written_bytes <= w->size_bytes);
    uint64_t left = (uint64_t)result;
    while (left > 0) {
        struct os_vector *vector = &w->vectors[w->vector_first];
        size_t taken = min_size(left, vector->size);
        vector->data = (const uint8_t *)vector->data + taken;
        vector->size -= taken;
        left -= taken;
        if (vector->size == 0) w->vector_first++;
    }
    return w->written_bytes == w->size_bytes;
}

static bool writes_inline(struct log *log, const struct log_writer *w) {
    return w->size_bytes - w->written_bytes < INLINE_BYTES_MAX && core_now_ms(log->core) >= log->shard->slow_until_ms;
}

static flow_next write_result(struct log_writer *w) {
    return w->error == 0 ? FLOW_GOTO(writer, commit) : FLOW_GOTO(writer, cut);
}

static flow_next writer_step_write(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    struct segment *active = log_active_segment(log);
    ASSERT(active->file >= 0 && active->size_bytes == w->start_position);
    while (writes_inline(log, w)) {
        uint64_t before_ns = os_now_ns(log->core->os);
        int64_t result = os_pwritev(log->core->host, active->file, w->vectors + w->vector_first,
                                    w->vector_count - w->vector_first, w->start_position + w->written_bytes);
        log_shard_wrote(log->shard, os_now_ns(log->core->os) - before_ns);
        if (write_took(w, result)) return write_result(w);
    }
    os_pwritev_start(log->core->os, &w->op.op, active->file, w->vectors + w->vector_first,
                     w->vector_count - w->vector_first, w->start_position + w->written_bytes);
    return FLOW_NEXT;
}

static flow_next writer_step_writing(struct flow *flow) {
    struct log_writer *w = log_of(flow)->write;
    if (w->op.op.in_flight) return FLOW_WAIT;
    if (!write_took(w, w->op.op.result)) return FLOW_GOTO(writer, write);
    return write_result(w);
}

// ---- commit
static void commit_batches(struct log *log, const struct log_append *append, const struct segment_limits *limits) {
    struct segment *active = log_active_segment(log);
    struct bytes left = {append->records, append->size_bytes};
    struct batch batch;
    while (batch_next(&left, &batch) == BATCH_OK) {
        struct segment_batch counted = {batch.base_offset, batch_last_offset(&batch), (uint32_t)batch.bytes.size,
                                        batch.max_timestamp};
        segment_count_batch(active, &counted, limits);
        if (batch.partition_leader_epoch >= 0)
            epochs_assign(&log->epochs, batch.partition_leader_epoch, batch.base_offset);
    }
}

static void start_writeback(struct log *log, struct segment *active) {
    if (active->size_bytes - active->writeback_bytes < WRITEBACK_BYTES) return;
    os_start_writeback(log->core->os, active->file, active->writeback_bytes,
                       active->size_bytes - active->writeback_bytes);
    active->writeback_bytes = active->size_bytes;
}

static flow_next writer_step_commit(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    struct segment *active = log_active_segment(log);
    struct segment_limits limits = log_segment_limits(log);
    LIST_FOREACH (link, &w->group)
        commit_batches(log, container_of(link, struct log_append, link), &limits);
    ASSERT(active->size_bytes == w->start_position + w->size_bytes);
    active->modified_ms = core_wall_ms(log->core);
    log->end_offset = w->next_offset;
    producers_written(&log->producers, log->end_offset);
    log_remember_end(log, log->end_offset, active->size_bytes);
    core_trace(log->core, "appended", log->topic, (uint64_t)log->end_offset);
    start_writeback(log, active);
    answer_all(&w->group, KAFKA_ERROR_NONE);
    log->listener->appended(log->listener);
    flush_after_write(log);
    log_turn_give(&log->writer_turn, &w->turn);
    return FLOW_GOTO(writer, begin);
}

// ---- the write failed
static int64_t cut_run(struct os_host *host, void *argument) {
    const struct cut_job *cut = argument;
    return os_truncate(host, cut->file, cut->size_bytes);
}

static flow_next writer_step_cut(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    producers_undo(&log->producers, w->start_offset);
    txn_index_truncate(&log_active_segment(log)->aborted, w->start_offset);
    if (!os_is_shortage(w->error)) {
        log_fail_directory(log, "writing a segment", w->error);
        answer_all(&w->group, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
        answer_all(&log->appends, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
        return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    }
    w->cut = (struct cut_job){log_active_segment(log)->file, w->start_position};
    os_offload(log->core->os, &w->op.op, cut_run, &w->cut);
    return FLOW_NEXT;
}

static flow_next writer_step_cutting(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    if (w->op.op.in_flight) return FLOW_WAIT;
    answer_all(&w->group, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    if (w->op.op.result < 0) {
        log_fail_directory(log, "cutting a segment back", (int)w->op.op.result);
        answer_all(&log->appends, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
        return FLOW_DONE(flow, KAFKA_ERROR_KAFKA_STORAGE_ERROR);
    }
    // A power cut may undo the cut, and no flush of what is whole makes it durable: were the segment sealed like that,
    // recovery would take its end for damage, and delete the segments that follow.
    log_active_segment(log)->preallocated = true;
    log_turn_give(&log->writer_turn, &w->turn);
    return FLOW_GOTO(writer, begin);
}

// ---- roll
// Rolling needs the maintenance turn, which is taken first: so the writer's turn is given up meanwhile, and afterwards
// everything is looked at again.
static bool roll_is_still_needed(struct log_writer *w, struct append_facts *facts) {
    struct log *log = w->log;
    group_begin(w);
    struct list *first = list_front(&log->appends);
    if (!first || !log_active_segment(log)->indexes_resident || log_dir_is_failed(log->dir)) return false;
    struct log_append *append = container_of(first, struct log_append, link);
    int16_t error = append_examine(log, append, log->end_offset, facts);
    bool is_duplicate = append->duplicate;
    append->duplicate = false;
    return error == KAFKA_ERROR_NONE && !is_duplicate && needs_roll(w, append, facts);
}

static flow_next writer_step_roll(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    if (!w->maintenance.granted) log_turn_give(&log->writer_turn, &w->turn);
    if (!log_turn_take(&log->maintenance, &w->maintenance, flow)) return FLOW_WAIT;
    if (!log_turn_take(&log->writer_turn, &w->turn, flow)) return FLOW_WAIT;
    struct append_facts facts;
    if (!roll_is_still_needed(w, &facts)) {
        log_turn_give(&log->maintenance, &w->maintenance);
        return FLOW_GOTO(writer, begin);
    }
    if (!log_roll_may_begin(log, &w->flush_wait, flow)) return FLOW_WAIT;
    log_roll_begin(log, &w->roll, max_i64(facts.base_offset, log->end_offset), flow);
    return FLOW_NEXT;
}

static flow_next writer_step_rolling(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    if (!log_roll_is_done(log, &w->roll)) return FLOW_WAIT;
    int16_t error = w->roll.error;
    log_turn_give(&log->maintenance, &w->maintenance);
    if (error != KAFKA_ERROR_NONE && !list_is_empty(&log->appends)) {
        struct list *first = list_pop_front(&log->appends);
        answer(container_of(first, struct log_append, link), error);
    }
    log_turn_give(&log->writer_turn, &w->turn);
    return FLOW_GOTO(writer, begin);
}

static flow_next writer_step_release(struct flow *flow) {
    struct log *log = log_of(flow);
    struct log_writer *w = log->write;
    ASSERT(list_is_empty(&w->group) && list_is_empty(&log->appends));
    log_turn_give(&log->maintenance, &w->maintenance);
    log_turn_give(&log->writer_turn, &w->turn);
    flush_await_no_more(&w->flush_wait);
    log->write = NULL;
    free(w);
    if (log->closer) flow_wake(log->closer);
    return FLOW_END;
}
