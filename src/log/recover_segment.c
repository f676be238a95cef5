// SPDX-License-Identifier: Apache-2.0
// One walk over one segment: batches below `check_from` are only counted in (their bytes are known to be durable),
// those from there on are verified. The index, if it is good, tells where to begin, so that little of a large segment
// is read; if its last entry does not point at a batch that ends where it says, the walk begins at the segment's start.
#include "log/load.h"
#include "log/producers_batch.h"
#include "log/walk.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct passing {
    struct loading *l;
    struct segment *segment;
    struct segment_pass *pass;
    struct walk walk;
    uint64_t file_bytes;
    bool rebuilt; // the indexes in memory began from nothing
    bool dropped; // entries of the index files are not in memory
    bool has_final;
    struct time_index_entry final;
};

// ---- the file of aborted transactions
// ------------------------------------------------------------------------------------------------
// It holds what is below `from`; markers from there on are counted again. A file that is not valid was found before
// (check_txn_index), and the whole segment is read then.
static int64_t read_aborted(struct passing *p, int64_t from) {
    char why[200];
    struct text ignored = TEXT_IN(why);
    struct segment *s = p->segment;
    txn_index_free(&s->aborted);
    int error = segment_read_aborted(p->l->host, p->l->path, s, &ignored);
    if (error != 0 && error != -EINVAL) return error;
    size_t before = s->aborted.count;
    txn_index_truncate(&s->aborted, from);
    p->dropped = error != 0 || before != s->aborted.count;
    return 0;
}

// ---- where to begin
// ------------------------------------------------------------------------------------------------------------------
static void begin_at_zero(struct passing *p) {
    struct segment *s = p->segment;
    index_free(&s->index);
    time_index_free(&s->time_index);
    s->size_bytes = 0;
    s->bytes_since_index = 0;
    s->max_timestamp_ms = s->max_timestamp_offset = s->first_timestamp_ms = -1;
    s->indexes_resident = true;
    s->indexes_trim = true;
    s->indexes_durable = false;
    p->rebuilt = true;
    p->walk.position = 0;
    p->walk.next_offset = s->base_offset;
    p->walk.check_crc = p->pass->check_from <= s->base_offset;
}

// Whether a batch stands where the last index entry says (old releases index whole record sets: then it ends earlier),
// and the time index knows of it.
static bool entry_is_true(struct passing *p) {
    const struct segment *s = p->segment;
    const struct index *index = &s->index;
    struct index_entry entry = index->entries[index->count - 1];
    int64_t least = index->count == 1 ? 0 : index->entries[index->count - 2].relative_offset + 1;
    p->walk.position = (uint64_t)entry.position;
    p->walk.next_offset = s->base_offset + least;
    if (walk_next(&p->walk) != WALK_BATCH) return false;
    if (walk_last_offset(&p->walk) > s->base_offset + entry.relative_offset) return false;
    int64_t newest = s->time_index.count == 0 ? -1 : s->time_index.entries[s->time_index.count - 1].timestamp_ms;
    return p->walk.batch.max_timestamp <= newest;
}

// Of the time index, what was written with index entries stays. The entry that a close adds at the end is put aside: it
// is the same again if nothing but it is missing.
static void keep_time_entries(struct passing *p, int64_t relative_offset) {
    struct time_index *times = &p->segment->time_index;
    size_t before = times->count;
    struct time_index_entry last = before > 0 ? times->entries[before - 1] : (struct time_index_entry){-1, 0};
    time_index_truncate(times, relative_offset + 1);
    p->has_final = before - times->count == 1;
    p->final = last;
    p->dropped = p->dropped || before - times->count > 1;
}

// The walk begins at a batch's edge, and the segment's state is that before it.
static void begin_at_batch(struct passing *p, uint64_t position, int64_t next_offset) {
    struct segment *s = p->segment;
    s->size_bytes = p->walk.position = position;
    p->walk.next_offset = next_offset;
    s->bytes_since_index = 0;
    s->first_timestamp_ms = position == 0 ? -1 : SEGMENT_UNKNOWN;
    s->max_timestamp_ms = s->max_timestamp_offset = -1;
    if (s->time_index.count == 0) return;
    struct time_index_entry last = s->time_index.entries[s->time_index.count - 1];
    s->max_timestamp_ms = last.timestamp_ms;
    s->max_timestamp_offset = s->base_offset + last.relative_offset;
}

