// SPDX-License-Identifier: Apache-2.0
// The log's struct: made by the loader, attached to a core, asked by everybody; and the turns in which flows change it.
#include "log/log.h"
#include "log/shard.h"
#include <errno.h>
#include <stdlib.h>

// ---- life
struct log *log_new(const char *topic, int32_t partition) {
    struct log *log = calloc(1, sizeof *log);
    ASSERT(log != NULL);
    log->topic = strdup(topic);
    ASSERT(log->topic != NULL);
    log->partition = partition;
    log->durable_snapshot = -1;
    epochs_init(&log->epochs);
    producers_init(&log->producers, 0);
    list_init(&log->shard_link);
    list_init(&log->appends);
    list_init(&log->flush.link);
    list_init(&log->flush.waiters);
    list_init(&log->maintenance.waiters);
    list_init(&log->writer_turn.waiters);
    log_forget_boundaries(log);
    return log;
}

void log_free(struct log *log) {
    ASSERT(!log->shard);
    for (size_t i = 0; i < log->segment_count; i++)
        segment_free(log->segments[i]);
    free(log->segments);
    epochs_free(&log->epochs);
    producers_free(&log->producers);
    free(log->path);
    free(log->topic);
    free(log);
}

void log_add_segment(struct log *log, struct segment *segment) {
    if (log->segment_count > 0) ASSERT(segment->base_offset > log_active_segment(log)->base_offset);
    if (log->segment_count == log->segment_capacity) {
        log->segment_capacity = log->segment_capacity == 0 ? 2 : log->segment_capacity * 2;
        log->segments = realloc(log->segments, log->segment_capacity * sizeof(struct segment *));
        ASSERT(log->segments != NULL);
    }
    log->segments[log->segment_count++] = segment;
}

void log_adopt_segment(struct log *log, struct segment *segment) {
    segment->log = log;
    segment->shard = log->shard;
    segment->writeback_bytes = segment->size_bytes;
    segment->created_ms = core_wall_ms(log->core);
    log->has_aborted = log->has_aborted || segment->aborted_file || segment->aborted.count > 0;
    if (segment->indexes_resident || segment->file >= 0) {
        int file = segment->file;
        segment->file = -1;
        log_shard_opened(log->shard, segment, file);
    }
}

void log_attach(struct log *log, struct core *core, struct log_listener *listener) {
    ASSERT(!log->core && !log->shard);
    ASSERT(log->segment_count > 0);
    ASSERT(log->start_offset <= log->end_offset);
    ASSERT(log->flushed_end <= log->end_offset);
    log->core = core;
    log->listener = listener;
    log->shard = log_shard_enter(log->dir, core);
    list_push_back(&log->shard->logs, &log->shard_link);
    for (size_t i = 0; i < log->segment_count; i++) {
        struct segment *segment = log->segments[i];
        // What the recovery point says: indexes below it are on stable storage.
        bool is_written = !segment_indexes_unwritten(segment) && !segment->indexes_trim;
        if (log_segment_end(log, i) <= log->recovery_point && is_written) segment->indexes_durable = true;
        log_adopt_segment(log, segment);
    }
    log_choose_roll_jitter(log);
    flush_init(log);
}

uint64_t log_initial_file_bytes(const struct log *log) {
    return log->config.preallocate ? (uint64_t)log->config.segment_bytes : 0;
}

struct segment_limits log_segment_limits(const struct log *log) {
    return (struct segment_limits){.index_interval_bytes = (uint32_t)log->config.index_interval_bytes,
                                   .index_bytes_max = (uint32_t)log->config.segment_index_bytes};
}

void log_choose_roll_jitter(struct log *log) {
    int64_t most = min_i64(log->config.segment_jitter_ms, log->config.segment_ms);
    log->roll_jitter_ms = most <= 0 ? 0 : (int64_t)(os_random(log->core->os) % (uint64_t)most);
}

// ---- turns
bool log_turn_take(struct log_turn *turn, struct log_turn_wait *wait, struct flow *flow) {
    if (wait->granted) return true;
    if (wait->link.next == NULL) list_init(&wait->link);
    if (list_is_linked(&wait->link)) return false;
    wait->flow = flow;
    if (!turn->taken) {
        ASSERT(list_is_empty(&turn->waiters));
        turn->taken = true;
        wait->granted = true;
        return true;
    }
    list_push_back(&turn->waiters, &wait->link);
    return false;
}

