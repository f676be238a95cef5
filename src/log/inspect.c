// SPDX-License-Identifier: Apache-2.0
// Listing. A broker may be running: files that are listed may be gone a moment later, which is no error.
#include "log/inspect.h"
#include "base/assert.h"
#include "base/bits.h"
#include "log/files.h"
#include "log/segment.h"
#include "log/walk.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { SMALL_FILE_BYTES_MAX = 64 << 20 };

static void report(const struct inspect_listener *listener, const char *directory, const char *file, const char *text) {
    struct inspect_finding finding = {
        .is_damage = true, .directory = directory, .file = file, .byte = -1, .text = text};
    listener->finding(listener->context, &finding);
}

static void report_unreadable(const struct inspect_listener *listener, const char *directory, const char *file,
                              int error) {
    listener->unreadable(listener->context, directory, file, error);
}

// ---- the log directory
// -------------------------------------------------------------------------------------------------------------
static void add_partition(struct inspect_dir *dir, const char *path, const char *name, enum dir_kind kind) {
    if (dir->count == dir->capacity) {
        dir->capacity = dir->capacity ? dir->capacity * 2 : 16;
        dir->partitions = realloc(dir->partitions, dir->capacity * sizeof *dir->partitions);
        ASSERT(dir->partitions != NULL);
    }
    struct inspect_partition *p = &dir->partitions[dir->count++];
    *p = (struct inspect_partition){.path = strdup(path), .name = strdup(name), .kind = kind};
    ASSERT(p->path != NULL);
    ASSERT(p->name != NULL);
    dir_name_parse(str_of(p->name), &p->topic, &p->partition);
}

static int read_small(struct os_host *host, const char *directory, const char *name, char **data, size_t *size) {
    char path[FILES_PATH_MAX];
    if (!path_join(path, directory, name)) return -ENAMETOOLONG;
    return file_read_all(host, path, SMALL_FILE_BYTES_MAX, data, size);
}

static void read_checkpoints(struct os_host *host, struct inspect_dir *dir, const struct inspect_listener *listener) {
    for (int kind = CHECKPOINT_RECOVERY_POINT; kind <= CHECKPOINT_CLEANER; kind++) {
        const char *name = checkpoint_file_name(kind);
        char why[200], *data;
        size_t size;
        struct text reason = TEXT_IN(why);
        int error = read_small(host, dir->path, name, &data, &size);
        if (error < 0 && error != -ENOENT) report_unreadable(listener, dir->path, name, error);
        if (error < 0) continue;
        if (!checkpoint_parse((struct str){data, size}, &dir->checkpoints[kind], &reason))
            report(listener, dir->path, name, why);
        free(data);
        checkpoint_sort(&dir->checkpoints[kind]);
    }
}

static void read_meta(struct os_host *host, struct inspect_dir *dir, const struct inspect_listener *listener) {
    char why[256], *data;
    size_t size;
    struct text reason = TEXT_IN(why);
    dir->meta.broker_id = -1;
    int error = read_small(host, dir->path, LOG_DIR_META, &data, &size);
    if (error < 0 && error != -ENOENT) report_unreadable(listener, dir->path, LOG_DIR_META, error);
    if (error < 0) return;
    if (!meta_parse((struct str){data, size}, &dir->meta, &reason)) report(listener, dir->path, LOG_DIR_META, why);
    free(data);
}

static int read_names(struct os_host *host, struct inspect_dir *dir, const struct inspect_listener *listener) {
    struct name_list names;
    int error = name_list_read(host, dir->path, &names);
    for (size_t i = 0; i < names.count && error == 0; i++) {
        char path[FILES_PATH_MAX];
        struct os_stat stat;
        struct str topic;
        int32_t partition;
        if (!path_join(path, dir->path, names.names[i])) error = -ENAMETOOLONG;
        if (error < 0 || os_stat(host, path, &stat) < 0 || !stat.is_directory) continue;
        enum dir_kind kind = dir_name_parse(str_of(names.names[i]), &topic, &partition);
        if (kind == DIR_UNKNOWN)
            report(listener, dir->path, names.names[i], "a directory that is no partition: brokers refuse to start");
        else if (kind != DIR_FOREIGN)
            add_partition(dir, path, names.names[i], kind);
    }
    name_list_free(&names);
    return error;
}

static int compare_names(const void *name, const void *partition) {
    return strcmp(name, ((const struct inspect_partition *)partition)->name);
}

