// SPDX-License-Identifier: Apache-2.0
// Encoding by table, in two passes over the same rows: message_size checks and counts, message_encode writes into
// memory of that size. The first pass has found everything that can be wrong, so the second only asserts.
#include "protocol/message.h"
#include "protocol/message_field.h"
#include "protocol/wire.h"

struct sizer {
    int16_t version;
    bool flexible;
    struct message_error error;
};

static size_t struct_size(struct sizer *z, const struct schema *s, const void *message);

static size_t size_fail(struct sizer *z, const struct field *f, const char *reason) {
    if (!z->error.reason) z->error = (struct message_error){reason, f->name};
    return 0;
}

static size_t value_size(struct sizer *z, const struct field *f, bool nullable, const void *value) {
    bool compact = field_is_compact(f, z->flexible);
    switch (f->type) {
    case FIELD_TYPE_struct: return struct_size(z, f->element, value);
    case FIELD_TYPE_string: {
        struct str s = *(const struct str *)value;
        if (str_is_null(s) && !nullable) return size_fail(z, f, "null where a value is needed");
        if (s.size > INT16_MAX) return size_fail(z, f, "string of more than 32767 bytes");
        return string_size(compact, s);
    }
    case FIELD_TYPE_bytes:
    case FIELD_TYPE_records: {
        struct bytes b = *(const struct bytes *)value;
        if (!b.data && !nullable) return size_fail(z, f, "null where a value is needed");
        if (b.size >= INT32_MAX) return size_fail(z, f, "more than 2^31 - 2 bytes");
        return bytes_size(compact, b);
    }
    default: return field_wire_size[f->type];
    }
}

static size_t field_size(struct sizer *z, const struct field *f, const void *message) {
    const char *value = field_at(f, message);
    bool nullable = version_in(f->nullable, z->version);
    if (!f->is_array) return value_size(z, f, nullable, value);
    int32_t count = *field_count(f, message);
    ASSERT(count >= -1);
    if (count < 0 && !nullable) return size_fail(z, f, "null where an array is needed");
    size_t total = length32_size(field_is_compact(f, z->flexible), count);
    size_t step = field_element_bytes(f);
    if (field_is_number(f->type) && count > 0) return total + (size_t)count * field_wire_size[f->type];
    const char *element = *(char *const *)value;
    for (int32_t i = 0; i < count && !z->error.reason; i++, element += step)
        total += value_size(z, f, false, element);
    return total;
}

static size_t tags_size(struct sizer *z, const struct schema *s, const void *message) {
    size_t total = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (!field_is_tagged(f) || !version_in(f->present, z->version) || field_is_default(f, message)) continue;
        size_t size = field_size(z, f, message);
        total += uvarint_size(f->tag_plus_one - 1u) + uvarint_size((uint32_t)size) + size;
        count++;
    }
    return total + uvarint_size(count);
}

static size_t struct_size(struct sizer *z, const struct schema *s, const void *message) {
    size_t total = 0;
    for (size_t i = 0; i < s->field_count && !z->error.reason; i++) {
        const struct field *f = &s->fields[i];
        if (!version_in(f->present, z->version)) {
            if (!f->ignorable && !field_is_default(f, message)) {
                size_fail(z, f, "set, but this version of the message has no such field");
            }
        } else if (!field_is_tagged(f)) {
            total += field_size(z, f, message);
        }
    }
    return z->flexible && !z->error.reason ? total + tags_size(z, s, message) : total;
}

bool message_size(const struct schema *s, int16_t version, const void *message, size_t *size_bytes,
                  struct message_error *error) {
    ASSERT(s->kind != SCHEMA_NESTED && schema_has_version(s, version));
    struct sizer z = {.version = version, .flexible = schema_is_flexible(s, version)};
    size_t size = struct_size(&z, s, message);
    if (!z.error.reason && size > INT32_MAX)
        z.error = (struct message_error){"message of more than 2^31 - 1 bytes", NULL};
    if (z.error.reason) {
        if (error) *error = z.error;
        return false;
    }
    *size_bytes = size;
    return true;
}

struct encoder {
    struct writer w;
    int16_t version;
    bool flexible;
};

static void encode_struct(struct encoder *e, const struct schema *s, const void *message);

static void encode_value(struct encoder *e, const struct field *f, const void *value) {
    bool compact = field_is_compact(f, e->flexible);
    switch (f->type) {
    case FIELD_TYPE_struct: encode_struct(e, f->element, value); return;
    case FIELD_TYPE_string: write_string(&e->w, compact, *(const struct str *)value); return;
    case FIELD_TYPE_bytes:
    case FIELD_TYPE_records: write_bytes(&e->w, compact, *(const struct bytes *)value); return;
    case FIELD_TYPE_uuid: write_uuid(&e->w, *(const struct uuid *)value); return;
    default: break;
    }
    int64_t number = field_load_number(f->type, value);
    switch (field_wire_size[f->type]) {
    case 1: write_int8(&e->w, (int8_t)number); return;
    case 2: write_int16(&e->w, (int16_t)number); return;
    case 4: write_int32(&e->w, (int32_t)number); return;
    case 8: write_int64(&e->w, number); return;
    default: UNREACHABLE();
    }
}

static void encode_field(struct encoder *e, const struct field *f, const void *message) {
    const char *value = field_at(f, message);
    if (!f->is_array) {
        encode_value(e, f, value);
        return;
    }
    int32_t count = *field_count(f, message);
    write_length32(&e->w, field_is_compact(f, e->flexible), count);
    const char *element = *(char *const *)value;
    size_t step = field_element_bytes(f);
    for (int32_t i = 0; i < count; i++, element += step)
        encode_value(e, f, element);
}

// The next tagged field above last_tag that has something to say: tags go out in rising order, whatever the order of
// the rows.
static const struct field *next_tagged(const struct encoder *e, const struct schema *s, const void *message,
                                       uint32_t last_tag_plus_one) {
    const struct field *next = NULL;
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (f->tag_plus_one <= last_tag_plus_one || !version_in(f->present, e->version)) continue;
        if (next && next->tag_plus_one < f->tag_plus_one) continue;
        if (!field_is_default(f, message)) next = f;
    }
    return next;
}

static void encode_tags(struct encoder *e, const struct schema *s, const void *message) {
    uint32_t count = 0;
    for (const struct field *f = next_tagged(e, s, message, 0); f; f = next_tagged(e, s, message, f->tag_plus_one))
        count++;
    write_uvarint(&e->w, count);
    for (const struct field *f = next_tagged(e, s, message, 0); f; f = next_tagged(e, s, message, f->tag_plus_one)) {
        struct sizer z = {.version = e->version, .flexible = true};
        size_t size = field_size(&z, f, message);
        ASSERT(!z.error.reason);
        write_uvarint(&e->w, f->tag_plus_one - 1u);
        write_uvarint(&e->w, (uint32_t)size);
        const uint8_t *begin = e->w.at;
        encode_field(e, f, message);
        ASSERT((size_t)(e->w.at - begin) == size);
    }
}

static void encode_struct(struct encoder *e, const struct schema *s, const void *message) {
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (version_in(f->present, e->version) && !field_is_tagged(f)) encode_field(e, f, message);
    }
    if (e->flexible) encode_tags(e, s, message);
}

void message_encode(const struct schema *s, int16_t version, const void *message, void *memory, size_t size_bytes) {
    ASSERT(s->kind != SCHEMA_NESTED && schema_has_version(s, version));
    struct encoder e = {writer_of(memory, size_bytes), version, schema_is_flexible(s, version)};
    encode_struct(&e, s, message);
    ASSERT(e.w.at == e.w.end);
}
