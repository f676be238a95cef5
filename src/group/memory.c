// SPDX-License-Identifier: Apache-2.0
#include "group/memory.h"
#include <stdlib.h>

static void *duplicate(const void *data, size_t size) {
    char *copy = malloc(size + 1);
    ASSERT(copy != NULL);
    if (size > 0) memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

struct str str_duplicate(struct str s) {
    return s.data ? (struct str){duplicate(s.data, s.size), s.size} : s;
}
void str_free(struct str *s) {
    free((void *)s->data);
    *s = (struct str){0};
}
struct bytes bytes_duplicate(struct bytes b) {
    return b.data ? (struct bytes){duplicate(b.data, b.size), b.size} : b;
}
void bytes_free(struct bytes *b) {
    free((void *)b->data);
    *b = (struct bytes){0};
}
