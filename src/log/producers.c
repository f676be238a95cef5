// SPDX-License-Identifier: Apache-2.0
// Producers in a hash map by id, in a list by recency, and those with an open transaction in a list by its start.
//
// An append is checked and applied before it is written, so that the next one is checked against it. Each apply leaves
// an undo record (the producer as it was) until the write is known to have succeeded; a failed write takes the records
// back, newest first.
//
// What is kept is bounded: PRODUCERS_MAX producers; undo and ended transactions by what is in flight.
#include "log/producers.h"
#include "base/assert.h"
#include "base/bits.h"
#include "log/producers_private.h"
#include <stdlib.h>
#include <string.h>

// The part of a producer that an append changes.
struct producer_state {
    int64_t last_timestamp_ms, transaction_start;
    int32_t coordinator_epoch;
    int16_t epoch;
    uint8_t batch_count;
    struct producer_batch batches[PRODUCER_BATCHES_KEPT];
};
struct undo {
    struct list link;
    int64_t producer_id;
    int64_t base_offset, last_offset;
    bool was_known;               // else: forget it again
    bool ended_transaction;       // the newest entry of producers.unreplicated with this marker goes too
    struct producer_state before; // if was_known
};
// A transaction that has ended but may not be replicated: reads of committed data stop at its start until then.
struct ended {
    struct list link;
    int64_t first_offset, marker_offset;
};

int32_t producer_last_sequence(int32_t base_sequence, int32_t count) {
    ASSERT(base_sequence >= 0);
    ASSERT(count >= 1);
    return (int32_t)(((int64_t)base_sequence + count - 1) & INT32_MAX);
}

static int32_t first_sequence(const struct producer_batch *b) {
    return (int32_t)(((int64_t)b->last_sequence - b->offset_delta) & INT32_MAX);
}

static bool follows(int32_t last_sequence, int32_t next_sequence) {
    return next_sequence == (int64_t)last_sequence + 1 || (last_sequence == INT32_MAX && next_sequence == 0);
}

// ---- life
// ----------------------------------------------------------------------------------------------------------------------------
void producers_init(struct producers *p, uint64_t hash_seed) {
    *p = (struct producers){.hash_seed = hash_seed, .snapshot_offset = -1};
    hashmap_init(&p->by_id);
    list_init(&p->by_recency);
    list_init(&p->open_transactions);
    list_init(&p->unreplicated);
    list_init(&p->undo);
}

static void forget(struct producers *p, struct producer *producer) {
    hashmap_remove(&p->by_id, &producer->node);
    list_remove(&producer->recency_link);
    list_remove(&producer->transaction_link);
    free(producer);
}

static void drop_undo(struct undo *undo) {
    list_remove(&undo->link);
    free(undo);
}

static void drop_ended(struct ended *ended) {
    list_remove(&ended->link);
    free(ended);
}

void producers_clear(struct producers *p) {
    LIST_FOREACH_SAFE (item, &p->by_recency)
        forget(p, container_of(item, struct producer, recency_link));
    LIST_FOREACH_SAFE (item, &p->unreplicated)
        drop_ended(container_of(item, struct ended, link));
    LIST_FOREACH_SAFE (item, &p->undo)
        drop_undo(container_of(item, struct undo, link));
    ASSERT(p->by_id.count == 0);
    ASSERT(list_is_empty(&p->open_transactions));
}

void producers_free(struct producers *p) {
    producers_clear(p);
    hashmap_free(&p->by_id);
}

static void move_list(struct list *to, struct list *from) {
    list_init(to);
    if (list_is_empty(from)) return;
    *to = *from;
    to->next->prev = to;
    to->prev->next = to;
    list_init(from);
}

void producers_move(struct producers *to, struct producers *from) {
    producers_free(to);
    *to = *from; // but for the lists, whose heads are in the struct
    move_list(&to->by_recency, &from->by_recency);
    move_list(&to->open_transactions, &from->open_transactions);
    move_list(&to->unreplicated, &from->unreplicated);
    move_list(&to->undo, &from->undo);
    producers_init(from, to->hash_seed);
}

// ---- finding
// -------------------------------------------------------------------------------------------------------------------------
static uint64_t hash_id(const struct producers *p, int64_t id) {
    return hash_bytes(p->hash_seed, &id, sizeof id);
}

static bool has_id(const struct hash_node *node, const void *key) {
    int64_t id;
    memcpy(&id, key, sizeof id);
    return container_of(node, struct producer, node)->id == id;
}

