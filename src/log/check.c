// SPDX-License-Identifier: Apache-2.0
// The batches of an append, one header after the other: whole, of magic 2, offsets that follow; the producer's
// sequence. Records were validated before; bytes that are not whole batches are answered CORRUPT_MESSAGE all the same.
#include "log/check.h"
#include "log/producers_batch.h"

static enum producer_origin producer_origin(enum log_origin origin) {
    switch (origin) {
    case LOG_FROM_CLIENT: return PRODUCER_FROM_CLIENT;
    case LOG_FROM_COORDINATOR: return PRODUCER_FROM_COORDINATOR;
    case LOG_FROM_LEADER: return PRODUCER_FROM_LEADER;
    }
    UNREACHABLE();
}

static int16_t verdict_error(enum producer_verdict verdict) {
    switch (verdict) {
    case PRODUCER_ACCEPTED:
    case PRODUCER_DUPLICATE: return KAFKA_ERROR_NONE;
    case PRODUCER_OUT_OF_ORDER: return KAFKA_ERROR_OUT_OF_ORDER_SEQUENCE_NUMBER;
    case PRODUCER_OLD_EPOCH: return KAFKA_ERROR_INVALID_PRODUCER_EPOCH;
    case PRODUCER_OLD_COORDINATOR: return KAFKA_ERROR_TRANSACTION_COORDINATOR_FENCED;
    case PRODUCER_BREAKS_TRANSACTION: return KAFKA_ERROR_INVALID_TXN_STATE;
    }
    UNREACHABLE();
}

// The offsets that the batch will have. False: they do not follow.
static bool place_batch(struct batch *batch, enum log_origin origin, int64_t next_offset) {
    if (origin != LOG_FROM_LEADER) batch->base_offset = next_offset;
    return batch->base_offset >= next_offset && batch->base_offset <= INT64_MAX - INT32_MAX - 1;
}

static int16_t examine_producer(struct log *log, struct log_append *append, const struct batch *batch) {
    struct producer_append entry;
    struct producer_batch original;
    if (append->origin == LOG_FROM_LEADER || !producer_append_of(batch, &entry)) return KAFKA_ERROR_NONE;
    enum producer_verdict verdict =
        producers_check(&log->producers, &entry, producer_origin(append->origin), &original);
    if (verdict == PRODUCER_DUPLICATE) {
        append->duplicate = true;
        append->base_offset = original.last_offset - original.offset_delta;
        append->end_offset = original.last_offset + 1;
        append->duplicate_time_ms = original.max_timestamp_ms;
    }
    return verdict_error(verdict);
}

int16_t append_examine(struct log *log, struct log_append *append, int64_t next_offset, struct append_facts *facts) {
    *facts = (struct append_facts){.base_offset = -1, .max_timestamp_ms = -1, .first_max_timestamp_ms = -1};
    if (append->size_bytes > (size_t)log->config.segment_bytes) return KAFKA_ERROR_RECORD_LIST_TOO_LARGE;
    if (append->origin == LOG_FROM_CLIENT && atomic_load_explicit(&log->dir->below_reserve, memory_order_relaxed))
        return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    struct bytes left = {append->records, append->size_bytes};
    struct batch batch;
    enum batch_status status;
    while ((status = batch_next(&left, &batch)) == BATCH_OK) {
        if (batch.last_offset_delta < 0) return KAFKA_ERROR_CORRUPT_MESSAGE;
        if (!place_batch(&batch, append->origin, next_offset)) return KAFKA_ERROR_OFFSET_OUT_OF_RANGE;
        int16_t error = examine_producer(log, append, &batch);
        if (error != KAFKA_ERROR_NONE || append->duplicate) return error;
        if (facts->base_offset < 0) {
            facts->base_offset = batch.base_offset;
            facts->first_max_timestamp_ms = batch.max_timestamp;
        }
        facts->last_offset = batch_last_offset(&batch);
        if (facts->last_offset - facts->base_offset > INT32_MAX) return KAFKA_ERROR_RECORD_LIST_TOO_LARGE;
        facts->max_timestamp_ms = max_i64(facts->max_timestamp_ms, batch.max_timestamp);
        next_offset = facts->last_offset + 1;
    }
    return status == BATCH_END && facts->base_offset >= 0 ? KAFKA_ERROR_NONE : KAFKA_ERROR_CORRUPT_MESSAGE;
}

static void take_aborted(struct log *log, const struct producer_transaction *ended) {
    const struct aborted_transaction entry = {ended->producer_id, ended->first_offset, ended->last_offset,
                                              ended->last_stable_offset};
    segment_count_aborted(log_active_segment(log), &entry);
    log->has_aborted = true;
}

void append_take(struct log *log, struct log_append *append, const struct append_facts *facts) {
    uint8_t *at = append->records;
    int64_t next_offset = facts->base_offset;
    struct bytes left = {append->records, append->size_bytes};
    struct batch batch;
    while (batch_next(&left, &batch) == BATCH_OK) {
        if (append->origin != LOG_FROM_LEADER) {
            batch.base_offset = next_offset;
            batch_set_base_offset(at, next_offset);
            batch_set_leader_epoch(at, append->leader_epoch);
        }
        struct producer_append entry;
        struct producer_transaction ended;
        if (producer_append_of(&batch, &entry) && producers_apply(&log->producers, &entry, &ended) && ended.aborted)
            take_aborted(log, &ended);
        next_offset = batch_last_offset(&batch) + 1;
        at += batch.bytes.size;
    }
    ASSERT(next_offset == facts->last_offset + 1);
    append->base_offset = facts->base_offset;
    append->end_offset = next_offset;
}
