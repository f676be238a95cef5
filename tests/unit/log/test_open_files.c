// SPDX-License-Identifier: Apache-2.0
// More segments than may be open: files and indexes come and go by use, under readers, appends and deletions.
#include "live.h"
#include "log/shard.h"
#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(open_files, .timeout = 120);

enum { LOGS = 3, SEGMENTS = SHARD_OPEN_FILES_MAX / LOGS + 20, HELD = 10, STEPS = 2500 };

struct crowd {
    struct live live;
    struct log *logs[LOGS];
    struct log_read held[HELD];
    int64_t held_offset[HELD];
    struct log *held_log[HELD];
    struct log_work work; // a checkpoint that is under way
    struct waker waker;
    bool works;
    uint64_t random;
};

static int chance(struct crowd *crowd, int limit) {
    crowd->random = crowd->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((crowd->random >> 33) % (uint64_t)limit);
}

static size_t count_open(const struct crowd *crowd, size_t *sealed_indexes) {
    size_t open = 0;
    *sealed_indexes = 0;
    for (int i = 0; i < LOGS; i++) {
        const struct log *log = crowd->logs[i];
        for (size_t k = 0; k < log->segment_count; k++) {
            open += log->segments[k]->file >= 0;
            *sealed_indexes += log->segments[k]->indexes_resident && k + 1 < log->segment_count;
        }
    }
    return open;
}

static void check_bounds(const struct crowd *crowd) {
    size_t sealed_indexes, open = count_open(crowd, &sealed_indexes);
    const struct log_shard *shard = crowd->logs[0]->shard;
    cr_assert_leq(open, shard->open_files); // deleted ones that are held are open too
    cr_assert_leq(shard->open_files, SHARD_OPEN_FILES_MAX + HELD);
    cr_assert_leq(sealed_indexes, SHARD_SEALED_INDEXES_MAX + HELD);
}

// What is held keeps its bytes, whatever has happened to the log.
static void let_go(struct crowd *crowd, int slot) {
    struct log_read *read = &crowd->held[slot];
    if (!crowd->held_log[slot]) return;
    cr_assert_gt(check_range(&crowd->live, read, crowd->held_offset[slot], INT64_MAX), crowd->held_offset[slot]);
    log_read_release(crowd->held_log[slot], read);
    crowd->held_log[slot] = NULL;
}

static void read_somewhere(struct crowd *crowd) {
    int slot = chance(crowd, HELD);
    struct log *log = crowd->live.log = crowd->logs[chance(crowd, LOGS)];
    int64_t start = log_start_offset(log);
    let_go(crowd, slot);
    int64_t offset = crowd->held_offset[slot] = start + chance(crowd, (int)(log_end_offset(log) - start));
    live_read(&crowd->live, &crowd->held[slot], offset, log_end_offset(log), 1000);
    cr_assert_eq(crowd->held[slot].error, 0);
    cr_assert_gt(crowd->held[slot].size_bytes, 0);
    crowd->held_log[slot] = log;
    if (chance(crowd, 4) > 0) let_go(crowd, slot);
}

// Begins a checkpoint, or takes the end of one; reads go on meanwhile.
static void checkpoint(struct crowd *crowd, struct log *log) {
    if (crowd->works) {
        live_until(&crowd->live, &crowd->work.done);
        cr_assert_eq(crowd->work.error, 0);
        waker_stop(&crowd->live, &crowd->waker);
    } else {
        waker_start(&crowd->waker, crowd->live.core);
        crowd->work = (struct log_work){.kind = LOG_CHECKPOINT, .flow = &crowd->waker.flow};
        log_work_start(log, &crowd->work);
    }
    crowd->works = !crowd->works;
}

static const struct batch_spec batch = {.count = 3, .value_bytes = 150, .time_ms = 1000};

Test(open_files, come_and_go_by_use) {
    struct crowd crowd = {.random = 11};
    struct topic_config config = live_config(600); // a batch each
    config.file_delete_delay_ms = 0;
    live_open(&crowd.live, &config);
    crowd.logs[0] = crowd.live.log;
    crowd.logs[1] = live_add_log(&crowd.live, "payments", &config);
    crowd.logs[2] = live_add_log(&crowd.live, "returns", &config);
    for (int i = 0; i < LOGS; i++) {
        crowd.live.log = crowd.logs[i];
        live_fill(&crowd.live, SEGMENTS, &batch);
        cr_assert_eq(crowd.logs[i]->segment_count, SEGMENTS);
        check_bounds(&crowd);
    }
    for (int step = 0; step < STEPS; step++) {
        read_somewhere(&crowd);
        struct log *log = crowd.live.log;
        if (step == 0 || step == 400) checkpoint(&crowd, crowd.logs[0]);
        if (step % 50 == 0) live_fill(&crowd.live, 1, &batch);
        if (step % 200 == 100) {
            log_set_high_watermark(log, log_end_offset(log));
            cr_assert_eq(live_work(&crowd.live, LOG_DELETE_RECORDS, log_start_offset(log) + 7), 0);
        }
        if (step % 100 == 0) check_bounds(&crowd);
    }
    if (crowd.works) checkpoint(&crowd, NULL);
    for (int slot = 0; slot < HELD; slot++)
        let_go(&crowd, slot);
    check_bounds(&crowd);
    crowd.live.log = crowd.logs[0]; // the listener's
    live_end_log(&crowd.live, crowd.logs[2], false);
    live_end_log(&crowd.live, crowd.logs[1], false);
    live_close(&crowd.live);
}
