// SPDX-License-Identifier: Apache-2.0
// Defaults and comparison of messages, and the access to fields that the other parts of the interpreter share.
#include "protocol/message.h"
#include "protocol/message_field.h"

const uint8_t field_c_size[FIELD_TYPE_struct] = {
    [FIELD_TYPE_bool] = sizeof(field_c_bool),   [FIELD_TYPE_int8] = sizeof(field_c_int8),
    [FIELD_TYPE_int16] = sizeof(field_c_int16), [FIELD_TYPE_uint16] = sizeof(field_c_uint16),
    [FIELD_TYPE_int32] = sizeof(field_c_int32), [FIELD_TYPE_uint32] = sizeof(field_c_uint32),
    [FIELD_TYPE_int64] = sizeof(field_c_int64), [FIELD_TYPE_float64] = sizeof(field_c_float64),
    [FIELD_TYPE_uuid] = sizeof(field_c_uuid),   [FIELD_TYPE_string] = sizeof(field_c_string),
    [FIELD_TYPE_bytes] = sizeof(field_c_bytes), [FIELD_TYPE_records] = sizeof(field_c_records),
};
const uint8_t field_wire_size[FIELD_TYPE_struct] = {
    [FIELD_TYPE_bool] = 1,   [FIELD_TYPE_int8] = 1,    [FIELD_TYPE_int16] = 2,
    [FIELD_TYPE_uint16] = 2, [FIELD_TYPE_int32] = 4,   [FIELD_TYPE_uint32] = 4,
    [FIELD_TYPE_int64] = 8,  [FIELD_TYPE_float64] = 8, [FIELD_TYPE_uuid] = 16,
};

bool field_is_number(uint8_t type) {
    return type <= FIELD_TYPE_float64;
}

int64_t field_load_number(uint8_t type, const void *value) {
    switch (type) {
    case FIELD_TYPE_bool: return *(const bool *)value;
    case FIELD_TYPE_int8: return *(const int8_t *)value;
    case FIELD_TYPE_int16: return *(const int16_t *)value;
    case FIELD_TYPE_uint16: return *(const uint16_t *)value;
    case FIELD_TYPE_int32: return *(const int32_t *)value;
    case FIELD_TYPE_uint32: return *(const uint32_t *)value;
    case FIELD_TYPE_int64:
    case FIELD_TYPE_float64: break;
    default: UNREACHABLE();
    }
    int64_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

void field_store_number(uint8_t type, void *value, int64_t number) {
    switch (type) {
    case FIELD_TYPE_bool: *(bool *)value = number != 0; return;
    case FIELD_TYPE_int8: *(int8_t *)value = (int8_t)number; return;
    case FIELD_TYPE_int16: *(int16_t *)value = (int16_t)number; return;
    case FIELD_TYPE_uint16: *(uint16_t *)value = (uint16_t)number; return;
    case FIELD_TYPE_int32: *(int32_t *)value = (int32_t)number; return;
    case FIELD_TYPE_uint32: *(uint32_t *)value = (uint32_t)number; return;
    case FIELD_TYPE_int64:
    case FIELD_TYPE_float64: memcpy(value, &number, sizeof number); return;
    default: UNREACHABLE();
    }
}

void field_set_default(const struct field *f, void *message) {
    void *value = field_at(f, message);
    if (f->is_array) {
        *(void **)value = NULL;
        *field_count(f, message) = f->default_null ? -1 : 0;
    } else if (f->type == FIELD_TYPE_struct) {
        message_default(f->element, value);
    } else if (f->type == FIELD_TYPE_string) {
        *(struct str *)value = (struct str){f->default_null ? NULL : "", 0};
    } else if (f->type == FIELD_TYPE_bytes) {
        *(struct bytes *)value = (struct bytes){f->default_null ? NULL : (const uint8_t *)"", 0};
    } else if (f->type == FIELD_TYPE_records) {
        *(struct bytes *)value = (struct bytes){NULL, 0};
    } else if (f->type == FIELD_TYPE_uuid) {
        memset(value, 0, sizeof(struct uuid));
    } else {
        field_store_number(f->type, value, f->default_value);
    }
}

void message_default(const struct schema *s, void *message) {
    memset(message, 0, s->size_bytes);
    for (size_t i = 0; i < s->field_count; i++)
        field_set_default(&s->fields[i], message);
}

static bool struct_is_default(const struct schema *s, const void *message) {
    for (size_t i = 0; i < s->field_count; i++) {
        if (!field_is_default(&s->fields[i], message)) return false;
    }
    return true;
}

bool field_is_default(const struct field *f, const void *message) {
    const void *value = field_at(f, message);
    if (f->is_array) return *field_count(f, message) == (f->default_null ? -1 : 0);
    switch (f->type) {
    case FIELD_TYPE_struct: return struct_is_default(f->element, value);
    case FIELD_TYPE_string: {
        const struct str *s = value;
        return s->size == 0 && str_is_null(*s) == f->default_null;
    }
    case FIELD_TYPE_bytes: {
        const struct bytes *b = value;
        return b->size == 0 && (b->data == NULL) == f->default_null;
    }
    case FIELD_TYPE_records: return ((const struct bytes *)value)->data == NULL;
    case FIELD_TYPE_uuid: return uuid_is_zero(*(const struct uuid *)value);
    default: return field_load_number(f->type, value) == f->default_value;
    }
}

static bool struct_equal(const struct schema *s, int16_t version, const void *a, const void *b);

static bool value_equal(const struct field *f, int16_t version, const void *a, const void *b) {
    switch (f->type) {
    case FIELD_TYPE_struct: return struct_equal(f->element, version, a, b);
    case FIELD_TYPE_string: return str_equal(*(const struct str *)a, *(const struct str *)b);
    case FIELD_TYPE_bytes:
    case FIELD_TYPE_records: {
        const struct bytes *x = a, *y = b;
        return str_equal((struct str){(const char *)x->data, x->size}, (struct str){(const char *)y->data, y->size});
    }
    case FIELD_TYPE_uuid: return uuid_equal(*(const struct uuid *)a, *(const struct uuid *)b);
    default: return field_load_number(f->type, a) == field_load_number(f->type, b);
    }
}

static bool field_equal(const struct field *f, int16_t version, const void *a, const void *b) {
    const char *x = field_at(f, a), *y = field_at(f, b);
    if (!f->is_array) return value_equal(f, version, x, y);
    int32_t count = *field_count(f, a);
    if (count != *field_count(f, b)) return false;
    size_t step = field_element_bytes(f);
    x = *(char *const *)x;
    y = *(char *const *)y;
    for (int32_t i = 0; i < count; i++) {
        if (!value_equal(f, version, x + (size_t)i * step, y + (size_t)i * step)) return false;
    }
    return true;
}

static bool struct_equal(const struct schema *s, int16_t version, const void *a, const void *b) {
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        if (version_in(f->present, version) && !field_equal(f, version, a, b)) return false;
    }
    return true;
}

bool message_equal(const struct schema *s, int16_t version, const void *a, const void *b) {
    ASSERT(s->kind != SCHEMA_NESTED && schema_has_version(s, version));
    return struct_equal(s, version, a, b);
}
