// SPDX-License-Identifier: Apache-2.0
// The log engine alone, without a broker: six logs in one directory (so many that syncfs serves them), idempotent
// producers that append through log.h, readers at any offset, checkpoints, rolling, kills, power cuts, orderly stops,
// disk faults.
//
// A session opens the directory, loads (or makes) the logs, reads each one from its start to its end and compares it
// with the history, and then lets producers and readers run. A producer keeps up to five batches on their way; after a
// crash it sends those that were not acknowledged again, byte for byte, as a client does: what had been kept must be
// recognized. An append is acknowledged when the flushed end has reached its end. What a reader sees below the flushed
// end is a promise too.
#include "scenario.h"
#include "scenario_log_parts.h"
#include <errno.h>
#include <stdlib.h>

static const char directory[] = "/disk/log";
const char *const log_topics[LOGS] = {"orders", "a.topic", "third", "4", "five_5", "s-i-x"};

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
        char *topic = (char *)(uintptr_t)log_topics[i];
        session->entries[0][i] = (struct checkpoint_entry){topic, i, log_recovery_point(log)};
        session->entries[1][i] = (struct checkpoint_entry){topic, i, log_start_offset(log)};
        session->entries[2][i] = (struct checkpoint_entry){topic, i, log_high_watermark(log)};
        SIM_CHECK(log_recovery_point(log) <= log_flushed_end(log), "%s: recovery point %lld, flushed end %lld",
                  log_topics[i], (long long)log_recovery_point(log), (long long)log_flushed_end(log));
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
    session->open = (struct log_dir_open){.path = directory, .broker_id = 0, .cluster_id = "", .core_count = 1};
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
                                          .topic = log_topics[i],
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
            if (strcmp(there->topic, log_topics[i]) != 0 || there->partition != i) continue;
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
        SIM_CHECK(result == 0 && subject->load.log, "%s does not load: %s: %s", log_topics[i],
                  kafka_error_name((int16_t)result), subject->load.reason);
        subject->log = subject->load.log;
        log_attach(subject->log, flow->core, &subject->listener);
        log_set_leader_epoch(subject->log, (int32_t)story->leader_epoch);
        SIM_CHECK(log_flushed_end(subject->log) == log_end_offset(subject->log),
                  "%s: after loading the flushed end is %lld, the log end %lld", log_topics[i],
                  (long long)log_flushed_end(subject->log), (long long)log_end_offset(subject->log));
        log_set_high_watermark(subject->log, log_flushed_end(subject->log));
        history_high_watermark(&story->partitions[i], log_high_watermark(subject->log));
        subject->position = log_start_offset(subject->log);
        subject->verify_end = log_end_offset(subject->log);
        subject->buffer = malloc(READ_BYTES + BATCH_MEMORY);
        subject->reading = true;
        ASSERT(subject->buffer != NULL);
        subject_start_reading(subject, flow->core);
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
        pusher_start(pusher, flow->core);
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
        char *topic = (char *)(uintptr_t)log_topics[i];
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
        story->partitions[i].topic = log_topics[i];
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
        const bool fsync_fails = faults->fsync_eio_in > 0;
        sim_run(sim_range(SIM_FAULTS, 1, 60) * SIM_MS, has_failed_or_ended, context);
        if (sim_chance(SIM_FAULTS, 250000)) {
            story->stop = true;
            sim_run(sim_range(SIM_FAULTS, 1, 200) * SIM_MS, has_failed_or_ended, context);
        }
        const bool fsync_failed = fsync_fails && faults->fsync_eio_in == 0; // maybe nobody has noticed yet
        faults->fsync_eio_in = faults->write_eio_in = 0;
        // A disk that failed shows what it does not have (see scenario_append.c): only a power cut ends that.
        bool power = story->failed || fsync_failed || sim_chance(SIM_FAULTS, 500000);
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
