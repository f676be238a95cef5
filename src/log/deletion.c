// SPDX-License-Identifier: Apache-2.0
// A timer, then an offloaded function. What cannot be deleted stays: loading (files) and opening the log directory
// (directories) delete what bears the suffix. So does a stop: what still waits is left to the next start.
#include "log/deletion.h"
#include "log/files.h"
#include "os/shortage.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct deletion {
    struct timer timer;
    struct os_op op;
    struct list link;
    struct log_shard *shard;
    struct log_hurry *hurry; // NULL: nobody waits for it
    bool sync;               // the names are gone durably: until then a file system may keep the space
    char *directory;
    int64_t *bases; // NULL: the whole directory
    size_t base_count;
};

static const char *const deletion_suffixes[] = {".log", ".index", ".timeindex", ".txnindex", ".snapshot"};

int deletion_mark_segment(struct os_host *host, const char *directory, int64_t base_offset) {
    for (size_t i = 0; i < ARRAY_LENGTH(deletion_suffixes); i++) {
        char from[LOG_PATH_BYTES_MAX], to[LOG_PATH_BYTES_MAX], suffix[32];
        struct text marked = TEXT_IN(suffix);
        text_addf(&marked, "%s.deleted", deletion_suffixes[i]);
        if (!segment_path(from, directory, base_offset, deletion_suffixes[i]) ||
            !segment_path(to, directory, base_offset, suffix))
            return -ENAMETOOLONG;
        int error = os_rename(host, from, to);
        if (os_is_full_disk(error)) error = os_unlink(host, from); // no room in the directory for the longer name
        if (error != 0 && error != -ENOENT) return error;
    }
    return 0;
}

int deletion_mark_directory(struct os_host *host, const char *parent, const char *from, const char *to,
                            bool *is_deleted) {
    int directory = directory_open(host, parent);
    if (directory < 0) return directory;
    int error = os_rename(host, from, to);
    *is_deleted = os_is_full_disk(error); // the longer name does not fit into the parent
    if (*is_deleted) error = directory_delete(host, from);
#ifdef TAILRACE_PLANT_REMOVAL_UNSYNCED
    os_close(host, directory);
    return error;
#endif
    if (error == 0) return directory_sync_and_close(host, directory);
    os_close(host, directory);
    return error;
}

static void delete_segments(struct os_host *host, const struct deletion *d) {
    for (size_t i = 0; i < d->base_count; i++) {
        for (size_t j = 0; j < ARRAY_LENGTH(deletion_suffixes); j++) {
            char path[LOG_PATH_BYTES_MAX], suffix[32];
            struct text marked = TEXT_IN(suffix);
            text_addf(&marked, "%s.deleted", deletion_suffixes[j]);
            if (segment_path(path, d->directory, d->bases[i], suffix)) os_unlink(host, path);
        }
    }
}

static int64_t deletion_run(struct os_host *host, void *argument) {
    const struct deletion *d = argument;
    if (d->bases) {
        delete_segments(host, d);
    } else {
        directory_delete(host, d->directory);
    }
    if (!d->sync) return 0;
    int error = directory_sync(host, d->bases ? d->directory : d->shard->dir->path);
    // No descriptor: the names are gone, and at worst come back in a power cut; then the next start deletes them again.
    if (error < 0 && error != -ENOENT && !os_is_shortage(error))
        log_dir_fail(d->shard->dir, "fsync after a deletion", error);
    return 0;
}

static void deletion_end(struct deletion *d) {
    struct log_shard *shard = d->shard;
    struct log_hurry *hurry = d->hurry;
    list_remove(&d->link);
    free(d->directory);
    free(d->bases);
    free(d);
    log_shard_leave(shard);
    if (hurry && --hurry->pending == 0) hurry->done(hurry);
}

static void deletion_done(struct os_op *op) {
    deletion_end(container_of(op, struct deletion, op));
}

static void deletion_due(struct timer *timer) {
    struct deletion *d = container_of(timer, struct deletion, timer);
    os_offload(d->shard->core->os, &d->op, deletion_run, d);
}

static struct deletion *deletion_new(struct log_shard *shard, const char *directory) {
    struct deletion *d = calloc(1, sizeof *d);
    ASSERT(d != NULL);
    d->op = OS_OP(deletion_done);
    timer_init(&d->timer, deletion_due);
    list_init(&d->link);
    d->shard = shard;
    d->directory = strdup(directory);
    ASSERT(d->directory != NULL);
    shard->users++;
    list_push_back(&shard->deletions, &d->link);
    return d;
}

void deletion_of_segments(struct log_shard *shard, const char *directory, int64_t *bases, size_t count,
                          int64_t delay_ms) {
    ASSERT(bases != NULL && count > 0);
    struct deletion *d = deletion_new(shard, directory);
    d->bases = bases;
    d->base_count = count;
    core_timer_set(shard->core, &d->timer, (uint64_t)delay_ms);
}

void deletion_of_directory(struct log_shard *shard, const char *directory, int64_t delay_ms) {
    core_timer_set(shard->core, &deletion_new(shard, directory)->timer, (uint64_t)delay_ms);
}

void log_dir_hurry(struct log_dir *dir, struct core *core, struct log_hurry *hurry) {
    struct log_shard *shard = dir->shards[core->id];
    if (!shard) return;
    LIST_FOREACH (link, &shard->deletions) {
        struct deletion *d = container_of(link, struct deletion, link);
        ASSERT(!d->hurry);
        d->hurry = hurry;
        hurry->pending++;
        hurry->count++;
        if (d->op.in_flight) continue;
        core_timer_cancel(core, &d->timer);
        d->sync = true;
        deletion_due(&d->timer);
    }
}

bool log_dir_leave_core(struct log_dir *dir, struct core *core) {
    struct log_shard *shard = dir->shards[core->id];
    if (!shard) return true;
    shard->users++; // the last deletion may be the last user
    LIST_FOREACH_SAFE (link, &shard->deletions) {
        struct deletion *d = container_of(link, struct deletion, link);
        if (d->op.in_flight) continue;
        core_timer_cancel(core, &d->timer);
        deletion_end(d);
    }
    log_shard_leave(shard);
    return dir->shards[core->id] == NULL;
}
