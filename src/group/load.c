// SPDX-License-Identifier: Apache-2.0
// Partitions of __consumer_offsets come and go with the image of the cluster. One that begins to be led here is loaded:
// its records, from first to last, make the groups; then the members' sessions begin anew. One partition at a time is
// read, so memory is bounded; the others wait.
//
// A record that cannot be understood is passed over, with a line. A log that cannot be read is tried again: as long as
// it is not known what the group has committed, nothing is answered but "loading".
#include "core/line.h"
#include "group/groups.h"
#include "protocol/message.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    RETRY_MS = 5000,
    BAD_RECORD_LINES_MAX = 10,
    RECORD_ARENA_BYTES = 64 << 20, // of one group's record, decoded
};

struct deleted_topic {
    struct list link;
    int32_t partition_count;
    struct str name;
};

// ---- records
// ---------------------------------------------------------------------------------------------------------

static void record_is_bad(struct group_partition *p, int64_t offset, const char *reason) {
    if (p->bad_records++ >= BAD_RECORD_LINES_MAX) return;
    char subject[64];
    snprintf(subject, sizeof subject, "%s-%d", GROUPS_TOPIC, p->index);
    line(p->groups->core, LINE_WARN, "group", subject, "record_skipped", "offset=%lld reason=\"%s\"", (long long)offset,
         reason);
}

static void load_offset(struct group_partition *p, const struct statelog_record *record, const struct record_key *key) {
    struct groups *groups = p->groups;
    if (!record->value.data) {
        struct group *g = groups_find(groups, key->group);
        struct offset *offset = g ? offsets_find(&g->offsets, key->topic, key->partition) : NULL;
        if (offset) offset_remove(offset);
        return;
    }
    struct offset_value value;
    if (!record_offset_read(record->value, &value)) return record_is_bad(p, record->offset, "value of an offset");
    struct group *g = groups_find_or_load(groups, key->group, p->index);
    offsets_load(&g->offsets, key->topic, key->partition, record->batch_base_offset, &value);
}

static struct str not_null(struct str s) {
    return str_is_null(s) ? str_of("") : s;
}

static bool load_member(struct group *g, const struct group_metadata_value *value,
                        const struct group_metadata_value_member_metadata *row, int16_t version) {
    struct group_member *m = member_create(g->memory, not_null(row->member_id), row->group_instance_id,
                                           not_null(row->client_id), not_null(row->client_host));
    const struct group_protocol protocol = {not_null(value->protocol), row->subscription};
    member_set_protocols(m, &protocol, 1);
    member_set_assignment(m, row->assignment);
    m->session_timeout_ms = (int32_t)max_i64(row->session_timeout, 0);
    m->rebalance_timeout_ms = version == 0 ? m->session_timeout_ms : row->rebalance_timeout;
    m->deadline_ms = GROUP_NEVER;
    if (group_load_member(g, m)) return true;
    member_free(m);
    return false;
}

static void load_group(struct group_partition *p, const struct statelog_record *record, const struct record_key *key) {
    struct groups *groups = p->groups;
    struct group_load load = {.state_time_ms = -1};
    if (!record->value.data) {
        struct group *g = groups_find(groups, key->group);
        load.state_time_ms = groups_now(groups).wall_ms;
        if (g) group_load(g, &load);
        return;
    }
    struct arena arena;
    struct group_metadata_value value;
    int16_t version;
    arena_init(&arena, RECORD_ARENA_BYTES);
    if (record_group_read(record->value, &arena, &value, &version)) {
        struct group *g = groups_find_or_load(groups, key->group, p->index);
        load = (struct group_load){.generation = value.generation,
                                   .protocol_type = value.protocol_type,
                                   .protocol_name = value.protocol,
                                   .leader_id = value.leader,
                                   .state_time_ms = value.current_state_timestamp};
        group_load(g, &load);
        for (int32_t i = 0; i < value.members_count; i++) {
            if (!load_member(g, &value, &value.members[i], version))
                record_is_bad(p, record->offset, "a member without a protocol, or there twice");
        }
    } else {
        record_is_bad(p, record->offset, "value of a group");
    }
    arena_drop(&arena);
}