static struct producer *find(const struct producers *p, int64_t id) {
    struct hash_node *node = hashmap_find(&p->by_id, hash_id(p, id), has_id, &id);
    return node ? container_of(node, struct producer, node) : NULL;
}

const struct producer *producers_find(const struct producers *p, int64_t producer_id) {
    return find(p, producer_id);
}

// Makes room by forgetting the producer that has been idle longest; those with an open transaction are needed.
static void make_room(struct producers *p) {
    if (p->by_id.count < PRODUCERS_MAX) return;
    LIST_FOREACH_SAFE (item, &p->by_recency) {
        struct producer *oldest = container_of(item, struct producer, recency_link);
        if (oldest->transaction_start < 0) {
            forget(p, oldest);
            return;
        }
    }
}

static struct producer *add(struct producers *p, int64_t id) {
    make_room(p);
    struct producer *producer = calloc(1, sizeof *producer);
    ASSERT(producer != NULL);
    producer->id = id;
    producer->epoch = -1;
    producer->coordinator_epoch = -1;
    producer->transaction_start = -1;
    producer->last_timestamp_ms = -1;
    list_init(&producer->transaction_link);
    list_init(&producer->recency_link);
    list_push_back(&p->by_recency, &producer->recency_link);
    hashmap_insert(&p->by_id, &producer->node, hash_id(p, id));
    return producer;
}

// ---- check
// ---------------------------------------------------------------------------------------------------------------------------
static bool find_duplicate(const struct producer *producer, const struct producer_append *append,
                           struct producer_batch *original) {
    if (append->producer_epoch != producer->epoch) return false;
    for (int i = 0; i < producer->batch_count; i++) {
        const struct producer_batch *b = &producer->batches[i];
        if (first_sequence(b) == append->base_sequence && b->last_sequence == append->last_sequence) {
            *original = *b;
            return true;
        }
    }
    return false;
}

// A producer that is not known (any more) may go on with any sequence; a new epoch begins at 0, and so does one that a
// marker began (no batch of it is kept).
static bool is_in_sequence(const struct producer *producer, const struct producer_append *append) {
    if (producer->epoch < 0) return true;
    if (append->producer_epoch != producer->epoch) return append->base_sequence == 0;
    return follows(producer_last_sequence_of(producer), append->base_sequence);
}

enum producer_verdict producers_check(const struct producers *p, const struct producer_append *append,
                                      enum producer_origin origin, struct producer_batch *original) {
    ASSERT(append->producer_id >= 0);
    const struct producer *producer = find(p, append->producer_id);
    if (origin == PRODUCER_FROM_LEADER || !producer) return PRODUCER_ACCEPTED;
    bool data = !append->marker;
    if (data && origin == PRODUCER_FROM_CLIENT && find_duplicate(producer, append, original)) return PRODUCER_DUPLICATE;
    if (append->producer_epoch < producer->epoch) return PRODUCER_OLD_EPOCH;
    if (append->marker && append->coordinator_epoch < producer->coordinator_epoch) return PRODUCER_OLD_COORDINATOR;
    if (data && origin == PRODUCER_FROM_CLIENT && !is_in_sequence(producer, append)) return PRODUCER_OUT_OF_ORDER;
    if (data && producer->transaction_start >= 0 && !append->transactional) return PRODUCER_BREAKS_TRANSACTION;
    return PRODUCER_ACCEPTED;
}

// ---- apply and undo
// ------------------------------------------------------------------------------------------------------------------
static struct producer_state save(const struct producer *producer) {
    struct producer_state s = {.last_timestamp_ms = producer->last_timestamp_ms,
                               .transaction_start = producer->transaction_start,
                               .coordinator_epoch = producer->coordinator_epoch,
                               .epoch = producer->epoch,
                               .batch_count = producer->batch_count};
    memcpy(s.batches, producer->batches, producer->batch_count * sizeof s.batches[0]);
    return s;
}

// Keeps the open transactions in order of their start: new ones begin at the log's end, so the search starts there.
static void set_transaction_start(struct producers *p, struct producer *producer, int64_t start) {
    list_remove(&producer->transaction_link);
    producer->transaction_start = start;
    if (start < 0) return;
    struct list *place = &p->open_transactions;
    while (place->prev != &p->open_transactions &&
           container_of(place->prev, struct producer, transaction_link)->transaction_start > start)
        place = place->prev;
    list_insert_before(place, &producer->transaction_link);
}

