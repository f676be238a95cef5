// SPDX-License-Identifier: Apache-2.0
// One parser for plain and compressed records. A record whose bytes lie in the current chunk is parsed where it lies;
// one that spans chunks is either copied together (if its content is wanted) or parsed field by field across the
// chunks, skipping keys and values, so that no record needs memory of its size.
//
// Refused, as in Kafka: a record longer than what is left, fields that do not fill its length exactly, negative header
// counts or header keys, too few or too many records.
#include "protocol/record.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/varint.h"
#include <stdlib.h>

void record_open(struct record_reader *r, const struct batch *b, uint64_t output_max_bytes, int flags) {
    record_open_cached(r, b, output_max_bytes, flags, NULL);
}

void record_open_cached(struct record_reader *r, const struct batch *b, uint64_t output_max_bytes, int flags,
                        struct decompress_cache *cache) {
    struct bytes records = {b->bytes.data + BATCH_RECORDS, b->bytes.size - BATCH_RECORDS};
    ASSERT(batch_codec(b) < CODEC_COUNT);
    *r = (struct record_reader){.left = b->count, .wants_content = flags & RECORD_CONTENT};
    r->is_compressed = batch_codec(b) != CODEC_NONE;
    r->output_left_bytes = r->is_compressed ? output_max_bytes : records.size;
    if (b->count < 0) r->failure = RECORD_CORRUPT;
    if (r->is_compressed) {
        decompress_open(&r->decompressor, (enum codec)batch_codec(b), records, output_max_bytes, 0, cache);
        r->at = r->end = (const uint8_t *)"";
    } else {
        r->at = records.data;
        r->end = records.data + records.size;
    }
}

void record_close(struct record_reader *r) {
    if (r->is_compressed) decompress_close(&r->decompressor);
    free(r->content);
    *r = (struct record_reader){.failure = RECORD_CORRUPT};
}

static bool fail(struct record_reader *r, enum record_status status) {
    if (r->failure == RECORD_OK) r->failure = status;
    r->at = r->end;
    return false;
}

// At least one more byte at r->at; false at the end of the records (no failure) or on failure.
static bool refill(struct record_reader *r) {
    if (r->at < r->end) return true;
    if (!r->is_compressed || r->failure != RECORD_OK) return false;
    struct bytes chunk;
    switch (decompress_next(&r->decompressor, &chunk)) {
    case DECOMPRESS_CHUNK: break;
    case DECOMPRESS_END: return false;
    case DECOMPRESS_CORRUPT: return fail(r, RECORD_CORRUPT);
    case DECOMPRESS_TOO_LARGE: return fail(r, RECORD_TOO_LARGE);
    }
    r->at = chunk.data;
    r->end = chunk.data + chunk.size;
    ASSERT(r->at < r->end);
    return true;
}

// A varint that may span chunks; *left (bytes of the record) goes down with it.
static bool stream_varlong(struct record_reader *r, unsigned bits, int64_t *left, int64_t *value) {
    uint8_t copy[VARLONG_MAX_BYTES];
    size_t n = 0;
    do {
        if (n == sizeof copy || *left == 0 || !refill(r)) return fail(r, RECORD_CORRUPT);
        copy[n] = *r->at++;
        --*left;
    } while (copy[n++] >= 0x80);
    return varlong_load(copy, copy + n, bits, value) ? true : fail(r, RECORD_CORRUPT);
}

static bool stream_skip(struct record_reader *r, int64_t n, int64_t *left) {
    if (n <= 0) return true;
    if (n > *left) return fail(r, RECORD_CORRUPT);
    *left -= n;
    while (n > 0) {
        if (!refill(r)) return fail(r, RECORD_CORRUPT);
        int64_t step = min_i64(n, r->end - r->at);
        r->at += step;
        n -= step;
    }
    return true;
}

// Fields in order, with any null length taken as -1 as Kafka does; keys and values are skipped.
static bool stream_record(struct record_reader *r, int64_t left, struct record *record) {
    int64_t offset_delta, key, value, headers;
    if (left == 0 || !refill(r)) return fail(r, RECORD_CORRUPT);
    record->attributes = (int8_t)*r->at++;
    left--;
    if (!stream_varlong(r, 64, &left, &record->timestamp_delta)) return false;
    if (!stream_varlong(r, 32, &left, &offset_delta)) return false;
    if (!stream_varlong(r, 32, &left, &key) || !stream_skip(r, key, &left)) return false;
    if (!stream_varlong(r, 32, &left, &value) || !stream_skip(r, value, &left)) return false;
    if (!stream_varlong(r, 32, &left, &headers) || headers < 0 || headers > left) return fail(r, RECORD_CORRUPT);
    for (int64_t i = 0; i < headers; i++) {
        int64_t n;
        if (!stream_varlong(r, 32, &left, &n) || n < 0 || !stream_skip(r, n, &left)) return fail(r, RECORD_CORRUPT);
        if (!stream_varlong(r, 32, &left, &n) || !stream_skip(r, n, &left)) return fail(r, RECORD_CORRUPT);
    }
    if (left != 0) return fail(r, RECORD_CORRUPT);
    record->offset_delta = (int32_t)offset_delta;
    record->key_bytes = key < 0 ? -1 : (int32_t)key;
    record->value_bytes = value < 0 ? -1 : (int32_t)value;
    record->header_count = (int32_t)headers;
    record->key = record->value = record->headers = (struct bytes){NULL, 0};
    return true;
}

