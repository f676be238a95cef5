// SPDX-License-Identifier: Apache-2.0
// One walk over each segment's batches; the two indexes are laid beside it and checked entry by entry as the walk comes
// past the places that they name.
//
// What is damage depends on where it is. A log that was not closed cleanly (or is being written right now) may end in a
// torn batch or in zeros, its indexes may be ahead of it, and the epoch file behind it, as far as it lies at or above
// the recovery point: the next start repairs that. Anywhere else it is damage.
#include "base/assert.h"
#include "base/bits.h"
#include "log/epochs.h"
#include "log/files.h"
#include "log/index.h"
#include "log/inspect.h"
#include "log/partition_metadata.h"
#include "log/producers_batch.h"
#include "log/segment.h"
#include "log/txn_index.h"
#include "log/walk.h"
#include "tailrace/record.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { INDEX_FILE_BYTES_MAX = 256 << 20, RECORD_BATCH_BYTES_MAX = 256 << 20 };

// An index file, and the next entry that the walk has to meet.
struct beside {
    char name[48];
    char *data;
    size_t entry_bytes;
    size_t count; // without a tail of zeros
    size_t next;
    bool is_missing;
    bool has_sets; // of the offset index: entries that name a set of batches
};
struct verifying {
    struct inspect_verify *v;
    const struct inspect_partition *partition;
    int64_t recovery_point;
    bool is_open;    // not closed cleanly: see above
    bool is_partial; // a segment could not be read: nothing can be said of where the log ends
    // the segment
    bool is_last;
    int64_t base_offset, end_below;
    char log_name[48];
    struct beside index, times;
    int64_t set_end;  // an index entry named a set of batches (old releases): it must end here; -1: none
    size_t set_entry; // which one
    int64_t max_timestamp;
    struct txn_index aborts; // the abort markers that the walk came past: producer_id and last_offset only
    // over all segments
    struct epochs epochs;
    bool has_epochs;
    int32_t last_epoch;
    int64_t next_offset;
};

__attribute__((format(printf, 5, 6))) static void find(struct verifying *c, bool is_damage, const char *file,
                                                       int64_t byte, const char *format, ...) {
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct inspect_listener *listener = c->v->listener;
    struct inspect_finding finding = {is_damage, c->partition->path, file, byte, text};
    if (is_damage)
        c->v->totals.damages++;
    else
        c->v->totals.notes++;
    listener->finding(listener->context, &finding);
}

// A file that cannot be read is told, and the rest is checked.
static int unreadable(const struct verifying *c, const char *file, int error) {
    const struct inspect_listener *listener = c->v->listener;
    listener->unreadable(listener->context, c->partition->path, file, error);
    return 0;
}

