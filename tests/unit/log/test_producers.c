// SPDX-License-Identifier: Apache-2.0
// log/producers: Kafka's idempotence rules by table, undo, transactions, expiry, and the snapshot's bytes.
#include "base/bits.h"
#include "base/crc32c.h"
#include "log/producers.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { LAST_SEQUENCE = INT32_MAX };

static struct producers *make(void) {
    static struct producers p;
    producers_init(&p, 42);
    return &p;
}

// A batch of `count` records from producer 7.
static struct producer_append data(int16_t epoch, int32_t sequence, int32_t count, int64_t offset) {
    return (struct producer_append){.producer_id = 7,
                                    .producer_epoch = epoch,
                                    .base_sequence = sequence,
                                    .last_sequence = producer_last_sequence(sequence, count),
                                    .base_offset = offset,
                                    .last_offset = offset + count - 1,
                                    .max_timestamp_ms = 1000 + offset};
}
static struct producer_append in_transaction(int64_t id, int32_t sequence, int64_t offset) {
    struct producer_append a = data(0, sequence, 1, offset);
    a.producer_id = id;
    a.transactional = true;
    return a;
}
static struct producer_append marker(int64_t id, int16_t epoch, int64_t offset, int32_t coordinator_epoch) {
    return (struct producer_append){.producer_id = id,
                                    .producer_epoch = epoch,
                                    .base_sequence = -1,
                                    .last_sequence = -1,
                                    .base_offset = offset,
                                    .last_offset = offset,
                                    .max_timestamp_ms = 1000 + offset,
                                    .transactional = true,
                                    .marker = true,
                                    .aborted = true,
                                    .coordinator_epoch = coordinator_epoch};
}
static bool apply(struct producers *p, struct producer_append a) {
    struct producer_transaction ended;
    return producers_apply(p, &a, &ended);
}
static enum producer_verdict check(const struct producers *p, struct producer_append a) {
    struct producer_batch original;
    return producers_check(p, &a, PRODUCER_FROM_CLIENT, &original);
}

Test(producers, sequences_wrap) {
    cr_assert_eq(producer_last_sequence(0, 1), 0);
    cr_assert_eq(producer_last_sequence(LAST_SEQUENCE, 1), LAST_SEQUENCE);
    cr_assert_eq(producer_last_sequence(LAST_SEQUENCE, 2), 0);
    cr_assert_eq(producer_last_sequence(LAST_SEQUENCE - 1, 5), 2);
    cr_assert_eq(producer_last_sequence(LAST_SEQUENCE, LAST_SEQUENCE), LAST_SEQUENCE - 2);
}

Test(producers, sequence_rules) {
    // The log holds, of epoch 3: sequences 0-9, 10-19 ... 50-59 (six batches; five are remembered).
    static const struct {
        int16_t epoch;
        int32_t first, count;
        enum producer_verdict verdict;
        int64_t original_offset;
    } cases[] = {
        {3, 60, 10, PRODUCER_ACCEPTED, 0},
        {3, 60, 1, PRODUCER_ACCEPTED, 0},
        {3, 61, 1, PRODUCER_OUT_OF_ORDER, 0},
        {3, 0, 10, PRODUCER_OUT_OF_ORDER, 0}, // too old to be known as a duplicate
        {3, 10, 10, PRODUCER_DUPLICATE, 110},
        {3, 50, 10, PRODUCER_DUPLICATE, 150},
        {3, 50, 9, PRODUCER_OUT_OF_ORDER, 0}, // not the same batch
        {3, 55, 10, PRODUCER_OUT_OF_ORDER, 0},
        {2, 60, 10, PRODUCER_OLD_EPOCH, 0},
        {2, 50, 10, PRODUCER_OLD_EPOCH, 0},
        {4, 0, 10, PRODUCER_ACCEPTED, 0},
        {4, 60, 10, PRODUCER_OUT_OF_ORDER, 0},
        {4, 50, 10, PRODUCER_OUT_OF_ORDER, 0},
    };
    struct producers *p = make();
    for (int i = 0; i < 6; i++)
        apply(p, data(3, i * 10, 10, 100 + i * 10));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct producer_append a = data(cases[i].epoch, cases[i].first, cases[i].count, 500);
        struct producer_batch original = {0};
        cr_assert_eq(producers_check(p, &a, PRODUCER_FROM_CLIENT, &original), cases[i].verdict, "case %zu", i);
        if (cases[i].verdict != PRODUCER_DUPLICATE) continue;
        cr_assert_eq(original.last_offset - original.offset_delta, cases[i].original_offset, "case %zu", i);
        cr_assert_eq(original.max_timestamp_ms, 1000 + cases[i].original_offset);
    }
    producers_free(p);
}

