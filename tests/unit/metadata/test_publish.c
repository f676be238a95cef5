// SPDX-License-Identifier: Apache-2.0
// The way of an image to every core and back home.
#include "metadata/build.h"
#include "metadata/publish.h"
#include "os/linux/host.h"
#include <criterion/criterion.h>

struct listener {
    struct image_listener base;
    int calls;
    uint64_t before, now;
};
static void listener_changed(struct image_listener *base, struct core *core, const struct image *before,
                             const struct image *now) {
    struct listener *l = container_of(base, struct listener, base);
    cr_assert_eq(image_of(core), now);
    l->calls++;
    l->before = before->version;
    l->now = now->version;
}

static void turn(struct core *core) {
    os_ring_doorbell(core->os);
    core_turn(core);
}
static void publish(struct image_publisher *publisher) {
    struct image_draft draft;
    image_draft_begin(&draft, image_latest(publisher));
    image_publish(publisher, image_draft_finish(&draft));
}

Test(publish, seated_held_and_freed) {
    int error;
    struct os_host *host = os_host_create();
    struct core_set *set = core_set_create(host, 2, &error);
    cr_assert_not_null(set);
    struct core *control = core_control(set);
    struct image_publisher *publisher = image_publisher_create(set);
    struct listener listener = {.base = {.changed = listener_changed}};
    image_listen(set->cores[1], &listener.base);
    cr_assert_eq(image_of(set->cores[0])->version, 0);
    struct flow nobody = {0};
    struct waiter waiter;
    waiter_init(&waiter, &nobody);
    publish(publisher);
    cr_assert_eq(image_latest(publisher)->version, 1);
    cr_assert_eq(image_of(set->cores[0])->version, 0, "only by message");
    cr_assert_not(image_is_seated(publisher, 1, &waiter));
    turn(control);
    turn(set->cores[0]);
    turn(set->cores[1]);
    cr_assert_eq(image_of(set->cores[0])->version, 1);
    cr_assert(listener.calls == 1 && listener.before == 0 && listener.now == 1);
    turn(control);
    cr_assert(image_is_seated(publisher, 1, &waiter));
    cr_assert_not(list_is_linked(&waiter.link));

    // Core 0 holds version 1 (twice) while 2 and 3 come.
    const struct image *held = image_hold(set->cores[0]);
    cr_assert_eq(image_hold(set->cores[0]), held);
    publish(publisher);
    publish(publisher);
    for (int i = 0; i < 3; i++)
        for (int core = 0; core < 3; core++)
            turn(set->cores[core]);
    cr_assert_eq(image_of(set->cores[0])->version, 3);
    cr_assert_eq(held->version, 1, "still there");
    cr_assert_eq(held->copies_held, 1);
    image_release(set->cores[0], held);
    cr_assert_eq(held->copies_held, 1);
    image_release(set->cores[0], held);
    for (int i = 0; i < 2; i++)
        for (int core = 0; core < 3; core++)
            turn(set->cores[core]); // it is freed here (AddressSanitizer looks)
    image_unlisten(&listener.base);
    publish(publisher);
    for (int core = 0; core < 3; core++)
        turn(set->cores[core]);
    cr_assert_eq(listener.calls, 3);
    image_publisher_destroy(publisher);
    core_set_destroy(set);
    os_host_destroy(host);
}

// ---- on threads of their own (ThreadSanitizer looks)

enum { ROUNDS = 300, HELD = 4 };
struct reader {
    struct image_listener base;
    const struct image *held[HELD]; // the last ones, in a ring
    uint64_t last, topics_seen;
};
struct writer {
    struct flow flow;
    struct image_publisher *publisher;
    struct waiter waiter;
    struct message stop[CORES_MAX];
};

static void reader_changed(struct image_listener *base, struct core *core, const struct image *before,
                           const struct image *now) {
    struct reader *r = container_of(base, struct reader, base);
    cr_assert_eq(before->version + 1, now->version);
    const struct image **place = &r->held[now->version % HELD];
    if (*place) {
        r->topics_seen += (*place)->topic_count;
        cr_assert_not_null(image_topic_by_name(*place, str_of("t")));
        image_release(core, *place);
    }
    *place = image_hold(core);
    r->last = now->version;
}

static void stop_core(struct core *core, struct message *message) {
    (void)message;
    core_stop(core);
}

#define WRITER_STEPS(STEP) STEP(writer, write) STEP(writer, seated) STEP(writer, release)
FLOW_DEFINE(writer, WRITER_STEPS)
static flow_next writer_step_write(struct flow *flow) {
    struct writer *w = container_of(flow, struct writer, flow);
    for (int i = 0; i < 3; i++) {
        struct image_draft draft;
        image_draft_begin(&draft, image_latest(w->publisher));
        image_draft_put(&draft, image_topic_create(str_of("t"), (struct uuid){{1}}, 3));
        image_publish(w->publisher, image_draft_finish(&draft));
    }
    return FLOW_NEXT;
}
static flow_next writer_step_seated(struct flow *flow) {
    struct writer *w = container_of(flow, struct writer, flow);
    uint64_t version = image_latest(w->publisher)->version;
    if (!image_is_seated(w->publisher, version, &w->waiter)) return FLOW_WAIT;
    return version < ROUNDS ? FLOW_GOTO(writer, write) : FLOW_NEXT;
}
static flow_next writer_step_release(struct flow *flow) {
    struct writer *w = container_of(flow, struct writer, flow);
    for (int i = 0; i < flow->core->set->count; i++)
        core_send(flow->core, i, &w->stop[i], stop_core);
    return FLOW_END;
}

Test(publish, between_threads) {
    int error;
    struct os_host *host = os_host_create();
    struct core_set *set = core_set_create(host, 2, &error);
    cr_assert_not_null(set);
    struct writer writer = {.publisher = image_publisher_create(set)};
    struct reader readers[2] = {{.base.changed = reader_changed}, {.base.changed = reader_changed}};
    struct os_core_entry entries[3];
    waiter_init(&writer.waiter, &writer.flow);
    for (int i = 0; i < 2; i++)
        image_listen(set->cores[i], &readers[i].base);
    flow_start(&writer.flow, &writer_flow, core_control(set));
    for (int i = 0; i < 3; i++)
        entries[i] = (struct os_core_entry){"core", -1, core_turn, set->cores[i]};
    os_run_cores(host, entries, 3);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(readers[i].last, ROUNDS);
        cr_assert_eq(readers[i].topics_seen, ROUNDS - HELD);
    }
    image_publisher_destroy(writer.publisher);
    core_set_destroy(set);
    os_host_destroy(host);
}