// ---- index files
// -------------------------------------------------------------------------------------------------------------------
static const uint8_t *entry_at(const struct beside *b, size_t i) {
    return (const uint8_t *)b->data + i * b->entry_bytes;
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

// A file that a broker cuts to size while it is read, as Kafka does with an index when its segment is full, looks as if
// it ended anywhere: it is read again.
static int read_beside(const struct verifying *c, struct beside *b, const char *path, size_t *size) {
    enum { ATTEMPTS_MAX = 5 };
    for (int attempt = 1;; attempt++) {
        int error = file_read_all(c->v->host, path, INDEX_FILE_BYTES_MAX, &b->data, size);
        if (error < 0 || *size % b->entry_bytes == 0 || !c->is_open || attempt == ATTEMPTS_MAX) return error;
        free(b->data);
        b->data = NULL;
    }
}

static int open_beside(struct verifying *c, struct beside *b, const char *suffix, size_t entry_bytes) {
    char path[FILES_PATH_MAX];
    struct text name = TEXT_IN(b->name);
    size_t size;
    *b = (struct beside){.entry_bytes = entry_bytes};
    name = TEXT_IN(b->name);
    text_addf(&name, "%020" PRId64 "%s", c->base_offset, suffix);
    if (!path_join(path, c->partition->path, b->name)) return -ENAMETOOLONG;
    int error = read_beside(c, b, path, &size);
    b->is_missing = error == -ENOENT;
    if (b->is_missing) find(c, !c->is_open || !c->is_last, b->name, -1, "missing");
    if (error == -EFBIG) find(c, true, b->name, -1, "more than %d bytes", INDEX_FILE_BYTES_MAX);
    if (error < 0 && !b->is_missing && error != -EFBIG) {
        b->is_missing = true;
        return unreadable(c, b->name, error);
    }
    if (error < 0) return 0;
    if (size % entry_bytes != 0)
        find(c, true, b->name, (int64_t)(size - size % entry_bytes), "%zu bytes are no multiple of %zu", size,
             entry_bytes);
    b->count = size / entry_bytes;
    while (b->count > 0 && is_zero(entry_at(b, b->count - 1), entry_bytes))
        b->count--;
    return 0;
}

// Entries that the walk has passed without meeting what they name.
static void skip_index_below(struct verifying *c, uint64_t position) {
    struct beside *b = &c->index;
    while (b->next < b->count && (uint64_t)load_be32(entry_at(b, b->next) + 4) < position) {
        find(c, true, b->name, (int64_t)(b->next * b->entry_bytes), "position %" PRIu32 " is not where a batch begins",
             load_be32(entry_at(b, b->next) + 4));
        b->next++;
    }
}

static void check_set_end(struct verifying *c, int64_t last_offset) {
    if (c->set_end < 0 || last_offset < c->set_end) return;
    if (last_offset > c->set_end)
        find(c, true, c->index.name, (int64_t)(c->set_entry * INDEX_ENTRY_BYTES), "no batch ends at offset %" PRId64,
             c->set_end);
    c->set_end = -1;
}

static void check_index(struct verifying *c, const struct walk *walk) {
    struct beside *b = &c->index;
    skip_index_below(c, walk->batch_position);
    bool is_named = b->next < b->count && load_be32(entry_at(b, b->next) + 4) == walk->batch_position;
    int64_t last_offset = walk_last_offset(walk);
    if (is_named) {
        int64_t named = c->base_offset + (int32_t)load_be32(entry_at(b, b->next));
        int64_t byte = (int64_t)(b->next * b->entry_bytes);
        if (c->set_end >= 0)
            find(c, true, b->name, (int64_t)(c->set_entry * INDEX_ENTRY_BYTES), "no batch ends at offset %" PRId64,
                 c->set_end);
        c->set_end = -1;
        if (named < last_offset)
            find(c, true, b->name, byte, "offset %" PRId64 ", the batch at position %" PRIu64 " ends at %" PRId64,
                 named, walk->batch_position, last_offset);
        if (named > last_offset) {
            if (!b->has_sets)
                find(c, false, b->name, byte,
                     "names offset %" PRId64 " for a batch that ends at %" PRId64
                     ": sets of batches, as older releases wrote",
                     named, last_offset);
            b->has_sets = true;
            c->set_end = named;
            c->set_entry = b->next;
        }
        b->next++;
    }
    check_set_end(c, last_offset);
}

static void check_times(struct verifying *c, const struct walk *walk) {
    struct beside *b = &c->times;
    while (b->next < b->count) {
        const uint8_t *entry = entry_at(b, b->next);
        int64_t timestamp = (int64_t)load_be64(entry), byte = (int64_t)(b->next * b->entry_bytes);
        int64_t offset = c->base_offset + (int32_t)load_be32(entry + 8);
        if (offset > walk_last_offset(walk)) return;
        if (offset < walk->batch.base_offset)
            find(c, true, b->name, byte, "offset %" PRId64 " is in no batch", offset);
        else if (timestamp != walk->batch.max_timestamp)
            find(c, true, b->name, byte, "time %" PRId64 ", the batch with offset %" PRId64 " has %" PRId64, timestamp,
                 offset, walk->batch.max_timestamp);
        else if (timestamp <= c->max_timestamp)
            find(c, true, b->name, byte, "time %" PRId64 " does not rise", timestamp);
        b->next++;
    }
}

// The walk is over: what is left of the indexes names nothing in the log.
static void finish_beside(struct verifying *c, uint64_t end_position, bool is_whole) {
    skip_index_below(c, end_position);
    bool may_be_ahead = (c->is_open && c->is_last) || !is_whole;
    struct beside *files[] = {&c->index, &c->times};
    for (size_t i = 0; i < 2; i++)
        if (files[i]->next < files[i]->count)
            find(c, !may_be_ahead, files[i]->name, (int64_t)(files[i]->next * files[i]->entry_bytes),
                 "%zu entries for what is not in the log", files[i]->count - files[i]->next);
    if (c->set_end >= 0 && !may_be_ahead)
        find(c, true, c->index.name, (int64_t)(c->set_entry * INDEX_ENTRY_BYTES), "no batch ends at offset %" PRId64,
             c->set_end);
    int64_t newest = c->times.count == 0 ? -1 : (int64_t)load_be64(entry_at(&c->times, c->times.count - 1));
    if (!c->is_last && is_whole && !c->times.is_missing && newest < c->max_timestamp)
        find(c, false, c->times.name, -1,
             "ends with time %" PRId64 ", the log has %" PRId64
             ": retention and look-ups by time see the segment as older",
             newest, c->max_timestamp);
}

// ---- batches
// -----------------------------------------------------------------------------------------------------------------------

// Records were deleted up to the middle of a segment: the file says nothing of what is below the log's start, whose
// checkpoint may lag while the log is open.
static bool is_below_epochs(const struct verifying *c, int64_t offset) {
    if (c->epochs.count == 0 || offset >= c->epochs.entries[0].start_offset) return false;
    return c->is_open || offset < inspect_checkpoint(c->v->dir, CHECKPOINT_LOG_START, c->partition);
}

static void check_epoch(struct verifying *c, const struct walk *walk) {
    int32_t epoch = walk->batch.partition_leader_epoch;
    int64_t base = walk->batch.base_offset;
    if (walk->magic < 2 || epoch < 0) return;
    if (epoch < c->last_epoch)
        find(c, true, c->log_name, (int64_t)walk->batch_position, "leader epoch %" PRId32 " after %" PRId32, epoch,
             c->last_epoch);
    if (epoch > c->last_epoch && c->has_epochs && epochs_at(&c->epochs, base) != epoch && !is_below_epochs(c, base)) {
        bool may_lag = c->is_open && base >= c->recovery_point;
        find(c, !may_lag, "leader-epoch-checkpoint", -1,
             "has epoch %" PRId32 " at offset %" PRId64 ", the batch there has %" PRId32, epochs_at(&c->epochs, base),
             base, epoch);
    }
    c->last_epoch = (int32_t)max_i64(c->last_epoch, epoch);
}

static int check_records(struct verifying *c, struct walk *walk) {
    enum walk_status status = walk_load_batch(walk, RECORD_BATCH_BYTES_MAX);
    if (status == WALK_FAILED) return walk->error;
    if (status != WALK_BATCH) {
        find(c, true, c->log_name, (int64_t)walk->batch_position, "%s", walk->reason);
        return 0;
    }
    struct tailrace_reader *reader = tailrace_reader_open(walk->batch.bytes.data, walk->batch.bytes.size);
    struct tailrace_batch batch;
    struct tailrace_record record;
    enum tailrace_status result = tailrace_next_batch(reader, &batch);
    int64_t next = walk->batch.base_offset;
    bool rises = true;
    while (result == TAILRACE_OK && (result = tailrace_next_record(reader, &record)) == TAILRACE_OK) {
        rises = rises && (walk->magic < 2 || (record.offset >= next && record.offset <= walk_last_offset(walk)));
        next = record.offset + 1;
        c->v->totals.records++;
    }
    if (result == TAILRACE_CORRUPT || result == TAILRACE_INCOMPLETE)
        find(c, true, c->log_name, (int64_t)walk->batch_position, "the records of the batch at offset %" PRId64 ": %s",
             walk->batch.base_offset, result == TAILRACE_CORRUPT ? tailrace_reader_reason(reader) : "cut short");
    else if (!rises)
        find(c, true, c->log_name, (int64_t)walk->batch_position,
             "the offsets of the records in the batch at offset %" PRId64 " do not rise within it",
             walk->batch.base_offset);
    tailrace_reader_close(reader);
    return 0;
}

static int note_marker(struct verifying *c, struct walk *walk) {
    struct marker marker;
    if (walk->magic < 2 || !batch_is_control(&walk->batch)) return 0;
    enum walk_status status = walk_load_batch(walk, MARKER_BATCH_BYTES_MAX);
    if (status == WALK_FAILED) return walk->error;
    if (status != WALK_BATCH || !marker_read(&walk->batch, &marker) || marker.type != MARKER_ABORT) return 0;
    struct aborted_transaction entry = {.producer_id = walk->batch.producer_id, .last_offset = walk_last_offset(walk)};
    bool rises = c->aborts.count == 0 || c->aborts.entries[c->aborts.count - 1].last_offset < entry.last_offset;
    if (rises) txn_index_append(&c->aborts, &entry);
    return 0;
}

static int check_batch(struct verifying *c, struct walk *walk) {
    struct inspect_totals *t = &c->v->totals;
    int64_t last = walk_last_offset(walk);
    t->batches++;
    t->bytes += walk->batch_bytes;
    if (!c->v->records && walk->batch.count > 0) t->records += (uint64_t)walk->batch.count;
    if (last >= c->end_below)
        find(c, true, c->log_name, (int64_t)walk->batch_position,
             "the batch ends at offset %" PRId64 ", the next segment begins at %" PRId64, last, c->end_below);
    check_index(c, walk);
    check_times(c, walk);
    check_epoch(c, walk);
    c->max_timestamp = max_i64(c->max_timestamp, walk->batch.max_timestamp);
    const struct inspect_listener *listener = c->v->listener;
    listener->progress(listener->context, walk->batch_bytes);
    int error = note_marker(c, walk);
    return error == 0 && c->v->records ? check_records(c, walk) : error;
}

// Whether from here to the end there is nothing but zeros, or less than the batch that begins here says.
static int is_torn_tail(const struct walk *walk, bool *torn) {
    uint8_t chunk[4096];
    *torn = false;
    for (uint64_t at = walk->position; at < walk->end_position;) {
        size_t part = (size_t)min_i64(sizeof chunk, (int64_t)(walk->end_position - at));
        int64_t got = os_pread(walk->host, walk->file, chunk, part, at);
        if (got < 0) return (int)got;
        if (at == walk->position && got >= BATCH_OVERHEAD_BYTES) {
            int64_t announced = batch_announced_bytes(chunk);
            *torn = announced > (int64_t)(walk->end_position - walk->position);
            if (*torn) return 0;
        }
        if (got == 0) break;
        if (!is_zero(chunk, (size_t)got)) {
            *torn = walk->end_position - walk->position < BATCH_MAGIC_END;
            return 0;
        }
        at += (uint64_t)got;
    }
    *torn = true;
    return 0;
}

static int report_end(struct verifying *c, const struct walk *walk, enum walk_status status, bool *is_whole) {
    bool torn = false;
    *is_whole = status == WALK_END;
    if (status == WALK_FAILED) return walk->error;
    if (status == WALK_END) return 0;
    int error = is_torn_tail(walk, &torn);
    if (error < 0) return error;
    bool repaired = c->is_open && c->is_last && torn && walk->next_offset >= c->recovery_point;
    find(c, !repaired, c->log_name, (int64_t)walk->position, "%s%s", strstr(walk->reason, ": ") + 2,
         repaired ? " (being written, or left by a crash: the next start cuts it off)" : "");
    return 0;
}

// Reports a batch that is there but wrong, and goes on behind it, unless it may be the torn end of an open log.
static bool step_over(struct verifying *c, struct walk *walk) {
    if (!walk->is_whole) return false;
    bool ends_the_file = walk->position + walk->batch_bytes == walk->end_position;
    if (c->is_open && c->is_last && ends_the_file && walk->next_offset >= c->recovery_point) {
        find(c, false, c->log_name, (int64_t)walk->position, "%s (the last batch: the next start cuts it off)",
             strstr(walk->reason, ": ") + 2);
    } else {
        find(c, true, c->log_name, (int64_t)walk->position, "%s", strstr(walk->reason, ": ") + 2);
    }
    walk_skip(walk);
    return true;
}

static int walk_segment(struct verifying *c, int file, uint64_t size_bytes) {
    struct walk walk = {
        .host = c->v->host, .file = file, .end_position = size_bytes, .next_offset = c->base_offset, .check_crc = true};
    int error = 0;
    bool is_whole = false;
    for (;;) {
        enum walk_status status = walk_next(&walk);
        if (status == WALK_BATCH) error = check_batch(c, &walk);
        if (error < 0) break;
        if (status == WALK_BATCH || (status == WALK_DAMAGED && step_over(c, &walk))) continue;
        error = report_end(c, &walk, status, &is_whole);
        break;
    }
    if (error == 0) finish_beside(c, walk.position, is_whole);
    c->next_offset = walk.next_offset;
    walk_close(&walk);
    return error;
}

static bool has_abort_marker(const struct verifying *c, const struct aborted_transaction *entry) {
    size_t low = 0, high = c->aborts.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->aborts.entries[middle].last_offset < entry->last_offset)
            low = middle + 1;
        else
            high = middle;
    }
    const struct aborted_transaction *found = low < c->aborts.count ? &c->aborts.entries[low] : NULL;
    return found && found->last_offset == entry->last_offset && found->producer_id == entry->producer_id;
}

