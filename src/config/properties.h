// SPDX-License-Identifier: Apache-2.0
// Reads a Java properties file (server.properties) from memory: key and value separated by '=', ':' or blanks, '#' and
// '!' comments, lines continued by a backslash, escapes \t \n \r \f \uXXXX. Text that is not UTF-8 is taken as
// ISO-8859-1, which is what Java takes every file for. What comes out is UTF-8 without NUL characters.
#pragma once

#include "base/arena.h"
#include "base/text.h"

enum { PROPERTIES_SIZE_MAX = 1 << 20, PROPERTIES_COUNT_MAX = 4096 };

struct property {
    struct str key, value; // the value keeps the blanks at its end, as in Java
    int32_t line;          // where the key begins, from 1
};
struct property_list {
    struct property *items; // in the order of the file, keys may repeat
    size_t count;
};

// Everything is copied into the arena. False: *line and *error say what is wrong (a file that is too big, a \u escape
// without four digits, a NUL character).
bool properties_parse(struct arena *a, struct str file, struct property_list *out, int32_t *line, struct text *error);
