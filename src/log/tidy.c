// SPDX-License-Identifier: Apache-2.0
// The first step of loading, in Kafka's order:
//   1. .deleted files go; the lowest offset among .cleaned files (compaction's unfinished output) is noted; .swap files
//      at or above it belong to the same unfinished work and go; then the .cleaned files go.
//   2. What is left of .swap files is finished output: every other file in the range of offsets that they cover goes,
//   and
//      then they lose their suffix.
//   3. Index files without a log go, and temporary files.
// Each step may be interrupted and is the same when it is done again; directory fsyncs keep the steps apart.
#include "base/assert.h"
#include "base/bits.h"
#include "log/dir_name.h"
#include "log/load.h"
#include "log/walk.h"
#include <errno.h>
#include <inttypes.h>

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), e = strlen(end);
    return n >= e && strcmp(name + n - e, end) == 0;
}

// The offset in a name like "00000000000000000042.log.swap", -1 if there is none.
static int64_t offset_of(const char *name) {
    int64_t offset;
    struct str suffix;
    return file_name_parse(str_of(name), &offset, &suffix) ? offset : -1;
}

static int64_t delete_file(struct loading *l, const char *name) {
    l->directory_changed = true;
    int error = file_delete(l->host, l->path, name);
    if (error < 0) loading_note(l, "%s: delete: %s", name, os_error_text(error));
    return error;
}

static int64_t sync_names(struct loading *l) {
    if (!l->directory_changed) return 0;
    int error = directory_sync(l->host, l->path);
    if (error < 0) loading_note(l, "fsync of the directory: %s", os_error_text(error));
    return error;
}

// Deletes each file for which wanted() holds.
static int64_t delete_where(struct loading *l, const struct name_list *names, const char *suffix, int64_t min_offset) {
    for (size_t i = 0; i < names->count; i++) {
        if (!ends_with(names->names[i], suffix)) continue;
        if (min_offset >= 0 && offset_of(names->names[i]) < min_offset) continue;
        int64_t error = delete_file(l, names->names[i]);
        if (error < 0) return error;
    }
    return 0;
}

static int64_t drop_unfinished(struct loading *l, const struct name_list *names) {
    int64_t min_cleaned = INT64_MAX;
    for (size_t i = 0; i < names->count; i++)
        if (ends_with(names->names[i], ".cleaned"))
            min_cleaned = min_i64(min_cleaned, max_i64(0, offset_of(names->names[i])));
    int64_t error = delete_where(l, names, ".deleted", -1);
    if (error == 0 && min_cleaned != INT64_MAX) error = delete_where(l, names, ".swap", min_cleaned);
    if (error == 0) error = sync_names(l); // before the files that tell which those were
    if (error == 0) error = delete_where(l, names, ".cleaned", -1);
    if (error == 0) error = delete_where(l, names, ".tmp", -1);
    return error;
}

// The offset behind the last batch of a log file.
static int64_t end_of_log_file(struct loading *l, const char *name, int64_t base_offset, int64_t *end_offset) {
    char path[FILES_PATH_MAX];
    struct os_stat stat;
    if (!path_join(path, l->path, name)) return -ENAMETOOLONG;
    int file = os_open(l->host, path, OS_READ);
    if (file < 0) return file;
    int error = os_stat_file(l->host, file, &stat);
    struct walk walk = {.host = l->host, .file = file, .end_position = stat.size_bytes, .next_offset = base_offset};
    enum walk_status status = WALK_BATCH;
    while (error == 0 && status == WALK_BATCH)
        status = walk_next(&walk);
    if (error == 0 && status == WALK_FAILED) error = walk.error;
    if (error == 0 && status == WALK_DAMAGED) {
        loading_note(l, "%s: %s", name, walk.reason);
        error = LOADING_CORRUPT;
    }
    *end_offset = walk.next_offset;
    walk_close(&walk);
    os_close(l->host, file);
    return error;
}

