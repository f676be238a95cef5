// SPDX-License-Identifier: Apache-2.0
// The life of a copy of an image on one core:
//
//   sent -> seated (answered at once) -> replaced by the next -> nobody holds it -> home
//
// Two messages of the copy travel: one brings it and takes it home, the other says that it is seated. The control core
// frees an image when all its copies are home. Counters of holds are touched only by the core that they belong to.
#include "metadata/publish.h"
#include "base/assert.h"
#include "metadata/build.h"
#include <stdlib.h>

struct image_copy {
    _Alignas(64) struct message travel;
    struct message seated;
    struct image *image;
    struct image_publisher *publisher;
    int core;
    uint32_t holds;
    bool is_present;
};
struct image_seat {
    struct image_copy *present;
    struct list listeners;
};
struct image_publisher {
    struct core *control;
    int core_count;
    struct image *latest;
    struct image_seat seats[CORES_MAX];
    uint64_t seated_versions[CORES_MAX]; // the control core's knowledge
    struct waitlist seated;
    struct list images; // all that are not freed yet
};

static struct image_copy *copies_create(struct image_publisher *publisher, struct image *image) {
    size_t size = align_up((size_t)publisher->core_count * sizeof(struct image_copy), 64);
    struct image_copy *copies = aligned_alloc(64, size);
    ASSERT(copies != NULL);
    memset(copies, 0, size);
    for (int core = 0; core < publisher->core_count; core++)
        copies[core] = (struct image_copy){.image = image, .publisher = publisher, .core = core};
    image->copies = copies;
    image->copies_held = (uint32_t)publisher->core_count;
    list_push_back(&publisher->images, &image->link);
    return copies;
}

static void publisher_free_image(struct image *image) {
    list_remove(&image->link);
    free(image->copies);
    image_free(image);
}

struct image_publisher *image_publisher_create(struct core_set *set) {
    struct image_publisher *publisher = calloc(1, sizeof *publisher);
    ASSERT(publisher != NULL);
    publisher->control = core_control(set);
    publisher->core_count = set->count;
    waitlist_init(&publisher->seated);
    list_init(&publisher->images);
    publisher->latest = image_create_empty(publisher->control->hash_seed);
    struct image_copy *copies = copies_create(publisher, publisher->latest);
    for (int core = 0; core < set->count; core++) {
        list_init(&publisher->seats[core].listeners);
        copies[core].is_present = true;
        publisher->seats[core].present = &copies[core];
        set->cores[core]->image_seat = &publisher->seats[core];
    }
    return publisher;
}

void image_publisher_destroy(struct image_publisher *publisher) {
    for (struct list *link = list_front(&publisher->images); link; link = list_front(&publisher->images))
        publisher_free_image(container_of(link, struct image, link));
    free(publisher);
}

// ---- on the control core

static uint64_t publisher_seated_version(const struct image_publisher *publisher) {
    uint64_t version = UINT64_MAX;
    for (int core = 0; core < publisher->core_count; core++)
        if (publisher->seated_versions[core] < version) version = publisher->seated_versions[core];
    return version;
}

static void publisher_seated(struct core *core, struct message *message) {
    struct image_copy *copy = container_of(message, struct image_copy, seated);
    struct image_publisher *publisher = copy->publisher;
    ASSERT(core == publisher->control && copy->image->version > publisher->seated_versions[copy->core]);
    publisher->seated_versions[copy->core] = copy->image->version;
    waitlist_advance(&publisher->seated, (int64_t)publisher_seated_version(publisher));
}

static void publisher_copy_home(struct core *core, struct message *message) {
    struct image_copy *copy = container_of(message, struct image_copy, travel);
    ASSERT(core == copy->publisher->control && copy->image->copies_held > 0);
    ASSERT(copy->image != copy->publisher->latest);
    if (--copy->image->copies_held == 0) publisher_free_image(copy->image);
}

static void seat_take(struct core *core, struct message *message);

void image_publish(struct image_publisher *publisher, struct image *image) {
    ASSERT(image->version == publisher->latest->version + 1);
    struct image_copy *copies = copies_create(publisher, image);
    publisher->latest = image;
    for (int core = 0; core < publisher->core_count; core++)
        core_send(publisher->control, core, &copies[core].travel, seat_take);
}

const struct image *image_latest(const struct image_publisher *publisher) {
    return publisher->latest;
}

bool image_is_seated(struct image_publisher *publisher, uint64_t version, struct waiter *waiter) {
    if (publisher_seated_version(publisher) >= version) return true;
    if (!list_is_linked(&waiter->link)) waitlist_add(&publisher->seated, waiter, (int64_t)version);
    return false;
}

// ---- on each core

static void copy_go_home(struct core *core, struct image_copy *copy) {
    if (copy->is_present || copy->holds > 0) return;
    core_send(core, copy->publisher->control->id, &copy->travel, publisher_copy_home);
}

static void seat_take(struct core *core, struct message *message) {
    struct image_copy *copy = container_of(message, struct image_copy, travel);
    struct image_seat *seat = core->image_seat;
    struct image_copy *before = seat->present;
    ASSERT(copy->core == core->id && copy->image->version > before->image->version);
    copy->is_present = true;
    seat->present = copy;
    core_send(core, copy->publisher->control->id, &copy->seated, publisher_seated);
    LIST_FOREACH_SAFE (link, &seat->listeners) {
        struct image_listener *listener = container_of(link, struct image_listener, link);
        listener->changed(listener, core, before->image, copy->image);
    }
    before->is_present = false;
    copy_go_home(core, before);
}

const struct image *image_of(struct core *core) {
    return core->image_seat->present->image;
}

const struct image *image_hold(struct core *core) {
    core->image_seat->present->holds++;
    return core->image_seat->present->image;
}

void image_release(struct core *core, const struct image *image) {
    struct image_copy *copy = &image->copies[core->id];
    ASSERT(copy->core == core->id && copy->holds > 0);
    copy->holds--;
    copy_go_home(core, copy);
}

void image_listen(struct core *core, struct image_listener *listener) {
    list_init(&listener->link);
    list_push_back(&core->image_seat->listeners, &listener->link);
}

void image_unlisten(struct image_listener *listener) {
    list_remove(&listener->link);
}
