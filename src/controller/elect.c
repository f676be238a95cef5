// SPDX-License-Identifier: Apache-2.0
#include "controller/elect.h"
#include "base/assert.h"

static bool contains(const int32_t *ids, int32_t count, int32_t id) {
    for (int32_t i = 0; i < count; i++)
        if (ids[i] == id) return true;
    return false;
}

static int32_t first_of(const struct elect_partition *p, bool of_isr) {
    for (int32_t i = 0; i < p->replica_count; i++) {
        int32_t id = p->replicas[i];
        if (contains(p->alive, p->alive_count, id) && (!of_isr || contains(p->isr, p->isr_count, id))) return id;
    }
    return -1;
}

static int32_t keep_alive(const struct elect_partition *p, const int32_t *ids, int32_t count, int32_t *out) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++)
        if (contains(p->alive, p->alive_count, ids[i])) out[kept++] = ids[i];
    return kept;
}

struct elect_result elect_leader(const struct elect_partition *p, int32_t *isr) {
    struct elect_result result = {.leader_epoch = p->is_new ? 0 : p->leader_epoch + 1};
    result.leader = first_of(p, !p->is_new);
    if (result.leader >= 0) {
        result.isr_count =
            p->is_new ? keep_alive(p, p->replicas, p->replica_count, isr) : keep_alive(p, p->isr, p->isr_count, isr);
        ASSERT(contains(isr, result.isr_count, result.leader));
        return result;
    }
    if (p->unclean_allowed && !p->is_new) result.leader = first_of(p, false);
    if (result.leader >= 0) {
        result.unclean = true;
        isr[0] = result.leader;
        result.isr_count = 1;
        return result;
    }
    for (int32_t i = 0; i < p->isr_count; i++)
        isr[i] = p->isr[i];
    result.isr_count = p->isr_count;
    return result;
}
