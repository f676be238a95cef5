// SPDX-License-Identifier: Apache-2.0
// How a message is declared. Each struct of a message is one list of rows, FIELD, LIST, ARRAY or STRUCT, in wire order;
// the list makes both the C struct (here) and the table of fields (messages.c), which message.h decodes and encodes by.
//
//   FIELD(S, type, name, from, to, options...)    a value, present in versions from..to
//   LIST(S, type, name, from, to, options...)     an array of values:  `type *name; int32_t name_count;`
//   ARRAY(S, struct, name, from, to, options...)  an array of structs: `struct x *name; int32_t name_count;`
//   STRUCT(S, struct, name, from, to, options...) a struct in place
//
// A count of -1 is null. Types: bool int8 int16 uint16 int32 uint32 int64 float64 uuid string bytes records; string is
// `struct str`, bytes and records are `struct bytes`, data == NULL is null.
// Options: NULLABLE(from, to), DEFAULT(integer), DEFAULT_NULL, TAG(number) for a tagged field, IGNORABLE (may be left
// out of a version that lacks it even if set), NEVER_COMPACT.
#pragma once

#include "base/slice.h"
#include "protocol/uuid.h"

enum field_type {
    FIELD_TYPE_bool,
    FIELD_TYPE_int8,
    FIELD_TYPE_int16,
    FIELD_TYPE_uint16,
    FIELD_TYPE_int32,
    FIELD_TYPE_uint32,
    FIELD_TYPE_int64,
    FIELD_TYPE_float64,
    FIELD_TYPE_uuid,
    FIELD_TYPE_string,
    FIELD_TYPE_bytes,
    FIELD_TYPE_records,
    FIELD_TYPE_struct,
};
typedef bool field_c_bool;
typedef int8_t field_c_int8;
typedef int16_t field_c_int16;
typedef uint16_t field_c_uint16;
typedef int32_t field_c_int32;
typedef uint32_t field_c_uint32;
typedef int64_t field_c_int64;
typedef double field_c_float64;
typedef struct uuid field_c_uuid;
typedef struct str field_c_string;
typedef struct bytes field_c_bytes;
typedef struct bytes field_c_records;

enum schema_kind { SCHEMA_NESTED, SCHEMA_REQUEST, SCHEMA_RESPONSE, SCHEMA_HEADER, SCHEMA_DATA };

struct version_range {
    int8_t from, end; // half open: {0, 0} holds no version
};
static inline bool version_in(struct version_range range, int16_t version) {
    return version >= range.from && version < range.end;
}

struct schema;
struct field {
    const char *name;             // in our spelling: fetch_offset
    const struct schema *element; // of FIELD_TYPE_struct
    int64_t default_value;        // of numbers and bool
    uint16_t offset;              // in the C struct
    uint16_t count_offset;        // of the array's count
    struct version_range present;
    struct version_range nullable;
    uint8_t type; // enum field_type
    bool is_array;
    bool default_null;
    bool ignorable;
    bool never_compact;
    uint8_t tag_plus_one; // 0: not tagged
};
struct schema {
    const char *name; // Kafka's: FetchRequest; of a nested struct ours
    const struct field *fields;
    uint16_t field_count;
    uint16_t size_bytes; // of the C struct
    uint8_t kind;        // enum schema_kind; the rest is set for messages only
    int16_t api_key;     // -1 if none
    int8_t min_version, max_version;
    int8_t first_flexible_version; // SCHEMA_NEVER_FLEXIBLE if none
};
enum { SCHEMA_NEVER_FLEXIBLE = INT8_MAX, SCHEMA_VERSION_MAX = INT8_MAX - 1 };

static inline bool schema_has_version(const struct schema *s, int16_t version) {
    return version >= s->min_version && version <= s->max_version;
}

// The C structs of a message, for the end of its header.
#define SCHEMA_MEMBER_FIELD(S, type, name, ...) field_c_##type name;
#define SCHEMA_MEMBER_LIST(S, type, name, ...)                                                                         \
    field_c_##type *name;                                                                                              \
    int32_t name##_count;
#define SCHEMA_MEMBER_ARRAY(S, element, name, ...)                                                                     \
    struct element *name;                                                                                              \
    int32_t name##_count;
#define SCHEMA_MEMBER_STRUCT(S, element, name, ...) struct element name;
#define SCHEMA_DECLARE_NESTED(S)                                                                                       \
    struct S {                                                                                                         \
        S##_FIELDS(S, SCHEMA_MEMBER_FIELD, SCHEMA_MEMBER_LIST, SCHEMA_MEMBER_ARRAY, SCHEMA_MEMBER_STRUCT)              \
    };                                                                                                                 \
    extern const struct schema S##_schema;
#define SCHEMA_DECLARE_MESSAGE(S, ...) SCHEMA_DECLARE_NESTED(S)