static int64_t begin_at_index(struct passing *p) {
    struct segment *s = p->segment;
    char why[200];
    struct text ignored = TEXT_IN(why);
    s->size_bytes = p->file_bytes; // entries must lie within it
    int error = segment_read_indexes(p->l->host, p->l->path, s, &ignored);
    if (error != 0 && error != -EINVAL && error != -ENOENT) return error;
    if (error != 0) {
        begin_at_zero(p);
        return 0;
    }
    size_t offsets = s->index.count, times = s->time_index.count;
    int64_t limit = max_i64(0, p->pass->check_from - s->base_offset);
    index_truncate(&s->index, limit);
    time_index_truncate(&s->time_index, limit);
    p->dropped = p->dropped || offsets != s->index.count || times != s->time_index.count;
    if (s->index.count == 0) {
        keep_time_entries(p, -1);
        begin_at_batch(p, 0, s->base_offset);
    } else {
        keep_time_entries(p, s->index.entries[s->index.count - 1].relative_offset);
        bool is_true = entry_is_true(p);
        if (!is_true && p->walk.error < 0) return p->walk.error;
        if (is_true)
            begin_at_batch(p, p->walk.batch_position, p->walk.batch.base_offset);
        else
            begin_at_zero(p);
    }
    p->walk.check_crc = p->pass->check_from <= p->walk.next_offset;
    return 0;
}

// After the walk: the files hold what memory holds, or have to be written.
static void settle_indexes(struct passing *p) {
    struct segment *s = p->segment;
    if (!p->pass->use_index || p->rebuilt) return;
    struct time_index *times = &s->time_index;
    bool same = p->has_final && s->max_timestamp_ms == p->final.timestamp_ms && times->written == times->count &&
                s->max_timestamp_offset == s->base_offset + p->final.relative_offset;
    if (same && time_index_append(times, p->final)) times->written = times->count;
    p->dropped = p->dropped || (p->has_final && !same);
    s->indexes_trim = s->indexes_trim || p->dropped;
    s->indexes_durable = !s->indexes_trim && !segment_indexes_unwritten(s);
}

// ---- batches
// ---------------------------------------------------------------------------------------------------------------------------
static void apply_epoch(struct epochs *epochs, const struct walk *walk) {
    int32_t epoch = walk->batch.partition_leader_epoch;
    if (walk->magic == 2 && epoch >= 0 && epoch > epochs_latest(epochs))
        epochs_assign(epochs, epoch, walk->batch.base_offset);
}

// False in *ended_one: no transaction was ended. The walk's batch has a producer.
static int64_t apply_producer(struct producers *producers, struct walk *walk, struct producer_transaction *ended,
                              bool *ended_one) {
    struct producer_append append;
    *ended_one = false;
    if (walk->magic != 2 || walk->batch.producer_id < 0) return 0;
    if (batch_is_control(&walk->batch)) {
        enum walk_status status = walk_load_batch(walk, MARKER_BATCH_BYTES_MAX);
        if (status == WALK_FAILED) return walk->error;
        if (status != WALK_BATCH) return 0; // too large for a marker
    }
    if (!producer_append_of(&walk->batch, &append)) return 0;
    *ended_one = producers_apply(producers, &append, ended);
    producers_written(producers, INT64_MAX);
    return 0;
}

static int64_t apply(struct passing *p) {
    struct log *log = p->l->log;
    struct producer_transaction ended;
    bool ended_one;
    apply_epoch(&log->epochs, &p->walk);
    int64_t error = apply_producer(&log->producers, &p->walk, &ended, &ended_one);
    if (error < 0 || !ended_one || !ended.aborted) return error;
    struct aborted_transaction entry = {ended.producer_id, ended.first_offset, ended.last_offset,
                                        ended.last_stable_offset};
    segment_count_aborted(p->segment, &entry);
    return 0;
}

// What walk_next does not know: the segment's own limits.
static bool fits_segment(struct passing *p) {
    const struct segment *s = p->segment;
    struct text t = TEXT_IN(p->walk.reason);
    int64_t last = walk_last_offset(&p->walk);
    if (last >= p->pass->below)
        text_addf(&t, "byte %" PRIu64 ": the batch ends at offset %" PRId64 ", the next segment begins at %" PRId64,
                  p->walk.batch_position, last, p->pass->below);
    else if (segment_relative(s, last) > INT32_MAX)
        text_addf(&t, "byte %" PRIu64 ": offset %" PRId64 " is too far from the segment's base", p->walk.batch_position,
                  last);
    else if (p->walk.position > INT32_MAX)
        text_addf(&t, "byte %" PRIu64 ": a segment has at most %d bytes", p->walk.batch_position, INT32_MAX);
    return t.size == 0;
}

