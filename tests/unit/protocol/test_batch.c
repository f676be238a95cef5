// SPDX-License-Identifier: Apache-2.0
// Record batches: building, reading, checksums, compression, and what hostile bytes do.
#include "base/bits.h"
#include "base/crc32c.h"
#include "protocol/batch.h"
#include "protocol/batch_writer.h"
#include "protocol/record.h"
#include "protocol/varint.h"
#include "random_message.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { ROOM = 1 << 20, CAP = 1 << 24 };

static struct bytes bytes_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, text ? strlen(text) : 0};
}

// Records whose content follows from their index; some larger than a decompressor's chunk.
static size_t build(uint8_t *memory, int count, uint64_t seed, struct batch_options options) {
    struct random r = {seed};
    struct batch_writer w;
    static char text[150000];
    batch_writer_begin(&w, memory, ROOM, options);
    for (int i = 0; i < count; i++) {
        size_t n = random_below(&r, 20) == 0 ? 100000 : random_below(&r, 300);
        for (size_t j = 0; j < n; j++)
            text[j] = (char)('a' + (j * 7 + (size_t)i) % 19 + random_below(&r, 2));
        struct record_header headers[] = {{str_of("h"), bytes_of("v")}, {str_of(""), {NULL, 0}}};
        struct bytes key = i % 3 == 0 ? (struct bytes){NULL, 0} : bytes_of("key");
        struct bytes value = i % 5 == 4 ? (struct bytes){NULL, 0} : (struct bytes){(uint8_t *)text, n};
        if (!batch_writer_add(&w, 1000 + (i % 2 ? i : -i), key, value, headers, i % 3)) break;
    }
    return batch_writer_end(&w);
}

static int walk(struct bytes bytes, int flags, uint64_t cap, enum record_status *end) {
    struct batch b;
    struct record_reader reader;
    struct record record;
    cr_assert_eq(batch_load(bytes, &b), BATCH_OK);
    record_open(&reader, &b, cap, flags);
    int n = 0;
    while ((*end = record_next(&reader, &record)) == RECORD_OK) {
        if (flags & RECORD_CONTENT) {
            struct record_header header;
            int headers = 0;
            while (record_header_next(&record.headers, &header))
                headers++;
            cr_assert_eq(headers, record.header_count);
            cr_assert_eq(record.key.data ? (int)record.key.size : -1, record.key_bytes);
            cr_assert_eq(record.value.data ? (int)record.value.size : -1, record.value_bytes);
        }
        n++;
    }
    record_close(&reader);
    return n;
}

Test(batch, what_the_writer_writes_the_reader_reads_in_every_codec) {
    uint8_t *plain = malloc(ROOM), *compressed = malloc(2 * ROOM);
    for (uint64_t seed = 0; seed < 6; seed++) {
        int count = 1 + (int)seed * 17;
        size_t size = build(plain, count, seed, BATCH_OPTIONS_PLAIN);
        for (int codec = CODEC_NONE; codec < CODEC_COUNT; codec++) {
            struct bytes bytes = {plain, size};
            if (codec) bytes = (struct bytes){compressed, batch_compress(bytes, codec, 0, compressed, 2 * ROOM)};
            cr_assert_gt(bytes.size, BATCH_HEADER_BYTES);
            struct batch b;
            cr_assert_eq(batch_load(bytes, &b), BATCH_OK);
            cr_assert(batch_crc_is_valid(&b));
            cr_assert_eq(batch_codec(&b), codec);
            cr_assert_eq(batch_last_offset(&b), b.count - 1);
            enum record_status end;
            cr_assert_eq(walk(bytes, 0, CAP, &end), b.count, "%s", codec_name(codec));
            cr_assert_eq(end, RECORD_END);
            cr_assert_eq(walk(bytes, RECORD_CONTENT, CAP, &end), b.count);
            cr_assert_eq(end, RECORD_END);
            // Values are those of the plain batch.
            struct batch p;
            struct record_reader x, y;
            struct record rx, ry;
            batch_load((struct bytes){plain, size}, &p);
            record_open(&x, &p, CAP, RECORD_CONTENT);
            record_open(&y, &b, CAP, RECORD_CONTENT);
            while (record_next(&x, &rx) == RECORD_OK) {
                cr_assert_eq(record_next(&y, &ry), RECORD_OK);
                cr_assert_eq(rx.value.size, ry.value.size);
                cr_assert(rx.value.size == 0 || memcmp(rx.value.data, ry.value.data, rx.value.size) == 0);
                cr_assert_eq(rx.timestamp_delta, ry.timestamp_delta);
                cr_assert_eq(rx.offset_delta, ry.offset_delta);
            }
            record_close(&x);
            record_close(&y);
        }
    }
    free(plain);
    free(compressed);
}

