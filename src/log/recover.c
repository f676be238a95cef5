// SPDX-License-Identifier: Apache-2.0
// The end of a log after a stop. A clean one ends where its last segment's batches end. After a crash:
//
//   producer state from the newest snapshot at or below the recovery point, and from the headers between the two
//   -> every batch from the recovery point on is verified; its index entries, producers and epochs are rebuilt
//   -> at the first bad byte: later segments are deleted, newest first, then the segment is cut there
//   -> what is kept is flushed, indexes too
//
// A kill at any instant is harmless: until the cut nothing that was good is changed, and the cut is the same next time.
// What may not happen: a cut below what was known to be durable or committed (class fsync). Then nothing is changed.
#include "log/load.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

size_t loading_segment_of(const struct loading *l, int64_t offset) {
    size_t i = l->log->segment_count;
    ASSERT(i > 0);
    while (i > 1 && l->log->segments[i - 1]->base_offset > offset)
        i--;
    return i - 1;
}

int64_t loading_log_start(const struct loading *l) {
    ASSERT(l->log->segment_count > 0);
    return max_i64(l->load->log_start_offset, l->log->segments[0]->base_offset);
}

bool loading_would_lose(const struct loading *l, int64_t end_offset) {
    int64_t known = max_i64(l->load->recovery_point, l->load->high_watermark);
    return l->load->durable && end_offset < known && known > l->load->log_start_offset;
}

int64_t loading_take_closed(struct loading *l, struct segment *segment) {
    segment_forget_indexes(segment);
    segment->indexes_durable = true;
    segment->indexes_trim = false;
    segment->flushed_bytes = segment->size_bytes;
    segment->first_timestamp_ms = SEGMENT_UNKNOWN;
    if (segment->size_bytes == 0) segment->first_timestamp_ms = -1;
    return segment_read_last_timestamp(l->host, l->path, segment);
}

static int64_t take_closed_until(struct loading *l, size_t end) {
    for (size_t i = 0; i < end; i++) {
        int64_t error = loading_take_closed(l, l->log->segments[i]);
        if (error < 0) return error;
    }
    return 0;
}

// Producer state at `offset` (and epochs, if they have to be rebuilt).
static int64_t load_producers(struct loading *l, int64_t offset) {
    struct log *log = l->log;
    struct offset_list list;
    char why[200];
    struct text warning = TEXT_IN(why);
    int64_t start = loading_log_start(l), at = -1;
    struct snapshot_limits limits = {start, offset, l->now_ms, l->load->producer_expiration_ms};
    snapshot_pick(&l->names, &list);
    bool expected = list.count > 0;
    int64_t error = snapshot_load_newest(l->host, l->path, &list, &limits, &log->producers, &at, &warning);
    offset_list_free(&list);
    if (error < 0) return error;
    if (warning.size) loading_note(l, "%s", why);
    l->had_snapshot = at >= 0;
    // After a clean stop no snapshot means that there is no state (Kafka's rule); one that cannot be used means
    // nothing.
    int64_t producers_from = at >= 0 ? at : l->clean && !expected ? INT64_MAX : start;
    if (at >= 0) error = loading_recall(l, at);
    if (error < 0) return error;
    int64_t epochs_from = l->rebuild_epochs ? log->segments[0]->base_offset : INT64_MAX;
    return loading_replay(l, producers_from, epochs_from, offset);
}

// ---- clean
// -----------------------------------------------------------------------------------------------------------------------------
int64_t loading_open_clean(struct loading *l) {
    struct log *log = l->log;
    struct segment *active = log_active_segment(log);
    struct segment_pass pass = {
        .check_from = INT64_MAX, .apply_from = INT64_MAX, .below = INT64_MAX, .use_index = true};
    int64_t error = take_closed_until(l, log->segment_count - 1);
    if (error == 0) error = loading_pass(l, active, &pass);
    if (error < 0) return error;
    active->flushed_bytes = active->size_bytes;
    active->bytes_since_index = 0; // it restarts when a segment is opened
    segment_finish_time_index(active);
    if (active->indexes_trim) error = segment_write_indexes(l->host, l->path, active, true, true); // built anew
    if (error < 0) return error;
    log->end_offset = pass.end_offset;
    // The end is whole, and yet too early: a last segment is missing.
    if (loading_would_lose(l, log->end_offset)) return LOADING_AGAIN;
    return load_producers(l, log->end_offset);
}

// ---- cutting
// ---------------------------------------------------------------------------------------------------------------------------
int64_t loading_delete_segment(struct loading *l, int64_t base_offset) {
    static const char *const suffixes[] = {".log", ".index", ".timeindex", ".txnindex", ".snapshot"};
    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
        char path[LOG_PATH_BYTES_MAX];
        if (!segment_path(path, l->path, base_offset, suffixes[i])) return -ENAMETOOLONG;
        int error = os_unlink(l->host, path);
        if (error < 0 && error != -ENOENT) return error;
    }
    l->directory_changed = true;
    return 0;
}

// Segments from `first` on are gone, for good, when this returns 0.
static int64_t delete_from(struct loading *l, size_t first) {
    struct log *log = l->log;
    if (first >= log->segment_count) return 0;
    while (log->segment_count > first) {
        struct segment *last = log->segments[log->segment_count - 1];
        int64_t error = loading_delete_segment(l, last->base_offset);
        if (error < 0) return error;
        l->load->cut_bytes += (int64_t)last->size_bytes;
        segment_free(last);
        log->segment_count--;
    }
    return directory_sync(l->host, l->path);
}