static int64_t count_batch(struct passing *p) {
    struct loading *l = p->l;
    const struct segment_batch batch = {
        .base_offset = p->walk.batch.base_offset,
        .last_offset = walk_last_offset(&p->walk),
        .size_bytes = (uint32_t)p->walk.batch_bytes,
        .max_timestamp_ms = p->walk.batch.max_timestamp,
    };
    const struct segment_limits limits = log_segment_limits(l->log);
    segment_count_batch(p->segment, &batch, &limits);
    p->pass->end_offset = batch.last_offset + 1;
    p->pass->valid_bytes = p->walk.position;
    if (p->walk.check_crc) {
        l->load->recovered_bytes += (int64_t)p->walk.batch_bytes;
        if (l->load->progress_bytes)
            atomic_fetch_add_explicit(l->load->progress_bytes, p->walk.batch_bytes, memory_order_relaxed);
    }
    return batch.base_offset >= p->pass->apply_from ? apply(p) : 0;
}

static int64_t stop_at_damage(struct passing *p) {
    struct loading *l = p->l;
    if (!p->walk.check_crc) {
        loading_note(l, "%020" PRId64 ".log: %s", p->segment->base_offset, p->walk.reason);
        return LOADING_AGAIN;
    }
    p->pass->damaged = true;
    memcpy(p->pass->why, p->walk.reason, sizeof p->pass->why);
    return 0;
}

static int64_t walk_batches(struct passing *p) {
    struct walk *w = &p->walk;
    for (;;) {
        int64_t expected = w->next_offset;
        if (expected >= p->pass->check_from) w->check_crc = true;
        enum walk_status status = walk_next(w);
        if (status == WALK_END) return 0;
        if (status == WALK_FAILED) return w->error;
        if (status == WALK_DAMAGED) return stop_at_damage(p);
        if (!w->check_crc && walk_last_offset(w) >= p->pass->check_from) { // from here on: again, with its checksum
            w->check_crc = true;
            w->position = w->batch_position;
            w->next_offset = expected;
            continue;
        }
        if (!fits_segment(p)) return stop_at_damage(p);
        int64_t error = count_batch(p);
        if (error < 0) return error;
    }
}

int64_t loading_pass(struct loading *l, struct segment *segment, struct segment_pass *pass) {
    struct passing p = {.l = l, .segment = segment, .pass = pass, .file_bytes = segment->size_bytes};
    char path[LOG_PATH_BYTES_MAX];
    if (!segment_path(path, l->path, segment->base_offset, ".log")) return -ENAMETOOLONG;
    int file = os_open(l->host, path, OS_READ);
    if (file < 0) return file;
    p.walk = (struct walk){.host = l->host, .file = file, .end_position = p.file_bytes};
    pass->damaged = false;
    int64_t error = read_aborted(&p, pass->apply_from);
    if (error == 0 && pass->use_index) error = begin_at_index(&p);
    if (error == 0 && !pass->use_index) begin_at_zero(&p);
    pass->valid_bytes = p.walk.position;
    pass->end_offset = segment->size_bytes == 0 ? segment->base_offset : p.walk.next_offset;
    if (error == 0) error = walk_batches(&p);
    if (error == 0) settle_indexes(&p);
    walk_close(&p.walk);
    os_close(l->host, file);
    return error;
}

// ---- headers only
// ----------------------------------------------------------------------------------------------------------------------
struct replaying {
    struct loading *l;
    int64_t producers_from, epochs_from, to;
};

static int64_t replay_batches(const struct replaying *r, const struct segment *segment, struct walk *walk) {
    struct log *log = r->l->log;
    for (;;) {
        enum walk_status status = walk_next(walk);
        if (status == WALK_END) return 0;
        if (status == WALK_FAILED) return walk->error;
        if (status == WALK_DAMAGED) {
            loading_note(r->l, "%020" PRId64 ".log: %s", segment->base_offset, walk->reason);
            return LOADING_AGAIN;
        }
        int64_t base = walk->batch.base_offset, error = 0;
        if (walk_last_offset(walk) >= r->to) {
            if (base >= r->epochs_from && base < r->to) apply_epoch(&log->epochs, walk);
            return 0;
        }
        struct producer_transaction ended;
        bool ended_one;
        if (base >= r->epochs_from) apply_epoch(&log->epochs, walk);
        if (base >= r->producers_from) error = apply_producer(&log->producers, walk, &ended, &ended_one);
        if (error < 0) return error;
    }
}