static void check_aborted(struct verifying *c, const struct aborted_transaction *e, const char *name, int64_t byte) {
    if (e->last_offset >= c->next_offset)
        find(c, !(c->is_open && c->is_last), name, byte, "a marker at offset %" PRId64 ", the segment ends at %" PRId64,
             e->last_offset, c->next_offset);
    else if (!has_abort_marker(c, e))
        find(c, true, name, byte, "offset %" PRId64 " is no abort marker of producer %" PRId64, e->last_offset,
             e->producer_id);
    else if (e->first_offset < 0 || e->first_offset >= e->last_offset)
        find(c, true, name, byte, "a transaction from offset %" PRId64 " to its marker at %" PRId64, e->first_offset,
             e->last_offset);
    else if (e->last_stable_offset < 0 || e->last_stable_offset > e->last_offset + 1)
        find(c, true, name, byte, "last stable offset %" PRId64 " after the marker at %" PRId64, e->last_stable_offset,
             e->last_offset);
}

static int check_txn_index(struct verifying *c) {
    char path[FILES_PATH_MAX], name[48], why[200], *data;
    struct text t = TEXT_IN(name), reason = TEXT_IN(why);
    struct txn_index aborted = {0};
    size_t size;
    text_addf(&t, "%020" PRId64 ".txnindex", c->base_offset);
    if (!path_join(path, c->partition->path, name)) return -ENAMETOOLONG;
    int error = file_read_all(c->v->host, path, INDEX_FILE_BYTES_MAX, &data, &size);
    if (error < 0) return error == -ENOENT ? 0 : unreadable(c, name, error);
    if (!txn_index_decode(&aborted, (struct bytes){(uint8_t *)data, size}, c->base_offset, &reason))
        find(c, true, name, -1, "%s", why);
    for (size_t i = 0; i < aborted.count; i++)
        check_aborted(c, &aborted.entries[i], name, (int64_t)(i * TXN_INDEX_ENTRY_BYTES));
    txn_index_free(&aborted);
    free(data);
    return 0;
}

