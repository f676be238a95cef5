// SPDX-License-Identifier: Apache-2.0
// Aborted transactions: their index in memory and in the files, and what readers of committed records are told.
#include "live.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { PRODUCERS = 4, STEPS = 150, TRANSACTIONS_MAX = STEPS };

struct transaction {
    int64_t producer_id, first_offset, marker_offset;
    bool aborted;
};
struct story {
    struct live live;
    uint64_t random;
    int32_t sequence[PRODUCERS];
    int64_t open_at[PRODUCERS]; // -1: none
    struct transaction ended[TRANSACTIONS_MAX];
    size_t ended_count;
    int64_t time_ms;
};

// Below `limit`; the same at each run.
static int chance(uint64_t *state, int limit) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (uint64_t)limit);
}

static int64_t tell(struct story *story, struct batch_spec spec, enum log_origin origin) {
    struct log_append append;
    spec.time_ms = story->time_ms += 10;
    live_append(&story->live, &append, origin, &spec);
    cr_assert_eq(append.error, 0, "error %d", append.error);
    return append.base_offset;
}

static void tell_data(struct story *story, int producer) {
    int count = 1 + chance(&story->random, 3);
    struct batch_spec spec = {.count = count, .value_bytes = 100, .producer_id = producer + 1, .transactional = true};
    spec.sequence = story->sequence[producer];
    story->sequence[producer] += count;
    int64_t offset = tell(story, spec, LOG_FROM_CLIENT);
    if (story->open_at[producer] < 0) story->open_at[producer] = offset;
}

static void tell_end(struct story *story, int producer, bool aborted) {
    struct batch_spec spec = {.producer_id = producer + 1, .sequence = -1};
    spec.marker = aborted ? ABORT_MARKER : COMMIT_MARKER;
    int64_t offset = tell(story, spec, LOG_FROM_COORDINATOR);
    if (story->open_at[producer] >= 0)
        story->ended[story->ended_count++] =
            (struct transaction){producer + 1, story->open_at[producer], offset, aborted};
    story->open_at[producer] = -1;
}

// Several segments; the last producer leaves a transaction open over most of them.
static void story_open(struct story *story, int32_t segment_bytes) {
    *story = (struct story){.random = 5, .time_ms = 1000};
    struct topic_config config = live_config(segment_bytes);
    live_open(&story->live, &config);
    for (int i = 0; i < PRODUCERS; i++)
        story->open_at[i] = -1;
    for (int step = 0; step < STEPS; step++) {
        int producer = chance(&story->random, PRODUCERS);
        tell_data(story, producer);
        bool stays = producer == PRODUCERS - 1 && step < STEPS / 2;
        if (!stays && chance(&story->random, 2) == 0) tell_end(story, producer, chance(&story->random, 2));
    }
    for (int i = 0; i < PRODUCERS; i++)
        if (story->open_at[i] >= 0) tell_end(story, i, i % 2 == 0);
}

static void all_replicated(struct story *story) {
    live_flush(&story->live);
    log_set_high_watermark(story->live.log, log_end_offset(story->live.log));
}

static const struct aborted_transaction *entry_of(const struct txn_index *index, const struct transaction *t) {
    for (size_t i = 0; i < index->count; i++)
        if (index->entries[i].last_offset == t->marker_offset) return &index->entries[i];
    return NULL;
}

// Every aborted transaction that has a place in the range is told, nothing that is not one.
static void check_told(const struct story *story, const struct log_read *read, int64_t offset, int64_t end) {
    size_t known = 0;
    for (size_t i = 0; i < story->ended_count; i++) {
        const struct transaction *t = &story->ended[i];
        const struct aborted_transaction *entry = entry_of(&read->aborted, t);
        if (entry) {
            known++;
            cr_assert(t->aborted && entry->producer_id == t->producer_id && entry->first_offset == t->first_offset);
        }
        bool overlaps = t->aborted && t->marker_offset >= offset && t->first_offset < end;
        cr_assert(!overlaps || entry, "[%lld, %lld): the one that ends at %lld is missing", (long long)offset,
                  (long long)end, (long long)t->marker_offset);
    }
    cr_assert_eq(known, read->aborted.count);
}

static void check_readers(struct story *story) {
    struct live *live = &story->live;
    int64_t end = log_last_stable_offset(live->log);
    const uint32_t sizes[] = {1, 400, 5000, 1 << 20};
    for (int64_t offset = 0; offset < end; offset += 3) {
        struct log_read read;
        live_read_committed(live, &read, offset, sizes[offset / 3 % 4]);
        int64_t next = check_range(live, &read, offset, end);
        cr_assert_gt(next, offset);
        check_told(story, &read, offset, next);
        log_read_release(live->log, &read);
    }
}

static uint64_t digest_of_aborted(struct story *story, size_t *bytes) {
    uint64_t digest = 0;
    *bytes = 0;
    for (size_t i = 0; i < story->live.log->segment_count; i++) {
        char path[LOG_PATH_BYTES_MAX];
        size_t size = 0;
        cr_assert(segment_path(path, "orders-0", story->live.log->segments[i]->base_offset, ".txnindex"));
        char *file = fixture_read(&story->live.fixture, path, &size);
        for (size_t at = 0; file && at < size; at++)
            digest = digest * 1099511628211u + (uint8_t)file[at] + 1;
        *bytes += file ? size : 0;
        free(file);
    }
    return digest;
}