// A broker that stops writes a line for each partition that it has. (One that runs may be deleting some.)
static void look_for_lost_partitions(const struct inspect_dir *dir, const struct inspect_listener *listener) {
    const struct checkpoint *c = &dir->checkpoints[CHECKPOINT_RECOVERY_POINT];
    for (size_t i = 0; i < c->count && dir->is_clean; i++) {
        char name[300], why[400];
        struct text n = TEXT_IN(name), t = TEXT_IN(why);
        text_addf(&n, "%s-%" PRId32, c->entries[i].topic, c->entries[i].partition);
        if (dir->count > 0 && bsearch(name, dir->partitions, dir->count, sizeof *dir->partitions, compare_names))
            continue;
        text_addf(&t, "names %s, which has no directory here", name);
        const struct inspect_finding finding = {
            .directory = dir->path, .file = checkpoint_file_name(CHECKPOINT_RECOVERY_POINT), .byte = -1, .text = why};
        listener->finding(listener->context, &finding);
    }
}

static void read_small_files(struct os_host *host, struct inspect_dir *dir, const struct inspect_listener *listener) {
    read_checkpoints(host, dir, listener);
    read_meta(host, dir, listener);
    dir->is_clean = file_exists(host, dir->path, LOG_DIR_CLEAN_MARKER);
}

static bool is_of_broker(const char *name) {
    if (strcmp(name, LOG_DIR_META) == 0 || strcmp(name, LOG_DIR_CLEAN_MARKER) == 0) return true;
    for (int kind = CHECKPOINT_RECOVERY_POINT; kind <= CHECKPOINT_CLEANER; kind++)
        if (strcmp(name, checkpoint_file_name(kind)) == 0) return true;
    return false;
}

// Other directories may be called something-2 too: only a segment makes it one.
static bool is_partition_with_segment(struct os_host *host, const char *directory, const char *name) {
    char path[FILES_PATH_MAX];
    struct str topic;
    int32_t partition;
    enum dir_kind kind = dir_name_parse(str_of(name), &topic, &partition);
    if (kind == DIR_UNKNOWN || kind == DIR_FOREIGN || !path_join(path, directory, name)) return false;
    struct inspect_segments segments;
    if (inspect_segments_read(host, path, &segments) < 0) return false;
    bool has_segment = segments.count > 0;
    inspect_segments_free(&segments);
    return has_segment;
}

int inspect_is_log_dir(struct os_host *host, const char *path) {
    struct name_list names;
    int error = name_list_read(host, path, &names);
    if (error < 0) return error;
    bool is_one = false;
    for (size_t i = 0; i < names.count && !is_one; i++)
        is_one = is_of_broker(names.names[i]);
    for (size_t i = 0; i < names.count && !is_one; i++)
        is_one = is_partition_with_segment(host, path, names.names[i]);
    name_list_free(&names);
    return is_one;
}

int inspect_dir_read(struct os_host *host, const char *path, struct inspect_dir *dir,
                     const struct inspect_listener *listener) {
    *dir = (struct inspect_dir){.path = strdup(path)};
    ASSERT(dir->path != NULL);
    read_small_files(host, dir, listener);
    int error = read_names(host, dir, listener);
    if (error == 0)
        look_for_lost_partitions(dir, listener);
    else
        inspect_dir_free(dir);
    return error;
}

// "a/b/" and "a/b" -> "a" and "b"; "b" -> "." and "b".
static void split_path(const char *path, char parent[static FILES_PATH_MAX], char name[static FILES_PATH_MAX]) {
    struct text p = text_in(parent, FILES_PATH_MAX), n = text_in(name, FILES_PATH_MAX);
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    text_add(&n, (struct str){path + begin, end - begin});
    size_t parent_end = begin > 1 ? begin - 1 : begin;
    text_add(&p, begin == 0 ? str_of(".") : (struct str){path, parent_end});
}

int inspect_dir_of_partition(struct os_host *host, const char *path, struct inspect_dir *dir,
                             const struct inspect_listener *listener) {
    char parent[FILES_PATH_MAX], name[FILES_PATH_MAX];
    struct str topic;
    int32_t partition;
    split_path(path, parent, name);
    enum dir_kind kind = dir_name_parse(str_of(name), &topic, &partition);
    if (kind == DIR_UNKNOWN || kind == DIR_FOREIGN) return -EINVAL;
    *dir = (struct inspect_dir){.path = strdup(parent)};
    ASSERT(dir->path != NULL);
    read_small_files(host, dir, listener);
    add_partition(dir, path, name, kind);
    return 0;
}

