// SPDX-License-Identifier: Apache-2.0
// Building and reading text without allocation: a bounded text buffer, and strict number parsing.
#pragma once

#include "base/slice.h"
#include <stdbool.h>
#include <stdint.h>

// A buffer that is always terminated by NUL; what does not fit is dropped and `truncated` set.
struct text {
    char *data;
    size_t size;     // without the NUL
    size_t capacity; // with the NUL, >= 1
    bool truncated;
};

struct text text_in(char *memory, size_t capacity_bytes);
#define TEXT_IN(array) text_in(array, sizeof(array))
void text_add(struct text *t, struct str s);
__attribute__((format(printf, 2, 3))) void text_addf(struct text *t, const char *format, ...);
// Bytes outside printable ASCII, and backslashes, as \xHH: for anything that came from outside and goes to a log line
// or terminal.
void text_add_escaped(struct text *t, struct str s);

// Whole-string decimal integer in [min, max], optional '-' only. False leaves *value alone.
bool parse_i64(struct str s, int64_t min, int64_t max, int64_t *value);
// The same with a '+' in front allowed, as Java's Integer.parseInt has it.
bool parse_java_i64(struct str s, int64_t min, int64_t max, int64_t *value);
// Whole-string decimal number (digits, '.', exponent). False leaves *value alone.
bool parse_double(struct str s, double *value);
