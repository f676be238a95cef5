// SPDX-License-Identifier: Apache-2.0
// The loop of one core and the queues between cores.
//
// Going to sleep and being woken: the receiver sets `sleeping`, then looks at
// its queues once more; a sender publishes its message, then looks at
// `sleeping`. Both touch the flag with a read-modify-write, so one of them comes
// first: either the sender's, and then the receiver sees the message, or the
// receiver's, and then the sender sees the flag and rings.
#include "core/core.h"
#include <stdlib.h>

enum { CORE_BUFFERS_KEPT_BYTES = 16 * 1024 * 1024 };
enum { CORE_RING_DEPTH = 1024, CORE_FLOWS_A_TURN_MAX = 256, CORE_MESSAGES_A_TURN_MAX = 1024 };

static struct core *core_create(struct core_set *set, int id, int *error) {
    struct core *core = aligned_alloc(64, align_up(sizeof *core, 64));
    ASSERT(core != NULL);
    memset(core, 0, sizeof *core);
    core->os = os_create(set->host, id, CORE_RING_DEPTH, error);
    if (!core->os) {
        free(core);
        return NULL;
    }
    core->id = id;
    core->is_control = id == set->count - 1;
    core->host = set->host;
    core->set = set;
    core->now_ns = os_now_ns(core->os);
    core->hash_seed = os_random(core->os);
    list_init(&core->run_queue);
    buffers_init(&core->buffers, CORE_BUFFERS_KEPT_BYTES);
    timer_wheel_init(&core->timers, core_now_ms(core));
    return core;
}

static void core_set_make_queues(struct core_set *set) {
    for (int from = 0; from < set->count; from++) {
        for (int to = 0; to < set->count; to++) {
            struct core_queue *queue = aligned_alloc(64, align_up(sizeof *queue, 64));
            ASSERT(queue != NULL);
            memset(queue, 0, offsetof(struct core_queue, slots)); // the slots are touched when they are used
            set->queues[from][to] = queue;
        }
    }
}

struct core_set *core_set_create(struct os_host *host, int data_cores, int *error) {
    ASSERT(data_cores >= 1 && data_cores < CORES_MAX);
    struct core_set *set = calloc(1, sizeof *set);
    ASSERT(set != NULL);
    set->host = host;
    set->count = data_cores + 1;
    core_set_make_queues(set);
    for (int id = 0; id < set->count; id++) {
        set->cores[id] = core_create(set, id, error);
        if (!set->cores[id]) {
            core_set_destroy(set);
            return NULL;
        }
    }
    return set;
}

void core_set_destroy(struct core_set *set) {
    for (int id = 0; id < set->count; id++) {
        if (set->cores[id]) os_destroy(set->cores[id]->os);
        if (set->cores[id]) buffers_free(&set->cores[id]->buffers);
        free(set->cores[id]);
        for (int to = 0; to < set->count; to++)
            free(set->queues[id][to]);
    }
    free(set);
}

static bool queue_push(struct core_queue *queue, struct message *message) {
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    if (tail - head == CORE_QUEUE_SLOTS) return false;
    queue->slots[tail % CORE_QUEUE_SLOTS] = message;
    atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
    return true;
}

static struct message *queue_pop(struct core_queue *queue) {
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    if (head == atomic_load_explicit(&queue->tail, memory_order_acquire)) return NULL;
    struct message *message = queue->slots[head % CORE_QUEUE_SLOTS];
    atomic_store_explicit(&queue->head, head + 1, memory_order_release);
    return message;
}

void core_send(struct core *from, int to, struct message *message, void (*deliver)(struct core *, struct message *)) {
    ASSERT(to >= 0 && to < from->set->count);
    message->deliver = deliver;
    message->next = NULL;
    struct core_queue *queue = from->set->queues[from->id][to];
    from->doorbells |= 1ull << to;
    if (!queue->overflow && queue_push(queue, message)) return;
    if (queue->overflow) {
        queue->overflow_last->next = message;
    } else {
        queue->overflow = message;
    }
    queue->overflow_last = message;
}