static int64_t explain_loss(struct loading *l, const char *where, int64_t end_offset) {
    loading_note(l,
                 "%s; it would end at %" PRId64 ", but was durable up to %" PRId64 " and committed up to %" PRId64
                 ": restore it, or accept the loss by removing its checkpoint lines",
                 where, end_offset, l->load->recovery_point, l->load->high_watermark);
    return LOADING_CORRUPT;
}

// A tail that was preallocated and never written. (One that says it is longer than it looks at is cut all the same.)
static bool is_blank(struct loading *l, int file, uint64_t position) {
    uint8_t bytes[4096];
    int64_t got = os_pread(l->host, file, bytes, sizeof bytes, position);
    for (int64_t i = 0; i < got; i++)
        if (bytes[i] != 0) return false;
    return got > 0;
}

// The segment is valid up to pass->valid_bytes: the log ends there.
static int64_t cut(struct loading *l, size_t i, const struct segment_pass *pass, uint64_t file_bytes) {
    char where[220];
    struct text t = TEXT_IN(where);
    text_addf(&t, "%020" PRId64 ".log: %s", l->log->segments[i]->base_offset, pass->why);
    if (loading_would_lose(l, pass->end_offset)) return explain_loss(l, where, pass->end_offset);
    int64_t error = delete_from(l, i + 1);
    if (error < 0) return error;
    int file = segment_open_file(l->host, l->path, l->log->segments[i]->base_offset);
    if (file < 0) return file;
    bool blank = l->log->config.preallocate && l->load->cut_bytes == 0 && is_blank(l, file, pass->valid_bytes);
    error = os_truncate(l->host, file, pass->valid_bytes);
    os_close(l->host, file);
    if (error < 0 || blank) return error;
    l->load->cut_bytes += (int64_t)(file_bytes - pass->valid_bytes);
    loading_note(l, "%s; the log was cut there: it ends at offset %" PRId64 ", %" PRId64 " bytes were dropped", where,
                 pass->end_offset, l->load->cut_bytes);
    return 0;
}

// ---- recovery
// --------------------------------------------------------------------------------------------------------------------------
// Log and indexes to stable storage; only the active segment's indexes stay in memory.
static int64_t finish_segment(struct loading *l, struct segment *segment, bool is_active) {
    int file = segment_open_file(l->host, l->path, segment->base_offset);
    if (file < 0) return file;
    int64_t error = os_fsync(l->host, file);
    os_close(l->host, file);
    if (error < 0) return error;
    segment_finish_time_index(segment);
    error = segment_write_indexes(l->host, l->path, segment, true, true);
    if (error < 0) return error;
    segment->flushed_bytes = segment->size_bytes;
    segment->bytes_since_index = 0;
    if (is_active) return 0;
    segment_forget_indexes(segment);
    return 0;
}

// Nothing in it came after the recovery point, and the index files are what they should be: all of it is durable as it
// is. So a partition that was idle costs no fsync.
static bool is_untouched(const struct loading *l, const struct segment *segment, const struct segment_pass *pass) {
    return !pass->damaged && pass->end_offset <= l->recovery_point && segment->indexes_durable;
}

// *stop: the log ends in this segment.
static int64_t recover_one(struct loading *l, size_t i, bool is_first, bool *stop) {
    struct log *log = l->log;
    struct segment *segment = log->segments[i];
    uint64_t file_bytes = segment->size_bytes;
    struct segment_pass pass = {
        .check_from = l->recovery_point,
        .apply_from = l->recovery_point,
        .below = i + 1 < log->segment_count ? log->segments[i + 1]->base_offset : INT64_MAX,
        .use_index = is_first,
    };
    int64_t error = 0;
    if (!is_first) {
        error = snapshot_write(l->host, l->path, segment->base_offset, &log->producers, false);
        l->directory_changed = true;
    }
    if (error == 0) error = loading_pass(l, segment, &pass);
    if (error < 0) return error;
    log->end_offset = pass.end_offset;
    *stop = pass.damaged || i + 1 == log->segment_count;
    if (pass.damaged) error = cut(l, i, &pass, file_bytes);
    if (error == 0 && is_untouched(l, segment, &pass)) {
        segment->flushed_bytes = segment->size_bytes;
        segment->bytes_since_index = 0;
        if (!*stop) segment_forget_indexes(segment);
    } else if (error == 0) {
        error = finish_segment(l, segment, *stop);
    }
    producers_set_high_watermark(&log->producers, l->load->high_watermark);
    return error;
}

int64_t loading_recover(struct loading *l) {
    struct log *log = l->log;
    size_t first = loading_segment_of(l, l->recovery_point);
    epochs_truncate_end(&log->epochs, l->recovery_point);
    int64_t error = load_producers(l, l->recovery_point);
    if (error == 0) error = take_closed_until(l, first);
    bool stop = false;
    for (size_t i = first; error == 0 && !stop; i++)
        error = recover_one(l, i, i == first, &stop);
    if (error < 0) return error;
    if (!loading_would_lose(l, log->end_offset)) return 0;
    char where[64];
    struct text t = TEXT_IN(where);
    text_addf(&t, "%020" PRId64 ".log is too short", log_active_segment(log)->base_offset);
    return explain_loss(l, where, log->end_offset);
}
