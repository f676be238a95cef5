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
