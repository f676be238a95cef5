// SPDX-License-Identifier: Apache-2.0
// Orders to the replicas of this broker: become (a leader or follower), stop. An order is answered at any later time.
// Those of a procedure are counted by it; those of the startup (replicas may load for minutes) are kept in a list, so
// that nobody stops a replica that still loads.
#include "controller/internal.h"
#include <stdlib.h>

struct replica_order {
    struct controller_replica replica;
    struct list link;
    struct procedure *procedure;     // NULL: of the startup
    const struct image_topic *topic; // held, if of the startup
    size_t *failed;                  // stop: counts failures
};

bool replica_is_here(const struct controller *c, const struct image_partition *partition) {
    for (int32_t i = 0; i < partition->replica_count; i++)
        if (partition->replicas[i] == c->options.broker_id) return true;
    return false;
}

void replica_place(struct controller *c, struct image_partition *partition, int dir) {
    if (!replica_is_here(c, partition)) return;
    partition->owner_core = (int16_t)plan_core(&c->load);
    if (dir >= 0) {
        c->load.dirs[dir]++;
    } else {
        dir = plan_dir(&c->load);
    }
    partition->log_dir = (int16_t)dir;
    partition->offline = dir < 0 || c->load.dir_failed[dir];
}

void replica_unplace(struct controller *c, const struct image_partition *partition) {
    if (partition->owner_core >= 0) c->load.cores[partition->owner_core]--;
    if (partition->log_dir >= 0) c->load.dirs[partition->log_dir]--;
}

static struct replica_order *order_create(struct controller *c, struct procedure *p, const struct image_topic *topic,
                                          int32_t index) {
    const struct image_partition *partition = &topic->partitions[index];
    struct replica_order *order = calloc(1, sizeof *order);
    ASSERT(order != NULL);
    list_init(&order->link);
    order->procedure = p;
    order->topic = topic;
    if (p) {
        p->replicas_pending++;
    } else {
        image_topic_hold(topic);
        list_push_back(&c->becoming, &order->link);
    }
    order->replica = (struct controller_replica){
        .topic = topic->name,
        .topic_id = topic->id,
        .partition = index,
        .controller_epoch = c->epoch,
        .leader = partition->leader,
        .leader_epoch = partition->leader_epoch,
        .partition_epoch = partition->partition_epoch,
        .replicas = partition->replicas,
        .replica_count = partition->replica_count,
        .isr = partition->isr,
        .isr_count = partition->isr_count,
        .owner_core = partition->owner_core,
        .log_dir = partition->log_dir,
        .config = &topic->config,
        .controller = c,
    };
    return order;
}

static void order_free(struct replica_order *order) {
    list_remove(&order->link);
    if (!order->procedure) image_topic_release(order->topic);
    free(order);
}

static void become_answered(struct controller_replica *replica) {
    struct replica_order *order = container_of(replica, struct replica_order, replica);
    struct controller *c = replica->controller;
    struct procedure *p = order->procedure;
    if (p) {
        if (replica->error != KAFKA_ERROR_NONE) {
            // Not published yet: the procedure owns the topic.
            struct image_topic *topic = (struct image_topic *)(uintptr_t)order->topic;
            image_partition_edit(topic, replica->partition)->offline = true;
        }
        p->replicas_pending--;
        flow_wake(&p->flow);
        order_free(order);
        return;
    }
    list_remove(&order->link);
    if (replica->error != KAFKA_ERROR_NONE) {
        list_push_back(&c->failed, &order->link);
    } else {
        order_free(order);
    }
    flow_wake(&c->flow);
    if (c->procedure) flow_wake(&c->procedure->flow); // it may wait to stop this one
}

static void stop_answered(struct controller_replica *replica) {
    struct replica_order *order = container_of(replica, struct replica_order, replica);
    struct procedure *p = order->procedure;
    if (replica->error != KAFKA_ERROR_NONE) (*order->failed)++;
    p->replicas_pending--;
    flow_wake(&p->flow);
    order_free(order);
}

void controller_replica_answer(struct controller_replica *replica, int16_t error) {
    replica->error = error;
    replica->answered(replica);
}

void replicas_become(struct controller *c, struct procedure *p, struct image_topic *topic, int32_t first, bool is_new) {
    for (int32_t index = first; index < topic->partition_count; index++) {
        const struct image_partition *partition = &topic->partitions[index];
        if (partition->owner_core < 0 || partition->offline) continue;
        struct replica_order *order = order_create(c, p, topic, index);
        order->replica.answered = become_answered;
        order->replica.is_new = is_new || c->options.replicas->find(c->options.context, topic->name, index) < 0;
        c->options.replicas->become(c->options.context, &order->replica);
    }
}

static bool any_dir_failed(const struct controller *c) {
    for (int i = 0; i < c->load.dir_count; i++)
        if (c->load.dir_failed[i]) return true;
    return false;
}

void replicas_stop(struct controller *c, struct procedure *p, const struct image_topic *topic, size_t *failed) {
    *failed = 0;
    for (int32_t index = 0; index < topic->partition_count; index++) {
        const struct image_partition *partition = &topic->partitions[index];
        // A deletion that a start has found: of some replicas the directory may be gone already. Their checkpoint lines
        // may not be, so these are stopped too; but if it may lie in a directory that failed, it is not deleted yet.
        bool lost = partition->owner_core < 0;
        if (lost && !replica_is_here(c, partition)) continue;
        if (lost && any_dir_failed(c)) {
            (*failed)++;
            continue;
        }
        struct replica_order *order = order_create(c, p, topic, index);
        order->replica.answered = stop_answered;
        order->replica.remove = true;
        order->failed = failed;
        c->options.replicas->stop(c->options.context, &order->replica);
    }
}

bool replicas_are_becoming(const struct controller *c, struct uuid topic_id) {
    LIST_FOREACH (link, &c->becoming) {
        if (uuid_equal(container_of(link, struct replica_order, link)->replica.topic_id, topic_id)) return true;
    }
    return false;
}

// All failures of one topic, the first one's in the list.
static struct image_topic *take_topic_failures(struct controller *c) {
    struct uuid id = container_of(list_front(&c->failed), struct replica_order, link)->replica.topic_id;
    const struct image_topic *present = image_topic_by_id(controller_image(c), id);
    struct image_topic *topic = present ? image_topic_clone(present, present->partition_count) : NULL;
    LIST_FOREACH_SAFE (link, &c->failed) {
        struct replica_order *order = container_of(link, struct replica_order, link);
        if (!uuid_equal(order->replica.topic_id, id)) continue;
        if (topic) image_partition_edit(topic, order->replica.partition)->offline = true;
        line(c->core, LINE_ERROR, "controller", order->topic->name.data, "replica_offline",
             "partition=%d error=%s todo=\"the line offline of the partition says what is wrong\"",
             order->replica.partition, kafka_error_name(order->replica.error));
        order_free(order);
    }
    return topic;
}

void replicas_take_failures(struct controller *c) {
    if (list_is_empty(&c->failed)) return;
    struct image_draft draft;
    image_draft_begin(&draft, controller_image(c));
    while (!list_is_empty(&c->failed)) {
        struct image_topic *topic = take_topic_failures(c);
        if (topic) image_draft_put(&draft, topic);
    }
    image_publish(c->options.publisher, image_draft_finish(&draft));
}
