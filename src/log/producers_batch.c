// SPDX-License-Identifier: Apache-2.0
// A marker is a control batch with one record: key (int16 version, int16 type), value (int16 version, int32 coordinator
// epoch). Its bytes come from disks and other brokers, so nothing about them is taken for granted.
#include "log/producers_batch.h"
#include "base/bits.h"
#include "protocol/record.h"

enum { MARKER_KEY_BYTES = 4, MARKER_VALUE_BYTES = 6 };

bool marker_read(const struct batch *batch, struct marker *marker) {
    if (batch_codec(batch) != 0 || batch->bytes.size < BATCH_HEADER_BYTES || batch->bytes.size > MARKER_BATCH_BYTES_MAX)
        return false;
    struct record_reader reader;
    struct record record;
    record_open(&reader, batch, MARKER_BATCH_BYTES_MAX, RECORD_CONTENT);
    bool found = record_next(&reader, &record) == RECORD_OK && record.key_bytes >= MARKER_KEY_BYTES &&
                 record.value_bytes >= MARKER_VALUE_BYTES;
    if (found) {
        marker->type = (int16_t)load_be16(record.key.data + 2);
        marker->coordinator_epoch = (int32_t)load_be32(record.value.data + 2);
    }
    record_close(&reader);
    return found;
}

bool producer_append_of(const struct batch *batch, struct producer_append *append) {
    if (batch->producer_id < 0) return false;
    *append = (struct producer_append){
        .producer_id = batch->producer_id,
        .producer_epoch = batch->producer_epoch,
        .base_sequence = batch->base_sequence,
        .last_sequence = batch_last_sequence(batch),
        .base_offset = batch->base_offset,
        .last_offset = batch_last_offset(batch),
        .max_timestamp_ms = batch->max_timestamp,
        .transactional = batch_is_transactional(batch),
        .coordinator_epoch = -1,
    };
    if (!batch_is_control(batch)) return true;
    struct marker marker;
    if (!marker_read(batch, &marker) || (marker.type != MARKER_ABORT && marker.type != MARKER_COMMIT)) return false;
    append->marker = true;
    append->aborted = marker.type == MARKER_ABORT;
    append->coordinator_epoch = marker.coordinator_epoch;
    return true;
}
