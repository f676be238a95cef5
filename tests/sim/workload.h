// SPDX-License-Identifier: Apache-2.0
// Producers and consumers of a scenario: programs on hosts of their own that speak to one broker through client.h and
// write down what they are told in a history. They outlive every crash of the broker.
#pragma once

#include "history.h"
#include "protocol/uuid.h"
#include "sim.h"

enum { WORKLOAD_PARTITIONS_MAX = 8, WORKLOAD_PRODUCERS_MAX = 8 };
struct workload {
    // in
    const char *broker; // host name
    uint16_t port;
    const char *topic;
    int partition_count, producer_count;
    uint64_t records_each; // every producer writes so many
    uint32_t value_bytes_max;
    bool auto_create;          // the topic comes to be by Metadata, not by CreateTopics
    const char *configs[8][2]; // of CreateTopics; ended by NULL
    // A producer's first batch goes alone. A broker takes any sequence from a producer that it does not know (Kafka's
    // rule), so if the first batch is refused for want of space, and the next one finds space again, the order is lost.
    bool first_alone;
    // out
    bool topic_ready;
    struct uuid topic_id; // of the topic as created; must stay
    struct history_partition partitions[WORKLOAD_PARTITIONS_MAX];
    struct history_producer producers[WORKLOAD_PRODUCERS_MAX];
    int producers_done;
    bool reading_to_end; // set by the scenario when all producers are done: consumers stop at the end of the log
    int consumers_done;
};
void workload_init(struct workload *w, const char *broker, uint16_t port, const char *topic);
// Makes the host with the clients and starts them.
struct os_host *workload_start(struct workload *w, const char *host_name);
// New readers read everything from the start once more.
void workload_read_again(struct workload *w, const char *host_name);
bool workload_has_topic(void *workload); // for sim_run
bool workload_is_produced(void *workload);
bool workload_is_consumed(void *workload);
// At the end: everything was read, nothing is missing.
void workload_check(struct workload *w);
