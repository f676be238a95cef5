// SPDX-License-Identifier: Apache-2.0
// The file of the embedded metadata store. Byte 0 chooses: the bytes as they are, or with every checksum made right
// first (or nothing behind the first one would ever be reached). A file that is taken must give a tree that can be
// written and read again.
#include "base/assert.h"
#include "base/bits.h"
#include "metastore/metafile.h"
#include <stdlib.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 1000 };

// As metafile.c computes them: the file header's over 24 bytes, a record's over its payload and over its header.
static void checksums_repair(uint8_t *file, size_t size) {
    if (size < METAFILE_HEADER_SIZE) return;
    store_be64(file + 24, XXH64(file, 24, 0));
    uint64_t file_id = load_be64(file + 16);
    size_t at = METAFILE_HEADER_SIZE;
    for (int records = 0; records < RECORDS_MAX && size - at >= METAFILE_RECORD_HEADER_SIZE; records++) {
        uint8_t *header = file + at;
        size_t payload = load_be32(header);
        if (payload > size - at - METAFILE_RECORD_HEADER_SIZE) {
            payload = size - at - METAFILE_RECORD_HEADER_SIZE;
            store_be32(header, (uint32_t)payload);
        }
        store_be64(header + 32, XXH64(header + METAFILE_RECORD_HEADER_SIZE, payload, file_id));
        store_be64(header + 40, XXH64(header, 40, file_id + at));
        at += METAFILE_RECORD_HEADER_SIZE + payload;
    }
}

static void check_round_trip(const struct tree *tree) {
    struct metafile_buffer buffer = {0};
    metafile_put_snapshot(&buffer, 7, tree, 1);
    struct tree again;
    tree_init(&again, 2);
    struct metafile_load load = {0};
    metafile_load(&again, buffer.data, buffer.size, &load);
    ASSERT(load.ok && load.valid_bytes == buffer.size);
    tree_free(&again);
    metafile_buffer_free(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    uint8_t *file = malloc(size);
    ASSERT(file != NULL);
    memcpy(file, data + 1, size - 1);
    if (data[0] & 1) checksums_repair(file, size - 1);
    struct tree tree;
    tree_init(&tree, 1);
    struct metafile_load load = {0};
    metafile_load(&tree, file, size - 1, &load);
    ASSERT(load.ok || load.reason[0] != '\0');
    ASSERT(!load.ok || load.valid_bytes <= size - 1);
    if (load.ok) check_round_trip(&tree);
    tree_free(&tree);
    free(file);
    return 0;
}
