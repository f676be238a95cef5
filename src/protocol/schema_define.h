// SPDX-License-Identifier: Apache-2.0
// The second use of the lists in messages/: makes the tables. Included by messages.c and apis.c only, because its short
// option names would be in everybody's way.
#pragma once

#include "protocol/schema.h"
#include <stddef.h>

#define ALL                SCHEMA_VERSION_MAX
#define NEVER              SCHEMA_NEVER_FLEXIBLE
#define NULLABLE(from, to) .nullable = {from, (to) + 1}
#define DEFAULT(value)     .default_value = value
#define DEFAULT_NULL       .default_null = true
#define TAG(number)        .tag_plus_one = (number) + 1
#define IGNORABLE          .ignorable = true
#define NEVER_COMPACT      .never_compact = true

#define SCHEMA_ROW(S, kind, field, from, to, ...)                                                                      \
    {.name = #field, .type = kind, .offset = offsetof(struct S, field), .present = {from, (to) + 1}, __VA_ARGS__},
#define SCHEMA_ROW_FIELD(S, type, name, from, ...) SCHEMA_ROW(S, FIELD_TYPE_##type, name, from, __VA_ARGS__)
#define SCHEMA_ROW_LIST(S, type, name, from, ...)                                                                      \
    SCHEMA_ROW(S, FIELD_TYPE_##type, name, from, __VA_ARGS__, .is_array = true,                                        \
               .count_offset = offsetof(struct S, name##_count))
#define SCHEMA_ROW_ARRAY(S, struct_name, name, from, ...)                                                              \
    SCHEMA_ROW(S, FIELD_TYPE_struct, name, from, __VA_ARGS__, .is_array = true,                                        \
               .count_offset = offsetof(struct S, name##_count), .element = &struct_name##_schema)
#define SCHEMA_ROW_STRUCT(S, struct_name, name, from, ...)                                                             \
    SCHEMA_ROW(S, FIELD_TYPE_struct, name, from, __VA_ARGS__, .element = &struct_name##_schema)

#define SCHEMA_DEFINE(S, kafka_name, kind, key, min, max, flexible)                                                    \
    static const struct field S##_rows[] = {                                                                           \
        S##_FIELDS(S, SCHEMA_ROW_FIELD, SCHEMA_ROW_LIST, SCHEMA_ROW_ARRAY, SCHEMA_ROW_STRUCT)};                        \
    const struct schema S##_schema = {                                                                                 \
        kafka_name, S##_rows, sizeof S##_rows / sizeof S##_rows[0], sizeof(struct S), kind, key, min, max, flexible};

#define SCHEMA_DEFINE_NESTED(S) SCHEMA_DEFINE(S, #S, SCHEMA_NESTED, -1, 0, 0, NEVER)
// The rest is the key, the versions and the first flexible version: four values, of which an API is one macro.
#define SCHEMA_DEFINE_MESSAGE(S, kafka_name, kind, ...)                                                                \
    SCHEMA_DEFINE_EXPANDED(S, kafka_name, SCHEMA_##kind, __VA_ARGS__)
#define SCHEMA_DEFINE_EXPANDED(...) SCHEMA_DEFINE(__VA_ARGS__)
