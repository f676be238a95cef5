// SPDX-License-Identifier: Apache-2.0
// What the files of controller/ share. Private to the folder.
//
// The controller's state is the newest image (image_latest): topics, assignments, leaders and epochs, settings. What is
// not in the image is in struct controller.
#pragma once

#include "base/text.h"
#include "controller/controller.h"
#include "controller/plan.h"
#include "core/line.h"
#include "metadata/build.h"
#include "metastore/paths.h"

enum {
    CONTROLLER_ARENA_BYTES = 1 << 30,      // of one procedure; what clients ask for is bounded below
    CONTROLLER_PARTITIONS_MAX = 100000,    // of one topic, and of all topics of one request
    CONTROLLER_ROWS_MAX = 100000,          // of one request
    CONTROLLER_CHANGES_A_WRITE_MAX = 2000, // keeps a write below ZooKeeper's frame limit
    CONTROLLER_REASON_SIZE = 512,
    PRODUCER_IDS_A_BLOCK = 1000,
};

// Writes that are made in an arena, started together and awaited together.
struct write_item {
    struct write_item *next;
    struct metastore_write write;
};
struct write_set {
    struct write_item *first, *last;
};

struct procedure;
struct controller {
    struct core *core;
    struct controller_options options;
    struct arena texts; // of the options
    struct flow flow;   // startup, then the queue
    struct list requests;
    struct procedure *procedure; // the one that runs
    // Election.
    bool is_active;
    int32_t epoch;
    int32_t epoch_version; // of /controller_epoch: every write is fenced with it
    int64_t broker_epoch;
    struct str cluster_id;
    struct plan_load load;
    struct write_set farewell;
    struct list becoming; // of replica_order: told to become, not answered yet
    struct list failed;   // of replica_order: could not; the image does not say so yet
    char failure[CONTROLLER_REASON_SIZE];
    bool has_failed, told_started, told_failed;
    struct flow *stop_flow;
    bool *stop_done;
};
static inline const struct image *controller_image(const struct controller *c) {
    return image_latest(c->options.publisher);
}
static inline const struct config *controller_config(const struct controller *c) {
    const struct image *image = controller_image(c);
    return image->config ? image->config : c->options.config;
}
// The store is broken, another broker is controller now, ...: nothing more is written; the broker is told.
__attribute__((format(printf, 2, 3))) void controller_fail(struct controller *c, const char *format, ...);

// ---- writes in flight (writes.c)
// A write of up to `changes_max` changes; changes are added with write_add.
struct metastore_write *write_begin(struct arena *a, struct write_set *set, size_t changes_max);
struct metastore_change *write_add(struct metastore_write *write, struct metastore_change change);
// The same, beginning with the check of the controller epoch.
struct metastore_write *write_begin_fenced(struct controller *c, struct arena *a, struct write_set *set,
                                           size_t changes_max);
void writes_start(struct write_set *set, struct controller *c, struct flow *flow);
bool writes_are_done(const struct write_set *set);
// For a result that the caller did not expect: fails the controller and says what the client gets.
int16_t controller_unexpected(struct controller *c, const struct metastore_write *write, const char *doing);
// Copies of paths and texts that last as long as the arena.
const char *arena_path(struct arena *a, const char *path);
const char *arena_state_path(struct arena *a, struct str topic, int32_t partition);
const char *arena_partition_path(struct arena *a, struct str topic, int32_t partition);

// ---- procedures (procedure.c)
// What every procedure embeds first.
struct procedure {
    struct flow flow;
    struct controller *controller;
    struct controller_request *request;              // NULL: internal, or answered already
    struct flow_timer timer;                         // the request's time; not set if timeout_ms <= 0 or there is none
    void (*time_is_up)(struct procedure *procedure); // fills the rows for an early answer
    struct arena arena;
    struct write_set writes;
    size_t replicas_pending;
    uint64_t version; // of the image that shows the change
    struct waiter seated;
};
void procedure_start(struct procedure *p, struct controller *c, struct controller_request *request,
                     const struct flow_type *type);
