// SPDX-License-Identifier: Apache-2.0
// The decompressors: byte 0 chooses codec and flags, the rest is the stream. Output never passes its cap.
#include "base/assert.h"
#include "protocol/compress.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { OUTPUT_MAX_BYTES = 1 << 18 };
    if (size < 1) return 0;
    uint8_t *exact = malloc(size);
    memcpy(exact, data + 1, size - 1);
    struct decompressor d;
    struct bytes chunk;
    uint64_t total = 0;
    decompress_open(&d, CODEC_GZIP + data[0] % 4, (struct bytes){exact, size - 1}, OUTPUT_MAX_BYTES,
                    data[0] & 128 ? DECOMPRESS_LZ4_MAGIC_0 : 0, NULL);
    while (decompress_next(&d, &chunk) == DECOMPRESS_CHUNK) {
        total += chunk.size;
        ASSERT(chunk.size > 0 && total <= OUTPUT_MAX_BYTES);
    }
    decompress_close(&d);
    free(exact);
    return 0;
}
