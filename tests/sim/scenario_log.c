// SPDX-License-Identifier: Apache-2.0
// The log engine alone, without a broker: two logs in one directory, idempotent producers that append through log.h,
// readers at any offset, checkpoints, rolling, kills, power cuts, orderly stops, disk faults.
//
// A session opens the directory, loads (or makes) the logs, reads each one from its start to its end and compares it
// with the history, and then lets producers and readers run. A producer keeps up to five batches on their way; after a
// crash it sends those that were not acknowledged again, byte for byte, as a client does: what had been kept must be
// recognized. An append is acknowledged when the flushed end has reached its end. What a reader sees below the flushed
// end is a promise too.
#include "base/bits.h"
#include "history.h"
#include "log/log.h"
#include "log/log_dir.h"
#include "protocol/batch_writer.h"
#include "scenario.h"
#include <errno.h>
#include <stdlib.h>

enum { LOGS = 2, PRODUCERS_EACH = 2, PRODUCERS = LOGS * PRODUCERS_EACH, WINDOW = 5, ROUNDS = 5 };
enum { BATCH_MEMORY = 8 << 10, BATCH_RECORDS_MAX = 8, READ_BYTES = 64 << 10, VALUE_BYTES_MAX = 300 };
static const char directory[] = "/disk/log";

// ---- what outlives the process
struct log_batch {
    uint64_t first;
    int32_t count;
    size_t size_bytes;
    uint8_t bytes[BATCH_MEMORY];
};
struct log_producer_story {
    struct log_batch batches[WINDOW]; // not acknowledged, oldest first
    int batch_count;
    uint64_t next;
};
struct story {
    struct history_partition partitions[LOGS];
    struct history_producer producers[PRODUCERS];
    struct log_producer_story sending[PRODUCERS];
    struct topic_config config;
    bool stop;   // the session shall close in an orderly way
    bool failed; // the directory failed
    bool up;
    int64_t leader_epoch;
    int opened, clean_opens;
    int64_t start_offsets[LOGS];
};

