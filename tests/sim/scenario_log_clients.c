// SPDX-License-Identifier: Apache-2.0
// Who appends to the logs of scenario_log.c, and who reads them.
#include "protocol/batch_writer.h"
#include "scenario_log_parts.h"

// ---- a producer
#define PUSHER_STEPS(STEP) STEP(pusher, push) STEP(pusher, release)
FLOW_DEFINE(pusher, PUSHER_STEPS)

static void batch_make(struct pusher *pusher, struct log_batch *batch) {
    struct batch_options options = BATCH_OPTIONS_PLAIN;
    options.producer_id = 100 + pusher->number;
    options.producer_epoch = 0;
    options.base_sequence = (int32_t)pusher->story->next;
    struct batch_writer writer;
    batch_writer_begin(&writer, batch->bytes, sizeof batch->bytes, options);
    batch->first = pusher->story->next;
    batch->count = (int32_t)sim_range(SIM_WORKLOAD, 1, BATCH_RECORDS_MAX);
    uint8_t value[VALUE_BYTES_MAX];
    for (int32_t i = 0; i < batch->count; i++) {
        size_t size = sim_range(SIM_WORKLOAD, HISTORY_VALUE_MIN_BYTES, sizeof value);
        history_value_make(value, size, (uint32_t)pusher->number, pusher->story->next++);
        bool added = batch_writer_add(&writer, os_wall_ms(pusher->flow.core->os), (struct bytes){0},
                                      (struct bytes){value, size}, NULL, 0);
        ASSERT(added);
    }
    batch->size_bytes = batch_writer_end(&writer);
}

static void pusher_start_append(struct pusher *pusher, int i) {
    struct log_batch *batch = &pusher->story->batches[i];
    memcpy(pusher->memory[i], batch->bytes, batch->size_bytes);
    pusher->appends[i] = (struct log_append){.records = pusher->memory[i],
                                             .size_bytes = batch->size_bytes,
                                             .leader_epoch = (int32_t)pusher->session->story->leader_epoch,
                                             .origin = LOG_FROM_CLIENT,
                                             .flow = &pusher->flow};
    list_init(&pusher->appends[i].link);
    struct log *log = pusher->session->subjects[pusher->log].log;
    log_append_start(log, &pusher->appends[i]);
    log_flush_start(log);
}

// Of a producer's batches only the last is in a snapshot (as in Kafka), so one that is sent again after a restart may
// be an older duplicate: refused, and in the log.
static bool pusher_is_old_duplicate(const struct pusher *pusher, const struct log_append *append) {
    return pusher->resending && append->error == KAFKA_ERROR_OUT_OF_ORDER_SEQUENCE_NUMBER;
}

static void pusher_check_answer(struct pusher *pusher, const struct log_append *append) {
    if (pusher_is_old_duplicate(pusher, append)) return;
    SIM_CHECK(append->error == KAFKA_ERROR_NONE || append->error == KAFKA_ERROR_KAFKA_STORAGE_ERROR,
              "producer %d: an append answered %s", pusher->number, kafka_error_name(append->error));
    if (append->error != KAFKA_ERROR_NONE) pusher->session->story->failed = true;
}

// A client whose answers were lost sends everything again, and is told the original offsets. True: it does so now.
static bool pusher_repeats(struct pusher *pusher) {
    for (int i = 0; i < pusher->started && pusher->repeating; i++)
        SIM_CHECK(pusher->appends[i].duplicate && pusher->appends[i].base_offset == pusher->base_offsets[i],
                  "producer %d: batch %d of %d was written at offset %lld; sent again it is %s at %lld", pusher->number,
                  i, pusher->started, (long long)pusher->base_offsets[i],
                  pusher->appends[i].duplicate ? "a duplicate" : "new", (long long)pusher->appends[i].base_offset);
    if (pusher->repeating || pusher->resending || !sim_chance(SIM_WORKLOAD, 100000)) return false;
    pusher->repeating = true;
    for (int i = 0; i < pusher->started; i++) {
        pusher->base_offsets[i] = pusher->appends[i].base_offset;
        pusher_start_append(pusher, i);
    }
    return true;
}

