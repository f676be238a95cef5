// SPDX-License-Identifier: Apache-2.0
// Opening a log directory: make it, lock it, whose is it (meta.properties), what is in it (names, checkpoints), was the
// last stop clean, and only then anything is changed: interrupted deletions are finished and the marker is removed,
// which is made durable before a log is loaded; so is, if the stop was not clean, what a killed process has left.
//
// What may go wrong: an error of the disk; another process has the lock; foreign ids; a directory that no broker has
// made (Kafka refuses it, as it may be somebody's data); a damaged high watermark checkpoint. A damaged recovery point
// or log start checkpoint costs time only: it is taken for missing, and *reason says so. *reason also names a partition
// that the recovery points know and that is neither there nor in another directory of the broker.
#include "log/log_dir.h"
#include "base/assert.h"
#include "log/checkpoint.h"
#include "log/dir_name.h"
#include "log/files.h"
#include "log/meta.h"
#include "os/shortage.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const LOCK_FILE = ".lock";
enum { META_FILE_BYTES_MAX = 1 << 20 };

// While a directory is opened.
struct opening {
    struct os_host *host;
    struct log_dir_open *open;
    struct log_dir *dir;
    struct text reason;
    struct name_list names; // everything in it
    size_t partition_capacity;
    bool is_foreign; // it works, but it is not this broker's
};

static int64_t explain(struct opening *o, const char *what, int64_t error) {
    ASSERT(error < 0);
    if (o->reason.size == 0)
        text_addf(&o->reason, "log directory %s: %s: %s", o->open->path, what, os_error_text((int)error));
    return error;
}

// ---- lock and ids
// --------------------------------------------------------------------------------------------------------------------
static int64_t open_lock(struct opening *o) {
    char path[FILES_PATH_MAX];
    if (!path_join(path, o->dir->path, LOCK_FILE)) return explain(o, "path", -ENAMETOOLONG);
    o->dir->lock_file = os_open(o->host, path, OS_READ | OS_WRITE | OS_CREATE);
    if (o->dir->lock_file < 0) return explain(o, LOCK_FILE, o->dir->lock_file);
    int error = os_lock(o->host, o->dir->lock_file);
    if (error == -EAGAIN) {
        o->is_foreign = true;
        text_addf(&o->reason,
                  "log directory %s is in use by another process, or is in log.dirs twice under two names (there is a "
                  "lock on %s)",
                  o->dir->path, path);
    }
    struct os_stat stat;
    if (error == 0) error = os_stat_file(o->host, o->dir->lock_file, &stat);
    if (error == 0) o->dir->device = stat.device;
    return error < 0 ? explain(o, LOCK_FILE, error) : 0;
}

// 0 and empty values if the file is missing.
static int64_t read_meta(struct os_host *host, const struct log_dir *dir, struct meta_properties *meta,
                         struct text *reason) {
    *meta = (struct meta_properties){.broker_id = -1};
    char path[FILES_PATH_MAX], *data;
    size_t size;
    if (!path_join(path, dir->path, LOG_DIR_META)) return -ENAMETOOLONG;
    int error = file_read_all(host, path, META_FILE_BYTES_MAX, &data, &size);
    if (error == -ENOENT) return 0;
    if (error < 0) return error;
    char why[256];
    struct text t = TEXT_IN(why);
    bool good = meta_parse((struct str){data, size}, meta, &t);
    free(data);
    if (!good) text_addf(reason, "%s: %s", path, why);
    return good ? 0 : -EINVAL;
}