// The range of offsets that the swapped logs cover: [*begin, *end), empty if there are none.
static int64_t find_swapped(struct loading *l, const struct name_list *names, int64_t *begin, int64_t *end) {
    *begin = INT64_MAX;
    *end = INT64_MIN;
    for (size_t i = 0; i < names->count; i++) {
        int64_t base = offset_of(names->names[i]), last;
        if (base < 0 || !ends_with(names->names[i], ".log.swap")) continue;
        int64_t error = end_of_log_file(l, names->names[i], base, &last);
        if (error < 0) return error;
        *begin = min_i64(*begin, base);
        *end = max_i64(*end, last);
    }
    return 0;
}

static int64_t finish_swap(struct loading *l, const struct name_list *names) {
    int64_t begin, end;
    int64_t error = find_swapped(l, names, &begin, &end);
    for (size_t i = 0; i < names->count && error == 0; i++) {
        int64_t offset = offset_of(names->names[i]);
        if (offset >= begin && offset < end && !ends_with(names->names[i], ".swap"))
            error = delete_file(l, names->names[i]);
    }
    if (error == 0) error = sync_names(l);
    for (size_t i = 0; i < names->count && error == 0; i++) {
        char final[DIR_NAME_BYTES_MAX + 1];
        size_t length = strlen(names->names[i]);
        if (!ends_with(names->names[i], ".swap") || length >= sizeof final) continue;
        memcpy(final, names->names[i], length + 1);
        final[length - strlen(".swap")] = '\0';
        error = file_rename(l->host, l->path, names->names[i], final);
        l->directory_changed = true;
        if (error < 0) loading_note(l, "%s: rename: %s", names->names[i], os_error_text((int)error));
    }
    return error;
}

// An index without its log between segments that are there: no crash of ours leaves it, so that somebody has removed
// the log. (A Kafka that was killed while it truncated may leave one; the records are missing all the same.)
static void note_orphan(struct loading *l, const struct name_list *names, int64_t base_offset) {
    bool is_above = false, is_below = false;
    for (size_t i = 0; i < names->count; i++) {
        int64_t offset;
        struct str suffix;
        if (!file_name_parse(str_of(names->names[i]), &offset, &suffix) || !str_is(suffix, ".log")) continue;
        is_above = is_above || offset < base_offset;
        is_below = is_below || offset > base_offset;
    }
    if (is_above && is_below)
        loading_note(l, "%020" PRId64 ".log is missing, though it has an index: its records are lost", base_offset);
}

static int64_t drop_orphans(struct loading *l, const struct name_list *names) {
    for (size_t i = 0; i < names->count; i++) {
        int64_t offset;
        struct str suffix;
        if (!file_name_parse(str_of(names->names[i]), &offset, &suffix)) continue;
        if (!str_is(suffix, ".index") && !str_is(suffix, ".timeindex") && !str_is(suffix, ".txnindex")) continue;
        if (loading_has_file(l, offset, ".log")) continue;
        if (str_is(suffix, ".index")) note_orphan(l, names, offset);
        int64_t error = delete_file(l, names->names[i]);
        if (error < 0) return error;
    }
    return 0;
}

static int64_t read_names(struct loading *l) {
    name_list_free(&l->names);
    int error = name_list_read(l->host, l->path, &l->names);
    if (error < 0) loading_note(l, "listing: %s", os_error_text(error));
    return error;
}

bool loading_has_file(const struct loading *l, int64_t base_offset, const char *suffix) {
    char name[48];
    struct text t = TEXT_IN(name);
    text_addf(&t, "%020" PRId64 "%s", base_offset, suffix);
    ASSERT(!t.truncated);
    return name_list_has(&l->names, name);
}

int64_t loading_tidy(struct loading *l) {
    static int64_t (*const steps[])(struct loading *, const struct name_list *) = {drop_unfinished, finish_swap,
                                                                                   drop_orphans};
    int64_t error = read_names(l);
    for (size_t i = 0; i < ARRAY_LENGTH(steps) && error == 0; i++) {
        bool changed_before = l->directory_changed;
        l->directory_changed = false;
        error = steps[i](l, &l->names);
        if (error == 0 && l->directory_changed) error = read_names(l);
        l->directory_changed = l->directory_changed || changed_before;
    }
    return error;
}
