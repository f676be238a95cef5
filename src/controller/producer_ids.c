// SPDX-License-Identifier: Apache-2.0
// AllocateProducerIds: the next block of producer ids, claimed by a write that is guarded by the node's version. A
// block whose answer was lost is never given out again.
#include "controller/internal.h"
#include <stdlib.h>

#define CLAIM_STEPS(STEP) STEP(claim, read) STEP(claim, write) STEP(claim, written) STEP(claim, release)
FLOW_DEFINE(claim, CLAIM_STEPS)

struct claim {
    struct procedure p;
    struct metastore_read read;
    struct znode_producer_block block;
};

static struct claim *claim_of(struct flow *flow) {
    return container_of(flow, struct claim, p.flow);
}

static flow_next claim_step_read(struct flow *flow) {
    struct claim *t = claim_of(flow);
    t->read = (struct metastore_read){.kind = METASTORE_GET, .path = ZNODE_PRODUCER_ID_BLOCK, .call.flow = flow};
    metastore_read_start(t->p.controller->options.store, &t->read);
    return FLOW_NEXT;
}

static flow_next claim_fail(struct claim *t, const char *reason) {
    controller_fail(t->p.controller, "%s: %s", ZNODE_PRODUCER_ID_BLOCK, reason);
    t->p.request->error = KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    return FLOW_DONE(&t->p.flow, KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE);
}

static flow_next claim_step_write(struct flow *flow) {
    struct claim *t = claim_of(flow);
    struct controller *c = t->p.controller;
    if (!t->read.call.done) return FLOW_WAIT;
    if (t->read.call.result != METASTORE_OK) return claim_fail(t, metastore_result_name(t->read.call.result));
    char memory[256];
    struct text reason = TEXT_IN(memory);
    struct znode_producer_block last = {.last = -1};
    if (t->read.data.data && !znode_producer_block_decode(&t->p.arena, t->read.data, &last, &reason))
        return claim_fail(t, memory);
    if (last.last > INT64_MAX - PRODUCER_IDS_A_BLOCK) return claim_fail(t, "all producer ids are used up");
    t->block = (struct znode_producer_block){c->options.broker_id, last.last + 1, last.last + PRODUCER_IDS_A_BLOCK};
    struct metastore_write *write = write_begin_fenced(c, &t->p.arena, &t->p.writes, 1);
    write_add(write, metastore_set_node(ZNODE_PRODUCER_ID_BLOCK, znode_producer_block_encode(&t->p.arena, &t->block),
                                        t->read.stat.version));
    writes_start(&t->p.writes, c, flow);
    return FLOW_NEXT;
}

static flow_next claim_step_written(struct flow *flow) {
    struct claim *t = claim_of(flow);
    if (!writes_are_done(&t->p.writes)) return FLOW_WAIT;
    struct metastore_write *write = &t->p.writes.first->write;
    if (write->call.result != METASTORE_OK) {
        controller_unexpected(t->p.controller, write, "claiming producer ids");
        t->p.request->error = KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
        return FLOW_DONE(flow, KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE);
    }
    t->p.request->first_producer_id = t->block.first;
    t->p.request->producer_id_count = PRODUCER_IDS_A_BLOCK;
    return FLOW_NEXT;
}

static flow_next claim_step_release(struct flow *flow) {
    struct claim *t = claim_of(flow);
    metastore_read_free(&t->read);
    procedure_end(&t->p);
    free(t);
    return FLOW_END;
}

void producer_ids_start(struct controller *c, struct controller_request *request) {
    struct claim *t = calloc(1, sizeof *t);
    ASSERT(t != NULL);
    procedure_start(&t->p, c, request, &claim_flow);
}
