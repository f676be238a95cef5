// SPDX-License-Identifier: Apache-2.0
// See text.h. vsnprintf is the only libc formatting used; it neither allocates for these formats nor reads a locale
// other than "C".
#include "base/text.h"
#include "base/assert.h"
#include "base/bits.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct text text_in(char *memory, size_t capacity_bytes) {
    ASSERT(capacity_bytes >= 1);
    memory[0] = '\0';
    return (struct text){.data = memory, .capacity = capacity_bytes};
}

void text_add(struct text *t, struct str s) {
    size_t room = t->capacity - 1 - t->size;
    size_t n = min_size(room, s.size);
    if (n > 0) memcpy(t->data + t->size, s.data, n);
    t->size += n;
    t->data[t->size] = '\0';
    if (n < s.size) t->truncated = true;
}

void text_addf(struct text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = t->capacity - t->size;
    int n = vsnprintf(t->data + t->size, room, format, arguments);
    va_end(arguments);
    ASSERT(n >= 0);
    if ((size_t)n >= room) {
        t->truncated = true;
        t->size = t->capacity - 1;
    } else {
        t->size += (size_t)n;
    }
}

void text_add_escaped(struct text *t, struct str s) {
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            text_add(t, (struct str){&s.data[i], 1});
        } else {
            text_addf(t, "\\x%02x", c);
        }
    }
}

bool parse_i64(struct str s, int64_t min, int64_t max, int64_t *value) {
    size_t i = 0;
    bool negative = s.size > 0 && s.data[0] == '-';
    if (negative) i = 1;
    if (i == s.size) return false;
    int64_t v = 0;
    for (; i < s.size; i++) {
        char c = s.data[i];
        if (c < '0' || c > '9') return false;
        int64_t digit = c - '0';
        if (__builtin_mul_overflow(v, 10, &v)) return false;
        if (__builtin_add_overflow(v, negative ? -digit : digit, &v)) return false;
    }
    if (v < min || v > max) return false;
    *value = v;
    return true;
}

bool parse_java_i64(struct str s, int64_t min, int64_t max, int64_t *value) {
    bool has_plus = s.size > 1 && s.data[0] == '+' && s.data[1] != '-';
    return parse_i64(has_plus ? (struct str){s.data + 1, s.size - 1} : s, min, max, value);
}

bool parse_double(struct str s, double *value) {
    char copy[64];
    if (s.size == 0 || s.size >= sizeof copy) return false;
    for (size_t i = 0; i < s.size; i++) {
        if (!strchr("0123456789.eE+-", s.data[i]) || s.data[i] == '\0') return false;
        copy[i] = s.data[i];
    }
    copy[s.size] = '\0';
    char *end;
    double v = strtod(copy, &end);
    if (end != copy + s.size) return false;
    *value = v;
    return true;
}