void inspect_dir_free(struct inspect_dir *dir) {
    for (size_t i = 0; i < dir->count; i++) {
        free(dir->partitions[i].path);
        free(dir->partitions[i].name);
    }
    for (int kind = CHECKPOINT_RECOVERY_POINT; kind <= CHECKPOINT_CLEANER; kind++)
        checkpoint_free(&dir->checkpoints[kind]);
    free(dir->partitions);
    free(dir->path);
    *dir = (struct inspect_dir){0};
}

int64_t inspect_checkpoint(const struct inspect_dir *dir, enum checkpoint_kind kind,
                           const struct inspect_partition *partition) {
    char topic[256];
    struct text t = TEXT_IN(topic);
    text_add(&t, partition->topic);
    const struct checkpoint_entry *entry = checkpoint_find(&dir->checkpoints[kind], topic, partition->partition);
    return entry && partition->kind == DIR_PARTITION ? entry->offset : -1;
}

// ---- segments
// -----------------------------------------------------------------------------------------------------------------------
int inspect_segments_read(struct os_host *host, const char *path, struct inspect_segments *segments) {
    struct name_list names;
    *segments = (struct inspect_segments){0};
    int error = name_list_read(host, path, &names);
    if (error < 0) return error;
    segments->items = calloc(names.count + 1, sizeof *segments->items);
    ASSERT(segments->items != NULL);
    for (size_t i = 0; i < names.count; i++) {
        char file[FILES_PATH_MAX];
        struct os_stat stat;
        int64_t base;
        struct str suffix;
        if (!file_name_parse(str_of(names.names[i]), &base, &suffix) || !str_is(suffix, ".log")) continue;
        if (!path_join(file, path, names.names[i])) continue;
        int missing =
            os_stat(host, file, &stat); // deleted meanwhile, or a link that leads nowhere: opening it will tell
        segments->items[segments->count++] = (struct inspect_segment){.base_offset = base,
                                                                      .size_bytes = missing ? 0 : stat.size_bytes,
                                                                      .end_offset = base,
                                                                      .first_timestamp_ms = -1,
                                                                      .max_timestamp_ms = -1};
    }
    name_list_free(&names);
    return 0;
}

void inspect_segments_free(struct inspect_segments *segments) {
    free(segments->items);
    *segments = (struct inspect_segments){0};
}

// The last index entry that points into the file, if there is a good index: where to begin. Fills max_timestamp_ms.
static uint64_t begin_position(struct os_host *host, const char *path, struct inspect_segment *segment) {
    struct segment *s = segment_new(segment->base_offset);
    char why[200];
    struct text ignored = TEXT_IN(why);
    s->size_bytes = segment->size_bytes;
    uint64_t position = 0;
    if (segment_read_indexes(host, path, s, &ignored) == 0) {
        if (s->index.count > 0) position = (uint64_t)s->index.entries[s->index.count - 1].position;
        if (s->time_index.count > 0)
            segment->max_timestamp_ms = s->time_index.entries[s->time_index.count - 1].timestamp_ms;
    }
    segment_free(s);
    return position;
}

static enum walk_status walk_to_end(struct walk *walk, struct inspect_segment *segment) {
    enum walk_status status;
    while ((status = walk_next(walk)) == WALK_BATCH) {
        segment->end_offset = walk->next_offset;
        segment->max_timestamp_ms = max_i64(segment->max_timestamp_ms, walk->batch.max_timestamp);
    }
    segment->tail_bytes = walk->end_position - walk->position;
    return status;
}

int inspect_segment_fill(struct os_host *host, const char *path, struct inspect_segment *segment) {
    char file_path[LOG_PATH_BYTES_MAX];
    if (!segment_path(file_path, path, segment->base_offset, ".log")) return -ENAMETOOLONG;
    int file = os_open(host, file_path, OS_READ);
    if (file < 0) return file;
    struct walk walk = {
        .host = host, .file = file, .end_position = segment->size_bytes, .next_offset = segment->base_offset};
    enum walk_status status = walk_next(&walk);
    if (status == WALK_BATCH) segment->first_timestamp_ms = walk.batch.base_timestamp;
    walk.position = begin_position(host, path, segment);
    walk.next_offset = segment->base_offset;
    if (status != WALK_FAILED) status = walk_to_end(&walk, segment);
    if (status == WALK_DAMAGED && segment->end_offset == segment->base_offset && walk.position > 0) {
        walk.position = 0; // the index led astray
        walk.next_offset = segment->base_offset;
        status = walk_to_end(&walk, segment);
    }
    int error = status == WALK_FAILED ? walk.error : 0;
    walk_close(&walk);
    os_close(host, file);
    return error;
}