void log_turn_give(struct log_turn *turn, struct log_turn_wait *wait) {
    if (!wait->granted) return;
    ASSERT(turn->taken);
    wait->granted = false;
    struct list *next = list_pop_front(&turn->waiters);
    if (!next) {
        turn->taken = false;
        return;
    }
    struct log_turn_wait *granted = container_of(next, struct log_turn_wait, link);
    granted->granted = true;
    flow_wake(granted->flow);
}

// ---- searches and reads in flight
bool log_is_quiet(const struct log *log) {
    return log->readers == 0 && !log->flush.in_flight && !flow_is_active(&log->writer);
}

void log_reader_ends(struct log *log) {
    ASSERT(log->readers > 0);
    log->readers--;
    if (log->closer) flow_wake(log->closer);
}

// ---- failure
int16_t log_fail_directory(struct log *log, const char *what, int error) {
    log_dir_fail(log->dir, what, error);
    log_shard_tell_failed(log->shard);
    return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
}

void log_tell_failed(struct log *log) {
    flush_wake_waiters(log);
    if (log->failed_told) return;
    log->failed_told = true;
    log->listener->failed(log->listener);
}

// ---- what it holds
int64_t log_start_offset(const struct log *log) {
    return log->start_offset;
}
int64_t log_end_offset(const struct log *log) {
    return log->end_offset;
}
int64_t log_flushed_end(const struct log *log) {
    return log->flushed_end;
}
int64_t log_high_watermark(const struct log *log) {
    return log->high_watermark;
}
int64_t log_last_stable_offset(const struct log *log) {
    return min_i64(log->high_watermark, producers_first_unstable(&log->producers));
}
uint64_t log_size_bytes(const struct log *log) {
    uint64_t size_bytes = 0;
    for (size_t i = 0; i < log->segment_count; i++)
        size_bytes += log->segments[i]->size_bytes;
    return size_bytes;
}
int64_t log_recovery_point(const struct log *log) {
    return log->recovery_point;
}
struct log_dir *log_directory(const struct log *log) {
    return log->dir;
}
const struct topic_config *log_config(const struct log *log) {
    return &log->config;
}
void log_set_config(struct log *log, const struct topic_config *config) {
    log->config = *config;
    log_choose_roll_jitter(log);
}
void log_set_producer_expiration(struct log *log, int64_t expiration_ms) {
    log->producer_expiration_ms = expiration_ms;
}
void log_set_high_watermark(struct log *log, int64_t offset) {
    offset = min_i64(offset, log->end_offset);
    if (offset <= log->high_watermark) return;
    log->high_watermark = offset;
    producers_set_high_watermark(&log->producers, offset);
}

size_t log_segment_index(const struct log *log, int64_t offset) {
    size_t low = 0, high = log->segment_count; // segments below `low` begin at or below the offset
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->segments[middle]->base_offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? 0 : low - 1;
}

int64_t log_segment_base(const struct log *log, int64_t offset) {
    return log->segments[log_segment_index(log, offset)]->base_offset;
}

int64_t log_segment_end(const struct log *log, size_t index) {
    return index + 1 < log->segment_count ? log->segments[index + 1]->base_offset : log->end_offset;
}

// ---- leader epochs
int32_t log_latest_epoch(const struct log *log) {
    return epochs_latest(&log->epochs);
}
void log_set_leader_epoch(struct log *log, int32_t epoch) {
    epochs_assign(&log->epochs, epoch, log->end_offset);
}
void log_end_of_epoch(const struct log *log, int32_t epoch, int32_t *found_epoch, int64_t *end_offset) {
    epochs_end_of(&log->epochs, epoch, log->end_offset, found_epoch, end_offset);
}
int32_t log_epoch_at(const struct log *log, int64_t offset) {
    return epochs_at(&log->epochs, offset);
}

// ---- producers
void log_each_producer(const struct log *log, void (*row)(void *context, const struct log_producer *producer),
                       void *context) {
    const struct producer **sorted = producers_sorted(&log->producers);
    for (size_t i = 0; i < producers_count(&log->producers); i++) {
        const struct producer *p = sorted[i];
        struct log_producer shown = {.producer_id = p->id,
                                     .producer_epoch = p->epoch,
                                     .last_sequence = producer_last_sequence_of(p),
                                     .last_timestamp_ms = p->last_timestamp_ms,
                                     .coordinator_epoch = p->coordinator_epoch,
                                     .transaction_start = p->transaction_start};
        row(context, &shown);
    }
    free(sorted);
}