static void load_record(struct statelog_load *load, const struct statelog_record *record) {
    struct group_partition *p = container_of(load, struct group_partition, load);
    struct record_key key;
    switch (record->key.data ? record_key_read(record->key, &key) : RECORD_IS_BAD) {
    case RECORD_OF_OFFSET: load_offset(p, record, &key); break;
    case RECORD_OF_GROUP: load_group(p, record, &key); break;
    case RECORD_OF_UNKNOWN_KIND:
        record_is_bad(p, record->offset, "a kind of key that this release does not know");
        break;
    case RECORD_IS_BAD: record_is_bad(p, record->offset, "malformed key"); break;
    }
}

// ---- partitions
// ------------------------------------------------------------------------------------------------------

static void partition_end(struct groups *groups, struct group_partition *p) {
    ASSERT(groups->loading != p && !timer_is_set(&p->retry));
    LIST_FOREACH_SAFE (link, &p->deleted_topics) {
        struct deleted_topic *topic = container_of(link, struct deleted_topic, link);
        list_remove(link);
        str_free(&topic->name);
        free(topic);
    }
    if (!p->is_loaded) groups->partitions_loading--;
    groups->partitions[p->index] = NULL;
    free(p);
}

static void drop_groups_of(struct groups *groups, const struct group_partition *p, int16_t error) {
    LIST_FOREACH_SAFE (link, &groups->all) {
        struct group *g = container_of(link, struct group, link);
        if (g->partition != p->index) continue;
        group_kill(g, error, groups_now(groups), &groups->output);
        groups_drop(groups, g);
    }
}

void groups_unload(struct groups *groups, struct group_partition *p) {
    core_timer_cancel(groups->core, &p->retry);
    if (groups->loading == p) { // ends when its flow has
        p->is_leaving = true;
        statelog_load_stop(&p->load);
        return;
    }
    drop_groups_of(groups, p,
                   groups->is_stopping ? KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE : KAFKA_ERROR_NOT_COORDINATOR);
    partition_end(groups, p);
}

// What every group needs before it serves: its members' sessions; and what was deleted meanwhile is deleted here.
static void partition_is_loaded(struct groups *groups, struct group_partition *p) {
    uint32_t group_count = 0;
    p->is_loaded = true;
    groups->partitions_loading--;
    LIST_FOREACH_SAFE (link, &groups->all) {
        struct group *g = container_of(link, struct group, link);
        if (g->partition != p->index) continue;
        if (g->state == GROUP_EMPTY && g->generation == 0 && !group_has_offsets(g)) { // all of it was taken back
            g->state = GROUP_DEAD;                                                    // no event: it was so before
            groups_drop(groups, g);
            continue;
        }
        group_loaded(g, groups_now(groups), &groups->output);
        groups_group_moved(groups, g);
        group_count++;
    }
    LIST_FOREACH (link, &p->deleted_topics) {
        struct deleted_topic *topic = container_of(link, struct deleted_topic, link);
        groups_delete_topic(groups, topic->name, topic->partition_count, p->index);
    }
    if (p->load.records == 0) return;
    char subject[64];
    snprintf(subject, sizeof subject, "%s-%d", GROUPS_TOPIC, p->index);
    line(groups->core, LINE_INFO, "group", subject, "loaded",
         "groups=%u records=%llu bytes=%llu end_offset=%lld leader_epoch=%d ms=%llu", group_count,
         (unsigned long long)p->load.records, (unsigned long long)p->load.bytes, (long long)p->load.end_offset,
         p->load.leader_epoch, (unsigned long long)(core_now_ms(groups->core) - p->started_ms));
}

static void retry_fires(struct timer *timer) {
    groups_load_next(container_of(timer, struct group_partition, retry)->groups);
}