Test(batch, a_rewritten_timestamp_keeps_the_checksum_right) {
    uint8_t *memory = malloc(ROOM);
    for (int count = 1; count < 400; count += 130) {
        size_t size = build(memory, count, 3, BATCH_OPTIONS_PLAIN);
        batch_set_max_timestamp(memory, size, true, 77777);
        struct batch b;
        cr_assert_eq(batch_load((struct bytes){memory, size}, &b), BATCH_OK);
        cr_assert(batch_crc_is_valid(&b), "%zu bytes", size);
        cr_assert(batch_is_log_append_time(&b));
        cr_assert_eq(b.max_timestamp, 77777);
        batch_set_base_offset(memory, 1234567890123);
        batch_set_leader_epoch(memory, 9);
        batch_set_max_timestamp(memory, size, false, -1);
        cr_assert_eq(batch_load((struct bytes){memory, size}, &b), BATCH_OK);
        cr_assert(batch_crc_is_valid(&b));
        cr_assert_eq(b.base_offset, 1234567890123);
        cr_assert_not(batch_is_log_append_time(&b));
    }
    free(memory);
}

Test(batch, lengths_and_magics_are_checked_before_anything_is_read) {
    uint8_t *memory = malloc(ROOM);
    size_t size = build(memory, 3, 1, BATCH_OPTIONS_PLAIN);
    struct batch b;
    for (size_t n = 0; n < size; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, memory, n);
        cr_assert_eq(batch_load((struct bytes){cut, n}, &b), n == 0 ? BATCH_END : BATCH_INCOMPLETE);
        free(cut);
    }
    const int32_t lengths[] = {-1, 0, 13, 48, INT32_MIN, (int32_t)size - 11, INT32_MAX};
    for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
        store_be32(memory + BATCH_LENGTH, (uint32_t)lengths[i]);
        cr_assert_eq(batch_load((struct bytes){memory, size}, &b), i < 5 ? BATCH_CORRUPT : BATCH_INCOMPLETE, "%d",
                     lengths[i]);
    }
    store_be32(memory + BATCH_LENGTH, (uint32_t)size - 12);
    const int magics[] = {3, 127, 128, 255};
    for (size_t i = 0; i < ARRAY_LENGTH(magics); i++) {
        memory[BATCH_MAGIC] = (uint8_t)magics[i];
        cr_assert_eq(batch_load((struct bytes){memory, size}, &b), BATCH_CORRUPT);
    }
    free(memory);
}

Test(batch, sequences_wrap) {
    cr_assert_eq(sequence_add(INT32_MAX, 1), 0);
    cr_assert_eq(sequence_add(INT32_MAX - 1, 1), INT32_MAX);
    cr_assert_eq(sequence_add(INT32_MAX - 1, 5), 3);
}

Test(varint, round_trip_and_limits) {
    uint8_t memory[16];
    int64_t values[] = {0, 1, -1, 63, -64, 64, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN}, back;
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        uint8_t *end = varlong_store(memory, values[i]);
        cr_assert_eq((size_t)(end - memory), varlong_size(values[i]));
        cr_assert_eq(varlong_load(memory, end, 64, &back), end);
        cr_assert_eq(back, values[i]);
        cr_assert_null(varlong_load(memory, end - 1, 64, &back));
        cr_assert_eq(varlong_load(memory, end, 32, &back) != NULL, values[i] >= INT32_MIN && values[i] <= INT32_MAX);
    }
    static const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    cr_assert_null(varlong_load(too_long, too_long + sizeof too_long, 64, &back));
}