// Moves what did not fit into the queues and rings the bell of every sleeping
// core that has something. True: an overflow is left.
static bool core_publish(struct core *core) {
    bool left = false;
    for (int to = 0; to < core->set->count; to++) {
        if (!(core->doorbells & (1ull << to))) continue;
        struct core_queue *queue = core->set->queues[core->id][to];
        while (queue->overflow) {
            struct message *next = queue->overflow->next;
            if (!queue_push(queue, queue->overflow)) break;
            queue->overflow = next;
        }
        if (queue->overflow) {
            left = true;
        } else {
            core->doorbells &= ~(1ull << to);
        }
        if (to == core->id) continue;
        struct core *receiver = core->set->cores[to];
        if (atomic_fetch_or_explicit(&receiver->sleeping, 0, memory_order_acq_rel)) os_ring_doorbell(receiver->os);
    }
    return left;
}

static void core_deliver(struct core *core) {
    for (int from = 0; from < core->set->count; from++) {
        struct core_queue *queue = core->set->queues[from][core->id];
        for (int budget = CORE_MESSAGES_A_TURN_MAX; budget > 0; budget--) {
            struct message *message = queue_pop(queue);
            if (!message) break;
            core_trace(core, "message", "", (uint64_t)from);
            message->deliver(core, message);
        }
    }
}

static bool core_has_messages(struct core *core) {
    for (int from = 0; from < core->set->count; from++) {
        struct core_queue *queue = core->set->queues[from][core->id];
        if (atomic_load_explicit(&queue->tail, memory_order_acquire) !=
            atomic_load_explicit(&queue->head, memory_order_relaxed))
            return true;
    }
    return false;
}

static void core_run_flows(struct core *core) {
    for (int budget = CORE_FLOWS_A_TURN_MAX; budget > 0; budget--) {
        struct list *link = list_pop_front(&core->run_queue);
        if (!link) break;
        flow_run(container_of(link, struct flow, run_link));
    }
}

static void core_sleep(struct core *core, bool overflow_left) {
    uint64_t deadline_ns = 0;
    if (list_is_empty(&core->run_queue) && !overflow_left) {
        uint64_t next_ms = timer_wheel_next_ms(&core->timers);
        deadline_ns = next_ms >= UINT64_MAX / 1000000 ? UINT64_MAX : next_ms * 1000000;
        if (deadline_ns <= core->now_ns) deadline_ns = 0;
    }
    if (deadline_ns != 0) {
        (void)atomic_exchange_explicit(&core->sleeping, 1, memory_order_acq_rel);
        if (core_has_messages(core)) deadline_ns = 0;
    }
    os_wait(core->os, deadline_ns);
    atomic_store_explicit(&core->sleeping, 0, memory_order_relaxed);
}

bool core_turn(void *argument) {
    struct core *core = argument;
    core->now_ns = os_now_ns(core->os);
    atomic_store_explicit(&core->heartbeat_ns, core->now_ns, memory_order_relaxed);
    core_deliver(core);
    timer_wheel_advance(&core->timers, core_now_ms(core));
    core_run_flows(core);
    bool overflow_left = core_publish(core);
    if (core->stopping && list_is_empty(&core->run_queue) && !overflow_left && !core_has_messages(core)) return false;
    core_sleep(core, overflow_left);
    return true;
}

void core_stop(struct core *core) {
    core->stopping = true;
}

static void flow_timer_fire(struct timer *timer) {
    struct flow_timer *t = container_of(timer, struct flow_timer, timer);
    t->fired = true;
    flow_wake(t->flow);
}

void flow_timer_set(struct flow_timer *t, struct flow *flow, uint64_t delay_ms) {
    if (t->timer.link.next == NULL) timer_init(&t->timer, flow_timer_fire);
    t->flow = flow;
    t->fired = false;
    core_timer_set(flow->core, &t->timer, delay_ms);
}

void flow_timer_cancel(struct flow_timer *t) {
    if (t->timer.link.next != NULL) core_timer_cancel(t->flow->core, &t->timer);
}

static void flow_op_done(struct os_op *op) {
    flow_wake(container_of(op, struct flow_op, op)->flow);
}

void flow_op_init(struct flow_op *o, struct flow *flow) {
    *o = (struct flow_op){.op = OS_OP(flow_op_done), .flow = flow};
}
