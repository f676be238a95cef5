// SPDX-License-Identifier: Apache-2.0
// See validation.h. A turn's share is renewed by a message that the core sends to itself once it is used up, so while
// nothing is much nobody waits.
#include "api/validation.h"

// Together with the threads' own number this bounds what unfolding takes in memory.
enum { COMPUTING_MAX = 4 };

void validations_init(struct validations *vs, struct core *core, uint64_t cost_max_ns) {
    ASSERT(cost_max_ns > 0);
    *vs = (struct validations){.core = core, .cost_max_ns = cost_max_ns, .left_ns = (int64_t)cost_max_ns};
    list_init(&vs->yielded);
    list_init(&vs->waiting);
}

void validations_free(struct validations *vs) {
    ASSERT(vs->computing == 0);
    decompress_cache_free(&vs->cache);
}

// ---- on the core
static void turn_begins(struct core *core, struct message *message) {
    (void)core;
    struct validations *vs = container_of(message, struct validations, next_turn);
    vs->next_turn_sent = false;
    vs->left_ns = (int64_t)vs->cost_max_ns;
    for (struct list *link = list_pop_front(&vs->yielded); link; link = list_pop_front(&vs->yielded)) {
        struct validation *v = container_of(link, struct validation, link);
        v->stage = VALIDATION_IDLE;
        flow_wake(v->flow);
    }
}

static void yield(struct validations *vs, struct validation *v) {
    v->stage = VALIDATION_YIELDED;
    list_init(&v->link);
    list_push_back(&vs->yielded, &v->link);
    if (vs->next_turn_sent) return;
    vs->next_turn_sent = true;
    core_send(vs->core, vs->core->id, &vs->next_turn, turn_begins);
}

// ---- on a thread
static int64_t validation_compute(struct os_host *host, void *argument) {
    (void)host;
    struct validation *v = argument;
    append_validate(v->records, &v->rules, v->arena, v->check);
    return 0;
}

static void validation_computed(struct os_op *op);
static void threads_serve(struct validations *vs) {
    while (vs->computing < COMPUTING_MAX && !list_is_empty(&vs->waiting)) {
        struct validation *v = container_of(list_pop_front(&vs->waiting), struct validation, link);
        v->stage = VALIDATION_COMPUTING;
        vs->computing++;
        v->op = OS_OP(validation_computed);
        os_compute(vs->core->os, &v->op, validation_compute, v);
    }
}

static void validation_computed(struct os_op *op) {
    struct validation *v = container_of(op, struct validation, op);
    ASSERT(v->stage == VALIDATION_COMPUTING && v->all->computing > 0);
    v->all->computing--;
    v->stage = VALIDATION_BACK;
    flow_wake(v->flow);
    threads_serve(v->all);
}

static void hand_over(struct validations *vs, struct validation *v) {
    v->all = vs;
    v->rules.cache = NULL;
    v->rules.cost_max_ns = 0;
    v->stage = VALIDATION_WAITING;
    list_init(&v->link);
    list_push_back(&vs->waiting, &v->link);
    threads_serve(vs);
}

// ---- both
static bool run_here(struct validations *vs, struct validation *v) {
    if (vs->left_ns <= 0) {
        yield(vs, v);
        return false;
    }
    v->rules.cache = &vs->cache;
    v->rules.cost_max_ns = vs->cost_max_ns;
    append_validate(v->records, &v->rules, v->arena, v->check);
    vs->left_ns -= (int64_t)v->check->cost_ns;
    if (!v->check->postponed) return true;
    hand_over(vs, v);
    return false;
}

bool validation_run(struct validations *vs, struct validation *v) {
    if (v->stage == VALIDATION_IDLE) return run_here(vs, v);
    if (v->stage != VALIDATION_BACK) return false;
    v->stage = VALIDATION_IDLE;
    if (v->op.result < 0) validation_compute(vs->core->host, v); // the system gives no thread
    return true;
}

bool validation_give_up(struct validation *v) {
    if (v->stage == VALIDATION_COMPUTING) return false;
    if (v->stage == VALIDATION_YIELDED || v->stage == VALIDATION_WAITING) list_remove(&v->link);
    v->stage = VALIDATION_IDLE;
    return true;
}
