// SPDX-License-Identifier: Apache-2.0
// Bringing an image to every core. Each core has a seat with its present image. The control core sends a copy's message
// to each core, which seats the image, tells the core's listeners, and answers "seated"; once the image has been
// replaced and nothing on that core holds it, the copy goes home. An image whose copies are all home is freed.
#pragma once

#include "core/core.h"
#include "core/waitlist.h"
#include "metadata/image.h"

struct image_publisher;

// Before the threads of the cores run: gives each core its seat, with an empty image (version 0).
struct image_publisher *image_publisher_create(struct core_set *set);
// After they have ended: frees everything, held or not.
void image_publisher_destroy(struct image_publisher *publisher);

// [control core] Takes over the image, which was built on image_latest().
void image_publish(struct image_publisher *publisher, struct image *image);
// [control core] The newest one, perhaps not yet on other cores.
const struct image *image_latest(const struct image_publisher *publisher);
// [control core] Whether every core has this version or a newer one; else the flow that the waiter was made for is
// woken when it is so.
bool image_is_seated(struct image_publisher *publisher, uint64_t version, struct waiter *waiter);

// [any core, its own] The present image, never NULL.
const struct image *image_of(struct core *core);
// [any core, its own] The present image, which stays until it is released on the same core.
const struct image *image_hold(struct core *core);
void image_release(struct core *core, const struct image *image);

// Told on its core when a new image has been seated (both are valid during the call). It compares what concerns it and
// wakes flows. Registered by its core, or before the threads run.
struct image_listener {
    struct list link; // private
    void (*changed)(struct image_listener *listener, struct core *core, const struct image *before,
                    const struct image *now);
};
void image_listen(struct core *core, struct image_listener *listener);
void image_unlisten(struct image_listener *listener);
