// SPDX-License-Identifier: Apache-2.0
#include "api/scatter.h"

void scatter_begin(struct scatter *scatter, struct core *core, void (*all_done)(struct scatter *scatter)) {
    *scatter = (struct scatter){.core = core, .pending = 1, .all_done = all_done}; // 1: until scatter_end
}

void scatter_end(struct scatter *scatter) {
    ASSERT(scatter->pending > 0);
    if (--scatter->pending == 0) scatter->all_done(scatter);
}

static void scatter_call_done(struct partition_call *call) {
    scatter_end(call->context);
}

void scatter_send(struct scatter *scatter, struct partition_call *call, const struct image_topic *topic,
                  int32_t index) {
    const struct image_partition *partition = topic && !topic->deleting ? image_partition(topic, index) : NULL;
    if (!partition) {
        call->error = KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
    } else if (partition->offline) {
        call->error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    } else if (partition->owner_core < 0) {
        call->error = KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER;
    } else {
        call->topic_id = topic->id;
        call->index = index;
        call->done = scatter_call_done;
        call->context = scatter;
        scatter->pending++;
        partition_call_send(scatter->core, partition->owner_core, call);
    }
}