// ---- the session
struct session;
struct pusher {
    struct flow flow;
    struct session *session;
    int number, log;
    struct log_producer_story *story;
    struct log_append appends[WINDOW];
    bool resending;                       // the batches of the session before
    bool repeating;                       // batches that were acknowledged in this session: every one is a duplicate
    int64_t base_offsets[WINDOW];         // of the acknowledged group
    uint8_t memory[WINDOW][BATCH_MEMORY]; // the log patches what it appends
    int started;
    bool active;
};
struct subject { // one log
    struct log_listener listener;
    struct session *session;
    int index;
    struct log *log;
    struct log_load load;
    struct log_close close;
    struct log_work work;
    // reads: first the whole log, then at random
    struct flow reader;
    struct log_read read;
    struct flow_op op;
    struct flow_timer timer;
    int64_t position, verify_end;
    bool verified, reading;
    uint8_t *buffer;
};
struct session {
    struct flow flow, keeper;
    struct flow_op op, keeper_op;
    struct flow_timer timer, poll; // the keeper's, the session's
    struct story *story;
    struct log_dir_open open;
    struct log_dir *dir;
    struct subject subjects[LOGS];
    struct pusher pushers[PRODUCERS];
    int loading, closing;
    bool stopping, keeper_done;
    struct checkpoint_entry entries[3][LOGS];
    int checkpointing;
};
static const char *const topics[LOGS] = {"orders", "a.topic"};

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
              "a read at offset %lld of %s answered %s", (long long)subject->position, topics[subject->index],
              kafka_error_name(read->error));
    bool nothing = read->size_bytes == 0 || read->error != KAFKA_ERROR_NONE;
    SIM_CHECK(!nothing || read->error != 0 || subject->position >= read->max_offset,
              "nothing at offset %lld of %s, though the high watermark is %lld", (long long)subject->position,
              topics[subject->index], (long long)read->max_offset);
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
    const char *topic = topics[subject->index];
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
    SIM_CHECK(n < 0 || subject->position > before, "%s: no whole batch at offset %lld", topics[subject->index],
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

// ---- the log tells
static void told_appended(struct log_listener *listener) {
    (void)listener;
}
static void told_flushed(struct log_listener *listener) {
    struct subject *subject = container_of(listener, struct subject, listener);
    log_set_high_watermark(subject->log, log_flushed_end(subject->log));
    history_high_watermark(&subject->session->story->partitions[subject->index], log_high_watermark(subject->log));
    for (int i = 0; i < PRODUCERS; i++)
        if (subject->session->pushers[i].log == subject->index) flow_wake(&subject->session->pushers[i].flow);
}
static void told_failed(struct log_listener *listener) {
    struct subject *subject = container_of(listener, struct subject, listener);
    subject->session->story->failed = true;
    for (int i = 0; i < PRODUCERS; i++)
        flow_wake(&subject->session->pushers[i].flow);
}

// ---- the keeper: checkpoints from time to time
#define KEEPER_STEPS(STEP)                                                                                             \
    STEP(keeper, pause) STEP(keeper, work) STEP(keeper, worked) STEP(keeper, written) STEP(keeper, release)
FLOW_DEFINE(keeper, KEEPER_STEPS)

static flow_next keeper_step_pause(struct flow *flow) {
    struct session *session = container_of(flow, struct session, keeper);
    if (session->stopping || session->story->failed) return FLOW_DONE(flow, 0);
    if (!session->timer.fired && !timer_is_set(&session->timer.timer))
        flow_timer_set(&session->timer, flow, sim_range(SIM_WORKLOAD, 1, 30));
    if (!session->timer.fired) return FLOW_WAIT;
    session->timer.fired = false;
    return FLOW_NEXT;
}
static flow_next keeper_step_work(struct flow *flow) {
    struct session *session = container_of(flow, struct session, keeper);
    for (int i = 0; i < LOGS; i++) {
        session->subjects[i].work = (struct log_work){.kind = LOG_CHECKPOINT, .flow = flow};
        log_work_start(session->subjects[i].log, &session->subjects[i].work);
    }
    return FLOW_NEXT;
}
static int64_t write_checkpoints(struct os_host *host, void *argument) {
    struct session *session = argument;
    static const enum checkpoint_kind kinds[3] = {CHECKPOINT_RECOVERY_POINT, CHECKPOINT_LOG_START,
                                                  CHECKPOINT_HIGH_WATERMARK};
    for (int kind = 0; kind < 3; kind++) {
        const struct checkpoint checkpoint = {session->entries[kind], LOGS};
        int error = checkpoint_write(host, session->dir, kinds[kind], &checkpoint);
        if (error != 0) return error;
    }
    return 0;
}
static flow_next keeper_step_worked(struct flow *flow) {
    struct session *session = container_of(flow, struct session, keeper);
    for (int i = 0; i < LOGS; i++)
        if (!session->subjects[i].work.done) return FLOW_WAIT;
    for (int i = 0; i < LOGS; i++) {
        const struct log *log = session->subjects[i].log;
        if (session->subjects[i].work.error != 0) return FLOW_DONE(flow, 0);
        char *topic = (char *)(uintptr_t)topics[i];
        session->entries[0][i] = (struct checkpoint_entry){topic, i, log_recovery_point(log)};
        session->entries[1][i] = (struct checkpoint_entry){topic, i, log_start_offset(log)};
        session->entries[2][i] = (struct checkpoint_entry){topic, i, log_high_watermark(log)};
        SIM_CHECK(log_recovery_point(log) <= log_flushed_end(log), "%s: recovery point %lld, flushed end %lld",
                  topics[i], (long long)log_recovery_point(log), (long long)log_flushed_end(log));
    }
    flow_op_init(&session->keeper_op, flow);
    os_offload(flow->core->os, &session->keeper_op.op, write_checkpoints, session);
    return FLOW_NEXT;
}
static flow_next keeper_step_written(struct flow *flow) {
    struct session *session = container_of(flow, struct session, keeper);
    if (session->keeper_op.op.in_flight) return FLOW_WAIT;
    if (session->keeper_op.op.result < 0) session->story->failed = true;
    return FLOW_GOTO(keeper, pause);
}
static flow_next keeper_step_release(struct flow *flow) {
    struct session *session = container_of(flow, struct session, keeper);
    session->keeper_done = true;
    flow_wake(&session->flow);
    return FLOW_END;
}

// ---- a session
#define SESSION_STEPS(STEP)                                                                                            \
    STEP(session, open)                                                                                                \
    STEP(session, load)                                                                                                \
    STEP(session, loaded)                                                                                              \
    STEP(session, verify)                                                                                              \
    STEP(session, work) STEP(session, quiet) STEP(session, closed) STEP(session, finished) STEP(session, release)
FLOW_DEFINE(session, SESSION_STEPS)

static flow_next session_step_open(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    session->open = (struct log_dir_open){.path = directory, .broker_id = 0, .cluster_id = ""};
    flow_op_init(&session->op, flow);
    os_offload(flow->core->os, &session->op.op, log_dir_open_run, &session->open);
    return FLOW_NEXT;
}
static flow_next session_step_load(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    struct story *story = session->story;
    if (session->op.op.in_flight) return FLOW_WAIT;
    if (session->op.op.result == -EIO) { // a planned fault
        story->failed = true;
        return FLOW_GOTO(session, release);
    }
    SIM_CHECK(session->op.op.result == 0, "the log directory does not open: %s", session->open.reason);
    session->dir = session->open.dir;
    story->opened++;
    story->clean_opens += session->dir->was_clean;
    for (int i = 0; i < LOGS; i++) {
        struct subject *subject = &session->subjects[i];
        subject->session = session;
        subject->index = i;
        subject->listener = (struct log_listener){told_appended, told_flushed, told_failed};
        subject->load = (struct log_load){.dir = session->dir,
                                          .topic = topics[i],
                                          .partition = i,
                                          .config = story->config,
                                          .create = true,
                                          .clean = session->dir->was_clean,
                                          .durable = true,
                                          .log_start_offset = -1,
                                          .high_watermark = -1,
                                          .producer_expiration_ms = 86400000};
        for (size_t p = 0; p < session->open.partition_count; p++) {
            const struct log_dir_partition *there = &session->open.partitions[p];
            if (strcmp(there->topic, topics[i]) != 0 || there->partition != i) continue;
            subject->load.create = false;
            subject->load.recovery_point = there->recovery_point;
            subject->load.log_start_offset = there->log_start_offset;
            subject->load.high_watermark = there->high_watermark;
        }
        flow_op_init(&subject->op, flow);
        os_offload(flow->core->os, &subject->op.op, log_load_run, &subject->load);
    }
    return FLOW_NEXT;
}
static flow_next session_step_loaded(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    struct story *story = session->story;
    for (int i = 0; i < LOGS; i++)
        if (session->subjects[i].op.op.in_flight) return FLOW_WAIT;
    log_dir_open_free(&session->open);
    story->leader_epoch++;
    for (int i = 0; i < LOGS; i++) {
        struct subject *subject = &session->subjects[i];
        const int64_t result = subject->op.op.result;
        if (result != 0 && log_dir_is_failed(session->dir)) {
            story->failed = true;
            return FLOW_GOTO(session, release);
        }
        SIM_CHECK(result == 0 && subject->load.log, "%s does not load: %s: %s", topics[i],
                  kafka_error_name((int16_t)result), subject->load.reason);
        subject->log = subject->load.log;
        log_attach(subject->log, flow->core, &subject->listener);
        log_set_leader_epoch(subject->log, (int32_t)story->leader_epoch);
        SIM_CHECK(log_flushed_end(subject->log) == log_end_offset(subject->log),
                  "%s: after loading the flushed end is %lld, the log end %lld", topics[i],
                  (long long)log_flushed_end(subject->log), (long long)log_end_offset(subject->log));
        log_set_high_watermark(subject->log, log_flushed_end(subject->log));
        history_high_watermark(&story->partitions[i], log_high_watermark(subject->log));
        subject->position = log_start_offset(subject->log);
        subject->verify_end = log_end_offset(subject->log);
        subject->buffer = malloc(READ_BYTES + BATCH_MEMORY);
        subject->reading = true;
        ASSERT(subject->buffer != NULL);
        flow_start(&subject->reader, &reader_flow, flow->core);
    }
    return FLOW_NEXT;
}
static flow_next session_step_verify(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    struct story *story = session->story;
    for (int i = 0; i < LOGS; i++)
        if (!session->subjects[i].verified && !story->failed) return FLOW_WAIT;
    if (story->failed) return FLOW_GOTO(session, release);
    for (int i = 0; i < LOGS; i++)
        history_check(&story->partitions[i], session->subjects[i].verify_end);
    story->up = true;
    for (int i = 0; i < PRODUCERS; i++) {
        struct pusher *pusher = &session->pushers[i];
        *pusher = (struct pusher){
            .session = session, .number = i, .log = i % LOGS, .story = &story->sending[i], .active = true};
        pusher->resending = pusher->story->batch_count > 0;
        flow_start(&pusher->flow, &pusher_flow, flow->core);
    }
    flow_start(&session->keeper, &keeper_flow, flow->core);
    return FLOW_NEXT;
}
static flow_next session_step_work(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    if (session->story->failed) return FLOW_GOTO(session, release); // the scenario ends the process
    if (!session->story->stop) {
        flow_timer_set(&session->poll, flow, 1);
        return FLOW_WAIT;
    }
    session->stopping = true;
    return FLOW_NEXT;
}
static flow_next session_step_quiet(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    bool busy = !session->keeper_done;
    for (int i = 0; i < PRODUCERS; i++)
        busy = busy || session->pushers[i].active;
    for (int i = 0; i < LOGS; i++)
        busy = busy || session->subjects[i].reading;
    if (session->story->failed) return FLOW_GOTO(session, release);
    if (busy) return FLOW_WAIT;
    for (int i = 0; i < LOGS; i++) {
        struct subject *subject = &session->subjects[i];
        const struct log *log = subject->log;
        char *topic = (char *)(uintptr_t)topics[i];
        session->entries[0][i] = (struct checkpoint_entry){topic, i, log_end_offset(log)};
        session->entries[1][i] = (struct checkpoint_entry){topic, i, log_start_offset(log)};
        session->entries[2][i] = (struct checkpoint_entry){topic, i, log_high_watermark(log)};
        subject->close = (struct log_close){.flow = flow};
        log_close_start(subject->log, &subject->close);
    }
    return FLOW_NEXT;
}
static int64_t close_directory(struct os_host *host, void *argument) {
    struct session *session = argument;
    int64_t error = write_checkpoints(host, session);
    return error != 0 ? error : log_dir_close(host, session->dir, true);
}
static flow_next session_step_closed(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    for (int i = 0; i < LOGS; i++)
        if (!session->subjects[i].close.done) return FLOW_WAIT;
    for (int i = 0; i < LOGS; i++) {
        if (session->subjects[i].close.error == 0) continue;
        session->story->failed = true;
        return FLOW_GOTO(session, release);
    }
    os_offload(flow->core->os, &session->op.op, close_directory, session);
    return FLOW_NEXT;
}
static flow_next session_step_finished(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    if (session->op.op.in_flight) return FLOW_WAIT;
    if (session->op.op.result < 0) session->story->failed = true;
    os_exit(flow->core->host, 0);
}
static flow_next session_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}

