// SPDX-License-Identifier: Apache-2.0
// Decoding by table: walk the rows of the version, take views of strings and bytes, allocate arrays from the arena once
// it is known that their elements can be there, then the tagged fields.
//
// Every failure goes through the reader's one error. What is refused: input that ends early, null where the version
// does not allow it, counts and lengths beyond the input, tagged fields out of order or of the wrong length.
#include "protocol/message.h"
#include "protocol/message_field.h"
#include "protocol/wire.h"

struct decoder {
    struct reader r;
    struct arena *arena;
    int16_t version;
    bool flexible;
    const char *failed_field;
};

static size_t struct_min_bytes(const struct schema *s, const struct decoder *d);

// The fewest bytes that a value of this field can take.
static size_t value_min_bytes(const struct field *f, const struct decoder *d) {
    if (f->type == FIELD_TYPE_struct) return struct_min_bytes(f->element, d);
    if (field_wire_size[f->type] != 0) return field_wire_size[f->type];
    if (field_is_compact(f, d->flexible)) return 1;
    return f->type == FIELD_TYPE_string ? 2 : 4;
}

static size_t struct_min_bytes(const struct schema *s, const struct decoder *d) {
    size_t total = d->flexible ? 1 : 0; // the number of tagged fields
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (!version_in(f->present, d->version) || field_is_tagged(f)) continue;
        total += !f->is_array ? value_min_bytes(f, d) : field_is_compact(f, d->flexible) ? 1 : 4;
    }
    return total;
}

static void decode_struct(struct decoder *d, const struct schema *s, void *out);

static int64_t decode_number(struct reader *r, uint8_t type) {
    switch (type) {
    case FIELD_TYPE_bool:
    case FIELD_TYPE_int8: return read_int8(r);
    case FIELD_TYPE_int16: return read_int16(r);
    case FIELD_TYPE_uint16: return (uint16_t)read_int16(r);
    case FIELD_TYPE_int32: return read_int32(r);
    case FIELD_TYPE_uint32: return (uint32_t)read_int32(r);
    case FIELD_TYPE_int64:
    case FIELD_TYPE_float64: return read_int64(r);
    default: UNREACHABLE();
    }
}

static void decode_value(struct decoder *d, const struct field *f, bool nullable, void *value) {
    bool compact = field_is_compact(f, d->flexible);
    bool is_null = false;
    switch (f->type) {
    case FIELD_TYPE_struct: decode_struct(d, f->element, value); break;
    case FIELD_TYPE_uuid: *(struct uuid *)value = read_uuid(&d->r); break;
    case FIELD_TYPE_string: {
        struct str s = read_string(&d->r, compact);
        is_null = str_is_null(s);
        *(struct str *)value = s;
        break;
    }
    case FIELD_TYPE_bytes:
    case FIELD_TYPE_records: {
        struct bytes b = read_bytes(&d->r, compact);
        is_null = b.data == NULL;
        *(struct bytes *)value = b;
        break;
    }
    default: field_store_number(f->type, value, decode_number(&d->r, f->type));
    }
    if (is_null && !nullable) reader_fail(&d->r, "null where a value is needed");
}

static void decode_array(struct decoder *d, const struct field *f, bool nullable, void *out) {
    int32_t count = read_count(&d->r, field_is_compact(f, d->flexible), value_min_bytes(f, d));
    if (d->r.error) return;
    if (count < 0 && !nullable) reader_fail(&d->r, "null where an array is needed");
    *field_count(f, out) = count;
    if (count <= 0) return;
    size_t step = field_element_bytes(f);
    char *elements = arena_alloc_array(d->arena, (size_t)count, step);
    if (!elements) {
        *field_count(f, out) = 0;
        reader_fail(&d->r, "message needs more memory than it may use");
        return;
    }
    *(void **)field_at(f, out) = elements;
    for (int32_t i = 0; i < count; i++) {
        decode_value(d, f, false, elements + (size_t)i * step);
        if (d->r.error) return;
    }
}

static void decode_field(struct decoder *d, const struct field *f, void *out) {
    bool nullable = version_in(f->nullable, d->version);
    if (f->is_array) {
        decode_array(d, f, nullable, out);
    } else {
        decode_value(d, f, nullable, field_at(f, out));
    }
    if (d->r.error && !d->failed_field) d->failed_field = f->name;
}

static const struct field *find_tagged(const struct schema *s, int16_t version, uint32_t tag) {
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (field_is_tagged(f) && f->tag_plus_one - 1u == tag && version_in(f->present, version)) return f;
    }
    return NULL;
}

static void decode_tags(struct decoder *d, const struct schema *s, void *out) {
    struct reader outer = d->r;
    struct tag_reader tags = read_tags(&outer);
    uint32_t tag;
    struct reader value;
    while (read_tag(&tags, &tag, &value)) {
        const struct field *f = find_tagged(s, d->version, tag);
        if (!f) continue;
        d->r = value;
        decode_field(d, f, out);
        if (!d->r.error && reader_left(&d->r) != 0) {
            reader_fail(&d->r, "tagged field is shorter than its length says");
            d->failed_field = f->name;
        }
        if (d->r.error) {
            reader_fail(&outer, d->r.error);
            break;
        }
    }
    d->r = outer;
}

static void decode_struct(struct decoder *d, const struct schema *s, void *out) {
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (field_is_tagged(f) || !version_in(f->present, d->version)) {
            field_set_default(f, out);
        } else {
            decode_field(d, f, out);
        }
        if (d->r.error) return;
    }
    if (d->flexible) decode_tags(d, s, out);
}

bool message_decode(const struct schema *s, int16_t version, struct bytes in, size_t *consumed, void *out,
                    struct arena *arena, struct message_error *error) {
    ASSERT(s->kind != SCHEMA_NESTED && schema_has_version(s, version));
    struct decoder d = {
        .r = reader_of(in), .arena = arena, .version = version, .flexible = schema_is_flexible(s, version)};
    memset(out, 0, s->size_bytes);
    decode_struct(&d, s, out);
    if (d.r.error) {
        if (error) *error = (struct message_error){d.r.error, d.failed_field};
        return false;
    }
    if (consumed) *consumed = in.size - reader_left(&d.r);
    return true;
}