Test(producers, any_first_sequence_of_an_unknown_producer) {
    struct producers *p = make();
    cr_assert_eq(check(p, data(0, 1234, 1, 0)), PRODUCER_ACCEPTED);
    apply(p, data(0, 1234, 1, 0));
    cr_assert_eq(check(p, data(0, 1235, 1, 1)), PRODUCER_ACCEPTED);
    cr_assert_eq(check(p, data(0, 0, 1, 1)), PRODUCER_OUT_OF_ORDER);
    producers_free(p);
}

Test(producers, duplicates_and_order_across_the_wrap) {
    struct producers *p = make();
    apply(p, data(0, LAST_SEQUENCE - 1, 4, 0)); // ..., LAST, 0, 1
    cr_assert_eq(check(p, data(0, LAST_SEQUENCE - 1, 4, 4)), PRODUCER_DUPLICATE);
    cr_assert_eq(check(p, data(0, 2, 1, 4)), PRODUCER_ACCEPTED);
    cr_assert_eq(check(p, data(0, 1, 1, 4)), PRODUCER_OUT_OF_ORDER);
    apply(p, data(1, LAST_SEQUENCE, 1, 4));
    cr_assert_eq(check(p, data(1, 0, 3, 5)), PRODUCER_ACCEPTED);
    cr_assert_eq(check(p, data(1, 1, 3, 5)), PRODUCER_OUT_OF_ORDER);
    producers_free(p);
}

Test(producers, coordinators_and_leaders_are_checked_less) {
    struct producers *p = make();
    struct producer_batch original;
    apply(p, data(3, 5, 1, 0));
    struct producer_append gap = data(3, 50, 1, 1), old = data(2, 6, 1, 1);
    cr_assert_eq(producers_check(p, &gap, PRODUCER_FROM_COORDINATOR, &original), PRODUCER_ACCEPTED);
    cr_assert_eq(producers_check(p, &old, PRODUCER_FROM_COORDINATOR, &original), PRODUCER_OLD_EPOCH);
    cr_assert_eq(producers_check(p, &gap, PRODUCER_FROM_LEADER, &original), PRODUCER_ACCEPTED);
    cr_assert_eq(producers_check(p, &old, PRODUCER_FROM_LEADER, &original), PRODUCER_ACCEPTED);
    apply(p, old);
    cr_assert_eq(producers_find(p, 7)->epoch, 2);
    producers_free(p);
}

Test(producers, a_marker_of_a_newer_epoch_begins_at_sequence_0) {
    struct producers *p = make();
    apply(p, in_transaction(7, 10, 0));
    cr_assert(apply(p, marker(7, 0, 1, 5))); // same epoch: sequences go on
    cr_assert_eq(check(p, data(0, 11, 1, 2)), PRODUCER_ACCEPTED);
    cr_assert_eq(check(p, data(0, 0, 1, 2)), PRODUCER_OUT_OF_ORDER);
    cr_assert_not(apply(p, marker(7, 1, 2, 5))); // the coordinator has fenced epoch 0
    cr_assert_eq(check(p, data(0, 11, 1, 3)), PRODUCER_OLD_EPOCH);
    cr_assert_eq(check(p, data(1, 11, 1, 3)), PRODUCER_OUT_OF_ORDER);
    cr_assert_eq(check(p, data(1, 0, 1, 3)), PRODUCER_ACCEPTED);
    struct producer_append zombie = marker(7, 1, 3, 4);
    struct producer_batch original;
    cr_assert_eq(producers_check(p, &zombie, PRODUCER_FROM_COORDINATOR, &original), PRODUCER_OLD_COORDINATOR);
    producers_free(p);
}

