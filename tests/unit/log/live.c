// SPDX-License-Identifier: Apache-2.0
#include "live.h"
#include "protocol/batch_writer.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define WAKER_STEPS(STEP) STEP(waker, wait) STEP(waker, release)
FLOW_DEFINE(waker, WAKER_STEPS)

static flow_next waker_step_wait(struct flow *flow) {
    struct waker *waker = container_of(flow, struct waker, flow);
    waker->wakes++;
    os_ring_doorbell(flow->core->os); // what the test waits for may have come: the turn must not sleep
    return flow->stop ? FLOW_NEXT : FLOW_WAIT;
}
static flow_next waker_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}
void waker_start(struct waker *waker, struct core *core) {
    *waker = (struct waker){0};
    flow_start(&waker->flow, &waker_flow, core);
}
void waker_stop(struct live *live, struct waker *waker) {
    flow_stop(&waker->flow);
    while (flow_is_active(&waker->flow))
        live_turn(live);
}

static struct live *live_of(struct log_listener *listener) {
    struct live *live = container_of(listener, struct live, listener);
    os_ring_doorbell(live->core->os);
    return live;
}
static void count_appended(struct log_listener *listener) {
    live_of(listener)->appended++;
}
static void count_flushed(struct log_listener *listener) {
    struct live *live = live_of(listener);
    live->flushed++;
    if (live->log->flushed_end > live->log->end_offset) live->flushed_beyond_end++;
}
static void count_failed(struct log_listener *listener) {
    live_of(listener)->failed++;
}

struct topic_config live_config(int32_t segment_bytes) {
    return (struct topic_config){
        .segment_bytes = segment_bytes > 0 ? segment_bytes : 1 << 30,
        .segment_ms = 604800000,
        .segment_index_bytes = 10 << 20,
        .index_interval_bytes = 4096,
        .retention_ms = -1,
        .retention_bytes = -1,
        .flush_messages = INT64_MAX,
        .flush_ms = INT64_MAX,
        .max_message_bytes = 1048588,
        .cleanup_policy = TOPIC_CLEANUP_DELETE,
        .max_compaction_lag_ms = INT64_MAX,
        .min_insync_replicas = 1,
    };
}

struct log *live_add_log(struct live *live, const char *topic, const struct topic_config *config) {
    char name[64];
    snprintf(name, sizeof name, "%s-0", topic);
    struct log_load load = {.dir = &live->dir,
                            .topic = topic,
                            .config = *config,
                            .create = !fixture_has(&live->fixture, name),
                            .clean = live->clean,
                            .recovery_point = live->recovery_point,
                            .log_start_offset = -1,
                            .high_watermark = -1,
                            .producer_expiration_ms = 86400000};
    int64_t error = log_load_run(live->fixture.host, &load);
    cr_assert_eq(error, 0, "loading %s: %s", topic, load.reason);
    struct log *log = load.log;
    log_attach(log, live->core, &live->listener);
    return log;
}

void live_open(struct live *live, const struct topic_config *config) {
    *live = (struct live){0};
    fixture_open(&live->fixture);
    int error = 0;
    live->set = core_set_create(live->fixture.host, 1, &error);
    cr_assert_not_null(live->set, "%s", os_error_text(error));
    live->core = live->set->cores[0];
    live->dir.path = live->fixture.path;
    struct os_stat stat;
    cr_assert_eq(os_stat(live->fixture.host, live->dir.path, &stat), 0);
    live->dir.device = stat.device;
    live->dir.sync_files[live->core->id] = os_open(live->fixture.host, live->dir.path, OS_READ | OS_DIRECTORY);
    cr_assert_geq(live->dir.sync_files[live->core->id], 0);
    live->listener = (struct log_listener){count_appended, count_flushed, count_failed};
    live->log = live_add_log(live, "orders", config);
}

void live_end_log(struct live *live, struct log *log, bool is_removed) {
    struct waker waker;
    waker_start(&waker, live->core);
    struct log_close close = {.flow = &waker.flow, .remove = is_removed};
    log_close_start(log, &close);
    live_until(live, &close.done);
    waker_stop(live, &waker);
}

void live_reopen(struct live *live) {
    struct topic_config config = live->log->config;
    live_end_log(live, live->log, false);
    live->clean = true;
    live->log = live_add_log(live, "orders", &config);
}

void live_close(struct live *live) {
    if (live->log) live_end_log(live, live->log, false);
    while (!log_dir_leave_core(&live->dir, live->core))
        live_turn(live);
    cr_assert_eq(live->flushed_beyond_end, 0);
    int *sync_file = &live->dir.sync_files[live->core->id];
    if (*sync_file >= 0) os_close(live->fixture.host, *sync_file);
    core_set_destroy(live->set);
    fixture_close(&live->fixture);
}

void live_turn(struct live *live) {
    cr_assert(core_turn(live->core));
}

void live_until(struct live *live, const bool *done) {
    uint64_t deadline_ns = os_now_ns(live->core->os) + 60000000000ull;
    while (!*done) {
        cr_assert_lt(os_now_ns(live->core->os), deadline_ns, "waited for a minute");
        live_turn(live);
    }
}

void live_settle(struct live *live) {
    while (!log_is_quiet(live->log))
        live_turn(live);
}