// A batch with `payload` as its records.
static struct bytes wrap(uint8_t *memory, int codec, int32_t count, const void *payload, size_t size) {
    struct batch_writer w;
    batch_writer_begin(&w, memory, ROOM, BATCH_OPTIONS_PLAIN);
    cr_assert(batch_writer_add(&w, 1, (struct bytes){NULL, 0}, (struct bytes){NULL, 0}, NULL, 0));
    batch_writer_end(&w);
    memcpy(memory + BATCH_RECORDS, payload, size);
    size_t total = BATCH_RECORDS + size;
    store_be32(memory + BATCH_LENGTH, (uint32_t)(total - 12));
    store_be32(memory + BATCH_COUNT, (uint32_t)count);
    store_be32(memory + BATCH_LAST_OFFSET_DELTA, (uint32_t)count - 1);
    memory[BATCH_ATTRIBUTES + 1] = (uint8_t)codec;
    store_be32(memory + BATCH_CRC, crc32c(0, memory + BATCH_ATTRIBUTES, total - BATCH_ATTRIBUTES));
    return (struct bytes){memory, total};
}

Test(record, malformed_records_are_refused) {
    uint8_t *memory = malloc(ROOM);
    enum record_status end;
    static const struct {
        const char *bytes;
        size_t size;
        int good;
    } cases[] = {
        {"\x0c\x00\x00\x00\x01\x01\x00", 7, 1},                  // null key, null value, no headers
        {"\x0c\x00\x00\x00\x01\x01\x00z", 8, 1},                 // something behind the last record
        {"\x0a\x00\x00\x00\x01\x01\x00", 7, 0},                  // length too short
        {"\x0e\x00\x00\x00\x01\x01\x00", 7, 0},                  // and too long
        {"\x01", 1, 0},                                          // length -1
        {"\x00", 1, 0},                                          // length 0
        {"\xff\xff\xff\xff\x1f", 5, 0},                          // length of 33 bits
        {"\x0c\x00\x00\x00\x03\x01\x00", 7, 1},                  // key length -2 counts as null, as in Kafka
        {"\x0c\x00\x00\x00\x02\x01\x00", 7, 0},                  // the key takes the value's length
        {"\x14\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f", 11, 0}, // 2^31 - 1 headers
        {"\x0c\x00\x00\x00\x01\x01\x01", 7, 0},                  // -1 headers
        {"\x10\x00\x00\x00\x01\x01\x02\x01\x00", 9, 0},          // header without key
        {"\x1c\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x01\x01\x00", 16, 0}, // timestamp of 65 bits
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        for (int codec = 0; codec < CODEC_COUNT; codec++) {
            uint8_t packed[512];
            size_t size = codec_compress(codec, 0, (struct bytes){(const uint8_t *)cases[i].bytes, cases[i].size},
                                         packed, sizeof packed);
            cr_assert_gt(size, 0);
            struct bytes bytes = wrap(memory, codec, 1, packed, size);
            cr_assert_eq(walk(bytes, 0, CAP, &end), cases[i].good, "case %zu", i);
            bool whole = i == 0 || i == 7;
            cr_assert_eq(end == RECORD_END, whole, "case %zu codec %d: %d", i, codec, end);
            cr_assert_eq(walk(bytes, RECORD_CONTENT, CAP, &end), cases[i].good);
        }
    }
    // Two records announced, one there; none announced.
    struct bytes bytes = wrap(memory, 0, 2, cases[0].bytes, cases[0].size);
    cr_assert_eq(walk(bytes, 0, CAP, &end), 1);
    cr_assert_eq(end, RECORD_CORRUPT);
    bytes = wrap(memory, 0, 0, cases[0].bytes, cases[0].size);
    cr_assert_eq(walk(bytes, 0, CAP, &end), 0);
    cr_assert_eq(end, RECORD_CORRUPT);
    bytes = wrap(memory, 0, -1, cases[0].bytes, cases[0].size);
    cr_assert_eq(walk(bytes, 0, CAP, &end), 0);
    cr_assert_eq(end, RECORD_CORRUPT);
    free(memory);
}

Test(record, cut_or_damaged_payloads_never_harm) {
    uint8_t *plain = malloc(ROOM), *packed = malloc(2 * ROOM), *memory = malloc(2 * ROOM);
    struct random r = {5};
    size_t size = build(plain, 30, 2, BATCH_OPTIONS_PLAIN);
    enum record_status end;
    for (int codec = 0; codec < CODEC_COUNT; codec++) {
        size_t n =
            codec_compress(codec, 0, (struct bytes){plain + BATCH_RECORDS, size - BATCH_RECORDS}, packed, 2 * ROOM);
        for (int round = 0; round < 150; round++) {
            size_t cut = round % 2 ? n : random_below(&r, n);
            struct bytes bytes = wrap(memory, codec, 30, packed, cut);
            for (int i = 0; round % 2 && i < 2; i++)
                memory[BATCH_RECORDS + random_below(&r, cut)] = (uint8_t)random_next(&r);
            walk(bytes, round % 4 < 2 ? 0 : RECORD_CONTENT, CAP, &end);
            cr_assert(round % 2 || end != RECORD_END, "codec %d cut to %zu of %zu", codec, cut, n);
        }
    }
    free(plain);
    free(packed);
    free(memory);
}

