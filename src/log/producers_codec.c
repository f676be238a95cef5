// SPDX-License-Identifier: Apache-2.0
// The bytes of a producer snapshot:
//   int16 version 1, uint32 CRC-32C of everything after byte 6, int32 count, then for each producer 46 bytes:
//   int64 id, int16 epoch, int32 last sequence, int64 last offset, int32 offset delta, int64 last timestamp,
//   int32 coordinator epoch (-1: none), int64 start of the open transaction (-1: none)
// Only the last batch of a producer is in it. Decoding trusts nothing: any byte may be wrong, and then nothing is
// taken.
#include "base/assert.h"
#include "base/bits.h"
#include "base/crc32c.h"
#include "log/producers_private.h"
#include <inttypes.h>
#include <stdlib.h>

enum { SNAPSHOT_VERSION = 1, CRC_POSITION = 2, CRC_BEGIN = 6, COUNT_POSITION = 6 };

size_t producers_snapshot_bytes(const struct producers *p) {
    return PRODUCER_SNAPSHOT_HEADER_BYTES + producers_count(p) * PRODUCER_SNAPSHOT_ENTRY_BYTES;
}

static void encode_entry(const struct producer *producer, uint8_t *at) {
    const struct producer_batch none = {.last_offset = -1, .last_sequence = -1};
    const struct producer_batch *last =
        producer->batch_count == 0 ? &none : &producer->batches[producer->batch_count - 1];
    store_be64(at, (uint64_t)producer->id);
    store_be16(at + 8, (uint16_t)producer->epoch);
    store_be32(at + 10, (uint32_t)last->last_sequence);
    store_be64(at + 14, (uint64_t)last->last_offset);
    store_be32(at + 22, (uint32_t)last->offset_delta);
    store_be64(at + 26, (uint64_t)producer->last_timestamp_ms);
    store_be32(at + 34, (uint32_t)producer->coordinator_epoch);
    store_be64(at + 38, (uint64_t)producer->transaction_start);
}

void producers_encode(const struct producers *p, uint8_t *snapshot) {
    size_t size = producers_snapshot_bytes(p);
    const struct producer **sorted = producers_sorted(p);
    store_be16(snapshot, SNAPSHOT_VERSION);
    store_be32(snapshot + COUNT_POSITION, (uint32_t)producers_count(p));
    for (size_t i = 0; i < producers_count(p); i++)
        encode_entry(sorted[i], snapshot + PRODUCER_SNAPSHOT_HEADER_BYTES + i * PRODUCER_SNAPSHOT_ENTRY_BYTES);
    free(sorted);
    store_be32(snapshot + CRC_POSITION, crc32c(0, snapshot + CRC_BEGIN, size - CRC_BEGIN));
}

// False: the bytes are not those of a snapshot.
static bool check_header(struct bytes snapshot, struct text *reason) {
    if (snapshot.size < PRODUCER_SNAPSHOT_HEADER_BYTES) {
        text_addf(reason, "%zu bytes, a snapshot has at least %d", snapshot.size, PRODUCER_SNAPSHOT_HEADER_BYTES);
        return false;
    }
    uint16_t version = load_be16(snapshot.data);
    if (version != SNAPSHOT_VERSION) {
        text_addf(reason, "version %u at byte 0, only 1 is known", version);
        return false;
    }
    uint32_t stored = load_be32(snapshot.data + CRC_POSITION);
    uint32_t computed = crc32c(0, snapshot.data + CRC_BEGIN, snapshot.size - CRC_BEGIN);
    if (stored != computed) {
        text_addf(reason, "CRC 0x%08x at byte 2, the bytes have 0x%08x", stored, computed);
        return false;
    }
    uint32_t count = load_be32(snapshot.data + COUNT_POSITION);
    if (count != (snapshot.size - PRODUCER_SNAPSHOT_HEADER_BYTES) / PRODUCER_SNAPSHOT_ENTRY_BYTES ||
        (snapshot.size - PRODUCER_SNAPSHOT_HEADER_BYTES) % PRODUCER_SNAPSHOT_ENTRY_BYTES != 0) {
        text_addf(reason, "%u producers at byte 6 do not make %zu bytes", count, snapshot.size);
        return false;
    }
    return true;
}

bool producer_snapshot_entry(const uint8_t *at, struct producer *producer) {
    struct producer_batch last = {
        .last_offset = (int64_t)load_be64(at + 14),
        .max_timestamp_ms = (int64_t)load_be64(at + 26),
        .last_sequence = (int32_t)load_be32(at + 10),
        .offset_delta = (int32_t)load_be32(at + 22),
    };
    *producer = (struct producer){
        .id = (int64_t)load_be64(at),
        .epoch = (int16_t)load_be16(at + 8),
        .last_timestamp_ms = last.max_timestamp_ms,
        .coordinator_epoch = (int32_t)load_be32(at + 34),
        .transaction_start = max_i64((int64_t)load_be64(at + 38), -1),
    };
    if (last.last_offset < 0) return producer->id >= 0;
    producer->batches[0] = last;
    producer->batch_count = 1;
    return producer->id >= 0 && last.offset_delta >= 0 && last.offset_delta <= last.last_offset;
}

bool producers_decode(struct producers *p, struct bytes snapshot, int64_t now_ms, int64_t expiration_ms,
                      struct text *reason) {
    producers_clear(p);
    if (!check_header(snapshot, reason)) return false;
    for (size_t at = PRODUCER_SNAPSHOT_HEADER_BYTES; at < snapshot.size; at += PRODUCER_SNAPSHOT_ENTRY_BYTES) {
        struct producer producer;
        if (!producer_snapshot_entry(snapshot.data + at, &producer)) {
            text_addf(reason, "producer %" PRId64 " at byte %zu is not possible", producer.id, at);
            producers_clear(p);
            return false;
        }
        if (!producer_is_expired(&producer, now_ms, expiration_ms)) producers_put(p, &producer);
    }
    return true;
}
