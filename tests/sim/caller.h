// SPDX-License-Identifier: Apache-2.0
// A client of a scenario that is written straight down: each caller is a program on a host of its own, with one
// connection, whose script asks, waits for the answer, and goes on. What several do at the same time is several
// callers.
#pragma once

#include "client.h"
#include "history.h"
#include "protocol/batch.h"
#include "protocol/messages/fetch.h"
#include "protocol/messages/produce.h"
#include "protocol/uuid.h"
#include "sim.h"
#include "tailrace/error.h"

struct caller {
    // in
    const char *name, *broker; // host names
    uint16_t port;
    void (*script)(struct caller *caller, void *argument);
    void *argument;
    // out
    bool done; // the script has returned
    struct os_host *host;
    struct core *core;
    // private
    struct flow flow;
    struct client *client;
    struct flow_timer timer;
    struct message bell; // to its own core: the turn that has what the script waits for does not go to sleep
    bool bell_rings;
};
// Makes the host and starts the script on it.
struct caller *caller_start(const char *host_name, const char *broker, uint16_t port,
                            void (*script)(struct caller *, void *), void *argument);
bool caller_is_done(void *caller); // for sim_run

// For the script. ask: sends what is in the call and waits; true if there is an answer. Whatever comes, caller_end
// frees it. range: of versions.
void *caller_begin(struct caller *caller, struct client_call *call, int16_t api, int16_t low, int16_t high);
bool caller_ask(struct caller *caller, struct client_call *call);
void caller_end(struct client_call *call);
void caller_sleep(struct caller *caller, uint64_t ms);
// An error that a retry may cure; anything else ends the run.
void caller_check_retriable(int16_t error, const char *what);

// ---- requests that several scenarios need. An int16_t result is an error code; KAFKA_ERROR_NETWORK_EXCEPTION: no
// answer, the broker may have done it or not.
int16_t caller_create_topic(struct caller *caller, const char *name, int32_t partitions,
                            const char *const (*configs)[2], size_t config_count);
struct caller_topic {
    struct uuid id;
    int32_t partition_count;
    bool all_led; // every partition has a leader
};
int16_t caller_look(struct caller *caller, const char *name, struct caller_topic *topic);
// Until it is there with a leader for every partition.
void caller_await_topic(struct caller *caller, const char *name, const char *const (*configs)[2], size_t config_count,
                        int32_t partitions, struct caller_topic *topic);
// One batch of `count` values of history.h, numbered from `number`.
struct caller_batch {
    uint32_t producer;
    uint64_t number;
    int32_t count;
    size_t value_bytes;
    int64_t timestamp_ms;
};
int16_t caller_produce(struct caller *caller, const char *topic, int32_t partition, const struct caller_batch *batch,
                       int64_t *base_offset);
// timestamp: -1 latest, -2 earliest.
int16_t caller_list_offset(struct caller *caller, const char *topic, int32_t partition, int64_t timestamp,
                           int64_t *offset);
// A fetch of one partition; with `id` by id if the version has it. The row stays valid until caller_end(call).
struct caller_fetch {
    const char *topic;
    struct uuid id;
    int32_t partition;
    int64_t offset;
    int32_t max_bytes, max_wait_ms;
    bool by_name;           // not by id
    int32_t last_epoch_and; // + 1: of the record before `offset`; 0: not said
};
int16_t caller_fetch(struct caller *caller, struct client_call *call, const struct caller_fetch *fetch,
                     const struct fetch_response_partition **row);
// Every record of every whole batch in `records`.
void caller_each_record(struct bytes records,
                        void (*each)(void *context, const struct batch *batch, int64_t offset, struct bytes value),
                        void *context);
