// SPDX-License-Identifier: Apache-2.0
#include "group/call.h"
#include "config/topic_name.h"
#include "group/groups.h"
#include "group/java_text.h"
#include "metadata/publish.h"

#define GROUP_CALL_STEPS(STEP) STEP(group_call, ask) STEP(group_call, wait) STEP(group_call, release)
FLOW_DEFINE(group_call, GROUP_CALL_STEPS)

static struct group_call *self(struct flow *flow) {
    return container_of(flow, struct group_call, flow);
}

void group_call_start(struct core *core, struct group_call *call) {
    call->home = core->id;
    call->tour = 0;
    call->is_home = call->stop_sent = false;
    call->stop_is_home = true;
    call->pending = 0;
    call->group = NULL;
    flow_start(&call->flow, &group_call_flow, core);
}

// The empty group id is that of consumers that only commit.
static bool id_is_allowed(enum group_call_kind kind, struct str id) {
    bool empty_is_allowed = kind == GROUP_CALL_COMMIT || kind == GROUP_CALL_FETCH_OFFSETS ||
                            kind == GROUP_CALL_DESCRIBE || kind == GROUP_CALL_DELETE;
    return !str_is_null(id) && (id.size > 0 || empty_is_allowed);
}

static void item_route(struct group_call *call, struct group_call_item *item, const struct image *image) {
    item->core = -1;
    if (item->error != KAFKA_ERROR_NONE) return;
    if (!id_is_allowed(call->kind, item->group_id)) {
        item->error = KAFKA_ERROR_INVALID_GROUP_ID;
        return;
    }
    const struct image_topic *topic = image_topic_by_name(image, str_of(GROUPS_TOPIC));
    item->partition = topic && topic->partition_count > 0 ? java_partition(item->group_id, topic->partition_count) : -1;
    const struct image_partition *partition = item->partition >= 0 ? image_partition(topic, item->partition) : NULL;
    if (!partition || partition->leader != image->broker_id || partition->owner_core < 0) {
        item->error = KAFKA_ERROR_NOT_COORDINATOR;
        return;
    }
    item->core = partition->owner_core;
    call->tour |= 1ull << item->core;
}

static void call_home(struct core *core, struct message *message) {
    (void)core;
    struct group_call *call = container_of(message, struct group_call, message);
    ASSERT(!call->is_home);
    call->is_home = true;
    flow_wake(&call->flow);
}

static void call_arrives(struct core *core, struct message *message) {
    struct group_call *call = container_of(message, struct group_call, message);
    ASSERT(call->pending == 0);
    call->pending = 1;
    groups_take(core->groups, call);
    group_call_release(core, call);
}

// To the next core of the tour, or home.
static void call_go_on(struct core *core, struct group_call *call) {
    if (call->tour == 0) {
        core_send(core, call->home, &call->message, call_home);
        return;
    }
    int next = __builtin_ctzll(call->tour);
    call->tour &= call->tour - 1;
    core_send(core, next, &call->message, call_arrives);
}

void group_call_hold(struct group_call *call) {
    ASSERT(call->pending > 0);
    call->pending++;
}

void group_call_release(struct core *core, struct group_call *call) {
    ASSERT(call->pending > 0);
    if (--call->pending == 0) call_go_on(core, call);
}

static flow_next group_call_step_ask(struct flow *flow) {
    struct group_call *call = self(flow);
    const struct image *image = image_of(flow->core);
    for (int32_t i = 0; i < call->item_count; i++)
        item_route(call, &call->items[i], image);
    if (call->kind == GROUP_CALL_LIST) call->tour = (1ull << (flow->core->set->count - 1)) - 1;
    if (call->tour == 0) {
        call->is_home = true;
    } else {
        call_go_on(flow->core, call);
    }
    return FLOW_NEXT;
}

// ---- the connection closes, or the broker stops
// ------------------------------------------------------------------------------------------

static void stop_home(struct core *core, struct message *message) {
    (void)core;
    struct group_call *call = container_of(message, struct group_call, stop_message);
    call->stop_is_home = true;
    flow_wake(&call->flow);
}

// The call is here, or on its way home already. Messages of two cores keep their order, so it is not on its way here.
static void stop_arrives(struct core *core, struct message *message) {
    struct group_call *call = container_of(message, struct group_call, stop_message);
    if (call->group) {
        call->items[0].error = KAFKA_ERROR_NOT_COORDINATOR; // who still hears it has to do with a broker that stops
        groups_forget(core->groups, call);
    }
    core_send(core, call->home, message, stop_home);
}

static flow_next group_call_step_wait(struct flow *flow) {
    struct group_call *call = self(flow);
    bool may_be_parked = call->kind == GROUP_CALL_JOIN || call->kind == GROUP_CALL_SYNC;
    if (flow->stop && may_be_parked && !call->is_home && !call->stop_sent) {
        call->stop_sent = true;
        call->stop_is_home = false;
        core_send(flow->core, call->items[0].core, &call->stop_message, stop_arrives);
    }
    return call->is_home && call->stop_is_home ? FLOW_NEXT : FLOW_WAIT;
}

static flow_next group_call_step_release(struct flow *flow) {
    struct group_call *call = self(flow);
    call->done(call);
    return FLOW_END;
}
