// SPDX-License-Identifier: Apache-2.0
// Kafka's primitive types on the wire: a reader that never leaves its bytes and remembers the first thing that was
// wrong, and a writer into memory whose size was computed before. Shared by the interpreter and the hot codecs.
//
// A reader fails once: `error` is set, the rest of the input is gone, and every later read gives 0 or null. So decoding
// code reads straight on and looks at `error` where it would loop or allocate, and at the end.
#pragma once

#include "base/assert.h"
#include "base/bits.h"
#include "base/slice.h"
#include "protocol/uuid.h"

struct reader {
    const uint8_t *at, *end;
    const char *error; // static text, NULL while all is well
};

static inline struct reader reader_of(struct bytes in) {
    return (struct reader){in.data, in.data + in.size, NULL};
}
static inline size_t reader_left(const struct reader *r) {
    return (size_t)(r->end - r->at);
}
static inline void reader_fail(struct reader *r, const char *error) {
    if (!r->error) r->error = error;
    r->at = r->end;
}
// The next n bytes, or NULL.
static inline const uint8_t *reader_take(struct reader *r, size_t n) {
    if (reader_left(r) < n) {
        reader_fail(r, "input ends in the middle of a field");
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += n;
    return p;
}

static inline int8_t read_int8(struct reader *r) {
    const uint8_t *p = reader_take(r, 1);
    return p ? (int8_t)*p : 0;
}
static inline int16_t read_int16(struct reader *r) {
    const uint8_t *p = reader_take(r, 2);
    return p ? (int16_t)load_be16(p) : 0;
}
static inline int32_t read_int32(struct reader *r) {
    const uint8_t *p = reader_take(r, 4);
    return p ? (int32_t)load_be32(p) : 0;
}
static inline int64_t read_int64(struct reader *r) {
    const uint8_t *p = reader_take(r, 8);
    return p ? (int64_t)load_be64(p) : 0;
}
static inline struct uuid read_uuid(struct reader *r) {
    struct uuid id = {{0}};
    const uint8_t *p = reader_take(r, sizeof id);
    if (p) memcpy(&id, p, sizeof id);
    return id;
}
static inline uint32_t read_uvarint(struct reader *r) {
    uint32_t value = 0;
    for (uint32_t shift = 0; shift <= 28; shift += 7) {
        const uint8_t *p = reader_take(r, 1);
        if (!p) return 0;
        if (shift == 28 && *p > 0x0f) break;
        value |= (uint32_t)(*p & 0x7f) << shift;
        if (*p < 0x80) return value;
    }
    reader_fail(r, "variable-length integer of more than 32 bits");
    return 0;
}

// Lengths and counts: -1 for null. Compact ones are stored plus one; any negative classic one counts as null, as in
// Kafka.
static inline int64_t read_compact_length(struct reader *r) {
    return (int64_t)read_uvarint(r) - 1;
}
static inline int64_t read_string_length(struct reader *r, bool compact) {
    int64_t n = compact ? read_compact_length(r) : read_int16(r);
    if (n > INT16_MAX) reader_fail(r, "string of more than 32767 bytes");
    return n;
}
static inline int64_t read_bytes_length(struct reader *r, bool compact) {
    return compact ? read_compact_length(r) : read_int32(r);
}
static inline struct str read_string(struct reader *r, bool compact) {
    int64_t n = read_string_length(r, compact);
    if (r->error || n < 0) return (struct str){NULL, 0};
    const uint8_t *p = reader_take(r, (size_t)n);
    return p ? (struct str){(const char *)p, (size_t)n} : (struct str){NULL, 0};
}
static inline struct bytes read_bytes(struct reader *r, bool compact) {
    int64_t n = read_bytes_length(r, compact);
    if (r->error || n < 0) return (struct bytes){NULL, 0};
    const uint8_t *p = reader_take(r, (size_t)n);
    return p ? (struct bytes){p, (size_t)n} : (struct bytes){NULL, 0};
}
// An array's count, -1 for null; fails unless that many elements of element_min_bytes (at least 1) can follow.
static inline int32_t read_count(struct reader *r, bool compact, size_t element_min_bytes) {
    int64_t n = read_bytes_length(r, compact);
    if (r->error || n < 0) return -1;
    if ((uint64_t)n > reader_left(r) / max_size(element_min_bytes, 1)) {
        reader_fail(r, "array of more elements than the input has room for");
        return -1;
    }
    return n > INT32_MAX ? (reader_fail(r, "array of more than 2^31 - 1 elements"), -1) : (int32_t)n;
}

// Tagged fields: read_tags reads how many, then each call of read_tag gives the next one as a reader of its own bytes.
struct tag_reader {
    struct reader *r;
    uint32_t left;
    int64_t last_tag;
};
static inline struct tag_reader read_tags(struct reader *r) {
    uint32_t count = read_uvarint(r);
    if (count > reader_left(r) / 2) reader_fail(r, "more tagged fields than the input has room for");
    return (struct tag_reader){r, r->error ? 0 : count, -1};
}
// False at the end, or on failure of the underlying reader. Tags must rise.
static inline bool read_tag(struct tag_reader *t, uint32_t *tag, struct reader *value) {
    if (t->left == 0) return false;
    t->left--;
    *tag = read_uvarint(t->r);
    size_t size = read_uvarint(t->r);
    if ((int64_t)*tag <= t->last_tag) reader_fail(t->r, "tagged fields repeated or out of order");
    const uint8_t *p = t->r->error ? NULL : reader_take(t->r, size);
    if (!p) return false;
    t->last_tag = *tag;
    *value = (struct reader){p, p + size, NULL};
    return true;
}
// For messages of which we know no tag.
static inline void skip_tags(struct reader *r) {
    struct tag_reader t = read_tags(r);
    uint32_t tag;
    struct reader value;
    while (read_tag(&t, &tag, &value)) {
    }
}

static inline size_t uvarint_size(uint32_t value) {
    return 1 + (31 - (size_t)__builtin_clz(value | 1)) / 7;
}

struct writer {
    uint8_t *at, *end;
};
static inline struct writer writer_of(void *memory, size_t size_bytes) {
    return (struct writer){memory, (uint8_t *)memory + size_bytes};
}
static inline uint8_t *writer_take(struct writer *w, size_t n) {
    ASSERT((size_t)(w->end - w->at) >= n);
    uint8_t *p = w->at;
    w->at += n;
    return p;
}
static inline void write_int8(struct writer *w, int8_t v) {
    *writer_take(w, 1) = (uint8_t)v;
}
static inline void write_int16(struct writer *w, int16_t v) {
    store_be16(writer_take(w, 2), (uint16_t)v);
}
static inline void write_int32(struct writer *w, int32_t v) {
    store_be32(writer_take(w, 4), (uint32_t)v);
}
static inline void write_int64(struct writer *w, int64_t v) {
    store_be64(writer_take(w, 8), (uint64_t)v);
}
static inline void write_uvarint(struct writer *w, uint32_t v) {
    for (; v >= 0x80; v >>= 7)
        *writer_take(w, 1) = (uint8_t)(v | 0x80);
    *writer_take(w, 1) = (uint8_t)v;
}
static inline void write_raw(struct writer *w, const void *data, size_t n) {
    uint8_t *p = writer_take(w, n);
    if (n > 0) memcpy(p, data, n);
}
static inline void write_uuid(struct writer *w, struct uuid id) {
    write_raw(w, &id, sizeof id);
}
// n = -1 for null.
static inline void write_length32(struct writer *w, bool compact, int64_t n) {
    ASSERT(n >= -1 && n < INT32_MAX);
    if (compact) {
        write_uvarint(w, (uint32_t)(n + 1));
    } else {
        write_int32(w, (int32_t)n);
    }
}
static inline void write_string(struct writer *w, bool compact, struct str s) {
    ASSERT(s.size <= INT16_MAX);
    if (compact) {
        write_uvarint(w, s.data ? (uint32_t)s.size + 1 : 0);
    } else {
        write_int16(w, s.data ? (int16_t)s.size : -1);
    }
    write_raw(w, s.data, s.size);
}
static inline void write_bytes(struct writer *w, bool compact, struct bytes b) {
    write_length32(w, compact, b.data ? (int64_t)b.size : -1);
    write_raw(w, b.data, b.size);
}
static inline size_t length32_size(bool compact, int64_t n) {
    return compact ? uvarint_size((uint32_t)(n + 1)) : 4;
}
static inline size_t string_size(bool compact, struct str s) {
    return (compact ? uvarint_size(s.data ? (uint32_t)s.size + 1 : 0) : 2) + s.size;
}
static inline size_t bytes_size(bool compact, struct bytes b) {
    return length32_size(compact, b.data ? (int64_t)b.size : -1) + b.size;
}
