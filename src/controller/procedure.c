// SPDX-License-Identifier: Apache-2.0
// What all procedures have in common: the request's time, the answer, the image, the end.
#include "controller/internal.h"

void procedure_start(struct procedure *p, struct controller *c, struct controller_request *request,
                     const struct flow_type *type) {
    ASSERT(c->procedure == NULL);
    c->procedure = p;
    p->controller = c;
    p->request = request;
    arena_init(&p->arena, CONTROLLER_ARENA_BYTES);
    waiter_init(&p->seated, &p->flow);
    flow_start(&p->flow, type, c->core);
    if (request && request->timeout_ms > 0 && p->time_is_up)
        flow_timer_set(&p->timer, &p->flow, (uint64_t)request->timeout_ms);
}

static void request_returns(struct core *core, struct message *message) {
    struct controller_request *request = container_of(message, struct controller_request, message);
    request->answered(core, request);
}

void procedure_answer(struct procedure *p) {
    struct controller_request *request = p->request;
    p->request = NULL;
    if (request) core_send(p->controller->core, request->from_core, &request->message, request_returns);
}

void procedure_look_at_time(struct procedure *p) {
    if (!p->timer.fired || !p->request) return;
    p->time_is_up(p);
    procedure_answer(p);
}

void procedure_end(struct procedure *p) {
    struct controller *c = p->controller;
    ASSERT(c->procedure == p && p->replicas_pending == 0);
    flow_timer_cancel(&p->timer);
    waitlist_remove(&p->seated);
    procedure_answer(p);
    arena_drop(&p->arena);
    c->procedure = NULL;
    flow_wake(&c->flow);
}

void procedure_publish(struct procedure *p, struct image_draft *draft) {
    struct image *image = image_draft_finish(draft);
    p->version = image->version;
    image_publish(p->controller->options.publisher, image);
}

bool procedure_is_seated(struct procedure *p) {
    return image_is_seated(p->controller->options.publisher, p->version, &p->seated);
}
