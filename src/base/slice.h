// SPDX-License-Identifier: Apache-2.0
// Views of memory owned by somebody else: `str` for text, `bytes` for octets. data == NULL means Kafka's null, which
// differs from empty.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *data; // not terminated by NUL
    size_t size;      // in bytes; 0 if null
};
struct bytes {
    const uint8_t *data;
    size_t size;
};

// From a string literal or any terminated text that outlives the view.
static inline struct str str_of(const char *text) {
    return (struct str){text, text ? strlen(text) : 0};
}
static inline bool str_is_null(struct str s) {
    return s.data == NULL;
}
// Null equals only null.
static inline bool str_equal(struct str a, struct str b) {
    return a.size == b.size && (a.data == NULL) == (b.data == NULL) &&
           (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool str_is(struct str a, const char *text) {
    return a.data != NULL && str_equal(a, str_of(text));
}
// Bytewise order; null sorts as empty.
static inline int str_compare(struct str a, struct str b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n == 0 ? 0 : memcmp(a.data, b.data, n);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}