static void start_session(struct core *core, void *story) {
    struct session *session = calloc(1, sizeof *session);
    ASSERT(session != NULL);
    session->story = story;
    flow_start(&session->flow, &session_flow, core);
}

// ---- the scenario
static bool has_failed_or_ended(void *context) {
    const struct story *story = ((void **)context)[0];
    return story->failed || !sim_is_running(((void **)context)[1]);
}
static bool is_up_or_has_failed(void *context) {
    const struct story *story = ((void **)context)[0];
    return story->up || has_failed_or_ended(context);
}
static bool has_ended(void *host) {
    return !sim_is_running(host);
}

static struct topic_config log_config_small(void) {
    struct topic_config config = {
        .segment_bytes = (int32_t)sim_range(SIM_WORKLOAD, 8 << 10, 64 << 10),
        .segment_ms = 7 * 86400000ll,
        .segment_index_bytes = (int32_t)sim_range(SIM_WORKLOAD, 200, 10 << 10),
        .index_interval_bytes = (int32_t)sim_range(SIM_WORKLOAD, 0, 4096),
        .retention_ms = -1,
        .retention_bytes = -1,
        .file_delete_delay_ms = 60000,
        .flush_messages = INT64_MAX,
        .flush_ms = INT64_MAX,
        .max_message_bytes = 1 << 20,
        .compression = TOPIC_COMPRESSION_PRODUCER,
        .timestamp_before_max_ms = INT64_MAX,
        .timestamp_after_max_ms = INT64_MAX,
        .cleanup_policy = TOPIC_CLEANUP_DELETE,
        .min_insync_replicas = 1,
    };
    return config;
}

