// SPDX-License-Identifier: Apache-2.0
// The properties syntax, case by case; the expected results are Java's.
#include "config/config.h"
#include "config/properties.h"
#include <criterion/criterion.h>

static struct arena arena;

static void start(void) {
    arena_init(&arena, CONFIG_ARENA_BYTES);
}
static void stop(void) {
    arena_drop(&arena);
}
TestSuite(properties, .init = start, .fini = stop);

struct expected {
    const char *key, *value;
    int line;
};
static const struct {
    const char *file;
    struct expected expected[4];
} cases[] = {
    {"", {{0}}},
    {"a=b", {{"a", "b", 1}}},
    {"a = b", {{"a", "b", 1}}},
    {"a:b\nc : d\n", {{"a", "b", 1}, {"c", "d", 2}}},
    {"a b c", {{"a", "b c", 1}}},
    {"a\t\f b", {{"a", "b", 1}}},
    {"a==b", {{"a", "=b", 1}}},
    {"a=:b", {{"a", ":b", 1}}},
    {"a", {{"a", "", 1}}},
    {"a=", {{"a", "", 1}}},
    {"=b", {{"", "b", 1}}},
    {"  a=b  ", {{"a", "b  ", 1}}},
    {"# no\n ! no = no\n\n   \na=b\r\nc=d\re=f", {{"a", "b", 5}, {"c", "d", 6}, {"e", "f", 7}}},
    {"a=#b", {{"a", "#b", 1}}},
    {"a=b\\\n   c\\\r\n\td\ne=f", {{"a", "bcd", 1}, {"e", "f", 4}}},
    {"a=b\\\n#c", {{"a", "b#c", 1}}},
    {"a=b\\\n\nc=d", {{"a", "b", 1}, {"c", "d", 3}}},
    {"a=b\\\\\nc=d", {{"a", "b\\", 1}, {"c", "d", 2}}},
    {"a=b\\", {{"a", "b", 1}}},
    {"# comment \\\na=b", {{"a", "b", 2}}},
    {"\\ a\\=\\:=b", {{" a=:", "b", 1}}},
    {"a=\\t\\n\\r\\f\\x\\\"", {{"a", "\t\n\r\fx\"", 1}}},
    {"a=\\u0041\\u00e9\\u20AC", {{"a", "A\xc3\xa9\xe2\x82\xac", 1}}},
    {"a=\\ud83d\\ude00", {{"a", "\xf0\x9f\x98\x80", 1}}},
    {"a=\\ud83d!", {{"a", "\xef\xbf\xbd!", 1}}},
    {"a=\\ud83d\\u0041",
     {{"a",
       "\xef\xbf\xbd"
       "A",
       1}}},
    {"a=\xc3\xa9", {{"a", "\xc3\xa9", 1}}}, // UTF-8 stays
    {"a=\xe9", {{"a", "\xc3\xa9", 1}}},     // ISO-8859-1 becomes UTF-8
    {"\xef\xbb\xbf"
     "a=b",
     {{"a", "b", 1}}}, // a byte order mark is dropped
    {"a=b\na=c", {{"a", "b", 1}, {"a", "c", 2}}},
};

Test(properties, syntax) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct property_list list;
        char memory[200];
        struct text error = TEXT_IN(memory);
        int32_t line;
        cr_assert(properties_parse(&arena, str_of(cases[i].file), &list, &line, &error), "case %zu: %s", i, memory);
        size_t count = 0;
        while (count < 4 && cases[i].expected[count].key) {
            count++;
        }
        cr_assert_eq(list.count, count, "case %zu: %zu settings", i, list.count);
        for (size_t j = 0; j < count; j++) {
            const struct expected *e = &cases[i].expected[j];
            cr_assert(str_is(list.items[j].key, e->key), "case %zu: key %zu", i, j);
            cr_assert(str_is(list.items[j].value, e->value), "case %zu: value %zu is '%.*s'", i, j,
                      (int)list.items[j].value.size, list.items[j].value.data);
            cr_assert_eq(list.items[j].line, e->line, "case %zu: line %d", i, list.items[j].line);
        }
    }
}

static const struct {
    const char *file;
    int line;
    const char *error;
} bad_cases[] = {
    {"x=y\na=\\u12g4", 2, "\\u must be followed by four hexadecimal digits"},
    {"a=\\u123", 1, "\\u must be followed by four hexadecimal digits"},
    {"a=\\", 0, NULL},
    {"\n\na=\\u0000", 3, "a NUL character is not allowed"},
};

Test(properties, errors) {
    for (size_t i = 0; i < sizeof bad_cases / sizeof bad_cases[0]; i++) {
        struct property_list list;
        char memory[200];
        struct text error = TEXT_IN(memory);
        int32_t line;
        bool ok = properties_parse(&arena, str_of(bad_cases[i].file), &list, &line, &error);
        cr_assert_eq(ok, bad_cases[i].error == NULL, "case %zu", i);
        if (ok) continue;
        cr_assert_eq(line, bad_cases[i].line, "case %zu: line %d", i, line);
        cr_assert_str_eq(memory, bad_cases[i].error);
    }
}

Test(properties, bounds) {
    struct property_list list;
    char memory[200];
    struct text error = TEXT_IN(memory);
    int32_t line;
    size_t size = PROPERTIES_SIZE_MAX + 1;
    char *big = calloc(1, size);
    memset(big, '\n', size);
    cr_assert_not(properties_parse(&arena, (struct str){big, size}, &list, &line, &error));
    cr_assert(properties_parse(&arena, (struct str){big, size - 1}, &list, &line, &error));
    cr_assert_eq(list.count, 0);
    memset(big, 'a', size);
    for (size_t i = 1; i < size; i += 2) {
        big[i] = '\n';
    }
    error = TEXT_IN(memory);
    cr_assert_not(properties_parse(&arena, (struct str){big, 2 * (PROPERTIES_COUNT_MAX + 1)}, &list, &line, &error));
    cr_assert_str_eq(memory, "more than 4096 settings");
    cr_assert(properties_parse(&arena, (struct str){big, 2 * PROPERTIES_COUNT_MAX}, &list, &line, &error));
    cr_assert_eq(list.count, PROPERTIES_COUNT_MAX);
    // The worst file still fits the arena: ISO-8859-1 text doubles.
    stop();
    start();
    memset(big, 0xe9, size);
    cr_assert(properties_parse(&arena, (struct str){big, size - 1}, &list, &line, &error), "%s", memory);
    cr_assert_eq(list.items[0].key.size, 2 * (size - 1));
    free(big);
}
