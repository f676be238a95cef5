// SPDX-License-Identifier: Apache-2.0
// What a leader checks before it takes a batch from a client, in Kafka's order and with Kafka's codes, and the header
// that it corrects while the bytes are in the cache: every record is walked; maximum timestamp and timestamp type are
// set as the topic wants them; base offset and leader epoch stay for the append to fill in.
//
// Where Kafka 3.9 answers UNKNOWN_SERVER_ERROR (a payload that does not decompress, codecs 5 to 7), clients would give
// up or loop; here it is INVALID_RECORD and UNSUPPORTED_COMPRESSION_TYPE. Offset deltas that are not 0, 1, 2... are
// INVALID_RECORD (Kafka writes such a batch as it is, or rebuilds it), and so are compressed records whose length field
// is wrong (Kafka does not look, and its consumers fail on them).
#pragma once

#include "base/arena.h"
#include "protocol/batch.h"

struct append_rules {
    int64_t now_ms;
    bool log_append_time;            // message.timestamp.type
    int64_t timestamp_before_max_ms; // INT64_MAX: no limit
    int64_t timestamp_after_max_ms;
    bool is_compacted; // every record needs a key
    uint32_t max_batch_bytes;
    int16_t refusal; // what the records are refused with once they are known to be what the version wants; NONE
    int16_t produce_version;
    uint64_t decompressed_max_bytes; // of one batch: what a bomb may cost
    struct decompress_cache *cache;  // of the core; may be NULL
    // 0, or: what would take longer than this, as batch_cost.h estimates it, is not judged but postponed.
    uint64_t cost_max_ns;
};

enum record_fault { RECORD_WITHOUT_KEY, RECORD_OUT_OF_TIME, RECORD_WITH_BROKER_TIME };
// What is known of a record that is refused. The one who answers puts it into words.
struct record_error {
    int32_t batch_index; // the record's position in the batch
    enum record_fault fault;
    int32_t offset_delta;
    int32_t key_bytes, value_bytes; // -1: null
    int64_t timestamp;
};

struct append_check {
    int16_t error; // enum kafka_error
    // For logs; for the error_message of the response only where Kafka sends one, which is when there are record
    // errors.
    const char *reason;
    bool postponed;                   // nothing else is known, and nothing was changed: ask again with cost_max_ns = 0
    uint64_t cost_ns;                 // of what was done, estimated
    bool before_log;                  // refused before the log was looked at: log_start_offset is -1 in the response
    int64_t time_min_ms, time_max_ms; // what the topic lets timestamps be
    struct record_error *record_errors;
    int32_t record_error_count;
    // If there is no error:
    struct batch batch;    // as it is now, with bytes of its exact size
    int64_t max_timestamp; // of the batch
    bool converted;        // batch.bytes are new memory of the arena (magic 0 or 1 was converted)
};

// `records` is what a Produce request has for one partition; the header of the batch in it is changed in place. Record
// errors and converted batches go to the arena; when that is used up, RECORD_LIST_TOO_LARGE. Versions 0 to 2 may bring
// magic 0 and 1, and no whole batch at all (but not null): no error, and batch.bytes is empty.
void append_validate(struct bytes records, const struct append_rules *rules, struct arena *arena,
                     struct append_check *check);