static void plan_faults(struct sim_disk_faults *faults) {
    if (sim_chance(SIM_FAULTS, 120000)) faults->fsync_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 60);
    if (sim_chance(SIM_FAULTS, 120000)) faults->write_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 80);
}

void scenario_log(void) {
    struct os_host *host = sim_host_create("broker", SIM_HOST_DEFAULT);
    sim_mkdir(host, "/disk");
    struct sim_disk_faults *faults = sim_disk_faults(host, "/disk");
    struct story *story = calloc(1, sizeof *story);
    ASSERT(story != NULL);
    story->config = log_config_small();
    for (int i = 0; i < LOGS; i++) {
        story->partitions[i].topic = topics[i];
        story->partitions[i].index = i;
    }
    for (int i = 0; i < PRODUCERS; i++)
        story->producers[i].is_idempotent = true;
    faults->short_write = (uint32_t)sim_range(SIM_FAULTS, 0, 100000);
    faults->cache_miss = (uint32_t)sim_range(SIM_FAULTS, 0, 50000);
    faults->slow = (uint32_t)sim_range(SIM_FAULTS, 0, 20000);
    faults->slow_ns = 20 * SIM_MS;
    struct sim_program program = {.start = start_session, .argument = story, .data_cores = 1};
    void *context[2] = {story, host};
    for (int round = 0; round < ROUNDS; round++) {
        story->failed = story->stop = story->up = false;
        sim_start(host, sim_program_main, &program);
        plan_faults(faults);
        sim_run(sim_range(SIM_FAULTS, 1, 60) * SIM_MS, has_failed_or_ended, context);
        if (sim_chance(SIM_FAULTS, 250000)) {
            story->stop = true;
            sim_run(sim_range(SIM_FAULTS, 1, 200) * SIM_MS, has_failed_or_ended, context);
        }
        faults->fsync_eio_in = faults->write_eio_in = 0;
        // A disk that failed shows what it does not have (see scenario_append.c): only a power cut ends that.
        bool power = story->failed || sim_chance(SIM_FAULTS, 500000);
        sim_crash(host, power ? SIM_POWER : SIM_KILL);
    }
    story->failed = story->stop = story->up = false;
    sim_start(host, sim_program_main, &program);
    sim_run(2 * SIM_SECOND, is_up_or_has_failed, context);
    SIM_CHECK(story->up && !story->failed, "the logs did not come back");
    story->stop = true;
    SIM_CHECK(sim_run(10 * SIM_SECOND, has_ended, host), "the session does not close");
    SIM_CHECK(!story->failed && sim_exit_status(host) == 0, "the session did not close in order");
}