static int skip_segment(struct verifying *c, int error) {
    c->is_partial = true;
    return unreadable(c, c->log_name, error);
}

static int verify_segment(struct verifying *c, const struct inspect_segment *segment) {
    char path[FILES_PATH_MAX];
    struct text name = TEXT_IN(c->log_name);
    text_addf(&name, "%020" PRId64 ".log", segment->base_offset);
    if (!path_join(path, c->partition->path, c->log_name)) return -ENAMETOOLONG;
    c->base_offset = segment->base_offset;
    c->max_timestamp = c->set_end = -1;
    int file = os_open(c->v->host, path, OS_READ);
    if (file == -ENOENT && c->is_open) return 0; // retention was faster
    if (file < 0) return skip_segment(c, file);
    int error = open_beside(c, &c->index, ".index", INDEX_ENTRY_BYTES);
    if (error == 0) error = open_beside(c, &c->times, ".timeindex", TIME_INDEX_ENTRY_BYTES);
    if (error == 0) error = walk_segment(c, file, segment->size_bytes);
    if (error < 0) error = skip_segment(c, error);
    if (!c->is_partial) error = check_txn_index(c);
    txn_index_free(&c->aborts);
    free(c->index.data);
    free(c->times.data);
    c->index.data = c->times.data = NULL;
    os_close(c->v->host, file);
    c->v->totals.segments++;
    return error;
}