// Key: version 0, type 0 (abort) or 1 (commit); value: version 0, coordinator epoch.
static size_t add_marker(struct batch_writer *writer, const struct batch_spec *spec) {
    const uint8_t key[4] = {0, 0, 0, spec->marker == COMMIT_MARKER}, value[6] = {0, 0, 0, 0, 0, 1};
    cr_assert(batch_writer_add(writer, spec->time_ms, (struct bytes){key, 4}, (struct bytes){value, 6}, NULL, 0));
    return batch_writer_end(writer);
}

uint8_t *make_batch(const struct batch_spec *spec, size_t *size_bytes) {
    size_t capacity = BATCH_HEADER_BYTES + RECORD_OVERHEAD_MAX_BYTES +
                      (size_t)spec->count * (spec->value_bytes + RECORD_OVERHEAD_MAX_BYTES);
    uint8_t *memory = malloc(capacity), *value = calloc(1, spec->value_bytes + 1);
    struct batch_options options = BATCH_OPTIONS_PLAIN;
    options.base_offset = spec->base_offset;
    options.partition_leader_epoch = spec->epoch;
    if (spec->producer_id > 0) {
        options.producer_id = spec->producer_id;
        options.producer_epoch = spec->producer_epoch;
        options.base_sequence = spec->sequence;
        options.is_transactional = spec->transactional || spec->marker != NO_MARKER;
        options.is_control = spec->marker != NO_MARKER;
    }
    struct batch_writer writer;
    batch_writer_begin(&writer, memory, capacity, options);
    if (spec->marker != NO_MARKER) {
        free(value);
        *size_bytes = add_marker(&writer, spec);
        return memory;
    }
    for (int i = 0; i < spec->count; i++) {
        value[0] = (uint8_t)i;
        cr_assert(batch_writer_add(&writer, spec->time_ms + i, (struct bytes){0},
                                   (struct bytes){value, spec->value_bytes}, NULL, 0));
    }
    *size_bytes = batch_writer_end(&writer);
    free(value);
    return memory;
}

void live_append(struct live *live, struct log_append *append, enum log_origin origin, const struct batch_spec *spec) {
    struct waker waker;
    waker_start(&waker, live->core);
    *append = (struct log_append){.origin = origin, .leader_epoch = spec->epoch, .flow = &waker.flow};
    append->records = make_batch(spec, &append->size_bytes);
    log_append_start(live->log, append);
    live_until(live, &append->done);
    free(append->records);
    append->records = NULL;
    waker_stop(live, &waker);
}

void live_fill(struct live *live, int count, const struct batch_spec *spec) {
    for (int i = 0; i < count; i++) {
        struct log_append append;
        struct batch_spec one = *spec;
        one.time_ms += i;
        live_append(live, &append, LOG_FROM_CLIENT, &one);
        cr_assert_eq(append.error, 0, "append %d: error %d", i, append.error);
    }
}

void live_flush(struct live *live) {
    while (log_flushed_end(live->log) < log_end_offset(live->log)) {
        log_flush_start(live->log);
        live_turn(live);
    }
    live_settle(live);
}

static void read_and_wait(struct live *live, struct log_read *read) {
    struct waker waker;
    waker_start(&waker, live->core);
    read->flow = &waker.flow;
    if (!log_read_start(live->log, read)) live_until(live, &read->done);
    waker_stop(live, &waker);
}

void live_read(struct live *live, struct log_read *read, int64_t offset, int64_t max_offset, uint32_t max_bytes) {
    *read = (struct log_read){.offset = offset, .max_offset = max_offset, .max_bytes = max_bytes, .at_least_one = true};
    read_and_wait(live, read);
}

void live_read_committed(struct live *live, struct log_read *read, int64_t offset, uint32_t max_bytes) {
    *read = (struct log_read){.offset = offset,
                              .max_offset = log_last_stable_offset(live->log),
                              .max_bytes = max_bytes,
                              .at_least_one = true,
                              .want_aborted = true};
    read_and_wait(live, read);
}

int64_t check_range(struct live *live, const struct log_read *read, int64_t offset, int64_t max_offset) {
    cr_assert_eq(read->error, 0);
    uint8_t *bytes = malloc(read->size_bytes + 1);
    cr_assert_eq(os_pread(live->fixture.host, read->file, bytes, read->size_bytes, read->position), read->size_bytes);
    struct bytes left = {bytes, read->size_bytes};
    struct batch batch;
    int64_t next = -1;
    while (batch_next(&left, &batch) == BATCH_OK) {
        cr_assert(batch_crc_is_valid(&batch));
        if (next < 0) {
            cr_assert_leq(batch.base_offset, offset);
        } else {
            cr_assert_eq(batch.base_offset, next);
        }
        cr_assert_geq(batch_last_offset(&batch), offset);
        cr_assert_lt(batch_last_offset(&batch), max_offset);
        next = batch_last_offset(&batch) + 1;
    }
    cr_assert_eq(left.size, 0);
    free(bytes);
    return next;
}

void live_check_all(struct live *live) {
    int64_t end = log_end_offset(live->log);
    for (int64_t offset = log_start_offset(live->log); offset < end;) {
        struct log_read read;
        live_read(live, &read, offset, end, 2000);
        offset = check_range(live, &read, offset, end);
        log_read_release(live->log, &read);
    }
}

int16_t live_work(struct live *live, enum log_work_kind kind, int64_t offset) {
    struct waker waker;
    waker_start(&waker, live->core);
    struct log_work work = {.kind = kind, .offset = offset, .flow = &waker.flow};
    log_work_start(live->log, &work);
    live_until(live, &work.done);
    waker_stop(live, &waker);
    return work.error;
}