static void restore(struct producers *p, struct producer *producer, const struct producer_state *s) {
    producer->last_timestamp_ms = s->last_timestamp_ms;
    producer->coordinator_epoch = s->coordinator_epoch;
    producer->epoch = s->epoch;
    producer->batch_count = s->batch_count;
    memcpy(producer->batches, s->batches, s->batch_count * sizeof s->batches[0]);
    set_transaction_start(p, producer, s->transaction_start);
}

static void set_epoch(struct producer *producer, int16_t epoch) {
    if (producer->epoch == epoch) return;
    producer->epoch = epoch;
    producer->batch_count = 0;
}

static void push_batch(struct producer *producer, const struct producer_append *append) {
    if (producer->batch_count == PRODUCER_BATCHES_KEPT) {
        memmove(producer->batches, producer->batches + 1, (PRODUCER_BATCHES_KEPT - 1) * sizeof producer->batches[0]);
        producer->batch_count--;
    }
    producer->batches[producer->batch_count++] = (struct producer_batch){
        .last_offset = append->last_offset,
        .max_timestamp_ms = append->max_timestamp_ms,
        .last_sequence = append->last_sequence,
        .offset_delta = (int32_t)(append->last_offset - append->base_offset),
    };
}

static void apply_batch(struct producers *p, struct producer *producer, const struct producer_append *append) {
    set_epoch(producer, append->producer_epoch);
    push_batch(producer, append);
    producer->last_timestamp_ms = append->max_timestamp_ms;
    if (append->transactional && producer->transaction_start < 0)
        set_transaction_start(p, producer, append->base_offset);
}

// The start of the oldest open transaction, or `otherwise`.
static int64_t oldest_open(const struct producers *p, int64_t otherwise) {
    if (list_is_empty(&p->open_transactions)) return otherwise;
    return container_of(p->open_transactions.next, struct producer, transaction_link)->transaction_start;
}

static void add_ended(struct producers *p, int64_t first_offset, int64_t marker_offset) {
    struct ended *ended = calloc(1, sizeof *ended);
    ASSERT(ended != NULL);
    ended->first_offset = first_offset;
    ended->marker_offset = marker_offset;
    list_init(&ended->link);
    list_push_back(&p->unreplicated, &ended->link);
}

// A marker leaves the batches of its epoch alone, a newer epoch clears them. True: it ended a transaction.
static bool apply_marker(struct producers *p, struct producer *producer, const struct producer_append *append,
                         struct producer_transaction *ended) {
    int64_t start = producer->transaction_start;
    set_epoch(producer, append->producer_epoch);
    producer->coordinator_epoch = append->coordinator_epoch;
    producer->last_timestamp_ms = append->max_timestamp_ms;
    set_transaction_start(p, producer, -1);
    if (start < 0) return false;
    add_ended(p, start, append->base_offset);
    *ended = (struct producer_transaction){
        .producer_id = append->producer_id,
        .first_offset = start,
        .last_offset = append->base_offset,
        .last_stable_offset = oldest_open(p, append->base_offset + 1),
        .aborted = append->aborted,
    };
    return true;
}

bool producers_apply(struct producers *p, const struct producer_append *append, struct producer_transaction *ended) {
    ASSERT(append->producer_id >= 0);
    ASSERT(append->base_offset >= 0);
    ASSERT(append->last_offset >= append->base_offset);
    ASSERT(append->last_offset - append->base_offset <= INT32_MAX);
    struct undo *undo = calloc(1, sizeof *undo);
    ASSERT(undo != NULL);
    undo->producer_id = append->producer_id;
    undo->base_offset = append->base_offset;
    undo->last_offset = append->last_offset;
    struct producer *producer = find(p, append->producer_id);
    undo->was_known = producer != NULL;
    if (producer) undo->before = save(producer);
    if (!producer) producer = add(p, append->producer_id);
    list_remove(&producer->recency_link);
    list_push_back(&p->by_recency, &producer->recency_link);
    if (append->marker)
        undo->ended_transaction = apply_marker(p, producer, append, ended);
    else
        apply_batch(p, producer, append);
    list_init(&undo->link);
    list_push_back(&p->undo, &undo->link);
    return undo->ended_transaction;
}