static size_t count_aborted(const struct story *story) {
    size_t count = 0;
    for (size_t i = 0; i < story->ended_count; i++)
        count += story->ended[i].aborted;
    return count;
}

Test(transactions, readers_of_committed_records) {
    struct story story;
    story_open(&story, 3000);
    all_replicated(&story);
    cr_assert_gt(story.live.log->segment_count, 8);
    cr_assert_eq(log_last_stable_offset(story.live.log), log_end_offset(story.live.log));
    check_readers(&story);
    live_reopen(&story.live); // indexes come from the files
    all_replicated(&story);
    check_readers(&story);
    live_close(&story.live);
}

Test(transactions, stable_offset_stops_at_an_open_one) {
    struct story story;
    story_open(&story, 3000);
    all_replicated(&story);
    tell_data(&story, 1);
    int64_t open_at = story.open_at[1];
    tell_data(&story, 2);
    tell_end(&story, 2, true);
    all_replicated(&story);
    cr_assert_eq(log_last_stable_offset(story.live.log), open_at);
    check_readers(&story);
    live_reopen(&story.live);
    all_replicated(&story);
    cr_assert_eq(log_last_stable_offset(story.live.log), open_at);
    story.live.clean = false; // from the snapshots
    live_end_log(&story.live, story.live.log, false);
    struct topic_config config = live_config(3000);
    story.live.log = live_add_log(&story.live, "orders", &config);
    all_replicated(&story);
    cr_assert_eq(log_last_stable_offset(story.live.log), open_at);
    tell_end(&story, 1, true);
    all_replicated(&story);
    cr_assert_eq(log_last_stable_offset(story.live.log), log_end_offset(story.live.log));
    check_readers(&story);
    live_close(&story.live);
}

Test(transactions, files_and_recovery_agree) {
    struct story story;
    story_open(&story, 3000);
    all_replicated(&story);
    size_t bytes;
    (void)digest_of_aborted(&story, &bytes); // sealed segments have theirs, the active one not yet
    cr_assert_leq(bytes, count_aborted(&story) * TXN_INDEX_ENTRY_BYTES);
    cr_assert_eq(live_work(&story.live, LOG_CHECKPOINT, 0), 0);
    uint64_t digest = digest_of_aborted(&story, &bytes);
    cr_assert_eq(bytes, count_aborted(&story) * TXN_INDEX_ENTRY_BYTES);
    struct topic_config config = live_config(3000);
    const int64_t points[] = {0, 40, 100, log_end_offset(story.live.log)};
    for (size_t i = 0; i < ARRAY_LENGTH(points); i++) {
        live_end_log(&story.live, story.live.log, false);
        story.live.recovery_point = points[i];
        story.live.log = live_add_log(&story.live, "orders", &config);
        cr_assert_eq(digest_of_aborted(&story, &bytes), digest, "recovered from %lld", (long long)points[i]);
        all_replicated(&story);
        check_readers(&story);
    }
    live_close(&story.live);
}

Test(transactions, truncation) {
    struct story story;
    story_open(&story, 3000);
    all_replicated(&story);
    while (story.ended_count > 1) {
        struct transaction last = story.ended[story.ended_count - 1];
        story.ended_count--;
        if (!last.aborted || story.ended_count % 3 != 0) continue;
        cr_assert_eq(live_work(&story.live, LOG_TRUNCATE, last.marker_offset), 0);
        size_t bytes;
        (void)digest_of_aborted(&story, &bytes);
        cr_assert_leq(bytes, count_aborted(&story) * TXN_INDEX_ENTRY_BYTES);
        log_set_high_watermark(story.live.log, log_end_offset(story.live.log));
        check_readers(&story);
    }
    live_close(&story.live);
}

Test(transactions, damaged_after_loading) {
    struct story story;
    story_open(&story, 3000);
    live_reopen(&story.live);
    all_replicated(&story);
    struct log *log = story.live.log;
    char path[LOG_PATH_BYTES_MAX];
    struct segment *segment = NULL;
    for (size_t i = 0; i + 1 < log->segment_count && !segment; i++)
        if (log->segments[i]->aborted_file) segment = log->segments[i];
    cr_assert_not_null(segment);
    cr_assert(segment_path(path, "orders-0", segment->base_offset, ".txnindex"));
    fixture_write_text(&story.live.fixture, path, "damaged");
    struct log_read read;
    live_read_committed(&story.live, &read, segment->base_offset, 1000);
    cr_assert_eq(read.error, KAFKA_ERROR_KAFKA_STORAGE_ERROR); // not: records that nobody should see
    log_read_release(log, &read);
    live_read(&story.live, &read, segment->base_offset, log_end_offset(log), 1000);
    check_range(&story.live, &read, segment->base_offset, log_end_offset(log));
    log_read_release(log, &read);
    live_close(&story.live);
}
