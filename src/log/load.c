// SPDX-License-Identifier: Apache-2.0
// From the files of a partition to a log, or from nothing to a new one. Offloaded; the log belongs to nobody else yet.
//
//   create:  directory -> partition.metadata -> first segment -> fsync of the directory and of its parent
//   load:    topic id -> tidy up after a crash -> epochs -> segments: clean, or recovered from the recovery point
//            -> start and end -> epochs, snapshots -> fsync of the directory
//
// What may go wrong: I/O (the directory fails, but for a full disk or too many open files); a topic id that is not the
// one asked for; damage that nothing may be cut for (class fsync): only this partition is offline then.
#include "log/load.h"
#include "base/bits.h"
#include "log/dir_name.h"
#include "log/partition_metadata.h"
#include "os/shortage.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const EPOCH_FILE = "leader-epoch-checkpoint";
enum { EPOCH_FILE_BYTES_MAX = 64 << 20, TOPIC_ID_DIFFERS = -1000003 };

void loading_note(struct loading *l, const char *format, ...) {
    char note[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    text_addf(&l->reason, "%s%s", l->reason.size ? "; " : "", note);
}

// ---- the topic's id
// ---------------------------------------------------------------------------------------------------------------------
static int64_t check_topic_id(struct loading *l) {
    struct uuid found, wanted = l->load->topic_id;
    char why[160];
    struct text reason = TEXT_IN(why);
    int error = partition_metadata_read(l->host, l->path, &found, &reason);
    if (error == -EINVAL) {
        loading_note(l, PARTITION_METADATA_FILE ": %s", why);
        return LOADING_CORRUPT;
    }
    if (error < 0) return error;
    if (!uuid_is_zero(found) && !uuid_is_zero(wanted) && !uuid_equal(found, wanted)) {
        char found_text[UUID_TEXT_SIZE + 1], wanted_text[UUID_TEXT_SIZE + 1];
        uuid_print(found, found_text);
        uuid_print(wanted, wanted_text);
        loading_note(l, PARTITION_METADATA_FILE ": the files are of topic id %s, the topic has %s", found_text,
                     wanted_text);
        return TOPIC_ID_DIFFERS;
    }
    if (uuid_is_zero(found) && !uuid_is_zero(wanted)) {
        error = partition_metadata_write(l->host, l->path, wanted);
        if (error < 0) return error;
        found = wanted;
    }
    l->log->topic_id = found;
    return 0;
}

// ---- segments
// ---------------------------------------------------------------------------------------------------------------------------
// The partition's directory may be a link, or something may be mounted there.
static void look_where_it_is(struct loading *l, const struct os_stat *segment) {
    if (segment->device != l->load->dir->device) l->log->is_elsewhere = true;
}

static int64_t add_empty_segment(struct loading *l, int64_t base_offset) {
    uint64_t allocate_bytes = log_initial_file_bytes(l->log);
    int file = segment_create_files(l->host, l->path, base_offset, allocate_bytes);
    if (file < 0) return file;
    struct os_stat stat;
    int error = os_stat_file(l->host, file, &stat);
    os_close(l->host, file);
    if (error < 0) return error;
    look_where_it_is(l, &stat);
    struct segment *segment = segment_new(base_offset);
    segment->modified_ms = l->now_ms;
    segment->indexes_durable = true;
    segment->preallocated = allocate_bytes > 0;
    log_add_segment(l->log, segment);
    l->log->end_offset = base_offset;
    l->directory_changed = true;
    return 0;
}

// Something of the segment's indexes is missing or cannot be right: everything from it on is checked.
static void distrust(struct loading *l, int64_t base_offset, const char *why) {
    loading_note(l, "%020" PRId64 "%s: the segment is recovered", base_offset, why);
    l->recovery_point = min_i64(l->clean ? INT64_MAX : l->recovery_point, base_offset);
    l->clean = false;
}

// As Kafka, before anything is trusted: one that cannot be right is built again, and cannot be without all that
// follows.
static int64_t check_aborted(struct loading *l, struct segment *segment) {
    char why[200];
    struct text ignored = TEXT_IN(why);
    segment->aborted_file = loading_has_file(l, segment->base_offset, ".txnindex");
    int error = segment_read_aborted(l->host, l->path, segment, &ignored);
    if (error == -EINVAL) distrust(l, segment->base_offset, ".txnindex cannot be right");
    txn_index_free(&segment->aborted);
    return error == -EINVAL ? 0 : error;
}

static int64_t add_segment(struct loading *l, int64_t base_offset) {
    char path[LOG_PATH_BYTES_MAX];
    struct os_stat stat;
    if (!segment_path(path, l->path, base_offset, ".log")) return -ENAMETOOLONG;
    int error = os_stat(l->host, path, &stat);
    if (error < 0) return error;
    look_where_it_is(l, &stat);
    struct segment *segment = segment_new(base_offset);
    segment->size_bytes = stat.size_bytes;
    segment->modified_ms = stat.modified_ms;
    log_add_segment(l->log, segment);
    if (!loading_has_file(l, base_offset, ".index")) distrust(l, base_offset, ".index is missing");
    error = (int)check_aborted(l, segment);
    if (error < 0) return error;
    if (loading_has_file(l, base_offset, ".timeindex")) return 0;
    if (!segment_path(path, l->path, base_offset, ".timeindex")) return -ENAMETOOLONG;
    int file = os_open(l->host, path, OS_WRITE | OS_CREATE); // as Kafka: an empty one
    if (file < 0) return file;
    l->directory_changed = true;
    return os_close(l->host, file);
}

static int64_t add_segments(struct loading *l) {
    for (size_t i = 0; i < l->names.count; i++) {
        int64_t offset, error = 0;
        struct str suffix;
        if (!file_name_parse(str_of(l->names.names[i]), &offset, &suffix)) continue;
        if (str_is(suffix, ".log")) error = add_segment(l, offset);
        if (error < 0) return error;
    }
    return 0;
}

// ---- epochs and snapshots
// ------------------------------------------------------------------------------------------------------------
static int64_t read_epochs(struct loading *l) {
    char path[FILES_PATH_MAX], why[160], *data;
    size_t size;
    struct text reason = TEXT_IN(why);
    if (!path_join(path, l->path, EPOCH_FILE)) return -ENAMETOOLONG;
    int error = file_read_all(l->host, path, EPOCH_FILE_BYTES_MAX, &data, &size);
    if (error == -ENOENT) return 0;
    if (error < 0) return error;
    l->rebuild_epochs = !epochs_decode(&l->log->epochs, (struct str){data, size}, &reason);
    free(data);
    if (l->rebuild_epochs) loading_note(l, "%s: %s; it was rebuilt from the log", EPOCH_FILE, why);
    return 0;
}

static bool same_epoch(struct epoch_entry a, struct epoch_entry b) {
    return a.epoch == b.epoch && a.start_offset == b.start_offset;
}

// Whether the file tells the same of this epoch. The first one's start goes up with the log's start.
static bool file_has_epoch(const struct epochs *in_file, struct epoch_entry entry, bool is_first) {
    for (size_t i = 0; i < in_file->count; i++)
        if (in_file->entries[i].epoch == entry.epoch)
            return in_file->entries[i].start_offset == entry.start_offset ||
                   (is_first && in_file->entries[i].start_offset < entry.start_offset);
    return false;
}

// The file has to hold every epoch of the batches below the recovery point, which is about to move to the end. What it
// has besides is cut off again whenever it is read, so entries that only went are no reason to write it.
static int64_t write_epochs(struct loading *l, const struct epochs *in_file) {
    struct epochs *epochs = &l->log->epochs;
    bool holds_all = !l->rebuild_epochs, is_same = epochs->count == in_file->count;
    for (size_t i = 0; i < epochs->count; i++) {
        holds_all = holds_all && file_has_epoch(in_file, epochs->entries[i], i == 0);
        is_same = is_same && same_epoch(epochs->entries[i], in_file->entries[i]);
    }
    if (holds_all) {
        if (is_same) epochs->written_version = epochs->version;
        return 0;
    }
    size_t size;
    char *text = epochs_encode(epochs, &size);
    int error = file_replace(l->host, l->path, EPOCH_FILE, text, size);
    free(text);
    if (error == 0) epochs->written_version = epochs->version;
    return error;
}

static int64_t finish_snapshots(struct loading *l) {
    struct log *log = l->log;
    struct producers *producers = &log->producers;
    struct offset_list bases = {0};
    int64_t error = 0;
    for (size_t i = 0; i < log->segment_count; i++)
        offset_list_add(&bases, log->segments[i]->base_offset);
    if (l->clean && !l->had_snapshot) { // as Kafka, so that a later truncation finds something to begin from
        for (size_t i = bases.count > 2 ? bases.count - 2 : 0; i < bases.count && error == 0; i++)
            if (bases.offsets[i] > log->start_offset)
                error = snapshot_write(l->host, l->path, bases.offsets[i], producers, true);
    }
    if (error == 0 && log->end_offset > log->start_offset && producers->snapshot_offset < log->end_offset) {
        error = snapshot_write(l->host, l->path, log->end_offset, producers, true);
        l->directory_changed = true;
    }
    struct offset_list list = {0};
    if (error == 0 && l->directory_changed)
        error = snapshot_list(l->host, l->path, &list);
    else
        snapshot_pick(&l->names, &list);
    if (error == 0) error = snapshot_delete_strays(l->host, l->path, &list, &bases, log->start_offset, log->end_offset);
    offset_list_free(&list);
    offset_list_free(&bases);
    return error;
}

// ---- start and end
// ----------------------------------------------------------------------------------------------------------------------
// Files were lost: all that is left lies below the log start. Nothing of it is wanted.
static int64_t start_over(struct loading *l) {
    struct log *log = l->log;
    int64_t start = l->load->log_start_offset;
    loading_note(l, "the log ended at offset %" PRId64 ", below its start: it begins again at %" PRId64,
                 log->end_offset, start);
    while (log->segment_count > 0) {
        struct segment *last = log->segments[log->segment_count - 1];
        int64_t error = loading_delete_segment(l, last->base_offset);
        if (error < 0) return error;
        segment_free(last);
        log->segment_count--;
    }
    epochs_clear(&log->epochs);
    producers_clear(&log->producers);
    producers_set_log_start(&log->producers, start);
    log->producers.snapshot_offset = -1;
    return add_empty_segment(l, start);
}

static void copy_epochs(const struct epochs *from, struct epochs *to) {
    epochs_init(to);
    for (size_t i = 0; i < from->count; i++)
        epochs_assign(to, from->entries[i].epoch, from->entries[i].start_offset);
}

// The first entry of the file begins where the log began when it was written, and a crash may have taken that start
// back: what lies before the entry says itself of which epoch it is. Damage there is for those who read it.
static int64_t refill_epochs(struct loading *l) {
    struct log *log = l->log;
    struct epochs known, *epochs = &log->epochs;
    if (l->clean || epochs->count == 0 || epochs->entries[0].start_offset <= log->start_offset) return 0;
    const struct segment *first = log->segments[loading_segment_of(l, log->start_offset)];
    copy_epochs(epochs, &known);
    epochs_clear(epochs);
    int64_t error = loading_replay(l, INT64_MAX, first->base_offset, known.entries[0].start_offset);
    for (size_t i = 0; i < known.count; i++)
        epochs_assign(epochs, known.entries[i].epoch, known.entries[i].start_offset);
    epochs_free(&known);
    return error == LOADING_AGAIN ? 0 : error;
}

static int64_t finish(struct loading *l, const struct epochs *epochs_in_file) {
    struct log *log = l->log;
    int64_t error = 0;
    if (log->end_offset < l->load->log_start_offset) error = start_over(l);
    if (error < 0) return error;
    log->start_offset = loading_log_start(l);
    ASSERT(log->start_offset <= log->end_offset);
    log->high_watermark = min_i64(max_i64(l->load->high_watermark, log->start_offset), log->end_offset);
    producers_set_high_watermark(&log->producers, log->high_watermark);
    epochs_truncate_end(&log->epochs, log->end_offset);
    error = refill_epochs(l);
    epochs_truncate_start(&log->epochs, log->start_offset);
    if (error == 0) error = write_epochs(l, epochs_in_file);
    if (error == 0) error = finish_snapshots(l);
    // After a kill, names that are seen may not be durable yet (a roll was under way): they are about to be relied on.
    if (error == 0 && (l->directory_changed || !l->load->clean)) error = directory_sync(l->host, l->path);
    log->flushed_end = log->end_offset;
    log->recovery_point = log->end_offset;
    // A clean stop made it durable, or it was written and fsynced just now.
    if (l->clean) log->durable_snapshot = log->producers.snapshot_offset;
    return error;
}

// ---- loading
// ----------------------------------------------------------------------------------------------------------------------------
static int64_t load_segments(struct loading *l) {
    struct log *log = l->log;
    int64_t error = add_segments(l);
    if (error < 0) return error;
    if (log->segment_count > 0) return l->clean ? loading_open_clean(l) : loading_recover(l);
    int64_t start = max_i64(0, l->load->log_start_offset);
    if (!loading_would_lose(l, start)) return add_empty_segment(l, start);
    loading_note(l,
                 "there is no segment, but the log was durable up to offset %" PRId64 " and committed up to %" PRId64,
                 l->load->recovery_point, l->load->high_watermark);
    return LOADING_CORRUPT;
}

static struct log *make_log(struct loading *l) {
    struct log_load *load = l->load;
    struct log *log = log_new(load->topic, load->partition);
    log->dir = load->dir;
    log->path = strdup(l->path);
    ASSERT(log->path != NULL);
    log->config = load->config;
    log->durable = load->durable;
    log->producer_expiration_ms = load->producer_expiration_ms;
    log->topic_id = load->topic_id;
    log->producers.hash_seed = os_host_random(l->host);
    return log;
}

static int64_t attempt(struct loading *l) {
    if (l->log) log_free(l->log);
    l->log = make_log(l);
    l->rebuild_epochs = l->had_snapshot = false;
    struct epochs in_file = {0};
    int64_t error = check_topic_id(l);
    if (error == 0) error = loading_tidy(l);
    if (error == 0) error = read_epochs(l);
    if (error == 0) copy_epochs(&l->log->epochs, &in_file);
    if (error == 0) error = load_segments(l);
    if (error == 0) error = finish(l, &in_file);
    epochs_free(&in_file);
    return error;
}

// Trusts as much as it may at first, then less: the clean marker, then the recovery point.
static int64_t load_existing(struct loading *l) {
    int64_t checkpointed = max_i64(0, l->load->recovery_point);
    l->clean = l->load->clean;
    l->recovery_point = l->clean ? INT64_MAX : checkpointed;
    int64_t error = attempt(l);
    if (error == LOADING_AGAIN && l->clean) {
        l->clean = false;
        l->recovery_point = checkpointed;
        error = attempt(l);
    }
    if (error != LOADING_AGAIN) return error;
    if (l->load->durable) {
        loading_note(l, "that is below offset %" PRId64 ", up to which the log was durable: restore the file",
                     checkpointed);
        return LOADING_CORRUPT;
    }
    l->clean = false;
    l->recovery_point = 0;
    error = attempt(l);
    ASSERT(error != LOADING_AGAIN);
    return error;
}

// ---- creating
// ----------------------------------------------------------------------------------------------------------------------------
static int64_t fill_new_directory(struct loading *l) {
    int error = 0;
    if (!uuid_is_zero(l->load->topic_id)) error = partition_metadata_write(l->host, l->path, l->load->topic_id);
    int64_t start = max_i64(0, l->load->log_start_offset);
    if (error == 0) error = (int)add_empty_segment(l, start);
    if (error == 0) error = directory_sync(l->host, l->path);
    if (error == 0) error = directory_sync(l->host, l->load->dir->path);
    l->log->start_offset = l->log->flushed_end = l->log->high_watermark = l->log->recovery_point = start;
    return error;
}

static int64_t create(struct loading *l) {
    l->log = make_log(l);
    int64_t error = os_mkdir(l->host, l->path);
    if (error == -EEXIST) {
        loading_note(l, "the directory %s exists already", l->path);
        return LOADING_CORRUPT;
    }
    if (error < 0) return error;
    error = fill_new_directory(l);
    if (error < 0) directory_delete(l->host, l->path); // so that it can be tried again
    return error;
}

// ---- the whole
// --------------------------------------------------------------------------------------------------------------------------
static int16_t conclude(struct loading *l, int64_t error) {
    if (error == 0) return KAFKA_ERROR_NONE;
    if (l->log) log_free(l->log);
    l->log = NULL;
    if (error == TOPIC_ID_DIFFERS) return KAFKA_ERROR_INCONSISTENT_TOPIC_ID;
    ASSERT(error != LOADING_AGAIN);
    if (error == LOADING_CORRUPT) return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    loading_note(l, "%s: %s", l->path, os_error_text((int)error));
    if (!os_is_shortage(error)) log_dir_fail(l->load->dir, l->path, (int)error);
    return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
}

int64_t log_load_run(struct os_host *host, void *log_load) {
    struct log_load *load = log_load;
    char name[DIR_NAME_BYTES_MAX + 1], path[FILES_PATH_MAX];
    struct loading l = {
        .host = host, .load = load, .reason = TEXT_IN(load->reason), .path = path, .now_ms = os_host_wall_ms(host)};
    load->log = NULL;
    load->cut_bytes = load->recovered_bytes = 0;
    dir_name_print(name, load->topic, load->partition);
    int64_t error = path_join(path, load->dir->path, name) ? 0 : -ENAMETOOLONG;
    if (error == 0) error = load->create ? create(&l) : load_existing(&l);
    name_list_free(&l.names);
    int16_t code = conclude(&l, error);
    load->log = l.log;
    ASSERT((code == KAFKA_ERROR_NONE) == (load->log != NULL));
    return code;
}
