// SPDX-License-Identifier: Apache-2.0
// The aborted transactions of one segment, as the bytes of its .txnindex file: 34 bytes each, by rising offset of the
// marker. Pure.
#pragma once

#include "base/slice.h"
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

enum { TXN_INDEX_ENTRY_BYTES = 34 };
struct aborted_transaction {
    int64_t producer_id;
    int64_t first_offset, last_offset; // last: the marker's
    int64_t last_stable_offset;
};
struct txn_index {
    struct aborted_transaction *entries;
    size_t count, capacity;
    size_t written; // that many entries are in the file
};
void txn_index_free(struct txn_index *index);
// The markers' offsets rise.
void txn_index_append(struct txn_index *index, const struct aborted_transaction *entry);
// Drops the entries whose marker is at or after `offset`.
void txn_index_truncate(struct txn_index *index, int64_t offset);
// The entries from `first` on; `to` has room for (count - first) * TXN_INDEX_ENTRY_BYTES.
void txn_index_encode(const struct txn_index *index, size_t first, uint8_t *to);
// Replaces what is in `index`. False: not a valid file (a marker below the segment's base, among others): `index` is
// empty and *reason says where.
bool txn_index_decode(struct txn_index *index, struct bytes file, int64_t base_offset, struct text *reason);