Test(producers, last_stable_offset) {
    struct producers *p = make();
    struct producer_transaction ended;
    cr_assert_eq(producers_first_unstable(p), INT64_MAX);
    apply(p, in_transaction(1, 0, 10));
    apply(p, in_transaction(2, 0, 11));
    apply(p, in_transaction(1, 1, 12));
    cr_assert_eq(producers_first_unstable(p), 10);
    struct producer_append plain = data(0, 2, 1, 13);
    plain.producer_id = 1;
    cr_assert_eq(check(p, plain), PRODUCER_BREAKS_TRANSACTION);

    struct producer_append end_1 = marker(1, 0, 13, 3), end_2 = marker(2, 0, 14, 3);
    cr_assert(producers_apply(p, &end_1, &ended));
    cr_assert_eq(ended.producer_id, 1);
    cr_assert_eq(ended.first_offset, 10);
    cr_assert_eq(ended.last_offset, 13);
    cr_assert_eq(ended.last_stable_offset, 11); // transaction 2 is open
    cr_assert(ended.aborted);
    cr_assert_eq(producers_first_unstable(p), 10); // the marker is not replicated
    cr_assert(producers_apply(p, &end_2, &ended));
    cr_assert_eq(ended.last_stable_offset, 15);
    producers_written(p, 15);
    producers_set_high_watermark(p, 13);
    cr_assert_eq(producers_first_unstable(p), 10);
    producers_set_high_watermark(p, 14);
    cr_assert_eq(producers_first_unstable(p), 11);
    producers_set_high_watermark(p, 15);
    cr_assert_eq(producers_first_unstable(p), INT64_MAX);
    producers_free(p);
}

static uint8_t *snapshot_of(const struct producers *p, size_t *size) {
    *size = producers_snapshot_bytes(p);
    uint8_t *bytes = malloc(*size);
    producers_encode(p, bytes);
    return bytes;
}

Test(producers, undo_brings_back_every_byte) {
    struct producers *p = make();
    for (int i = 0; i < 7; i++)
        apply(p, data(0, i, 1, i));
    apply(p, in_transaction(8, 0, 7));
    producers_written(p, 8);
    size_t before_size, after_size;
    uint8_t *before = snapshot_of(p, &before_size);
    int64_t unstable = producers_first_unstable(p);

    apply(p, data(0, 7, 1, 8));
    apply(p, data(1, 0, 1, 9)); // a new epoch drops the batches
    apply(p, in_transaction(9, 0, 10));
    cr_assert(apply(p, marker(8, 0, 11, 2)));
    apply(p, in_transaction(8, 1, 12));
    cr_assert(apply(p, marker(9, 0, 13, 2)));
    producers_undo(p, 8);

    uint8_t *after = snapshot_of(p, &after_size);
    cr_assert_eq(before_size, after_size);
    cr_assert_arr_eq(before, after, before_size);
    cr_assert_eq(producers_first_unstable(p), unstable);
    cr_assert_eq(check(p, data(0, 2, 1, 8)), PRODUCER_DUPLICATE); // all five are back
    cr_assert_eq(check(p, data(0, 7, 1, 8)), PRODUCER_ACCEPTED);
    cr_assert_null(producers_find(p, 9));
    free(before);
    free(after);
    producers_free(p);
}

Test(producers, undo_stops_at_what_was_written) {
    struct producers *p = make();
    apply(p, data(0, 0, 2, 0));
    apply(p, data(0, 2, 2, 2));
    apply(p, data(0, 4, 2, 4));
    producers_written(p, 3); // the second batch is not whole
    producers_undo(p, 4);
    cr_assert_eq(check(p, data(0, 4, 1, 4)), PRODUCER_ACCEPTED);
    producers_undo(p, 2);
    cr_assert_eq(check(p, data(0, 2, 1, 2)), PRODUCER_ACCEPTED);
    producers_undo(p, 0);
    cr_assert_eq(check(p, data(0, 2, 1, 2)), PRODUCER_ACCEPTED);
    cr_assert_eq(producers_count(p), 1); // the first was written
    producers_free(p);
}

Test(producers, expiry) {
    struct producers *p = make();
    apply(p, data(0, 0, 1, 0)); // at 1000
    apply(p, in_transaction(8, 0, 0));
    producers_written(p, 2);
    cr_assert_eq(producers_expire(p, 1999, 1000), 0);
    cr_assert_eq(producers_expire(p, 2000, 1000), 1);
    cr_assert_not_null(producers_find(p, 8)); // its transaction is open
    cr_assert_eq(producers_expire(p, INT64_MAX, 1000), 0);
    producers_free(p);
}

Test(producers, at_most_so_many) {
    struct producers *p = make();
    apply(p, in_transaction(0, 0, 0));
    for (int64_t id = 1; id <= PRODUCERS_MAX; id++) {
        struct producer_append a = data(0, 0, 1, id);
        a.producer_id = id;
        apply(p, a);
        producers_written(p, id + 1);
    }
    cr_assert_eq(producers_count(p), PRODUCERS_MAX);
    cr_assert_not_null(producers_find(p, 0)); // open transaction
    cr_assert_null(producers_find(p, 1));     // idle longest
    cr_assert_not_null(producers_find(p, 2));
    producers_free(p);
}

