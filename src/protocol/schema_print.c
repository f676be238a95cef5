// SPDX-License-Identifier: Apache-2.0
// See schema_print.h. Types of structs are named after our structs; Kafka's names of nested structs are not on the
// wire.
#include "protocol/schema_print.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/json.h"
#include "protocol/messages.h"

#define SKIP_NESTED(S)
#define MESSAGE_POINTER(S, ...) &S##_schema,
static const struct schema *const all_messages[] = {PROTOCOL_STRUCTS(SKIP_NESTED, MESSAGE_POINTER)};

struct printer {
    void (*write)(void *context, const char *data, size_t size_bytes);
    void *context;
};

static void print_flush(const struct printer *p, struct text *t) {
    ASSERT(!t->truncated);
    p->write(p->context, t->data, t->size);
    t->size = 0;
}

static void add_range(struct text *t, struct version_range range) {
    if (range.end == 0) {
        text_add(t, str_of("\"none\""));
    } else if (range.end == SCHEMA_VERSION_MAX + 1) {
        text_addf(t, "\"%d+\"", range.from);
    } else {
        text_addf(t, "\"%d-%d\"", range.from, range.end - 1);
    }
}

static void add_type(struct text *t, const struct field *f) {
    static const char *const names[FIELD_TYPE_struct] = {"bool",  "int8",    "int16", "uint16", "int32", "uint32",
                                                         "int64", "float64", "uuid",  "string", "bytes", "records"};
    text_add(t, str_of(f->is_array ? "\"[]" : "\""));
    if (f->type == FIELD_TYPE_struct) {
        json_add_camel(t, f->element->name, true);
    } else {
        text_add(t, str_of(names[f->type]));
    }
    text_add(t, str_of("\""));
}

static void print_fields(const struct printer *p, const struct schema *s) {
    char memory[512];
    struct text t = TEXT_IN(memory);
    text_add(&t, str_of("\"fields\":["));
    for (size_t i = 0; i < s->field_count; i++) {
        const struct field *f = &s->fields[i];
        text_add(&t, str_of(i > 0 ? ",\n {\"name\":\"" : "\n {\"name\":\""));
        json_add_camel(&t, f->name, true);
        text_add(&t, str_of("\",\"type\":"));
        add_type(&t, f);
        text_add(&t, str_of(",\"versions\":"));
        add_range(&t, f->present);
        text_add(&t, str_of(",\"nullableVersions\":"));
        add_range(&t, f->nullable);
        if (f->tag_plus_one) {
            text_addf(&t, ",\"tag\":%d,\"taggedVersions\":", f->tag_plus_one - 1);
            add_range(&t, f->present);
        }
        if (f->default_null) text_add(&t, str_of(",\"default\":\"null\""));
        if (f->default_value != 0) text_addf(&t, ",\"default\":\"%lld\"", (long long)f->default_value);
        if (f->ignorable) text_add(&t, str_of(",\"ignorable\":true"));
        if (f->never_compact) text_add(&t, str_of(",\"flexibleVersions\":\"none\""));
        if (f->element) {
            text_add(&t, str_of(","));
            print_flush(p, &t);
            print_fields(p, f->element);
        }
        text_add(&t, str_of("}"));
        print_flush(p, &t);
    }
    text_add(&t, str_of("]"));
    print_flush(p, &t);
}

static void print_message(const struct printer *p, const struct schema *s) {
    static const char *const kinds[] = {"", "request", "response", "header", "data"};
    char memory[512];
    struct text t = TEXT_IN(memory);
    text_add(&t, str_of("{"));
    if (s->api_key >= 0) text_addf(&t, "\"apiKey\":%d,", s->api_key);
    text_addf(&t, "\"type\":\"%s\",\"name\":\"%s\",\"validVersions\":\"%d-%d\",\"flexibleVersions\":", kinds[s->kind],
              s->name, s->min_version, s->max_version);
    if (s->first_flexible_version == SCHEMA_NEVER_FLEXIBLE) {
        text_add(&t, str_of("\"none\","));
    } else {
        text_addf(&t, "\"%d+\",", s->first_flexible_version);
    }
    print_flush(p, &t);
    print_fields(p, s);
    text_add(&t, str_of("}"));
    print_flush(p, &t);
}

void protocol_print_json(void (*write)(void *context, const char *data, size_t size_bytes), void *context) {
    struct printer p = {write, context};
    write(context, "{\"messages\":[\n", 14);
    for (size_t i = 0; i < ARRAY_LENGTH(all_messages); i++) {
        if (i > 0) write(context, ",\n", 2);
        print_message(&p, all_messages[i]);
    }
    write(context, "\n]}\n", 4);
}
