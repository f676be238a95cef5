// SPDX-License-Identifier: Apache-2.0
// What the parts of the interpreter share: access to a field of a C struct through its table row. Not for others.
#pragma once

#include "base/assert.h"
#include "protocol/schema.h"

extern const uint8_t field_c_size[FIELD_TYPE_struct];    // of a value in a C struct
extern const uint8_t field_wire_size[FIELD_TYPE_struct]; // of a value on the wire; 0: has a length

static inline void *field_at(const struct field *f, const void *message) {
    return (char *)message + f->offset;
}
static inline int32_t *field_count(const struct field *f, const void *message) {
    ASSERT(f->is_array);
    return (int32_t *)((char *)message + f->count_offset);
}
static inline size_t field_element_bytes(const struct field *f) {
    return f->type == FIELD_TYPE_struct ? f->element->size_bytes : field_c_size[f->type];
}
static inline bool field_is_tagged(const struct field *f) {
    return f->tag_plus_one != 0;
}
static inline bool schema_is_flexible(const struct schema *s, int16_t version) {
    return version >= s->first_flexible_version;
}
// Whether strings, bytes and counts of this field are compact.
static inline bool field_is_compact(const struct field *f, bool flexible) {
    return flexible && !f->never_compact;
}
// Numbers and bool as int64; the bits of a float64.
int64_t field_load_number(uint8_t type, const void *value);
void field_store_number(uint8_t type, void *value, int64_t number);
bool field_is_number(uint8_t type);

void field_set_default(const struct field *f, void *message);
bool field_is_default(const struct field *f, const void *message);