// Acknowledges from the front what is flushed. All five move up together: only when all are through does the next group
// start, so that no append in flight moves in memory.
static flow_next pusher_step_push(struct flow *flow) {
    struct pusher *pusher = container_of(flow, struct pusher, flow);
    struct session *session = pusher->session;
    struct log_producer_story *story = pusher->story;
    const struct subject *subject = &session->subjects[pusher->log];
    bool all_done = true, all_flushed = true;
    for (int i = 0; i < pusher->started; i++) {
        struct log_append *append = &pusher->appends[i];
        all_done = all_done && append->done;
        if (!append->done) continue;
        pusher_check_answer(pusher, append);
        if (pusher_is_old_duplicate(pusher, append)) continue;
        all_flushed =
            all_flushed && (append->error == KAFKA_ERROR_NONE && append->end_offset <= log_flushed_end(subject->log));
        // Asking again is free, and a failed directory never flushes.
    }
    if (!all_done) return FLOW_WAIT;
    if (session->story->failed) return FLOW_DONE(flow, 0);
    if (pusher->started > 0 && !all_flushed) {
        log_flush_start(subject->log);
        return FLOW_WAIT;
    }
    for (int i = 0; i < pusher->started; i++)
        for (int32_t r = 0; r < story->batches[i].count && pusher->appends[i].error == KAFKA_ERROR_NONE; r++)
            history_acknowledge(&session->story->partitions[pusher->log], pusher->appends[i].base_offset + r,
                                (uint32_t)pusher->number, story->batches[i].first + (uint64_t)r);
    if (pusher->started > 0 && pusher_repeats(pusher)) return FLOW_WAIT;
    if (pusher->started > 0) {
        story->batch_count = pusher->started = 0;
        pusher->resending = pusher->repeating = false;
    }
    if (session->stopping) return FLOW_DONE(flow, 0);
    if (story->batch_count == 0) {
        story->batch_count = (int)sim_range(SIM_WORKLOAD, 1, WINDOW);
        for (int i = 0; i < story->batch_count; i++)
            batch_make(pusher, &story->batches[i]);
    }
    for (; pusher->started < story->batch_count; pusher->started++)
        pusher_start_append(pusher, pusher->started);
    return FLOW_WAIT;
}
static flow_next pusher_step_release(struct flow *flow) {
    struct pusher *pusher = container_of(flow, struct pusher, flow);
    pusher->active = false;
    flow_wake(&pusher->session->flow);
    return FLOW_END;
}
void pusher_start(struct pusher *pusher, struct core *core) {
    flow_start(&pusher->flow, &pusher_flow, core);
}

// ---- a reader: the whole log first, then anywhere
#define READER_STEPS(STEP)                                                                                             \
    STEP(reader, find) STEP(reader, found) STEP(reader, content) STEP(reader, pause) STEP(reader, release)
FLOW_DEFINE(reader, READER_STEPS)

static flow_next reader_step_find(struct flow *flow) {
    struct subject *subject = container_of(flow, struct subject, reader);
    struct session *session = subject->session;
    if (!subject->verified && subject->position == subject->verify_end) {
        subject->verified = true;
        flow_wake(&session->flow);
    }
    if (session->stopping || session->story->failed) return FLOW_DONE(flow, 0);
    if (subject->verified) {
        int64_t start = log_start_offset(subject->log), end = log_high_watermark(subject->log);
        subject->position = start + (int64_t)sim_range(SIM_WORKLOAD, 0, (uint64_t)(end - start));
    }
    subject->read = (struct log_read){.offset = subject->position,
                                      .max_offset = log_high_watermark(subject->log),
                                      .max_bytes = (uint32_t)sim_range(SIM_WORKLOAD, 1, READ_BYTES),
                                      .at_least_one = true,
                                      .flow = flow};
    log_read_start(subject->log, &subject->read);
    return FLOW_NEXT;
}
static flow_next reader_step_found(struct flow *flow) {
    struct subject *subject = container_of(flow, struct subject, reader);
    struct log_read *read = &subject->read;
    if (!read->done) return FLOW_WAIT;
    if (read->error == KAFKA_ERROR_OFFSET_OUT_OF_RANGE && subject->position < log_start_offset(subject->log)) {
        log_read_release(subject->log, read); // the start moved meanwhile
        return FLOW_GOTO(reader, pause);
    }
    if (read->error == KAFKA_ERROR_KAFKA_STORAGE_ERROR) subject->session->story->failed = true;
    SIM_CHECK(read->error == KAFKA_ERROR_NONE || subject->session->story->failed,
              "a read at offset %lld of %s answered %s", (long long)subject->position, log_topics[subject->index],
              kafka_error_name(read->error));
    bool nothing = read->size_bytes == 0 || read->error != KAFKA_ERROR_NONE;
    SIM_CHECK(!nothing || read->error != 0 || subject->position >= read->max_offset,
              "nothing at offset %lld of %s, though the high watermark is %lld", (long long)subject->position,
              log_topics[subject->index], (long long)read->max_offset);
    if (nothing) {
        log_read_release(subject->log, read);
        return FLOW_GOTO(reader, pause);
    }
    ASSERT(read->size_bytes <= READ_BYTES + BATCH_MEMORY);
    flow_op_init(&subject->op, flow);
    os_pread_start(flow->core->os, &subject->op.op, read->file, subject->buffer, read->size_bytes, read->position);
    return FLOW_NEXT;
}