static const uint8_t *parse_bytes(const uint8_t *p, const uint8_t *end, int64_t *n, struct bytes *out) {
    p = varlong_load(p, end, 32, n);
    if (!p || *n > end - p) return NULL;
    *out = *n < 0 ? (struct bytes){NULL, 0} : (struct bytes){p, (size_t)*n};
    return p + out->size;
}

static const uint8_t *parse_headers(const uint8_t *p, const uint8_t *end, int64_t count) {
    for (int64_t i = 0; p && i < count; i++) {
        int64_t n;
        struct bytes ignored;
        p = parse_bytes(p, end, &n, &ignored);
        if (!p || n < 0) return NULL;
        p = parse_bytes(p, end, &n, &ignored);
    }
    return p;
}

// The same for a record that lies in one piece.
static bool parse_record(const uint8_t *p, const uint8_t *end, struct record *record) {
    int64_t offset_delta, key, value, headers;
    if (p == end) return false;
    record->attributes = (int8_t)*p++;
    if (!(p = varlong_load(p, end, 64, &record->timestamp_delta))) return false;
    if (!(p = varlong_load(p, end, 32, &offset_delta))) return false;
    if (!(p = parse_bytes(p, end, &key, &record->key))) return false;
    if (!(p = parse_bytes(p, end, &value, &record->value))) return false;
    if (!(p = varlong_load(p, end, 32, &headers)) || headers < 0 || headers > end - p) return false;
    record->headers = (struct bytes){p, (size_t)(end - p)};
    if (parse_headers(p, end, headers) != end) return false;
    record->offset_delta = (int32_t)offset_delta;
    record->key_bytes = key < 0 ? -1 : (int32_t)key;
    record->value_bytes = value < 0 ? -1 : (int32_t)value;
    record->header_count = (int32_t)headers;
    return true;
}

static void content_grow(struct record_reader *r, size_t size_bytes) {
    if (r->content_bytes >= size_bytes) return;
    r->content = realloc(r->content, size_bytes);
    ASSERT(r->content != NULL);
    r->content_bytes = size_bytes;
}

// Copies a record that spans chunks together. Memory grows with what has come, not with what the length claims.
static bool gather(struct record_reader *r, size_t length) {
    for (size_t n = 0; n < length;) {
        if (!refill(r)) return fail(r, RECORD_CORRUPT);
        size_t step = min_size(length - n, (size_t)(r->end - r->at));
        if (n + step > r->content_bytes) content_grow(r, min_size(length, max_size(2 * r->content_bytes, n + step)));
        memcpy(r->content + n, r->at, step);
        r->at += step;
        n += step;
    }
    return true;
}

static bool read_record(struct record_reader *r, struct record *record) {
    int64_t length, prefix_left = VARINT_MAX_BYTES;
    const uint8_t *after = r->end - r->at >= VARINT_MAX_BYTES ? varlong_load(r->at, r->end, 32, &length) : NULL;
    if (after) {
        prefix_left -= after - r->at;
        r->at = after;
    } else if (!stream_varlong(r, 32, &prefix_left, &length)) {
        return false;
    }
    r->output_left_bytes -= min_size(r->output_left_bytes, (size_t)(VARINT_MAX_BYTES - prefix_left));
    if (length < 0) return fail(r, RECORD_CORRUPT);
    if ((uint64_t)length > r->output_left_bytes) return fail(r, r->is_compressed ? RECORD_TOO_LARGE : RECORD_CORRUPT);
    r->output_left_bytes -= (uint64_t)length;
    if (r->end - r->at >= length) {
        const uint8_t *begin = r->at;
        r->at += length;
        return parse_record(begin, r->at, record) ? true : fail(r, RECORD_CORRUPT);
    }
    if (!r->wants_content) return stream_record(r, length, record);
    if (!gather(r, (size_t)length)) return false;
    return parse_record(r->content, r->content + length, record) ? true : fail(r, RECORD_CORRUPT);
}

enum record_status record_next(struct record_reader *r, struct record *record) {
    if (r->failure != RECORD_OK) return r->failure;
    if (r->left == 0) {
        if (refill(r)) fail(r, RECORD_CORRUPT); // more than the header's count
        return r->failure == RECORD_OK ? RECORD_END : r->failure;
    }
    r->left--;
    return read_record(r, record) ? RECORD_OK : r->failure;
}

bool record_header_next(struct bytes *headers, struct record_header *header) {
    if (headers->size == 0) return false;
    const uint8_t *end = headers->data + headers->size;
    int64_t n;
    struct bytes key;
    const uint8_t *p = parse_bytes(headers->data, end, &n, &key);
    ASSERT(p && key.data);
    p = parse_bytes(p, end, &n, &header->value);
    ASSERT(p);
    header->key = (struct str){(const char *)key.data, key.size};
    *headers = (struct bytes){p, (size_t)(end - p)};
    return true;
}
