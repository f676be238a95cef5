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
    return found && !found->is_taken ? found->dir : -1;
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

// The checkpointer leaves out a directory that has failed: its files may still name the partition. log_dir -1: it is
// not known where the partition was.
static bool lines_may_be_left(const struct broker *b, int log_dir) {
    for (int i = 0; i < b->dir_count; i++)
        if ((log_dir < 0 || log_dir == i) && log_dir_is_failed(b->dirs[i])) return true;
    return false;
}

static void stop_checkpointed(struct checkpointer_wait *wait) {
    struct stop_order *order = container_of(wait, struct stop_order, wait);
    int16_t error = order->stop.error != KAFKA_ERROR_NONE ? order->stop.error : order->wait.error;
    if (order->stop.remove && error == KAFKA_ERROR_NONE && lines_may_be_left(order->broker, order->replica->log_dir))
        error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    controller_replica_answer(order->replica, error);
    free(order);
}

// A deleted partition is reported as gone only when the checkpoint files do not name it any more: lines of this name
// would be applied to the next partition that has it. On a full disk the checkpointer has the deleted files' space
// freed for that; if others take it, it is tried again so often.
enum { CHECKPOINT_TRIES = 120 };
static void stop_done(struct replica_stop *stop) {
    struct stop_order *order = container_of(stop, struct stop_order, stop);
    order->wait = (struct checkpointer_wait){.tries_left = CHECKPOINT_TRIES, .done = stop_checkpointed};
    bool await = stop->remove;
#ifdef TAILRACE_PLANT_LINES_OF_THE_DELETED
    await = false;
#endif
    if (await) {
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
    if (replica->owner_core < 0) {
        stop_done(&order->stop); // its directory was gone at start; lines may be left
    } else {
        replica_stop_send(b->control, replica->owner_core, &order->stop);
    }
}

const struct controller_replica_functions broker_replica_functions = {replica_become, replica_stop, replica_find};
