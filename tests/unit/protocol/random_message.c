// SPDX-License-Identifier: Apache-2.0
// See random_message.h.
#include "random_message.h"
#include "protocol/message.h"
#include "protocol/message_field.h"
#include <criterion/criterion.h>

uint64_t random_next(struct random *r) { // splitmix64
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t random_below(struct random *r, uint64_t bound) {
    return random_next(r) % bound;
}

static int64_t random_number(struct random *r, const struct field *f) {
    if (f->type == FIELD_TYPE_bool) return random_below(r, 2) != 0;
    if (f->type == FIELD_TYPE_float64) return 0x3ff8000000000000; // 1.5
    switch (random_below(r, 4)) {
    case 0: return f->default_value;
    case 1: return random_next(r) & 0xff;
    default: return (int64_t)random_next(r);
    }
}

static void random_value(struct random *r, const struct field *f, bool nullable, int16_t version, void *value,
                         struct arena *arena) {
    size_t size = 0;
    char *data = NULL;
    if (!field_is_number(f->type) && f->type != FIELD_TYPE_struct && f->type != FIELD_TYPE_uuid &&
        !(nullable && random_below(r, 3) == 0)) {
        size = random_below(r, 4) == 0 ? 0 : random_below(r, random_below(r, 20) == 0 ? 300 : 12);
        data = arena_alloc(arena, size + 1);
        for (size_t i = 0; i < size; i++)
            data[i] = (char)('!' + random_below(r, 90));
    }
    switch (f->type) {
    case FIELD_TYPE_struct: random_message(r, f->element, version, value, arena); break;
    case FIELD_TYPE_string: *(struct str *)value = (struct str){data, size}; break;
    case FIELD_TYPE_bytes:
    case FIELD_TYPE_records: *(struct bytes *)value = (struct bytes){(uint8_t *)data, size}; break;
    case FIELD_TYPE_uuid:
        for (size_t i = 0; i < sizeof(struct uuid); i++)
            ((uint8_t *)value)[i] = (uint8_t)random_next(r);
        break;
    default: field_store_number(f->type, value, random_number(r, f));
    }
}

static void random_array(struct random *r, const struct field *f, int16_t version, void *out, struct arena *arena) {
    int32_t count = (int32_t)random_below(r, 4);
    if (version_in(f->nullable, version) && random_below(r, 3) == 0) count = -1;
    *field_count(f, out) = count;
    if (count <= 0) return;
    size_t step = field_element_bytes(f);
    char *elements = arena_alloc_array(arena, (size_t)count, step);
    cr_assert_not_null(elements);
    *(void **)field_at(f, out) = elements;
    for (int32_t i = 0; i < count; i++)
        random_value(r, f, false, version, elements + (size_t)i * step, arena);
}

void random_message(struct random *r, const struct schema *s, int16_t version, void *out, struct arena *arena) {
    message_default(s, out);
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (!version_in(f->present, version)) continue;
        if (field_is_tagged(f) && random_below(r, 3) == 0) continue;
        if (f->is_array) {
            random_array(r, f, version, out, arena);
        } else {
            random_value(r, f, version_in(f->nullable, version), version, field_at(f, out), arena);
        }
    }
}
