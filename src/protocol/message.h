// SPDX-License-Identifier: Apache-2.0
// One interpreter for every message: decodes, sizes, encodes, defaults, prints and compares by the tables of schema.h.
//
// A decoded message points into its input (strings, bytes, records) and into the arena (arrays): both must outlive it.
// Fields that a version does not have are given their defaults. No allocation is larger than a constant factor of the
// bytes that follow, so that no input costs more memory than its own size calls for; the arena's limit is on top.
// `version` must be one that the schema has (schema_has_version): the caller has checked what came from outside.
#pragma once

#include "base/arena.h"
#include "base/slice.h"
#include "base/text.h"
#include "protocol/schema.h"

struct message_error {
    const char *reason; // static text
    const char *field;  // the innermost field, in our spelling; NULL if none
};

// False if the bytes are not such a message, or if the arena is used up; *error (may be NULL) says why. *consumed (may
// be NULL) is the length of the message: the caller decides about what comes after it.
bool message_decode(const struct schema *s, int16_t version, struct bytes in, size_t *consumed, void *out,
                    struct arena *arena, struct message_error *error);

// Sets every field to its default. Start here to build a message.
void message_default(const struct schema *s, void *message);

// The encoded length. False if the message cannot be sent in that version: null where null is not allowed, a string
// over 32767 bytes, or a set field that the version lacks and that may not be left out.
bool message_size(const struct schema *s, int16_t version, const void *message, size_t *size_bytes,
                  struct message_error *error);
// Writes exactly the size_bytes that message_size gave.
void message_encode(const struct schema *s, int16_t version, const void *message, void *memory, size_t size_bytes);

// JSON with the field names of Kafka's own JSON, for logs and tests: bytes as base64, records as their size.
void message_print(const struct schema *s, int16_t version, const void *message, struct text *out);

// Whether both have the same value in every field of that version.
bool message_equal(const struct schema *s, int16_t version, const void *a, const void *b);