static int64_t check_meta(struct opening *o) {
    struct meta_properties meta;
    int64_t error = read_meta(o->host, o->dir, &meta, &o->reason);
    o->is_foreign = true; // unless all is well
    if (error < 0) o->is_foreign = meta.is_foreign;
    if (error < 0) return explain(o, LOG_DIR_META, error);
    struct log_dir_open *open = o->open;
    open->found_broker_id = meta.broker_id;
    memcpy(open->found_cluster_id, meta.cluster_id, sizeof open->found_cluster_id);
    if (open->broker_id >= 0 && meta.broker_id >= 0 && open->broker_id != meta.broker_id) {
        text_addf(&o->reason,
                  "log directory %s belongs to broker %" PRId32 " (%s), this is broker %" PRId32
                  ": correct broker.id, or take an empty directory",
                  open->path, meta.broker_id, LOG_DIR_META, open->broker_id);
        return -EINVAL;
    }
    const char *wanted = open->cluster_id ? open->cluster_id : "";
    if (wanted[0] && meta.cluster_id[0] && strcmp(wanted, meta.cluster_id) != 0) {
        text_addf(&o->reason,
                  "log directory %s belongs to cluster %s (%s), this broker to cluster %s: take the right directory or "
                  "cluster",
                  open->path, meta.cluster_id, LOG_DIR_META, wanted);
        return -EINVAL;
    }
    o->is_foreign = false;
    return 0;
}

int log_dir_write_meta(struct os_host *host, struct log_dir *dir, int32_t broker_id, const char *cluster_id) {
    ASSERT(broker_id >= 0);
    struct meta_properties meta;
    char ignored[256], out[512];
    struct text reason = TEXT_IN(ignored), t = TEXT_IN(out);
    int64_t error = read_meta(host, dir, &meta, &reason);
    if (error < 0) return (int)error;
    if (meta.broker_id >= 0 && meta.cluster_id[0]) return 0;
    if (meta.broker_id < 0) meta.broker_id = broker_id;
    if (!meta.cluster_id[0]) {
        struct text id = TEXT_IN(meta.cluster_id);
        text_add(&id, str_of(cluster_id));
        ASSERT(!id.truncated);
    }
    meta_format(&meta, os_host_wall_ms(host), &t);
    ASSERT(!t.truncated);
    int result = file_replace(host, dir->path, LOG_DIR_META, out, t.size);
    if (result < 0 && !os_is_shortage(result)) log_dir_fail(dir, LOG_DIR_META, result);
    return result;
}

// ---- what is in it
// -------------------------------------------------------------------------------------------------------------------
static void add_partition(struct opening *o, struct str topic, int32_t partition, bool is_elsewhere) {
    struct log_dir_open *open = o->open;
    if (open->partition_count == o->partition_capacity) {
        o->partition_capacity = o->partition_capacity ? o->partition_capacity * 2 : 64;
        open->partitions = realloc(open->partitions, o->partition_capacity * sizeof *open->partitions);
        ASSERT(open->partitions != NULL);
    }
    struct log_dir_partition *p = &open->partitions[open->partition_count++];
    *p = (struct log_dir_partition){.topic = strndup(topic.data, topic.size),
                                    .partition = partition,
                                    .log_start_offset = -1,
                                    .high_watermark = -1,
                                    .is_elsewhere = is_elsewhere};
    ASSERT(p->topic != NULL);
}

static int64_t list_entry(struct opening *o, const char *name) {
    char path[FILES_PATH_MAX];
    struct os_stat stat;
    struct str topic;
    int32_t partition;
    if (!path_join(path, o->dir->path, name)) return explain(o, name, -ENAMETOOLONG);
    enum dir_kind kind = dir_name_parse(str_of(name), &topic, &partition);
    int error = os_stat(o->host, path, &stat);
    if (error == -ENOENT) return 0; // a dangling link
    if (error < 0) return explain(o, name, error);
    if (!stat.is_directory) return 0;
    if (kind == DIR_PARTITION) add_partition(o, topic, partition, stat.device != o->dir->device);
    if (kind != DIR_UNKNOWN) return 0;
    o->is_foreign = true;
    text_addf(&o->reason, "log directory %s: the directory \"", o->open->path);
    text_add_escaped(&o->reason, str_of(name));
    text_addf(&o->reason, "\" is not a partition (topic-partition): only topic data may be in here; move it elsewhere");
    return -EINVAL;
}

static int64_t list_partitions(struct opening *o) {
    int error = name_list_read(o->host, o->dir->path, &o->names);
    if (error < 0) return explain(o, "listing", error);
    for (size_t i = 0; i < o->names.count; i++) {
        int64_t result = list_entry(o, o->names.names[i]);
        if (result < 0) return result;
    }
    return 0;
}

