// SPDX-License-Identifier: Apache-2.0
// What DescribeConfigs answers, setting by setting: value, source, synonyms in the order in which they win, type,
// documentation. Exactly what Kafka 3.9 says, its oddities included: log.retention.ms and a topic's retention.ms show
// no synonym while only log.retention.hours is set, and the source of such a value is "default".
#pragma once

#include "config/config.h"

enum { CONFIG_SYNONYMS_MAX = CONFIG_FAMILY_MAX * (CONFIG_LAYER_COUNT + 1) + 1 };

struct config_synonym {
    struct str name, value; // value null: secret
    enum config_source source;
};
struct config_description {
    struct str name, value; // value null: secret, or not set
    enum config_source source;
    enum config_type type;
    bool is_sensitive, is_read_only;
    const char *documentation; // NULL for keys that are not in the table
    struct config_synonym synonyms[CONFIG_SYNONYMS_MAX];
    size_t synonym_count;
};

// Goes through a resource: *position is 0 at first and belongs to the function. False: there is nothing left. Texts are
// in the image, in the overrides or in the arena.
bool config_describe_broker(struct arena *a, const struct config *c, size_t *position, struct config_description *out);
// The broker resource without a name: what was set at run time for all brokers.
bool config_describe_cluster(struct arena *a, const struct config *c, size_t *position, struct config_description *out);
bool config_describe_topic(struct arena *a, const struct config *c, struct config_map overrides, size_t *position,
                           struct config_description *out);