// ---- small files
// -------------------------------------------------------------------------------------------------------------------
static int read_epochs(struct verifying *c) {
    char path[FILES_PATH_MAX], why[200], *data;
    struct text reason = TEXT_IN(why);
    size_t size;
    if (!path_join(path, c->partition->path, "leader-epoch-checkpoint")) return -ENAMETOOLONG;
    int error = file_read_all(c->v->host, path, INDEX_FILE_BYTES_MAX, &data, &size);
    if (error < 0) return error == -ENOENT ? 0 : unreadable(c, "leader-epoch-checkpoint", error);
    c->has_epochs = epochs_decode(&c->epochs, (struct str){data, size}, &reason);
    if (!c->has_epochs) find(c, true, "leader-epoch-checkpoint", -1, "%s", why);
    free(data);
    return 0;
}

static int check_snapshots(struct verifying *c) {
    struct offset_list list;
    int error = snapshot_list(c->v->host, c->partition->path, &list);
    for (size_t i = 0; i < list.count && error == 0; i++) {
        char path[FILES_PATH_MAX], name[48], why[200], *data;
        struct text t = TEXT_IN(name), reason = TEXT_IN(why);
        struct producers producers;
        size_t size;
        text_addf(&t, "%020" PRId64 ".snapshot", list.offsets[i]);
        if (!path_join(path, c->partition->path, name)) error = -ENAMETOOLONG;
        if (error == 0) error = file_read_all(c->v->host, path, SNAPSHOT_FILE_BYTES_MAX, &data, &size);
        if (error == -ENOENT)
            error = 0; // its time had come
        else if (error < 0)
            error = unreadable(c, name, error);
        else {
            producers_init(&producers, 0);
            bool may_be_torn = c->is_open && list.offsets[i] > c->recovery_point; // an older one is taken then
            if (!producers_decode(&producers, (struct bytes){(uint8_t *)data, size}, 0, INT64_MAX, &reason))
                find(c, !may_be_torn, name, -1, "%s", why);
            producers_free(&producers);
            free(data);
        }
    }
    offset_list_free(&list);
    return error;
}

