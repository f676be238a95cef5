// SPDX-License-Identifier: Apache-2.0
// Open files and resident indexes of one directory on one core.
//
// What is used moves to the end of the list; a timer drops what has been idle, and too many are dropped from the front.
// Kept in any case: what is referenced, a file with unflushed bytes (its error state must not be lost with the last
// descriptor), and indexes with entries that no file has.
//
// With many partitions the list is long, and most of it is kept: so nobody looks through it at every opening. What is
// in excess is dropped down to 7/8 of the limit, and the next look is due when there may be too many again.
#include "log/shard.h"
#include <stdlib.h>

static void shard_sweep(struct timer *timer);

struct log_shard *log_shard_enter(struct log_dir *dir, struct core *core) {
    struct log_shard *shard = dir->shards[core->id];
    if (!shard) {
        shard = calloc(1, sizeof *shard);
        ASSERT(shard != NULL);
        shard->core = core;
        shard->dir = dir;
        list_init(&shard->logs);
        list_init(&shard->open);
        list_init(&shard->flush_queue);
        list_init(&shard->syncfs.logs);
        list_init(&shard->deletions);
        timer_init(&shard->sweep, shard_sweep);
        dir->shards[core->id] = shard;
    }
    ASSERT(shard->core == core);
    shard->users++;
    return shard;
}

void log_shard_leave(struct log_shard *shard) {
    ASSERT(shard->users > 0);
    if (--shard->users > 0) return;
    ASSERT(list_is_empty(&shard->logs));
    ASSERT(list_is_empty(&shard->open));
    ASSERT(list_is_empty(&shard->flush_queue));
    ASSERT(list_is_empty(&shard->deletions));
    ASSERT(!shard->syncfs.in_flight);
    ASSERT(!flow_is_active(&shard->flusher));
    core_timer_cancel(shard->core, &shard->sweep);
    shard->dir->shards[shard->core->id] = NULL;
    free(shard);
}

void log_shard_wrote(struct log_shard *shard, uint64_t duration_ns) {
    shard->slow_writes = duration_ns > SHARD_SLOW_WRITE_NS ? shard->slow_writes + 1 : 0;
    if (shard->slow_writes < SHARD_SLOW_WRITES) return;
    shard->slow_writes = 0;
    shard->slow_until_ms = core_now_ms(shard->core) + SHARD_SLOW_PERIOD_MS;
}

static bool segment_is_dirty(const struct segment *segment) {
    return segment->flushed_bytes < segment->size_bytes;
}

static bool segment_is_active(const struct segment *segment) {
    return segment->log && log_active_segment(segment->log) == segment;
}

// Out of the list when it has neither a file nor indexes that somebody may want back.
static void shard_unlink_if_closed(struct segment *segment) {
    if (segment->file < 0 && !segment->indexes_resident) list_remove(&segment->open_link);
}

static void segment_drop_indexes(struct segment *segment) {
    ASSERT(segment->indexes_resident);
    ASSERT(!segment_indexes_unwritten(segment));
    segment_forget_indexes(segment);
}

static bool segment_is_free_to_close(const struct segment *segment) {
    return segment->references == 0 && !segment->open && !segment_is_dirty(segment);
}

static bool segment_is_free_to_drop(const struct segment *segment) {
    return segment->references == 0 && !segment->open && segment->indexes_resident &&
           !segment_indexes_unwritten(segment) && !segment->indexes_trim;
}

void log_shard_close_file(struct log_shard *shard, struct segment *segment) {
    if (segment->file < 0) return;
    ASSERT(shard->open_files > 0);
    os_close(shard->core->host, segment->file);
    segment->file = -1;
    shard->open_files--;
}

static void shard_evict_files(struct log_shard *shard) {
    const uint32_t wanted = SHARD_OPEN_FILES_MAX / 8 * 7;
    if (shard->open_files <= wanted) shard->look_from_files = 0;
    if (shard->open_files <= SHARD_OPEN_FILES_MAX || shard->open_files < shard->look_from_files) return;
    uint32_t looked_at = 0;
    LIST_FOREACH_SAFE (link, &shard->open) {
        if (shard->open_files <= wanted) break;
        looked_at++;
        struct segment *segment = container_of(link, struct segment, open_link);
        if (segment->file < 0) continue;
        if (segment_is_free_to_close(segment)) {
            log_shard_close_file(shard, segment);
            shard_unlink_if_closed(segment);
        } else if (segment_is_dirty(segment) && segment->log) {
            log_flush_start(segment->log);
        }
    }
    // Where most are in use or dirty, a look costs 64 steps for each opening.
    shard->look_from_files = shard->open_files + 1 + looked_at / 64;
}

// An opening makes at most two more sealed segments with indexes: its own, and the one before it (a roll).
static void shard_evict_indexes(struct log_shard *shard) {
    uint32_t sealed = 0;
    if (shard->openings_unlooked > 0) {
        shard->openings_unlooked--;
        return;
    }
    LIST_FOREACH (link, &shard->open) {
        struct segment *segment = container_of(link, struct segment, open_link);
        if (segment->indexes_resident && !segment_is_active(segment)) sealed++;
    }
    const uint32_t wanted = sealed > SHARD_SEALED_INDEXES_MAX ? SHARD_SEALED_INDEXES_MAX / 8 * 7 : sealed;
    LIST_FOREACH_SAFE (link, &shard->open) {
        if (sealed <= wanted) break;
        struct segment *segment = container_of(link, struct segment, open_link);
        if (segment_is_active(segment) || !segment_is_free_to_drop(segment)) continue;
        segment_drop_indexes(segment);
        shard_unlink_if_closed(segment);
        sealed--;
    }
    if (sealed < SHARD_SEALED_INDEXES_MAX) shard->openings_unlooked = (SHARD_SEALED_INDEXES_MAX - sealed) / 2;
}

void log_shard_touch(struct log_shard *shard, struct segment *segment) {
    segment->used_ms = core_now_ms(shard->core);
    list_remove(&segment->open_link);
    list_push_back(&shard->open, &segment->open_link);
    if (!timer_is_set(&shard->sweep)) core_timer_set(shard->core, &shard->sweep, SHARD_SWEEP_MS);
}

void log_shard_opened(struct log_shard *shard, struct segment *segment, int file) {
    ASSERT(segment->shard == shard);
    if (file >= 0) {
        ASSERT(segment->file < 0);
        segment->file = file;
        shard->open_files++;
    }
    log_shard_touch(shard, segment);
    segment->references++; // not this one
    shard_evict_files(shard);
    shard_evict_indexes(shard);
    segment->references--;
}

static void shard_sweep(struct timer *timer) {
    struct log_shard *shard = container_of(timer, struct log_shard, sweep);
    uint64_t now_ms = core_now_ms(shard->core);
    LIST_FOREACH_SAFE (link, &shard->open) {
        struct segment *segment = container_of(link, struct segment, open_link);
        if (now_ms - segment->used_ms < SHARD_IDLE_MS) break;
        if (segment_is_free_to_close(segment)) log_shard_close_file(shard, segment);
        if (segment_is_free_to_drop(segment)) segment_drop_indexes(segment);
        shard_unlink_if_closed(segment);
    }
    if (!list_is_empty(&shard->open)) core_timer_set(shard->core, &shard->sweep, SHARD_SWEEP_MS);
}

void log_shard_tell_failed(struct log_shard *shard) {
    ASSERT(log_dir_is_failed(shard->dir));
    LIST_FOREACH_SAFE (link, &shard->logs)
        log_tell_failed(container_of(link, struct log, shard_link));
}