static void load_done(struct statelog_load *load) {
    struct group_partition *p = container_of(load, struct group_partition, load);
    struct groups *groups = p->groups;
    ASSERT(groups->loading == p);
    groups->loading = NULL;
    if (p->is_leaving) {
        drop_groups_of(groups, p, KAFKA_ERROR_NOT_COORDINATOR);
        partition_end(groups, p);
        // Leadership may have been given back meanwhile.
        if (!groups->is_stopping) groups_partitions_follow(groups, image_of(groups->core));
    } else if (load->error == KAFKA_ERROR_NONE) {
        partition_is_loaded(groups, p);
    } else {
        char subject[64];
        snprintf(subject, sizeof subject, "%s-%d", GROUPS_TOPIC, p->index);
        line(groups->core, LINE_ERROR, "group", subject, "load_failed",
             "error=%s offset=%lld reason=\"%s\" retry_ms=%d todo=\"its groups are not served: if it goes on, ask "
             "tailrace log verify\"",
             kafka_error_name(load->error), (long long)load->end_offset, load->reason, RETRY_MS);
        drop_groups_of(groups, p, KAFKA_ERROR_NOT_COORDINATOR);
        core_timer_set(groups->core, &p->retry, RETRY_MS);
    }
    groups_load_next(groups);
    groups_check_stopped(groups);
}

void groups_load_next(struct groups *groups) {
    if (groups->loading || groups->is_stopping) return;
    for (int32_t i = 0; i < groups->partition_count; i++) {
        struct group_partition *p = groups->partitions[i];
        if (!p || p->is_loaded || timer_is_set(&p->retry)) continue;
        groups->loading = p;
        p->started_ms = core_now_ms(groups->core);
        p->load.topic_id = p->topic_id;
        p->load.index = p->index;
        p->load.read_bytes_max = groups->settings.load_bytes;
        p->load.record = load_record;
        p->load.done = load_done;
        statelog_load_start(groups->core, &p->load);
        return;
    }
}

static void partition_begin(struct groups *groups, struct uuid topic_id, int32_t index) {
    struct group_partition *p = calloc(1, sizeof *p);
    ASSERT(p != NULL && groups->partitions[index] == NULL);
    p->groups = groups;
    p->topic_id = topic_id;
    p->index = index;
    timer_init(&p->retry, retry_fires);
    list_init(&p->deleted_topics);
    groups->partitions[index] = p;
    groups->partitions_loading++;
}

static bool is_led_here(const struct groups *groups, const struct image *image, const struct image_topic *topic,
                        int32_t index) {
    const struct image_partition *partition = topic && !topic->deleting ? image_partition(topic, index) : NULL;
    return partition && partition->leader == image->broker_id && partition->owner_core == groups->core->id &&
           !partition->offline;
}

void groups_partitions_follow(struct groups *groups, const struct image *image) {
    const struct image_topic *topic = image_topic_by_name(image, str_of(GROUPS_TOPIC));
    if (topic && topic->partition_count > groups->partition_count) {
        size_t bytes = (size_t)topic->partition_count * sizeof(struct group_partition *);
        groups->partitions = realloc(groups->partitions, bytes);
        ASSERT(groups->partitions != NULL);
        for (int32_t i = groups->partition_count; i < topic->partition_count; i++)
            groups->partitions[i] = NULL;
        groups->partition_count = topic->partition_count;
    }
    for (int32_t i = 0; i < groups->partition_count; i++) {
        struct group_partition *p = groups->partitions[i];
        bool led = is_led_here(groups, image, topic, i);
        if (p && (!led || !uuid_equal(p->topic_id, topic->id))) {
            if (!p->is_leaving) groups_unload(groups, p);
            p = groups->partitions[i];
        }
        if (led && !p) partition_begin(groups, topic->id, i);
    }
    groups_load_next(groups);
    groups_expiry_start(groups);
}

// The log that is being read may still have offsets of it in front of us.
void groups_topic_deleted_while_loading(struct groups *groups, struct str name, int32_t partition_count) {
    for (int32_t i = 0; i < groups->partition_count; i++) {
        struct group_partition *p = groups->partitions[i];
        if (!p || p->is_loaded || p->is_leaving) continue;
        struct deleted_topic *topic = calloc(1, sizeof *topic);
        ASSERT(topic != NULL);
        topic->name = str_duplicate(name);
        topic->partition_count = partition_count;
        list_init(&topic->link);
        list_push_back(&p->deleted_topics, &topic->link);
    }
}