static bool has_segment(const struct inspect_segments *segments, int64_t base_offset) {
    for (size_t i = 0; i < segments->count; i++)
        if (segments->items[i].base_offset == base_offset) return true;
    return false;
}

static bool is_between(const struct inspect_segments *segments, int64_t base_offset) {
    return segments->count > 0 && segments->items[0].base_offset < base_offset &&
           segments->items[segments->count - 1].base_offset > base_offset;
}

// While a broker runs, retention may be between the files of one segment.
static int check_orphans(struct verifying *c, const struct inspect_segments *segments) {
    struct name_list names;
    int error = name_list_read(c->v->host, c->partition->path, &names);
    for (size_t i = 0; i < names.count && !c->is_open && error == 0; i++) {
        int64_t base;
        struct str suffix;
        if (!file_name_parse(str_of(names.names[i]), &base, &suffix)) continue;
        bool is_index = str_is(suffix, ".index") || str_is(suffix, ".timeindex") || str_is(suffix, ".txnindex");
        if (!is_index || has_segment(segments, base)) continue;
        // Between two others, and after a clean stop: the log was removed by hand, as far as is known.
        bool is_lost = str_is(suffix, ".index") && is_between(segments, base);
        find(c, is_lost, names.names[i], -1, "there is no .log file beside it: %s",
             is_lost ? "the records of a segment are missing" : "the next start deletes it");
    }
    name_list_free(&names);
    return error;
}

