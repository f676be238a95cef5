// SPDX-License-Identifier: Apache-2.0
// Between the controller, which speaks of replicas, and the cores that own them: each order becomes a message to the
// owner core, and its answer an answer to the controller. How a replica's log was found at start (its checkpoints,
// whether the stop was clean) is added here.
#include "broker/internal.h"
#include "core/line.h"
#include "replica/become.h"
#include <stdlib.h>

struct become_order {
    struct replica_become become;
    struct controller_replica *replica;
};
struct stop_order {
    struct broker *broker;
    struct checkpointer_wait wait;
    struct replica_stop stop;
    struct controller_replica *replica;
};

static struct broker_found *found_by_name(const struct broker *b, struct str topic, int32_t partition) {
    size_t low = 0, high = b->found_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        struct broker_found *f = &b->found[middle];
        int order = str_compare(str_of(f->at.topic), topic);
        if (order == 0) order = (f->at.partition > partition) - (f->at.partition < partition);
        if (order == 0) return f;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

void broker_found_ends(void *broker, struct ends_list *ends) {
    const struct broker *b = broker;
    for (size_t i = 0; i < b->found_count; i++) {
        const struct broker_found *f = &b->found[i];
        if (f->is_taken) continue;
        struct partition_ends values = {.partition = f->at.partition,
                                        .dir = f->dir,
                                        .recovery_point = f->at.recovery_point,
                                        .log_start_offset = f->at.log_start_offset,
                                        .high_watermark = f->at.high_watermark};
        ends_add_values(ends, f->at.topic, &values);
    }
}

static int replica_find(void *context, struct str topic, int32_t partition) {
    const struct broker_found *found = found_by_name(context, topic, partition);
    return found ? found->dir : -1;
}

static void become_done(struct replica_become *become) {
    struct become_order *order = container_of(become, struct become_order, become);
    controller_replica_answer(order->replica, become->error);
    free(order);
}

static void replica_become(void *context, struct controller_replica *replica) {
    struct broker *b = context;
    struct become_order *order = calloc(1, sizeof *order);
    ASSERT(order != NULL);
    order->replica = replica;
    struct replica_become *become = &order->become;
    *become = (struct replica_become){
        .topic = replica->topic.data,
        .topic_id = replica->topic_id,
        .index = replica->partition,
        .leader = replica->leader,
        .leader_epoch = replica->leader_epoch,
        .partition_epoch = replica->partition_epoch,
        .isr = replica->isr,
        .isr_count = replica->isr_count,
        .assigned = replica->replicas,
        .assigned_count = replica->replica_count,
        .config = *replica->config,
        .dir = replica->log_dir,
        .create = replica->is_new,
        .log_start_offset = -1,
        .high_watermark = -1,
        .done = become_done,
    };
    struct broker_found *found = replica->is_new ? NULL : found_by_name(b, replica->topic, replica->partition);
    if (found) {
        found->is_taken = true;
        become->clean = b->dir_clean[found->dir];
        become->recovery_point = found->at.recovery_point;
        become->log_start_offset = found->at.log_start_offset;
        become->high_watermark = found->at.high_watermark;
    }
    replica_become_send(b->control, replica->owner_core, become);
}

static void stop_checkpointed(struct checkpointer_wait *wait) {
    struct stop_order *order = container_of(wait, struct stop_order, wait);
    controller_replica_answer(order->replica, order->stop.error);
    free(order);
}

// A deleted partition is reported as gone only when the checkpoint files do not name it any more: lines of this name
// would be applied to the next partition that has it.
static void stop_done(struct replica_stop *stop) {
    struct stop_order *order = container_of(stop, struct stop_order, stop);
    order->wait.done = stop_checkpointed;
    if (stop->remove) {
        checkpointer_await(&order->broker->checkpointer, &order->wait);
    } else {
        stop_checkpointed(&order->wait);
    }
}

static void replica_stop(void *context, struct controller_replica *replica) {
    struct broker *b = context;
    struct stop_order *order = calloc(1, sizeof *order);
    ASSERT(order != NULL);
    order->broker = b;
    order->replica = replica;
    order->stop = (struct replica_stop){
        .topic_id = replica->topic_id, .index = replica->partition, .remove = replica->remove, .done = stop_done};
    replica_stop_send(b->control, replica->owner_core, &order->stop);
}

const struct controller_replica_functions broker_replica_functions = {replica_become, replica_stop, replica_find};
