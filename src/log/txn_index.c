// SPDX-License-Identifier: Apache-2.0
// An entry: int16 version 0, int64 producer id, int64 first offset, int64 last offset, int64 last stable offset.
#include "log/txn_index.h"
#include "base/assert.h"
#include "base/bits.h"
#include <inttypes.h>
#include <stdlib.h>

void txn_index_free(struct txn_index *index) {
    free(index->entries);
    *index = (struct txn_index){0};
}

void txn_index_append(struct txn_index *index, const struct aborted_transaction *entry) {
    ASSERT(index->count == 0 || entry->last_offset > index->entries[index->count - 1].last_offset);
    if (index->count == index->capacity) {
        index->capacity = index->capacity ? index->capacity * 2 : 8;
        index->entries = realloc(index->entries, index->capacity * sizeof *index->entries);
        ASSERT(index->entries != NULL);
    }
    index->entries[index->count++] = *entry;
}

void txn_index_truncate(struct txn_index *index, int64_t offset) {
    while (index->count > 0 && index->entries[index->count - 1].last_offset >= offset)
        index->count--;
    index->written = min_size(index->written, index->count);
}

void txn_index_encode(const struct txn_index *index, size_t first, uint8_t *to) {
    for (size_t i = first; i < index->count; i++, to += TXN_INDEX_ENTRY_BYTES) {
        const struct aborted_transaction *e = &index->entries[i];
        store_be16(to, 0);
        store_be64(to + 2, (uint64_t)e->producer_id);
        store_be64(to + 10, (uint64_t)e->first_offset);
        store_be64(to + 18, (uint64_t)e->last_offset);
        store_be64(to + 26, (uint64_t)e->last_stable_offset);
    }
}

bool txn_index_decode(struct txn_index *index, struct bytes file, int64_t base_offset, struct text *reason) {
    index->count = index->written = 0;
    if (file.size % TXN_INDEX_ENTRY_BYTES != 0) {
        text_addf(reason, "%zu bytes are no multiple of %d", file.size, TXN_INDEX_ENTRY_BYTES);
        return false;
    }
    int64_t least = base_offset;
    for (size_t at = 0; at < file.size; at += TXN_INDEX_ENTRY_BYTES) {
        const uint8_t *p = file.data + at;
        struct aborted_transaction entry = {
            .producer_id = (int64_t)load_be64(p + 2),
            .first_offset = (int64_t)load_be64(p + 10),
            .last_offset = (int64_t)load_be64(p + 18),
            .last_stable_offset = (int64_t)load_be64(p + 26),
        };
        uint16_t version = load_be16(p);
        if (version != 0 || entry.last_offset < least || entry.last_offset == INT64_MAX) {
            text_addf(reason,
                      "byte %zu: version %u, last offset %" PRId64 ", expected version 0 and %" PRId64 " or above", at,
                      version, entry.last_offset, least);
            txn_index_free(index);
            return false;
        }
        least = entry.last_offset + 1;
        txn_index_append(index, &entry);
    }
    index->written = index->count;
    return true;
}