Test(producers, snapshot_there_and_back) {
    struct producers *p = make(), back;
    struct producer_append big = data(5, LAST_SEQUENCE, 3, 1000);
    big.producer_id = 123456789012;
    apply(p, big);
    apply(p, in_transaction(3, 9, 2000));
    apply(p, marker(4, 2, 2001, 6));
    size_t size, size_again;
    uint8_t *bytes = snapshot_of(p, &size);
    cr_assert_eq(size, 10 + 3 * 46);
    cr_assert_eq(load_be16(bytes), 1);
    cr_assert_eq(load_be32(bytes + 2), crc32c(0, bytes + 6, size - 6));
    cr_assert_eq(load_be32(bytes + 6), 3);
    cr_assert_eq(load_be64(bytes + 10), 3); // in order of id
    cr_assert_eq(load_be64(bytes + 10 + 38), 2000);
    const uint8_t *fenced = bytes + 10 + 46; // 4: no batch
    cr_assert_eq((int32_t)load_be32(fenced + 10), -1);
    cr_assert_eq((int64_t)load_be64(fenced + 14), -1);
    cr_assert_eq(load_be32(fenced + 22), 0);
    cr_assert_eq(load_be32(fenced + 34), 6);
    const uint8_t *last = bytes + 10 + 2 * 46;
    cr_assert_eq(load_be32(last + 10), 1);
    cr_assert_eq(load_be64(last + 14), 1002);
    cr_assert_eq(load_be32(last + 22), 2);

    char why[200] = "";
    struct text reason = TEXT_IN(why);
    producers_init(&back, 1);
    cr_assert(producers_decode(&back, (struct bytes){bytes, size}, 3000, 100000, &reason), "%s", why);
    uint8_t *again = snapshot_of(&back, &size_again);
    cr_assert_eq(size, size_again);
    cr_assert_arr_eq(bytes, again, size);
    cr_assert_eq(producers_first_unstable(&back), 2000);
    struct producer_append same = big;
    cr_assert_eq(check(&back, same), PRODUCER_DUPLICATE);
    free(bytes);
    free(again);
    producers_free(p);
    producers_free(&back);
}

Test(producers, snapshot_leaves_out_the_idle) {
    struct producers *p = make(), back;
    apply(p, data(0, 0, 1, 0));
    apply(p, in_transaction(8, 0, 0));
    size_t size;
    uint8_t *bytes = snapshot_of(p, &size);
    char why[200] = "";
    struct text reason = TEXT_IN(why);
    producers_init(&back, 1);
    cr_assert(producers_decode(&back, (struct bytes){bytes, size}, 1000000, 1000, &reason));
    cr_assert_eq(producers_count(&back), 1);
    cr_assert_not_null(producers_find(&back, 8));
    free(bytes);
    producers_free(p);
    producers_free(&back);
}

// Every bit of a snapshot, and every length of it: found, and nothing is taken.
Test(producers, snapshot_that_is_damaged) {
    struct producers *p = make(), back;
    apply(p, data(0, 0, 1, 0));
    size_t size;
    uint8_t *bytes = snapshot_of(p, &size);
    char why[200];
    producers_init(&back, 1);
    for (size_t bit = 0; bit < size * 8; bit++) {
        struct text reason = TEXT_IN(why);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_assert_not(producers_decode(&back, (struct bytes){bytes, size}, 0, 1000, &reason), "bit %zu", bit);
        cr_assert_neq(why[0], '\0');
        cr_assert_eq(producers_count(&back), 0);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t cut = 0; cut < size; cut++) {
        struct text reason = TEXT_IN(why);
        cr_assert_not(producers_decode(&back, (struct bytes){bytes, cut}, 0, 1000, &reason), "%zu bytes", cut);
    }
    // a right CRC over values that cannot be
    store_be64(bytes + 10, (uint64_t)-5);
    store_be32(bytes + 2, crc32c(0, bytes + 6, size - 6));
    struct text reason = TEXT_IN(why);
    cr_assert_not(producers_decode(&back, (struct bytes){bytes, size}, 0, 1000, &reason));
    free(bytes);
    producers_free(p);
    producers_free(&back);
}