// At the head of steps that wait: answers early if the time is up.
void procedure_look_at_time(struct procedure *p);
void procedure_answer(struct procedure *p);
// In release: answers what is left, gives everything back, lets the next one run. The caller frees the struct.
void procedure_end(struct procedure *p);
void procedure_publish(struct procedure *p, struct image_draft *draft);
bool procedure_is_seated(struct procedure *p);

// ---- replicas of this broker (replicas.c)
// Chooses a core and a directory for a new replica, if this broker has one.
void replica_place(struct controller *c, struct image_partition *partition, int dir);
void replica_unplace(struct controller *c, const struct image_partition *partition);
bool replica_is_here(const struct controller *c, const struct image_partition *partition);
// Tells the replicas of a topic with index >= first what they are now, holding the topic until they have answered.
// procedure: counts them and is woken by each answer, `offline` is set in the topic (which it still owns) where one
// fails; NULL: answers are dealt with by the queue.
void replicas_become(struct controller *c, struct procedure *p, struct image_topic *topic, int32_t first, bool is_new);
void replicas_stop(struct controller *c, struct procedure *p, const struct image_topic *topic, size_t *failed);
bool replicas_are_becoming(const struct controller *c, struct uuid topic_id);
// Failed ones become offline in the image.
void replicas_take_failures(struct controller *c);

// ---- rows of CreateTopics (create_rows.c): an error with its message, made in `texts`
// Takes out what is assigned twice.
int16_t create_row_check_assignments(struct arena *scratch, struct arena *texts, struct controller_create_topic *row,
                                     struct str *message);
int16_t create_row_check_nulls(struct arena *texts, const struct controller_create_topic *row, struct str *message);
// The settings by key, in the request's arena, as the answer shows them.
struct config_map create_row_overrides(struct arena *texts, const struct controller_create_topic *row);

// ---- loggers (alter_loggers.c)
// The settings' keys have been checked (alter_configs.c); answers the row.
void alter_loggers(struct controller *c, struct controller_request *request, struct controller_alter_config *row);

// ---- topics (topics.c)
// A row's partitions get their leader, ISR, core and directory; then the writes that make them (state nodes; with
// `with_topic` also the topic's own nodes).
struct topic_nodes {
    bool config_exists; // its node is there already: set instead of created
    struct write_set writes;
};
void topic_elect_new(struct controller *c, struct image_topic *topic, int32_t first);
bool topic_lacks_leader(const struct image_topic *topic);
void topic_write_new(struct controller *c, struct arena *a, struct flow *flow, const struct image_topic *topic,
                     struct topic_nodes *nodes);
void topic_write_partitions(struct controller *c, struct arena *a, struct write_set *set,
                            const struct image_topic *topic, int32_t first);
struct bytes topic_encode(struct arena *a, const struct image_topic *topic);
struct bytes overrides_encode(struct arena *a, struct config_map overrides);

// ---- what each kind of request does
void create_topics_start(struct controller *c, struct controller_request *request);
void delete_topics_start(struct controller *c, struct controller_request *request);
void delete_topics_resume(struct controller *c);
void create_partitions_start(struct controller *c, struct controller_request *request);
void alter_configs_start(struct controller *c, struct controller_request *request);
void producer_ids_start(struct controller *c, struct controller_request *request);
void log_dir_failed_start(struct controller *c, struct controller_request *request);
void store_offsets_start(struct controller *c, struct controller_request *request);
void load_offsets_start(struct controller *c, struct controller_request *request);

// ---- startup (startup.c, load.c)
// A procedure: registers, gets elected, and then either the controller has failed or loading begins.
void startup_start(struct controller *c);
// A procedure: reads everything, elects leaders, publishes the first image, tells the replicas.
void load_start(struct controller *c);
