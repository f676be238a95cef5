// SPDX-License-Identifier: Apache-2.0
// Records on their way into __consumer_offsets: appended by the partition's own flow, and committed when the high
// watermark has passed them (which, in class fsync, means flushed). What becomes of them is told to the group, and to
// the call that waits.
//
// Appends from one core keep their order, so a tombstone that is written after a commit also lies behind it.
#include "core/line.h"
#include "group/groups.h"
#include <stdlib.h>

struct write {
    struct append append;
    struct groups *groups;
    struct group_write what;
    int64_t wall_ms; // when it was taken
    int16_t refused; // it was not even sent
};

// What clients understand as the fate of an offset commit.
static int16_t commit_error(int16_t error) {
    switch (error) {
    case KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION:
    case KAFKA_ERROR_NOT_ENOUGH_REPLICAS:
    case KAFKA_ERROR_NOT_ENOUGH_REPLICAS_AFTER_APPEND: return KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    case KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER:
    case KAFKA_ERROR_KAFKA_STORAGE_ERROR: return KAFKA_ERROR_NOT_COORDINATOR;
    case KAFKA_ERROR_MESSAGE_TOO_LARGE:
    case KAFKA_ERROR_RECORD_LIST_TOO_LARGE: return KAFKA_ERROR_INVALID_COMMIT_OFFSET_SIZE;
    default: return error;
    }
}
// ... and of a rebalance.
static int16_t store_error(int16_t error) {
    if (error == KAFKA_ERROR_REQUEST_TIMED_OUT) return KAFKA_ERROR_REBALANCE_IN_PROGRESS;
    int16_t converted = commit_error(error);
    return converted == KAFKA_ERROR_INVALID_COMMIT_OFFSET_SIZE ? KAFKA_ERROR_UNKNOWN_SERVER_ERROR : converted;
}

// When it was taken and when it is done, the same.
struct offset_value group_row_value(const struct group_call_item *item, const struct group_offset_row *row,
                                    int64_t taken_ms) {
    return (struct offset_value){
        .offset = row->offset,
        .leader_epoch = row->leader_epoch,
        .commit_time_ms = row->commit_time_ms < 0 ? taken_ms : row->commit_time_ms,
        .expire_time_ms = item->retention_ms < 0                      ? -1
                          : item->retention_ms > INT64_MAX - taken_ms ? INT64_MAX
                                                                      : taken_ms + item->retention_ms,
        .metadata = str_is_null(row->metadata) ? str_of("") : row->metadata,
    };
}

static void commit_done(struct write *w, int16_t error) {
    struct group_call_item *item = w->what.item;
    struct group *g = w->what.group;
    for (int32_t i = 0; i < item->row_count; i++) {
        struct group_offset_row *row = &item->rows[i];
        if (row->error != KAFKA_ERROR_NONE) continue;
        if (g->state == GROUP_DEAD) {
            // Deleted or unloaded meanwhile; what the log has is what counts.
        } else if (error == KAFKA_ERROR_NONE) {
            const struct offset_value value = group_row_value(item, row, w->wall_ms);
            offsets_committed(&g->offsets, row->topic, row->partition, w->what.id, w->append.base_offset, &value);
        } else {
            offsets_failed(&g->offsets, row->topic, row->partition, w->what.id);
        }
        row->error = commit_error(error);
    }
}

static void write_done(struct write *w, int16_t error) {
    struct groups *groups = w->groups;
    struct group *g = w->what.group;
    if (error != KAFKA_ERROR_NONE) {
        line(groups->core, LINE_WARN, "group", "", "write_failed", "partition=%d error=%s", w->append.index,
             kafka_error_name(error));
    }
    switch (w->what.kind) {
    case GROUP_WRITE_STORE:
        group_stored(g, w->what.id, store_error(error), groups_now(groups), &groups->output);
        if (g->state != GROUP_DEAD) groups_group_moved(groups, g);
        break;
    case GROUP_WRITE_COMMIT: commit_done(w, error); break;
    case GROUP_WRITE_TOMBSTONES:
        if (w->what.item && w->what.item->error == KAFKA_ERROR_NONE) w->what.item->error = commit_error(error);
        break;
    }
    if (g) groups_group_unused(groups, g);
    if (w->what.call) group_call_release(groups->core, w->what.call);
    free(w->append.records);
    free(w);
    ASSERT(groups->writes > 0);
    groups->writes--;
    groups_check_stopped(groups);
}

static void append_done(struct append *append) {
    struct write *w = container_of(append, struct write, append);
    write_done(w, append->error);
}

static void refused(struct core *core, struct message *message) {
    (void)core;
    struct write *w = container_of(message, struct write, append.message);
    write_done(w, w->refused);
}

static int16_t batch_check(const struct groups *groups, const struct group_partition *p, size_t size) {
    if (!p || p->is_leaving) return KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    const struct image_topic *topic = image_topic_by_id(image_of(groups->core), p->topic_id);
    if (!topic) return KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
    return size > (size_t)topic->config.max_message_bytes ? KAFKA_ERROR_MESSAGE_TOO_LARGE : KAFKA_ERROR_NONE;
}

void groups_write(struct groups *groups, int32_t partition, const struct group_write *what,
                  struct record_batch *batch) {
    struct write *w = calloc(1, sizeof *w);
    ASSERT(w != NULL);
    w->groups = groups;
    w->what = *what;
    w->wall_ms = batch->timestamp_ms;
    if (what->group) what->group->writes++;
    if (what->call) group_call_hold(what->call);
    groups->writes++;
    const struct group_partition *p = partition < groups->partition_count ? groups->partitions[partition] : NULL;
    struct append *append = &w->append;
    append->index = partition;
    append->origin = LOG_FROM_COORDINATOR;
    append->acks = what->kind == GROUP_WRITE_TOMBSTONES && !what->call ? 1 : groups->settings.write_acks;
#ifdef TAILRACE_PLANT_GROUP_WRITE_UNFLUSHED
    append->acks = 1;
#endif
    append->timeout_ms = groups->settings.write_timeout_ms;
    append->done = append_done;
    if (record_batch_count(batch) > 0) {
        struct bytes records = record_batch_end(batch, groups->settings.codec);
        append->records = (uint8_t *)records.data;
        append->size_bytes = records.size;
        w->refused = batch_check(groups, p, records.size);
    } else {
        record_batch_drop(batch);
        w->refused = KAFKA_ERROR_MESSAGE_TOO_LARGE; // a text in it was too long to be written
    }
    if (w->refused != KAFKA_ERROR_NONE) { // told later, like every other fate
        core_send(groups->core, groups->core->id, &append->message, refused);
        return;
    }
    append->topic_id = p->topic_id;
    append_send(groups->core, groups->core->id, append);
}
