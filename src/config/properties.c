// SPDX-License-Identifier: Apache-2.0
// Happy path: the file is made UTF-8, then read one logical line at a time (natural lines joined, escapes still in it),
// which is split at the first separator that is not escaped; both halves are unescaped. Fails at the first thing that
// Java would refuse too.
#include "config/properties.h"
#include "base/assert.h"
#include "base/bits.h"

struct reader {
    struct arena *arena;
    struct str text;
    size_t position;
    int32_t line; // of `position`
    struct text *error;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\f';
}
static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

// The length of the UTF-8 sequence at s, or 0 if it is not one.
static size_t utf8_length(struct str s) {
    unsigned char c = (unsigned char)s.data[0];
    size_t length = c < 0x80                ? 1
                    : c >= 0xc2 && c < 0xe0 ? 2
                    : c >= 0xe0 && c < 0xf0 ? 3
                    : c >= 0xf0 && c < 0xf5 ? 4
                                            : 0;
    if (length > s.size) return 0;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)s.data[i] & 0xc0) != 0x80) return 0;
    }
    return length;
}

static bool is_utf8(struct str s) {
    while (s.size > 0) {
        size_t length = utf8_length(s);
        if (length == 0) return false;
        s.data += length, s.size -= length;
    }
    return true;
}

static size_t put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6), out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12), out[1] = (char)(0x80 | (c >> 6 & 0x3f)), out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    ASSERT(c < 0x110000);
    out[0] = (char)(0xf0 | c >> 18), out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f)), out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static struct str latin1_to_utf8(struct arena *a, struct str s) {
    char *out = arena_alloc(a, s.size * 2 + 1);
    size_t size = 0;
    for (size_t i = 0; out && i < s.size; i++) {
        size += put_utf8(out + size, (unsigned char)s.data[i]);
    }
    return (struct str){out, size};
}

static void skip_line_end(struct reader *r) {
    if (r->position == r->text.size) return;
    char c = r->text.data[r->position++];
    if (c == '\r' && r->position < r->text.size && r->text.data[r->position] == '\n') r->position++;
    r->line++;
}

static void skip_blanks(struct reader *r) {
    while (r->position < r->text.size && is_blank(r->text.data[r->position])) {
        r->position++;
    }
}

// Skips blank lines and comments. False at the end of the file.
static bool find_line(struct reader *r) {
    while (r->position < r->text.size) {
        skip_blanks(r);
        if (r->position == r->text.size) return false;
        char c = r->text.data[r->position];
        if (c == '#' || c == '!') {
            while (r->position < r->text.size && !is_line_end(r->text.data[r->position])) {
                r->position++;
            }
        } else if (!is_line_end(c)) {
            return true;
        }
        skip_line_end(r);
    }
    return false;
}

// The logical line at the position, without its line ends and the blanks that begin continuation lines; escapes are
// still in it.
static struct str read_logical_line(struct reader *r, char *out) {
    size_t size = 0;
    while (r->position < r->text.size && !is_line_end(r->text.data[r->position])) {
        char c = r->text.data[r->position++];
        if (c != '\\') {
            out[size++] = c;
            continue;
        }
        if (r->position == r->text.size) break; // a backslash at the end of the file is dropped
        char escaped = r->text.data[r->position];
        if (is_line_end(escaped)) {
            skip_line_end(r);
            skip_blanks(r);
            continue;
        }
        out[size++] = c;
        out[size++] = escaped;
        r->position++;
    }
    skip_line_end(r);
    return (struct str){out, size};
}

// The position of the first separator that is not escaped, or the end.
static size_t key_end(struct str s) {
    size_t i = 0;
    while (i < s.size && s.data[i] != '=' && s.data[i] != ':' && !is_blank(s.data[i])) {
        i += s.data[i] == '\\' ? 2 : 1;
    }
    return i < s.size ? i : s.size;
}

// Blanks, at most one '=' or ':', blanks.
static size_t value_start(struct str s, size_t i) {
    bool separated = false;
    while (i < s.size && (is_blank(s.data[i]) || (!separated && (s.data[i] == '=' || s.data[i] == ':')))) {
        separated = separated || !is_blank(s.data[i]);
        i++;
    }
    return i;
}