static int check_topic_id(struct verifying *c) {
    char why[200];
    struct text reason = TEXT_IN(why);
    struct uuid id;
    int error = partition_metadata_read(c->v->host, c->partition->path, &id, &reason);
    if (error == -EINVAL) find(c, true, PARTITION_METADATA_FILE, -1, "%s", why);
    return error == -EINVAL || error == 0 ? 0 : unreadable(c, PARTITION_METADATA_FILE, error);
}

static void check_checkpoints(struct verifying *c, int64_t start_offset) {
    int64_t high_watermark = inspect_checkpoint(c->v->dir, CHECKPOINT_HIGH_WATERMARK, c->partition);
    if (c->next_offset < c->recovery_point)
        find(c, true, "", -1, "the log ends at offset %" PRId64 ", it was flushed up to %" PRId64, c->next_offset,
             c->recovery_point);
    if (c->next_offset < high_watermark)
        find(c, !c->is_open, "", -1, "the log ends at offset %" PRId64 ", the high watermark is %" PRId64,
             c->next_offset, high_watermark);
    int64_t log_start = inspect_checkpoint(c->v->dir, CHECKPOINT_LOG_START, c->partition);
    if (log_start > c->next_offset && log_start > start_offset)
        find(c, true, "", -1, "the log ends at offset %" PRId64 ", below its start %" PRId64, c->next_offset,
             log_start);
}

// ---- the partition
// -----------------------------------------------------------------------------------------------------------------
static int verify_segments(struct verifying *c, const struct inspect_segments *segments) {
    int error = 0;
    if (segments->count == 0) find(c, !c->is_open, "", -1, "no segment");
    for (size_t i = 0; i < segments->count && error == 0; i++) {
        c->is_last = i + 1 == segments->count;
        c->end_below = c->is_last ? INT64_MAX : segments->items[i + 1].base_offset;
        error = verify_segment(c, &segments->items[i]);
        if (error == 0 && !c->is_last && !c->is_partial && c->next_offset < c->end_below)
            find(c, false, c->log_name, -1,
                 "ends at offset %" PRId64 ", the next segment begins at %" PRId64 " (compaction, or a lost segment)",
                 c->next_offset, c->end_below);
    }
    if (error == 0 && segments->count > 0 && !c->is_partial) check_checkpoints(c, segments->items[0].base_offset);
    return error;
}

int inspect_verify_partition(struct inspect_verify *verify, const struct inspect_partition *partition) {
    struct verifying c = {.v = verify, .partition = partition, .last_epoch = -1};
    struct inspect_segments segments;
    c.is_open = !verify->dir->is_clean;
    c.recovery_point = max_i64(0, inspect_checkpoint(verify->dir, CHECKPOINT_RECOVERY_POINT, partition));
    epochs_init(&c.epochs);
    verify->totals.partitions++;
    int error = inspect_segments_read(verify->host, partition->path, &segments);
    if (error < 0) return error == -ENOENT && c.is_open ? 0 : error;
    error = read_epochs(&c);
    if (error == 0) error = verify_segments(&c, &segments);
    if (error == 0) error = check_snapshots(&c);
    if (error == 0) error = check_topic_id(&c);
    if (error == 0) error = check_orphans(&c, &segments);
    inspect_segments_free(&segments);
    epochs_free(&c.epochs);
    return error == -ENOENT && c.is_open ? 0 : error; // deleted while it was looked at
}