// About a gigabyte of zeros as one record, in few bytes.
Test(record, bombs_are_refused_cheaply) {
    enum { CHUNK = 1 << 20, CHUNKS = 64, BOMB_CAP = 1 << 22 };
    uint8_t *zeros = calloc(1, CHUNK), *packed = malloc(1 << 22), *memory = malloc(1 << 23);
    uint8_t head[16];
    size_t head_bytes = (size_t)(varlong_store(head, (int64_t)CHUNK * CHUNKS) - head);
    memcpy(zeros, head, head_bytes);
    enum record_status end;
    for (int codec = CODEC_GZIP; codec < CODEC_COUNT; codec++) {
        size_t n = 0;
        if (codec == CODEC_ZSTD) {
            ZSTD_CStream *z = ZSTD_createCStream();
            ZSTD_outBuffer out = {packed, 1 << 22, 0};
            for (int i = 0; i < CHUNKS; i++) {
                ZSTD_inBuffer in = {zeros, CHUNK, 0};
                ZSTD_compressStream2(z, &out, &in, i == CHUNKS - 1 ? ZSTD_e_end : ZSTD_e_continue);
                memset(zeros, 0, head_bytes);
            }
            n = out.pos;
            ZSTD_freeCStream(z);
            memcpy(zeros, head, head_bytes);
        } else {
            n = codec_compress(codec, 0, (struct bytes){zeros, CHUNK}, packed, 1 << 22);
        }
        struct bytes bytes = wrap(memory, codec, 1, packed, n);
        cr_assert_eq(walk(bytes, 0, BOMB_CAP, &end), 0);
        cr_assert_eq(end, RECORD_TOO_LARGE, "codec %d: %d", codec, end);
        cr_assert_eq(walk(bytes, RECORD_CONTENT, BOMB_CAP, &end), 0);
        // Many small records: the output's cap stops it, after the cap and not after the whole.
        for (int i = 0; i < CHUNK / 7; i++)
            memcpy(zeros + i * 7, "\x0c\x00\x00\x00\x01\x01\x00", 7);
        n = codec_compress(codec, 0, (struct bytes){zeros, CHUNK}, packed, 1 << 22);
        bytes = wrap(memory, codec, CHUNK / 7, packed, n);
        walk(bytes, 0, CHUNK / 2, &end);
        cr_assert_eq(end, RECORD_TOO_LARGE, "codec %d: %d", codec, end);
        memset(zeros, 0, CHUNK);
        memcpy(zeros, head, head_bytes);
    }
    free(zeros);
    free(packed);
    free(memory);
}

static enum decompress_status drain(int codec, const void *bytes, size_t size, uint64_t cap, int flags, size_t *total) {
    struct decompressor d;
    struct bytes chunk;
    enum decompress_status status;
    *total = 0;
    decompress_open(&d, codec, (struct bytes){bytes, size}, cap, flags, NULL);
    while ((status = decompress_next(&d, &chunk)) == DECOMPRESS_CHUNK)
        *total += chunk.size;
    cr_assert_leq(d.buffer_bytes, 4u << 20);
    decompress_close(&d);
    return status;
}