static int64_t replay_segment(const struct replaying *r, const struct segment *segment) {
    struct loading *l = r->l;
    char path[LOG_PATH_BYTES_MAX];
    struct os_stat stat;
    if (!segment_path(path, l->path, segment->base_offset, ".log")) return -ENAMETOOLONG;
    int file = os_open(l->host, path, OS_READ);
    if (file < 0) return file;
    int64_t error = os_stat_file(l->host, file, &stat);
    struct walk walk = {.host = l->host,
                        .file = file,
                        .end_position = error == 0 ? stat.size_bytes : 0,
                        .next_offset = segment->base_offset};
    if (error == 0) error = replay_batches(r, segment, &walk);
    walk_close(&walk);
    os_close(l->host, file);
    return error;
}

int64_t loading_replay(struct loading *l, int64_t producers_from, int64_t epochs_from, int64_t to) {
    struct replaying r = {l, producers_from, epochs_from, to};
    int64_t from = min_i64(producers_from, epochs_from);
    struct log *log = l->log;
    if (from >= to) return 0;
    for (size_t i = loading_segment_of(l, from); i < log->segment_count; i++) {
        if (log->segments[i]->base_offset >= to) return 0;
        int64_t error = replay_segment(&r, log->segments[i]);
        if (error < 0) return error;
        producers_set_high_watermark(&log->producers, l->load->high_watermark); // what has ended below it is settled
    }
    return 0;
}

// ---- batches before a snapshot
// -------------------------------------------------------------------------------------------------------------
// A snapshot has the last batch of each producer only. After a kill, clients send again what was not answered, up to
// five batches each (max.in.flight): if the first of them were not known as duplicates, they would be out of order, for
// good. (Kafka has the same gap only up to the base of the last segment.) A clean stop has answered all that it was
// asked, but it may have come soon after a kill, before the clients were back: a little is recalled then too.
enum { RECALL_BYTES = 8 << 20, RECALL_CLEAN_BYTES = 1 << 20, RECALL_AGE_MS = 60 * 60 * 1000 };

// Clients give up after delivery.timeout.ms: a file that was idle for long is not read. (Timestamps of records tell
// nothing: they may be historical.)
static bool may_see_retries(const struct loading *l, const struct segment *segment) {
    return producers_count(&l->log->producers) > 0 && segment->modified_ms >= l->now_ms - RECALL_AGE_MS;
}

// Where to begin so that not much more than RECALL_BYTES (RECALL_CLEAN_BYTES) are walked over. False: there is no index
// to tell.
static bool recall_position(struct loading *l, const struct segment *segment, int64_t at, uint64_t *position) {
    struct segment copy = {.base_offset = segment->base_offset, .size_bytes = segment->size_bytes};
    char why[200];
    struct text ignored = TEXT_IN(why);
    int32_t most_bytes = l->clean ? RECALL_CLEAN_BYTES : RECALL_BYTES;
    *position = 0;
    if (segment->size_bytes <= (uint64_t)most_bytes) return true;
    if (segment_read_indexes(l->host, l->path, &copy, &ignored) != 0) return false;
    int32_t end = index_floor_offset(&copy.index, segment_relative(segment, at)).position;
    if (end > most_bytes) *position = (uint64_t)index_floor_position(&copy.index, end - most_bytes).position;
    segment_forget_indexes(&copy);
    return true;
}

int64_t loading_recall(struct loading *l, int64_t at) {
    ASSERT(at > 0);
    struct log *log = l->log;
    const struct segment *segment = log->segments[loading_segment_of(l, at - 1)];
    struct walk walk = {.host = l->host, .next_offset = segment->base_offset};
    char path[LOG_PATH_BYTES_MAX];
    if (!may_see_retries(l, segment)) return 0;
    if (!recall_position(l, segment, at, &walk.position)) return 0;
    if (!segment_path(path, l->path, segment->base_offset, ".log")) return -ENAMETOOLONG;
    walk.file = os_open(l->host, path, OS_READ);
    if (walk.file < 0) return walk.file;
    struct os_stat stat;
    int64_t error = os_stat_file(l->host, walk.file, &stat);
    walk.end_position = error == 0 ? max_size(stat.size_bytes, walk.position) : walk.position;
    enum walk_status status = error == 0 ? walk_next(&walk) : WALK_END;
    for (; status == WALK_BATCH && walk_last_offset(&walk) < at; status = walk_next(&walk)) {
        struct producer_append append;
        if (walk.magic != 2 || batch_is_control(&walk.batch) || !producer_append_of(&walk.batch, &append)) continue;
        producers_recall(&log->producers, &append);
    }
    if (status == WALK_FAILED) error = walk.error; // damage is for others to find
    walk_close(&walk);
    os_close(l->host, walk.file);
    return error;
}
