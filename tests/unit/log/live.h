// SPDX-License-Identifier: Apache-2.0
// A log on a real core, in a directory of its own: turns of the core until something is done, batches, and what the
// listener heard.
#pragma once

#include "fixture.h"
#include "log/internal.h"

struct live {
    struct fixture fixture;
    struct core_set *set;
    struct core *core;
    struct log_dir dir;
    struct log *log;
    struct log_listener listener;
    bool clean; // for loading
    int64_t recovery_point;
    int appended, flushed, failed; // calls
    int flushed_beyond_end;        // calls with a flushed end above the log's end
};
// The defaults of the configuration, with small segments if segment_bytes > 0.
struct topic_config live_config(int32_t segment_bytes);
void live_open(struct live *live, const struct topic_config *config);
// A second log of the same directory and core, with the same listener.
struct log *live_add_log(struct live *live, const char *topic, const struct topic_config *config);
void live_end_log(struct live *live, struct log *log, bool is_removed);
// Closes the log in an orderly way and loads it again as clean.
void live_reopen(struct live *live);
void live_close(struct live *live);
// Turns the core until *done; a minute without it fails the test.
void live_until(struct live *live, const bool *done);
void live_turn(struct live *live);
// Turns until nothing is in flight in the log.
void live_settle(struct live *live);

// A flow to be woken: nothing but a flow that waits until it is stopped.
struct waker {
    struct flow flow;
    int wakes;
};
void waker_start(struct waker *waker, struct core *core);
void waker_stop(struct live *live, struct waker *waker);

// One batch of `count` records of value_bytes, timestamps from time_ms on by 1 ms each; in memory that the caller
// frees.
struct batch_spec {
    int count;
    size_t value_bytes;
    int64_t time_ms;
    int64_t producer_id; // 0: none
    int16_t producer_epoch;
    int32_t sequence;
    int64_t base_offset; // for LOG_FROM_LEADER
    int32_t epoch;
    bool transactional;
    enum { NO_MARKER, COMMIT_MARKER, ABORT_MARKER } marker; // count and value_bytes are not used then
};
uint8_t *make_batch(const struct batch_spec *spec, size_t *size_bytes);

// Appends and waits. The append's error and offsets are in *append; its records are freed.
void live_append(struct live *live, struct log_append *append, enum log_origin origin, const struct batch_spec *spec);
// Appends `count` batches like spec, one after the other.
void live_fill(struct live *live, int count, const struct batch_spec *spec);
void live_flush(struct live *live);
// Reads and waits; the caller releases.
void live_read(struct live *live, struct log_read *read, int64_t offset, int64_t max_offset, uint32_t max_bytes);
// The same with the aborted transactions, up to the last stable offset.
void live_read_committed(struct live *live, struct log_read *read, int64_t offset, uint32_t max_bytes);
// Checks that the range of a read holds whole batches, whose first ends at or after `offset`; returns the offset behind
// the last one.
int64_t check_range(struct live *live, const struct log_read *read, int64_t offset, int64_t max_offset);
// Reads the log from its start to its end, and checks every range.
void live_check_all(struct live *live);
int16_t live_work(struct live *live, enum log_work_kind kind, int64_t offset);
