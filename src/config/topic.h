// SPDX-License-Identifier: Apache-2.0
// A topic's configuration: its own settings over the broker's, resolved into a plain struct that the log and the
// replicas use.
#pragma once

#include "config/config.h"

enum topic_cleanup { TOPIC_CLEANUP_DELETE = 1, TOPIC_CLEANUP_COMPACT = 2 }; // bits
enum topic_timestamp_type { TOPIC_CREATE_TIME = 0, TOPIC_LOG_APPEND_TIME = 1 };
// As in a record batch's attributes; PRODUCER keeps what comes.
enum topic_compression {
    TOPIC_COMPRESSION_PRODUCER = -1,
    TOPIC_COMPRESSION_NONE = 0,
    TOPIC_COMPRESSION_GZIP = 1,
    TOPIC_COMPRESSION_SNAPPY = 2,
    TOPIC_COMPRESSION_LZ4 = 3,
    TOPIC_COMPRESSION_ZSTD = 4,
};

struct topic_config {
    int32_t segment_bytes;
    int64_t segment_ms;
    int64_t segment_jitter_ms;
    int32_t segment_index_bytes;
    int32_t index_interval_bytes;
    int64_t retention_ms;    // -1: no limit
    int64_t retention_bytes; // -1: no limit
    int64_t file_delete_delay_ms;
    int64_t flush_messages; // INT64_MAX: never by count
    int64_t flush_ms;       // INT64_MAX: never by time
    int32_t max_message_bytes;
    enum topic_compression compression;
    int32_t compression_gzip_level, compression_lz4_level, compression_zstd_level;
    enum topic_timestamp_type timestamp_type;
    int64_t timestamp_before_max_ms; // a record's time may be this far behind the clock
    int64_t timestamp_after_max_ms;  // and this far ahead
    unsigned cleanup_policy;         // TOPIC_CLEANUP_ bits; 0: neither, segments are kept for ever
    int32_t min_insync_replicas;
    bool unclean_leader_election_enable;
    bool preallocate;
    bool message_downconversion_enable;
    int64_t delete_retention_ms;
    int64_t min_compaction_lag_ms, max_compaction_lag_ms;
    double min_cleanable_dirty_ratio;
    // Views of the topic's settings (or of constants): valid as long as the map given to topic_config_resolve.
    struct str leader_throttled_replicas, follower_throttled_replicas;
};

// The value of one key for a topic: its own setting, else the first synonym that the broker has, else Kafka's default.
// Own settings that cannot be used (a store may hold anything) are passed over.
void topic_value_resolve(struct arena *a, const struct config *c, struct config_map overrides, enum topic_key key,
                         struct config_value *out);
// All of them. The arena is used for scratch only.
void topic_config_resolve(struct arena *scratch, const struct config *c, struct config_map overrides,
                          struct topic_config *out);

// One setting by itself, as CreateTopics and AlterConfigs get it; false is INVALID_CONFIG (40) with Kafka's text in
// *reason.
bool topic_config_validate_value(struct arena *scratch, struct str key, struct str value, struct text *reason);
// All settings that a topic would have, with the rules between them.
bool topic_config_validate(struct arena *scratch, const struct config *c, struct config_map overrides,
                           struct text *reason);
// The same for AlterConfigs and IncrementalAlterConfigs, where Kafka names the topic in front of some of its reasons.
bool topic_config_validate_alter(struct arena *scratch, const struct config *c, struct str topic,
                                 struct config_map overrides, struct text *reason);