static void reader_take(struct subject *subject, const struct batch *batch) {
    struct story *story = subject->session->story;
    const char *topic = log_topics[subject->index];
    SIM_CHECK(batch_crc_is_valid(batch), "%s offset %lld: bad CRC", topic, (long long)batch->base_offset);
    SIM_CHECK(batch->base_offset <= subject->position && batch_last_offset(batch) >= subject->position,
              "%s: asked for offset %lld, got a batch from %lld to %lld", topic, (long long)subject->position,
              (long long)batch->base_offset, (long long)batch_last_offset(batch));
    SIM_CHECK(batch_last_offset(batch) < subject->read.max_offset, "%s: got offset %lld, asked for less than %lld",
              topic, (long long)batch_last_offset(batch), (long long)subject->read.max_offset);
    struct record_reader records;
    struct record record;
    record_open(&records, batch, 1 << 24, RECORD_CONTENT);
    while (record_next(&records, &record) == RECORD_OK)
        history_read(&story->partitions[subject->index], story->producers, PRODUCERS,
                     batch->base_offset + record.offset_delta, record.value);
    SIM_CHECK(records.failure != RECORD_CORRUPT, "%s offset %lld: damaged records", topic,
              (long long)batch->base_offset);
    record_close(&records);
    subject->position = batch_last_offset(batch) + 1;
}

static flow_next reader_step_content(struct flow *flow) {
    struct subject *subject = container_of(flow, struct subject, reader);
    if (subject->op.op.in_flight) return FLOW_WAIT;
    int64_t n = subject->op.op.result;
    SIM_CHECK(n == (int64_t)subject->read.size_bytes || n < 0, "a slice is longer than its file");
    struct bytes left = {subject->buffer, n < 0 ? 0 : (size_t)n};
    struct batch batch;
    int64_t before = subject->position;
    while (left.size > 0 && batch_next(&left, &batch) == BATCH_OK)
        reader_take(subject, &batch);
    SIM_CHECK(n < 0 || subject->position > before, "%s: no whole batch at offset %lld", log_topics[subject->index],
              (long long)before);
    if (n < 0) subject->session->story->failed = true; // a planned read error
    log_read_release(subject->log, &subject->read);
    return subject->verified ? FLOW_NEXT : FLOW_GOTO(reader, find);
}
static flow_next reader_step_pause(struct flow *flow) {
    struct subject *subject = container_of(flow, struct subject, reader);
    if (!subject->timer.fired && !timer_is_set(&subject->timer.timer)) flow_timer_set(&subject->timer, flow, 1);
    if (!subject->timer.fired) return FLOW_WAIT;
    subject->timer.fired = false;
    return FLOW_GOTO(reader, find);
}
static flow_next reader_step_release(struct flow *flow) {
    struct subject *subject = container_of(flow, struct subject, reader);
    subject->reading = false;
    flow_wake(&subject->session->flow);
    return FLOW_END;
}
void subject_start_reading(struct subject *subject, struct core *core) {
    flow_start(&subject->reader, &reader_flow, core);
}
