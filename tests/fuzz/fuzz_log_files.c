// SPDX-License-Identifier: Apache-2.0
// The readers of everything that lies in a log directory: byte 0 chooses the file. What a reader takes must come out
// the same when it is written and read again.
#include "base/assert.h"
#include "base/bits.h"
#include "base/crc32c.h"
#include "config/topic_name.h"
#include "log/checkpoint.h"
#include "log/dir_name.h"
#include "log/epochs.h"
#include "log/index.h"
#include "log/meta.h"
#include "log/partition_metadata.h"
#include "log/producers_batch.h"
#include "log/txn_index.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_epochs(struct str file, struct text *reason) {
    struct epochs epochs, back;
    size_t size;
    epochs_init(&epochs);
    epochs_init(&back);
    if (epochs_decode(&epochs, file, reason)) {
        char *text = epochs_encode(&epochs, &size);
        ASSERT(epochs_decode(&back, (struct str){text, size}, reason));
        ASSERT(back.count == epochs.count);
        free(text);
    } else {
        ASSERT(epochs.count == 0 && reason->size > 0);
    }
    epochs_free(&epochs);
    epochs_free(&back);
}

static void fuzz_checkpoint(struct str file, struct text *reason) {
    struct checkpoint checkpoint, back;
    size_t size;
    if (!checkpoint_parse(file, &checkpoint, reason)) {
        ASSERT(checkpoint.count == 0 && reason->size > 0);
        return;
    }
    checkpoint_sort(&checkpoint);
    char *text = checkpoint_format(&checkpoint, &size);
    ASSERT(checkpoint_parse((struct str){text, size}, &back, reason));
    ASSERT(back.count == checkpoint.count);
    for (size_t i = 0; i < back.count; i++)
        ASSERT(checkpoint_find(&checkpoint, back.entries[i].topic, back.entries[i].partition) != NULL);
    checkpoint_free(&checkpoint);
    checkpoint_free(&back);
    free(text);
}

// The checksum is made right first, or nothing behind it would ever be reached.
static void fuzz_snapshot(struct bytes file, struct text *reason) {
    struct producers producers, back;
    uint8_t *copy = malloc(file.size + 1);
    memcpy(copy, file.data, file.size);
    if (file.size >= PRODUCER_SNAPSHOT_HEADER_BYTES) store_be32(copy + 2, crc32c(0, copy + 6, file.size - 6));
    producers_init(&producers, 1);
    producers_init(&back, 2);
    if (producers_decode(&producers, (struct bytes){copy, file.size}, 0, INT64_MAX, reason)) {
        size_t size = producers_snapshot_bytes(&producers);
        uint8_t *again = malloc(size);
        producers_encode(&producers, again);
        ASSERT(producers_decode(&back, (struct bytes){again, size}, 0, INT64_MAX, reason));
        ASSERT(producers_count(&back) == producers_count(&producers));
        ASSERT(producers_first_unstable(&back) == producers_first_unstable(&producers));
        free(again);
    }
    producers_free(&producers);
    producers_free(&back);
    free(copy);
}

static void fuzz_indexes(struct bytes file, struct text *reason) {
    struct index index = {0};
    struct time_index times = {0};
    struct txn_index aborted = {0};
    if (index_decode(&index, file, INT32_MAX, reason)) {
        index_floor_offset(&index, 1000);
        index_truncate(&index, 500);
    }
    if (time_index_decode(&times, file, reason)) time_index_truncate(&times, 500);
    if (txn_index_decode(&aborted, file, 0, reason)) {
        uint8_t *again = malloc(aborted.count * TXN_INDEX_ENTRY_BYTES + 1);
        txn_index_encode(&aborted, 0, again);
        ASSERT(memcmp(again, file.data, file.size) == 0);
        free(again);
    }
    index_free(&index);
    time_index_free(&times);
    txn_index_free(&aborted);
}

static void fuzz_names(struct str name) {
    struct str topic, suffix;
    int32_t partition;
    int64_t offset;
    char again[DIR_NAME_BYTES_MAX + 1], terminated[256];
    file_name_parse(name, &offset, &suffix);
    if (dir_name_parse(name, &topic, &partition) != DIR_PARTITION) return;
    ASSERT(topic_name_is_legal(topic) && topic.size < sizeof terminated);
    memcpy(terminated, topic.data, topic.size);
    terminated[topic.size] = '\0';
    dir_name_print(again, terminated, partition);
}

static void fuzz_marker(struct bytes bytes) {
    struct batch batch;
    struct producer_append append;
    if (batch_load(bytes, &batch) == BATCH_OK) producer_append_of(&batch, &append);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    char why[300];
    struct text reason = TEXT_IN(why);
    struct bytes bytes = {data + 1, size - 1};
    struct str text = {(const char *)data + 1, size - 1};
    struct uuid id;
    struct meta_properties meta;
    switch (data[0] % 8) {
    case 0: fuzz_epochs(text, &reason); break;
    case 1: fuzz_checkpoint(text, &reason); break;
    case 2: fuzz_snapshot(bytes, &reason); break;
    case 3: fuzz_indexes(bytes, &reason); break;
    case 4: fuzz_names(text); break;
    case 5: fuzz_marker(bytes); break;
    case 6: partition_metadata_parse(text, &id, &reason); break;
    default: meta_parse(text, &meta, &reason);
    }
    return 0;
}