// ---- checkpoints
// ---------------------------------------------------------------------------------------------------------------------
static int64_t read_checkpoint(struct opening *o, enum checkpoint_kind kind, struct checkpoint *checkpoint) {
    char why[200];
    struct text t = TEXT_IN(why);
    int error = checkpoint_read_explained(o->host, o->dir, kind, checkpoint, &t);
    checkpoint_sort(checkpoint);
    if (error != -EINVAL) return error < 0 ? explain(o, checkpoint_file_name(kind), error) : 0;
    bool needed = kind == CHECKPOINT_HIGH_WATERMARK;
    text_addf(&o->reason, "%s/%s is damaged (%s): %s", o->open->path, checkpoint_file_name(kind), why,
              needed ? "restore it, or remove it: then the high watermarks start at 0" : "it is taken for missing");
    return needed ? -EINVAL : 0;
}

static int64_t offset_in(const struct checkpoint *checkpoint, const struct log_dir_partition *p, int64_t otherwise) {
    const struct checkpoint_entry *e = checkpoint_find(checkpoint, p->topic, p->partition);
    return e && e->offset >= 0 ? e->offset : otherwise;
}

static bool is_being_deleted(const struct opening *o, const struct checkpoint_entry *e) {
    for (size_t i = 0; i < o->names.count; i++) {
        struct str topic;
        int32_t partition;
        // The topic may be cut in such a name.
        if (dir_name_parse(str_of(o->names.names[i]), &topic, &partition) == DIR_DELETE && partition == e->partition &&
            strncmp(topic.data, e->topic, topic.size) == 0)
            return true;
    }
    return false;
}

// A stopped broker's partition may be moved from one directory to another by hand; the checkpoint of the first still
// has it.
static bool is_in_another(const struct opening *o, const char *name) {
    for (int i = 0; i < o->open->all_count; i++) {
        char path[FILES_PATH_MAX];
        struct os_stat stat;
        if (path_join(path, o->open->all_paths[i], name) && os_stat(o->host, path, &stat) == 0 && stat.is_directory)
            return true;
    }
    return false;
}

// Such a partition begins anew, empty, as in Kafka: an operator may want just that, but must not miss it otherwise.
static void warn_of_missing(struct opening *o, const struct checkpoint *recovery_point) {
    const struct checkpoint_entry *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < recovery_point->count; i++) {
        const struct checkpoint_entry *e = &recovery_point->entries[i];
        char name[DIR_NAME_BYTES_MAX + 1];
        if (e->offset <= 0 || strlen(e->topic) + 12 > DIR_NAME_BYTES_MAX) continue;
        dir_name_print(name, e->topic, e->partition);
        if (name_list_has(&o->names, name) || is_being_deleted(o, e) || is_in_another(o, name)) continue;
        if (!first) first = e;
        count++;
    }
    if (!first) return;
    text_addf(&o->reason, "%s%s: partitions whose directories are missing here: %zu, first ",
              o->reason.size ? "; " : "", o->open->path, count);
    text_add_escaped(&o->reason, str_of(first->topic));
    text_addf(&o->reason,
              "-%d, which was durable up to offset %" PRId64
              ": where their topics exist they begin anew, empty; to have "
              "the records again, stop the broker and restore the directories",
              first->partition, first->offset);
}

static int64_t read_checkpoints(struct opening *o) {
    struct checkpoint recovery_point = {0}, log_start = {0}, high_watermark = {0};
    int64_t error = read_checkpoint(o, CHECKPOINT_HIGH_WATERMARK, &high_watermark);
    if (error == 0) error = read_checkpoint(o, CHECKPOINT_RECOVERY_POINT, &recovery_point);
    if (error == 0) error = read_checkpoint(o, CHECKPOINT_LOG_START, &log_start);
    for (size_t i = 0; error == 0 && i < o->open->partition_count; i++) {
        struct log_dir_partition *p = &o->open->partitions[i];
        p->recovery_point = offset_in(&recovery_point, p, 0);
        p->log_start_offset = offset_in(&log_start, p, -1);
        p->high_watermark = offset_in(&high_watermark, p, -1);
    }
    if (error == 0) warn_of_missing(o, &recovery_point);
    checkpoint_free(&recovery_point);
    checkpoint_free(&log_start);
    checkpoint_free(&high_watermark);
    return error;
}

