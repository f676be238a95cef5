// SPDX-License-Identifier: Apache-2.0
// Messages as JSON, in the shape of Kafka's own JSON converters: fields of the version in wire order, tagged fields
// only if they are not at their default. What does not fit into the text is cut off, and the text says so.
#include "protocol/json.h"
#include "protocol/message.h"
#include "protocol/message_field.h"

static void print_struct(const struct schema *s, int16_t version, const void *message, struct text *out);

static void print_base64(struct bytes b, struct text *out) {
    static const char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text_add(out, str_of("\""));
    for (size_t i = 0; i < b.size; i += 3) {
        size_t n = b.size - i < 3 ? b.size - i : 3;
        uint32_t v =
            (uint32_t)b.data[i] << 16 | (n > 1 ? (uint32_t)b.data[i + 1] << 8 : 0) | (n > 2 ? b.data[i + 2] : 0);
        char group[4] = {alphabet[v >> 18], alphabet[v >> 12 & 63], n > 1 ? alphabet[v >> 6 & 63] : '=',
                         n > 2 ? alphabet[v & 63] : '='};
        text_add(out, (struct str){group, 4});
    }
    text_add(out, str_of("\""));
}

// With a point, as Java prints it.
static void print_double(double value, struct text *out) {
    char memory[40];
    struct text t = TEXT_IN(memory);
    text_addf(&t, "%.17g", value);
    text_add(out, (struct str){t.data, t.size});
    if (!strpbrk(t.data, ".eni")) text_add(out, str_of(".0"));
}

static void print_value(const struct field *f, int16_t version, const void *value, struct text *out) {
    char id[UUID_TEXT_SIZE + 1];
    switch (f->type) {
    case FIELD_TYPE_struct: print_struct(f->element, version, value, out); return;
    case FIELD_TYPE_string: json_add_string(out, *(const struct str *)value); return;
    case FIELD_TYPE_bytes: {
        struct bytes b = *(const struct bytes *)value;
        if (b.data) {
            print_base64(b, out);
        } else {
            text_add(out, str_of("null"));
        }
        return;
    }
    case FIELD_TYPE_records: text_addf(out, "%zu", ((const struct bytes *)value)->size); return;
    case FIELD_TYPE_uuid:
        uuid_print(*(const struct uuid *)value, id);
        text_addf(out, "\"%s\"", id);
        return;
    case FIELD_TYPE_bool: text_add(out, str_of(*(const bool *)value ? "true" : "false")); return;
    case FIELD_TYPE_float64: print_double(*(const double *)value, out); return;
    default: text_addf(out, "%lld", (long long)field_load_number(f->type, value));
    }
}

static void print_array(const struct field *f, int16_t version, const void *message, struct text *out) {
    int32_t count = *field_count(f, message);
    if (count < 0) {
        text_add(out, str_of("null"));
        return;
    }
    const char *element = *(char *const *)field_at(f, message);
    text_add(out, str_of("["));
    for (int32_t i = 0; i < count && !out->truncated; i++, element += field_element_bytes(f)) {
        if (i > 0) text_add(out, str_of(","));
        print_value(f, version, element, out);
    }
    text_add(out, str_of("]"));
}

static void print_field(const struct field *f, int16_t version, const void *message, struct text *out) {
    const void *value = field_at(f, message);
    text_add(out, str_of("\""));
    json_add_camel(out, f->name, false);
    // Record bytes belong into no log.
    bool is_size = f->type == FIELD_TYPE_records && ((const struct bytes *)value)->data;
    text_add(out, str_of(is_size ? "SizeInBytes\":" : "\":"));
    if (f->is_array) {
        print_array(f, version, message, out);
    } else if (f->type == FIELD_TYPE_records && !is_size) {
        text_add(out, str_of("null"));
    } else {
        print_value(f, version, value, out);
    }
}

static void print_struct(const struct schema *s, int16_t version, const void *message, struct text *out) {
    bool first = true;
    text_add(out, str_of("{"));
    for (size_t i = 0; i < s->field_count && !out->truncated; i++) {
        const struct field *f = &s->fields[i];
        if (!version_in(f->present, version)) continue;
        if (field_is_tagged(f) && field_is_default(f, message)) continue;
        if (!first) text_add(out, str_of(","));
        first = false;
        print_field(f, version, message, out);
    }
    text_add(out, str_of("}"));
}

void message_print(const struct schema *s, int16_t version, const void *message, struct text *out) {
    ASSERT(s->kind != SCHEMA_NESTED && schema_has_version(s, version));
    print_struct(s, version, message, out);
}
