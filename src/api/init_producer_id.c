// SPDX-License-Identifier: Apache-2.0
// InitProducerId for idempotent producers: a new producer id with epoch 0, from this core's block of ids (blocks of
// 1000 come from the controller, which keeps the next free one in the metadata store).
//
// Without a transactional id, timeout, id and epoch of the request are not looked at, but for one of id and epoch
// without the other, which is INVALID_REQUEST (trap 37). Transactions are not served yet: a request with a
// transactional id is INVALID_REQUEST, never a retriable code, or clients would spin (trap 59).
#include "protocol/messages/init_producer_id.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "api/state.h"
#include "core/line.h"
#include "protocol/message.h"
#include <stdlib.h>

struct init_producer_id_call {
    struct api_call *call;
    struct list link;
};

static void answer(struct api_call *call, int16_t error, int64_t producer_id) {
    struct init_producer_id_response response;
    message_default(call->api->response, &response);
    response.error_code = error;
    response.producer_id = producer_id;
    response.producer_epoch = error == KAFKA_ERROR_NONE ? 0 : -1;
    respond(call, &response);
}

static void block_arrived(struct core *core, struct controller_request *request);

static void block_ask(struct core *core, struct producer_ids *ids) {
    ids->asking = true;
    ids->request = calloc(1, sizeof *ids->request);
    ASSERT(ids->request != NULL);
    ids->request->kind = CONTROLLER_ALLOCATE_PRODUCER_IDS;
    ids->request->answered = block_arrived;
    controller_send(core, facts_of(core)->controller, ids->request);
}

static void waiting_serve(struct core *core, struct producer_ids *ids) {
    for (struct list *link = list_front(&ids->waiting); link && ids->next < ids->end;
         link = list_front(&ids->waiting)) {
        struct init_producer_id_call *i = container_of(link, struct init_producer_id_call, link);
        list_remove(link);
        answer(i->call, KAFKA_ERROR_NONE, ids->next++);
    }
    if (!list_is_empty(&ids->waiting) && !ids->asking) block_ask(core, ids);
}

static void block_arrived(struct core *core, struct controller_request *request) {
    struct producer_ids *ids = &core->api->producer_ids;
    ids->asking = false;
    ids->request = NULL;
    if (request->error == KAFKA_ERROR_NONE) {
        ids->next = request->first_producer_id;
        ids->end = request->first_producer_id + request->producer_id_count;
        waiting_serve(core, ids);
    } else {
        line(core, LINE_WARN, "api", "", "no_producer_ids", "error=%s", kafka_error_name(request->error));
        for (struct list *link = list_pop_front(&ids->waiting); link; link = list_pop_front(&ids->waiting)) {
            answer(container_of(link, struct init_producer_id_call, link)->call,
                   KAFKA_ERROR_COORDINATOR_LOAD_IN_PROGRESS, -1);
        }
    }
    free(request);
}

void handle_init_producer_id(struct api_call *call) {
    const struct init_producer_id_request *request = call->body;
    if (!str_is_null(request->transactional_id)) return answer(call, KAFKA_ERROR_INVALID_REQUEST, -1);
    if ((request->producer_id == -1) != (request->producer_epoch == -1))
        return answer(call, KAFKA_ERROR_INVALID_REQUEST, -1);
    struct init_producer_id_call *i = call_alloc(call, sizeof *i);
    if (!i) return;
    i->call = call;
    list_init(&i->link);
    list_push_back(&call->core->api->producer_ids.waiting, &i->link);
    waiting_serve(call->core, &call->core->api->producer_ids);
}
