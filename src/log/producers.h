// SPDX-License-Identifier: Apache-2.0
// What a log knows of the producers that write to it: the last five batches of each (to find duplicates), its epoch,
// and open transactions. Pure: memory only, no I/O, no clock. One log's producers belong to that log's core.
//
//   check   may this batch be appended, or is it a duplicate?         reads only
//   apply   it has been given offsets; the write comes after it        later checks see it
//   written everything below an offset is in the file                  what undo needs is forgotten
//   undo    everything from an offset on never came to be              the state before it is back
#pragma once

#include "base/hashmap.h"
#include "base/list.h"
#include "base/slice.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
#ifdef TAILRACE_PLANT_DEDUPE_WINDOW
    PRODUCER_BATCHES_KEPT = 4,
#else
    PRODUCER_BATCHES_KEPT = 5,
#endif
    // Beyond it the producer that wrote longest ago (and has no open transaction) is forgotten, as if it had expired.
    PRODUCERS_MAX = 65536,
    PRODUCER_SNAPSHOT_HEADER_BYTES = 10,
    PRODUCER_SNAPSHOT_ENTRY_BYTES = 46,
};

struct producer_batch {
    int64_t last_offset;
    int64_t max_timestamp_ms;
    int32_t last_sequence;
    int32_t offset_delta; // last offset - first offset, and so last - first sequence
};
struct producer {
    struct hash_node node;
    struct list recency_link;     // producers.by_recency
    struct list transaction_link; // producers.open_transactions, or in nothing
    int64_t id;
    int64_t last_timestamp_ms;
    int64_t transaction_start; // -1: none open
    int32_t coordinator_epoch; // -1: no marker yet
    int16_t epoch;             // -1: not known
    uint8_t batch_count;
    struct producer_batch batches[PRODUCER_BATCHES_KEPT]; // oldest first
};
struct producers {
    struct hashmap by_id;
    uint64_t hash_seed;
    struct list by_recency;        // of struct producer: longest unused first
    struct list open_transactions; // of struct producer, by transaction_start
    struct list unreplicated;      // of ended transactions whose marker is not below the high watermark yet
    struct list undo;              // of batches that were applied and are not known to be written, oldest first
    int64_t snapshot_offset;       // where the newest snapshot file stands; -1: there is none
};

// A batch as its producer state sees it.
struct producer_append {
    int64_t producer_id; // >= 0: batches without a producer need no check
    int16_t producer_epoch;
    int32_t base_sequence, last_sequence; // -1 in markers and in what coordinators write
    int64_t base_offset, last_offset;
    int64_t max_timestamp_ms;
    bool transactional;
    bool marker;               // a control batch that ends a transaction; with these:
    bool aborted;              // else committed
    int32_t coordinator_epoch; // of the transaction coordinator that sent it
};
// The last sequence of `count` records (>= 1) that begin with base_sequence: 2147483647 is followed by 0.
int32_t producer_last_sequence(int32_t base_sequence, int32_t count);

enum producer_origin {
    PRODUCER_FROM_CLIENT,      // sequences and epochs are checked, duplicates are found
    PRODUCER_FROM_COORDINATOR, // epochs only
    PRODUCER_FROM_LEADER       // nothing: a leader has checked it (replication and recovery)
};
enum producer_verdict {
    PRODUCER_ACCEPTED,
    PRODUCER_DUPLICATE,          // *original tells which batch it was: success, nothing is written
    PRODUCER_OUT_OF_ORDER,       // OUT_OF_ORDER_SEQUENCE_NUMBER
    PRODUCER_OLD_EPOCH,          // INVALID_PRODUCER_EPOCH
    PRODUCER_OLD_COORDINATOR,    // TRANSACTION_COORDINATOR_FENCED
    PRODUCER_BREAKS_TRANSACTION, // INVALID_TXN_STATE: not transactional while a transaction is open
};
// A transaction that a marker has ended.
struct producer_transaction {
    int64_t producer_id;
    int64_t first_offset, last_offset; // last: the marker's
    int64_t last_stable_offset; // just after it: start of the oldest other open one, else the marker's offset + 1
    bool aborted;
};

void producers_init(struct producers *p, uint64_t hash_seed);
void producers_free(struct producers *p);
// `to` is freed and gets what `from` has; `from` is empty then, as after producers_init.
void producers_move(struct producers *to, struct producers *from);
// Forgets all producers, transactions and undo; snapshot_offset stays.
void producers_clear(struct producers *p);

// The rules are those of Kafka 3.9. *original is written only for PRODUCER_DUPLICATE.
enum producer_verdict producers_check(const struct producers *p, const struct producer_append *append,
                                      enum producer_origin origin, struct producer_batch *original);
// Takes a checked batch (or one from a leader, unchecked). True: it ended a transaction, *ended is filled.
bool producers_apply(struct producers *p, const struct producer_append *append, struct producer_transaction *ended);
// A batch from before a snapshot, which has only the last one of each producer: kept besides, so that a retry of it is
// found. In order of offset, before anything is applied.
void producers_recall(struct producers *p, const struct producer_append *append);
// What was applied below end_offset is in the file.
void producers_written(struct producers *p, int64_t end_offset);
// Takes back what was applied from `offset` on and is not written.
void producers_undo(struct producers *p, int64_t offset);

// First offset of the oldest transaction that is open, or whose marker may not be replicated; INT64_MAX: none. The last
// stable offset is the smaller of it and the high watermark.
int64_t producers_first_unstable(const struct producers *p);
// Only grows. Transactions whose markers lie below it are settled.
void producers_set_high_watermark(struct producers *p, int64_t high_watermark);
// The log start has moved (DeleteRecords): ended transactions below it are settled. Producers stay until they expire.
void producers_set_log_start(struct producers *p, int64_t log_start_offset);
// Forgets producers that have no open transaction and whose last batch is expiration_ms old or older. Returns how many.
size_t producers_expire(struct producers *p, int64_t now_ms, int64_t expiration_ms);

// NULL if not known.
const struct producer *producers_find(const struct producers *p, int64_t producer_id);
static inline size_t producers_count(const struct producers *p) {
    return p->by_id.count;
}
// All of them in order of id, in memory that the caller frees; NULL if there are none.
const struct producer **producers_sorted(const struct producers *p);
static inline int32_t producer_last_sequence_of(const struct producer *producer) {
    return producer->batch_count == 0 ? -1 : producer->batches[producer->batch_count - 1].last_sequence;
}

// The bytes of a .snapshot file (formats: "Producer snapshot"): every producer with the last of its batches. The size
// in bytes is PRODUCER_SNAPSHOT_HEADER_BYTES + count * PRODUCER_SNAPSHOT_ENTRY_BYTES.
size_t producers_snapshot_bytes(const struct producers *p);
void producers_encode(const struct producers *p, uint8_t *snapshot);
// Replaces what is in p. Producers that have been idle for expiration_ms are left out. False: not a valid snapshot, p
// is empty, *reason says why.
bool producers_decode(struct producers *p, struct bytes snapshot, int64_t now_ms, int64_t expiration_ms,
                      struct text *reason);