// ---- changes
// -------------------------------------------------------------------------------------------------------------------------
static int64_t finish_deletions(struct opening *o) {
    for (size_t i = 0; i < o->names.count; i++) {
        char path[FILES_PATH_MAX];
        struct os_stat stat;
        struct str topic;
        int32_t partition;
        if (dir_name_parse(str_of(o->names.names[i]), &topic, &partition) != DIR_DELETE) continue;
        if (!path_join(path, o->dir->path, o->names.names[i])) return explain(o, "path", -ENAMETOOLONG);
        if (os_stat(o->host, path, &stat) < 0 || !stat.is_directory) continue;
        int error = directory_delete(o->host, path);
        if (error < 0) return explain(o, o->names.names[i], error);
    }
    return 0;
}

static int64_t take_clean_marker(struct opening *o) {
    char path[FILES_PATH_MAX];
    struct os_stat stat;
    if (!path_join(path, o->dir->path, LOG_DIR_CLEAN_MARKER)) return explain(o, "path", -ENAMETOOLONG);
    int error = os_stat(o->host, path, &stat);
    if (error < 0 && error != -ENOENT) return explain(o, LOG_DIR_CLEAN_MARKER, error);
    o->dir->was_clean = error == 0;
#ifndef TAILRACE_PLANT_MARKER_KEPT
    if (o->dir->was_clean) error = os_unlink(o->host, path);
#endif
    if (error < 0 && error != -ENOENT) return explain(o, LOG_DIR_CLEAN_MARKER, error);
    error = directory_sync(o->host, o->dir->path);
    return error < 0 ? explain(o, "fsync", error) : 0;
}

static int sync_elsewhere(struct opening *o, const struct log_dir_partition *p) {
    char name[DIR_NAME_BYTES_MAX + 1], path[FILES_PATH_MAX];
    dir_name_print(name, p->topic, p->partition);
    if (!path_join(path, o->dir->path, name)) return -ENAMETOOLONG;
    int file = os_open(o->host, path, OS_READ | OS_DIRECTORY);
    if (file < 0) return file;
    int error = os_sync_filesystem(o->host, file);
    os_close(o->host, file);
    return error;
}

// A killed process leaves in the page cache what it wrote and did not flush. Loading cannot tell that from what is
// durable; what it trusts would be lost in a power cut, even after an orderly stop in between.
static int64_t flush_what_a_kill_left(struct opening *o) {
    if (o->dir->was_clean || o->open->partition_count == 0) return 0;
    int error = os_sync_filesystem(o->host, o->dir->lock_file);
    for (size_t i = 0; i < o->open->partition_count && error == 0; i++)
        if (o->open->partitions[i].is_elsewhere) error = sync_elsewhere(o, &o->open->partitions[i]);
    return error < 0 ? explain(o, "syncfs", error) : 0;
}

static int64_t open_sync_files(struct opening *o) {
    ASSERT(o->open->core_count >= 0 && o->open->core_count <= CORES_MAX);
    if (!os_sync_filesystem_is_enough(o->host, o->dir->lock_file)) return 0;
    for (int core = 0; core < o->open->core_count; core++) {
        int file = os_open(o->host, o->dir->path, OS_READ | OS_DIRECTORY);
        if (file < 0) return explain(o, "opening it for syncfs", file);
        o->dir->sync_files[core] = file;
    }
    return 0;
}

// ---- space
// ------------------------------------------------------------------------------------------------------------------------
uint64_t log_dir_reserve(int64_t configured_bytes, uint64_t total_bytes) {
    enum { GIB = 1 << 30 };
    if (configured_bytes >= 0) return (uint64_t)configured_bytes;
    const uint64_t wanted = total_bytes / 50 > GIB ? total_bytes / 50 : GIB;
    return wanted < total_bytes / 10 ? wanted : total_bytes / 10;
}