void producers_recall(struct producers *p, const struct producer_append *append) {
    struct producer *producer = find(p, append->producer_id);
    if (!producer || append->marker || append->producer_epoch != producer->epoch || producer->batch_count == 0) return;
    struct producer_batch last = producer->batches[producer->batch_count - 1];
    if (append->last_offset == last.last_offset) // a snapshot has the time of the marker behind it
        producer->batches[producer->batch_count - 1].max_timestamp_ms = append->max_timestamp_ms;
    if (append->last_offset >= last.last_offset) return;
    push_batch(producer, append);
    producer->batches[producer->batch_count - 2] = producer->batches[producer->batch_count - 1];
    producer->batches[producer->batch_count - 1] = last;
}

void producers_written(struct producers *p, int64_t end_offset) {
    LIST_FOREACH_SAFE (item, &p->undo) {
        struct undo *undo = container_of(item, struct undo, link);
        if (undo->last_offset >= end_offset) return;
        drop_undo(undo);
    }
}

static void undo_ended(struct producers *p, int64_t marker_offset) {
    struct list *newest = p->unreplicated.prev;
    ASSERT(newest != &p->unreplicated); // what is not written is above the high watermark
    struct ended *ended = container_of(newest, struct ended, link);
    ASSERT(ended->marker_offset == marker_offset);
    drop_ended(ended);
}

void producers_undo(struct producers *p, int64_t offset) {
    while (!list_is_empty(&p->undo)) {
        struct undo *undo = container_of(p->undo.prev, struct undo, link);
        if (undo->base_offset < offset) return;
        struct producer *producer = find(p, undo->producer_id);
        if (undo->ended_transaction) undo_ended(p, undo->base_offset);
        if (!undo->was_known) {
            if (producer) forget(p, producer);
        } else {
            if (!producer) producer = add(p, undo->producer_id); // it was forgotten to make room
            restore(p, producer, &undo->before);
        }
        drop_undo(undo);
    }
}

void producers_put(struct producers *p, const struct producer *values) {
    struct producer *producer = find(p, values->id);
    if (!producer) producer = add(p, values->id);
    struct producer_state state = save(values);
    restore(p, producer, &state);
}

// ---- transactions and time
// -----------------------------------------------------------------------------------------------------------
int64_t producers_first_unstable(const struct producers *p) {
    int64_t first = oldest_open(p, INT64_MAX);
    LIST_FOREACH (item, &p->unreplicated)
        first = min_i64(first, container_of(item, struct ended, link)->first_offset);
    return first;
}

// Markers come in order of offset.
void producers_set_high_watermark(struct producers *p, int64_t high_watermark) {
    LIST_FOREACH_SAFE (item, &p->unreplicated) {
        struct ended *ended = container_of(item, struct ended, link);
        if (ended->marker_offset >= high_watermark) return;
        drop_ended(ended);
    }
}

void producers_set_log_start(struct producers *p, int64_t log_start_offset) {
    producers_set_high_watermark(p, log_start_offset);
}

// The clock and the timestamps come from outside: their difference may be anything.
bool producer_is_expired(const struct producer *producer, int64_t now_ms, int64_t expiration_ms) {
    int64_t idle_ms;
    if (producer->transaction_start >= 0) return false;
    if (__builtin_sub_overflow(now_ms, producer->last_timestamp_ms, &idle_ms)) return producer->last_timestamp_ms < 0;
    return idle_ms >= expiration_ms;
}

size_t producers_expire(struct producers *p, int64_t now_ms, int64_t expiration_ms) {
    size_t forgotten = 0;
    LIST_FOREACH_SAFE (item, &p->by_recency) {
        struct producer *producer = container_of(item, struct producer, recency_link);
        if (!producer_is_expired(producer, now_ms, expiration_ms)) continue;
        forget(p, producer);
        forgotten++;
    }
    return forgotten;
}

static int compare_ids(const void *a, const void *b) {
    const struct producer *x = *(const struct producer *const *)a, *y = *(const struct producer *const *)b;
    return (x->id > y->id) - (x->id < y->id);
}

const struct producer **producers_sorted(const struct producers *p) {
    if (p->by_id.count == 0) return NULL;
    const struct producer **sorted = calloc(p->by_id.count, sizeof *sorted);
    ASSERT(sorted != NULL);
    size_t n = 0;
    LIST_FOREACH (item, &p->by_recency) {
        ASSERT(n < p->by_id.count);
        sorted[n++] = container_of(item, struct producer, recency_link);
    }
    ASSERT(n == p->by_id.count);
    qsort(sorted, n, sizeof *sorted, compare_ids);
    return sorted;
}
