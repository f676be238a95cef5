// SPDX-License-Identifier: Apache-2.0
// Building images, on the control core. A topic is made (or cloned and changed), put into a draft, and never touched
// again; a draft over an image becomes the next image. A draft is begun and finished without a wait between.
#pragma once

#include "metadata/image.h"

// A topic with its own memory and one reference, which the draft takes over. Its partitions have no leader and no
// replicas yet. is_internal follows from the name.
struct image_topic *image_topic_create(struct str name, struct uuid id, int32_t partition_count);
// The same topic to be changed; partitions above those of `from` are as after image_topic_create.
struct image_topic *image_topic_clone(const struct image_topic *from, int32_t partition_count);
// A partition that may be changed: the topic has not been published. Replicas and ISR through the functions below.
struct image_partition *image_partition_edit(struct image_topic *topic, int32_t partition);
void image_partition_set_replicas(struct image_partition *partition, const int32_t *ids, int32_t count);
void image_partition_set_isr(struct image_partition *partition, const int32_t *ids, int32_t count);
// Copies the settings (sorted by key) and resolves them over the broker's.
void image_topic_set_overrides(struct image_topic *topic, struct config_map overrides, const struct config *config);
// One more reference, and one less. The control core's.
const struct image_topic *image_topic_hold(const struct image_topic *topic);
void image_topic_release(const struct image_topic *topic);

// Settings changed at run time: copies the maps; what cannot be used is passed over and told to the report (may be
// NULL). One reference.
struct image_settings *image_settings_create(const struct config *base, struct config_map cluster,
                                             struct config_map broker, struct config_report *report);
void image_settings_release(struct image_settings *settings);
const struct config *image_settings_config(const struct image_settings *settings);

struct image_edit;
struct image_draft {
    const struct image *before;
    // What the next image will have; set by image_draft_begin from the image before, to be changed freely. Texts and
    // brokers are copied at the end.
    struct str cluster_id;
    int32_t broker_id, controller_id, controller_epoch;
    const struct image_broker *brokers; // any order
    size_t broker_count;
    // private
    struct image_settings *settings; // NULL: as before
    struct image_edit *edits;
    size_t edit_count, edit_capacity;
};
void image_draft_begin(struct image_draft *draft, const struct image *before);
// Adds it, or replaces the one of that name. Takes over the caller's reference.
void image_draft_put(struct image_draft *draft, struct image_topic *topic);
// Harmless if there is none of that name.
void image_draft_remove(struct image_draft *draft, struct str name);
// Takes over the caller's reference. All topics are resolved again over the new configuration.
void image_draft_set_settings(struct image_draft *draft, struct image_settings *settings);
// The draft is over; the image has the next version.
struct image *image_draft_finish(struct image_draft *draft);
void image_draft_drop(struct image_draft *draft);

// Version 0: no broker, no topic.
struct image *image_create_empty(uint64_t seed);
// For publish.c and tests: nobody has it any more.
void image_free(struct image *image);