static bool parse_hex4(struct str s, uint32_t *unit) {
    if (s.size < 4) return false;
    *unit = 0;
    for (size_t i = 0; i < 4; i++) {
        char c = s.data[i];
        uint32_t digit;
        if (c >= '0' && c <= '9') {
            digit = (uint32_t)(c - '0');
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            digit = (uint32_t)((c | 0x20) - 'a' + 10);
        } else {
            return false;
        }
        *unit = *unit << 4 | digit;
    }
    return true;
}

// Reads the UTF-16 units of one character behind "\u": a pair is joined, half of a pair becomes U+FFFD.
static bool unescape_unicode(struct str s, size_t *i, uint32_t *character) {
    uint32_t unit, second;
    if (!parse_hex4((struct str){s.data + *i, s.size - *i}, &unit)) return false;
    *i += 4;
    *character = unit;
    if (unit < 0xd800 || unit > 0xdfff) return true;
    *character = 0xfffd;
    if (unit > 0xdbff || *i + 6 > s.size || s.data[*i] != '\\' || s.data[*i + 1] != 'u') return true;
    if (!parse_hex4((struct str){s.data + *i + 2, 4}, &second) || second < 0xdc00 || second > 0xdfff) return true;
    *character = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
    *i += 6;
    return true;
}

static bool unescape(struct reader *r, struct str s, struct str *result) {
    char *out =
        arena_alloc(r->arena, s.size + 1); // an escape of six bytes becomes three at most, a pair of twelve four
    if (!out) {
        text_addf(r->error, "the file takes too much memory");
        return false;
    }
    size_t size = 0;
    for (size_t i = 0; i < s.size;) {
        char c = s.data[i++];
        uint32_t character = (unsigned char)c;
        if (c == '\\' && i < s.size) {
            c = s.data[i++];
            if (c == 'u') {
                if (!unescape_unicode(s, &i, &character)) {
                    text_addf(r->error, "\\u must be followed by four hexadecimal digits");
                    return false;
                }
                size += put_utf8(out + size, character);
                continue;
            }
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 'f' ? '\f' : c;
        }
        out[size++] = c;
    }
    if (size > 0 && memchr(out, '\0', size)) {
        text_addf(r->error, "a NUL character is not allowed");
        return false;
    }
    *result = (struct str){out, size};
    return true;
}

static bool read_property(struct reader *r, char *line_memory, struct property *out) {
    out->line = r->line;
    struct str line = read_logical_line(r, line_memory);
    size_t end = key_end(line);
    size_t start = value_start(line, end);
    ASSERT(end <= start && start <= line.size);
    return unescape(r, (struct str){line.data, end}, &out->key) &&
           unescape(r, (struct str){line.data + start, line.size - start}, &out->value);
}

// As many as there can be: one for each line.
static size_t count_max(struct str text) {
    size_t lines = 1;
    for (size_t i = 0; i < text.size; i++) {
        lines += is_line_end(text.data[i]);
    }
    return min_size(lines, PROPERTIES_COUNT_MAX);
}

bool properties_parse(struct arena *a, struct str file, struct property_list *out, int32_t *line, struct text *error) {
    *out = (struct property_list){0};
    *line = 1;
    if (file.size > PROPERTIES_SIZE_MAX) {
        text_addf(error, "the file has %zu bytes, at most %d are allowed", file.size, PROPERTIES_SIZE_MAX);
        return false;
    }
    struct str text = is_utf8(file) ? file : latin1_to_utf8(a, file);
    if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
        text.data += 3, text.size -= 3; // an editor's byte order mark
    struct reader r = {.arena = a, .text = text, .line = 1, .error = error};
    size_t items_max = count_max(text);
    char *line_memory = arena_alloc(a, text.size + 1);
    out->items = arena_alloc_array(a, items_max, sizeof *out->items);
    if (!line_memory || !out->items || (file.size > 0 && str_is_null(text))) {
        text_addf(error, "the file takes too much memory");
        return false;
    }
    while (find_line(&r)) {
        *line = r.line;
        if (out->count == items_max) {
            text_addf(error, "more than %d settings", PROPERTIES_COUNT_MAX);
            return false;
        }
        if (!read_property(&r, line_memory, &out->items[out->count])) return false;
        out->count++;
    }
    return true;
}
