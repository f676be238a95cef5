// SPDX-License-Identifier: Apache-2.0
// A log directory of this broker has failed: its replicas are offline for the life of the process. Partitions that this
// broker led lose their leader (another in-sync replica's broker, if there is one, takes over); the ISR stays, as its
// members alone have all records.
//
//   decide -> written -> publish -> seated
#include "controller/elect.h"
#include "controller/internal.h"
#include <stdlib.h>

#define OFFLINE_STEPS(STEP) STEP(offline, decide) STEP(offline, written) STEP(offline, seated) STEP(offline, release)
FLOW_DEFINE(offline, OFFLINE_STEPS)

struct offline_partition {
    struct offline_partition *next;
    struct image_topic *topic;
    int32_t index;
    struct metastore_change *change;
};
struct log_dir_failed {
    struct procedure p;
    struct image_topic **topics; // clones
    size_t count;
    struct offline_partition *partitions;
};

static struct log_dir_failed *offline_of(struct flow *flow) {
    return container_of(flow, struct log_dir_failed, p.flow);
}

static bool topic_is_there(const struct image_topic *topic, int dir) {
    for (int32_t p = 0; p < topic->partition_count; p++)
        if (topic->partitions[p].log_dir == dir) return true;
    return false;
}

static void partition_goes(struct log_dir_failed *t, struct image_topic *topic, int32_t index,
                           struct metastore_write **chunk) {
    struct controller *c = t->p.controller;
    struct arena *a = &t->p.arena;
    struct image_partition *partition = image_partition_edit(topic, index);
    partition->offline = true;
    if (partition->leader != c->options.broker_id) return;
    // No other broker is known yet that could take over.
    int32_t *isr = arena_alloc_array(a, (size_t)(partition->isr_count + partition->replica_count), sizeof *isr);
    struct offline_partition *gone = arena_alloc(a, sizeof *gone);
    ASSERT(isr != NULL && gone != NULL);
    const struct elect_partition decide = {.replicas = partition->replicas,
                                           .replica_count = partition->replica_count,
                                           .isr = partition->isr,
                                           .isr_count = partition->isr_count,
                                           .leader_epoch = partition->leader_epoch};
    struct elect_result result = elect_leader(&decide, isr);
    int32_t version = partition->partition_epoch;
    partition->leader = result.leader;
    partition->leader_epoch = result.leader_epoch;
    partition->controller_epoch = c->epoch;
    const struct znode_state state = {.leader = result.leader,
                                      .leader_epoch = result.leader_epoch,
                                      .controller_epoch = c->epoch,
                                      .isr = isr,
                                      .isr_count = result.isr_count};
    if (!*chunk || (*chunk)->count == CONTROLLER_CHANGES_A_WRITE_MAX)
        *chunk = write_begin_fenced(c, a, &t->p.writes, CONTROLLER_CHANGES_A_WRITE_MAX);
    gone->change = write_add(
        *chunk, metastore_set_node(arena_state_path(a, topic->name, index), znode_state_encode(a, &state), version));
    gone->topic = topic;
    gone->index = index;
    gone->next = t->partitions;
    t->partitions = gone;
}

static flow_next offline_step_decide(struct flow *flow) {
    struct log_dir_failed *t = offline_of(flow);
    struct controller *c = t->p.controller;
    const struct image *image = controller_image(c);
    int dir = t->p.request->log_dir;
    if (dir < 0 || dir >= c->load.dir_count || c->load.dir_failed[dir]) return FLOW_DONE(flow, KAFKA_ERROR_NONE);
    c->load.dir_failed[dir] = true;
    t->topics = arena_alloc_array(&t->p.arena, image->topic_count, sizeof(struct image_topic *));
    ASSERT(t->topics != NULL);
    struct metastore_write *chunk = NULL;
    for (size_t i = 0; i < image->topic_count; i++) {
        if (!topic_is_there(image->topics[i], dir)) continue;
        struct image_topic *topic = image_topic_clone(image->topics[i], image->topics[i]->partition_count);
        t->topics[t->count++] = topic;
        for (int32_t p = 0; p < topic->partition_count; p++)
            if (topic->partitions[p].log_dir == dir) partition_goes(t, topic, p, &chunk);
    }
    line(c->core, LINE_ERROR, "controller", t->p.request->log_dir_path, "log_dir_failed",
         "topics=%zu reason=\"their partitions in this directory are offline\" todo=\"repair the directory (its line "
         "directory_failed says why), then restart the broker\"",
         t->count);
    writes_start(&t->p.writes, c, flow);
    return FLOW_NEXT;
}

static flow_next offline_step_written(struct flow *flow) {
    struct log_dir_failed *t = offline_of(flow);
    if (!writes_are_done(&t->p.writes)) return FLOW_WAIT;
    for (struct write_item *item = t->p.writes.first; item; item = item->next)
        if (item->write.call.result != METASTORE_OK)
            controller_unexpected(t->p.controller, &item->write, "taking partitions offline");
    for (struct offline_partition *gone = t->partitions; gone; gone = gone->next)
        image_partition_edit(gone->topic, gone->index)->partition_epoch = gone->change->stat.version;
    struct image_draft draft;
    image_draft_begin(&draft, controller_image(t->p.controller));
    for (size_t i = 0; i < t->count; i++) {
        // Replicas may have failed since the topic was cloned.
        const struct image_topic *present = image_topic_by_name(draft.before, t->topics[i]->name);
        for (int32_t p = 0; p < present->partition_count; p++)
            if (present->partitions[p].offline) image_partition_edit(t->topics[i], p)->offline = true;
        image_draft_put(&draft, t->topics[i]);
    }
    procedure_publish(&t->p, &draft);
    return FLOW_NEXT;
}

static flow_next offline_step_seated(struct flow *flow) {
    return procedure_is_seated(&offline_of(flow)->p) ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next offline_step_release(struct flow *flow) {
    struct log_dir_failed *t = offline_of(flow);
    procedure_end(&t->p);
    free(t);
    return FLOW_END;
}

void log_dir_failed_start(struct controller *c, struct controller_request *request) {
    struct log_dir_failed *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    procedure_start(&t->p, c, request, &offline_flow);
}