static int64_t look_at_space(struct opening *o) {
    uint64_t total, available;
    int error = os_space(o->host, o->dir->path, &total, &available);
    if (error < 0) return explain(o, "its free space", error);
    o->dir->reserve_bytes = log_dir_reserve(o->open->reserve_bytes, total);
    atomic_store_explicit(&o->dir->below_reserve, available < o->dir->reserve_bytes, memory_order_relaxed);
    return 0;
}

// ---- open and close
// ------------------------------------------------------------------------------------------------------------------
static int64_t open_steps(struct opening *o) {
    static int64_t (*const steps[])(struct opening *) = {open_lock,       check_meta,        open_sync_files,
                                                         list_partitions, read_checkpoints,  finish_deletions,
                                                         look_at_space,   take_clean_marker, flush_what_a_kill_left};
    int64_t error = directory_create_all(o->host, o->dir->path);
    if (error < 0) return explain(o, "it cannot be made", error);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        error = steps[i](o);
        if (error < 0) return error;
    }
    return 0;
}

static void free_dir(struct os_host *host, struct log_dir *dir) {
    for (int core = 0; core < CORES_MAX; core++)
        if (dir->sync_files[core] >= 0) os_close(host, dir->sync_files[core]);
    if (dir->lock_file >= 0) os_close(host, dir->lock_file);
    free(dir->path);
    free(dir);
}

int64_t log_dir_open_run(struct os_host *host, void *log_dir_open) {
    struct log_dir_open *open = log_dir_open;
    struct opening o = {.host = host, .open = open, .reason = TEXT_IN(open->reason)};
    open->dir = NULL;
    open->found_broker_id = -1;
    open->found_cluster_id[0] = '\0';
    open->partitions = NULL;
    open->partition_count = 0;
    o.dir = calloc(1, sizeof *o.dir);
    ASSERT(o.dir != NULL);
    o.dir->path = strdup(open->path);
    ASSERT(o.dir->path != NULL);
    o.dir->index = open->index;
    o.dir->lock_file = -1;
    for (int core = 0; core < CORES_MAX; core++)
        o.dir->sync_files[core] = -1;
    int64_t error = open_steps(&o);
    name_list_free(&o.names);
    if (error < 0) {
        ASSERT(open->reason[0] != '\0');
        log_dir_open_free(open);
    }
    if (error < 0 && (o.is_foreign || !open->may_fail)) {
        free_dir(host, o.dir);
        return error;
    }
    if (error < 0) {
        snprintf(o.dir->failure_reason, sizeof o.dir->failure_reason, "%s", open->reason);
        atomic_store_explicit(&o.dir->state, LOG_DIR_FAILED, memory_order_release);
    }
    open->dir = o.dir;
    return error;
}

void log_dir_open_free(struct log_dir_open *open) {
    for (size_t i = 0; i < open->partition_count; i++)
        free(open->partitions[i].topic);
    free(open->partitions);
    open->partitions = NULL;
    open->partition_count = 0;
}

int log_dir_close(struct os_host *host, struct log_dir *dir, bool write_clean_marker) {
    static const char marker[] = "{\"version\":0,\"brokerEpoch\":-1}";
    int error = 0;
    if (write_clean_marker && !log_dir_is_failed(dir))
        error = file_replace(host, dir->path, LOG_DIR_CLEAN_MARKER, marker, sizeof marker - 1);
    free_dir(host, dir);
    return error;
}

void log_dir_fail(struct log_dir *dir, const char *what, int error) {
    int expected = LOG_DIR_OK;
    if (!atomic_compare_exchange_strong(&dir->state, &expected, LOG_DIR_FAILING)) return;
    struct text t = TEXT_IN(dir->failure_reason);
    text_addf(&t, "%s: %s", what, os_error_text(error));
    atomic_store_explicit(&dir->state, LOG_DIR_FAILED, memory_order_release);
}