Test(decompress, headers_that_lie_are_refused) {
    size_t total;
    // Raw snappy that claims 2^32 - 1 bytes; xerial block of length 0xFFFFFFFF; header without blocks.
    cr_assert_eq(drain(CODEC_SNAPPY, "\xff\xff\xff\xff\x0f\x00z", 7, 1u << 30, 0, &total), DECOMPRESS_CORRUPT);
    cr_assert_eq(drain(CODEC_SNAPPY, "\x82SNAPPY\0\0\0\0\1\0\0\0\1\xff\xff\xff\xff", 20, CAP, 0, &total),
                 DECOMPRESS_CORRUPT);
    cr_assert_eq(drain(CODEC_SNAPPY, "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16, CAP, 0, &total), DECOMPRESS_END);
    cr_assert_eq(drain(CODEC_SNAPPY, "", 0, CAP, 0, &total), DECOMPRESS_CORRUPT);
    // zstd with a window of 2^31 bytes (window descriptor 0xa8: exponent 21).
    cr_assert_eq(drain(CODEC_ZSTD, "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9, CAP, 0, &total), DECOMPRESS_TOO_LARGE);
    // lz4: legacy frame, linked blocks, dictionary, block larger than its class.
    cr_assert_eq(drain(CODEC_LZ4, "\x02\x21\x4c\x18\x00\x00\x00\x00\x00\x00", 10, CAP, 0, &total), DECOMPRESS_CORRUPT);
    cr_assert_eq(drain(CODEC_LZ4, "\x04\x22\x4d\x18\x40\x40\xc0\x00\x00\x00\x00", 11, CAP, 0, &total),
                 DECOMPRESS_CORRUPT);
    cr_assert_eq(drain(CODEC_LZ4, "\x04\x22\x4d\x18\x61\x40\xc0\x00\x00\x00\x00", 11, CAP, 0, &total),
                 DECOMPRESS_CORRUPT);
    cr_assert_eq(drain(CODEC_LZ4, "\x04\x22\x4d\x18\x60\x40\x82\x00\x00\x01\x00", 11, CAP, 0, &total),
                 DECOMPRESS_CORRUPT);
    cr_assert_eq(drain(CODEC_LZ4, "\x04\x22\x4d\x18\x60\x40\x82\x00\x00\x00\x00", 11, CAP, 0, &total), DECOMPRESS_END);
    // The header checksum that old clients got wrong passes for magic 0 only.
    cr_assert_eq(drain(CODEC_LZ4, "\x04\x22\x4d\x18\x60\x40\x55\x00\x00\x00\x00", 11, CAP, 0, &total),
                 DECOMPRESS_CORRUPT);
    cr_assert_eq(
        drain(CODEC_LZ4, "\x04\x22\x4d\x18\x60\x40\x55\x00\x00\x00\x00", 11, CAP, DECOMPRESS_LZ4_MAGIC_0, &total),
        DECOMPRESS_END);
    cr_assert_eq(drain(CODEC_GZIP, "", 0, CAP, 0, &total), DECOMPRESS_CORRUPT);
}

Test(decompress, streams_may_follow_each_other) {
    uint8_t packed[4096];
    for (int codec = CODEC_GZIP; codec < CODEC_COUNT; codec++) {
        if (codec == CODEC_LZ4) continue; // what follows a frame is ignored, as in Kafka
        size_t n = codec_compress(codec, 0, bytes_of("hello hello hello"), packed, sizeof packed), total;
        n += codec_compress(codec, 0, bytes_of("world"), packed + n, sizeof packed - n);
        cr_assert_eq(drain(codec, packed, n, CAP, 0, &total), DECOMPRESS_END);
        cr_assert_eq(total, 22);
        cr_assert_neq(drain(codec, packed, n - 1, CAP, 0, &total), DECOMPRESS_END);
    }
    // Raw snappy, as some clients send it.
    size_t total;
    cr_assert_eq(drain(CODEC_SNAPPY, "\x05\x10hello", 7, CAP, 0, &total), DECOMPRESS_END);
    cr_assert_eq(total, 5);
}

Test(decompress, a_cache_serves_one_batch_after_the_other_good_or_bad) {
    struct decompress_cache cache = {0};
    uint8_t packed[4096];
    for (int round = 0; round < 40; round++) {
        int codec = CODEC_GZIP + round % 4;
        size_t n = codec_compress(codec, 0, bytes_of("hello hello hello"), packed, sizeof packed), total = 0;
        bool cut = round % 3 == 0;
        struct decompressor d, other;
        struct bytes chunk;
        enum decompress_status status;
        decompress_open(&d, codec, (struct bytes){packed, cut ? n - 2 : n}, CAP, 0, &cache);
        decompress_open(&other, codec, (struct bytes){packed, n}, CAP, 0, &cache);
        while ((status = decompress_next(&d, &chunk)) == DECOMPRESS_CHUNK)
            total += chunk.size;
        cr_assert_eq(status, cut ? DECOMPRESS_CORRUPT : DECOMPRESS_END);
        cr_assert(cut || total == 17);
        cr_assert_eq(decompress_next(&other, &chunk), DECOMPRESS_CHUNK);
        cr_assert_eq(chunk.size, 17);
        decompress_close(&d);
        decompress_close(&other);
    }
    cr_assert_not_null(cache.zstd);
    decompress_cache_free(&cache);
}
