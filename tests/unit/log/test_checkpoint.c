// SPDX-License-Identifier: Apache-2.0
// log/checkpoint: the text of checkpoint files, good and damaged; log/dir_name: what directories are called.
#include "log/checkpoint.h"
#include "log/dir_name.h"
#include <criterion/criterion.h>
#include <stdlib.h>

Test(checkpoint, text_there_and_back) {
    struct checkpoint_entry entries[] = {
        {(char[]){"b"}, 1, 5}, {(char[]){"a.b-c_d"}, 0, 9223372036854775807}, {(char[]){"b"}, 0, 0}};
    struct checkpoint c = {entries, 3}, back;
    size_t size;
    char *text = checkpoint_format(&c, &size);
    cr_assert_str_eq(text, "0\n3\nb 1 5\na.b-c_d 0 9223372036854775807\nb 0 0\n");
    cr_assert_eq(size, strlen(text));
    char why[200] = "";
    struct text reason = TEXT_IN(why);
    cr_assert(checkpoint_parse(str_of(text), &back, &reason), "%s", why);
    checkpoint_sort(&back);
    cr_assert_eq(back.count, 3);
    cr_assert_str_eq(back.entries[0].topic, "a.b-c_d");
    cr_assert_eq(checkpoint_find(&back, "b", 1)->offset, 5);
    cr_assert_eq(checkpoint_find(&back, "b", 0)->offset, 0);
    cr_assert_null(checkpoint_find(&back, "b", 2));
    cr_assert_null(checkpoint_find(&back, "", 0));
    checkpoint_free(&back);
    free(text);
}

Test(checkpoint, the_last_of_equal_lines_counts) {
    struct checkpoint c;
    char why[200] = "";
    struct text reason = TEXT_IN(why);
    cr_assert(checkpoint_parse(str_of("0\n4\nt 0 1\nt 0 9\na 0 4\nt 0 3\n"), &c, &reason));
    checkpoint_sort(&c);
    cr_assert_eq(c.count, 2);
    cr_assert_eq(checkpoint_find(&c, "t", 0)->offset, 3);
    checkpoint_free(&c);
}

Test(checkpoint, text_that_is_damaged) {
    static const struct {
        const char *text;
        bool good;
        size_t count;
    } cases[] = {
        {"", true, 0},
        {"0\n", true, 0},
        {"0", true, 0},
        {"0\n0\n", true, 0},
        {"0\n1\nt 0 1\n", true, 1},
        {"0\n1\nt 0 1", true, 1},
        {"0\n1\nt 0 -1\n", true, 1},
        {"1\n0\n", false, 0},
        {"\n", false, 0},
        {"0\n\n", false, 0},
        {"0\nt 0 1\n", false, 0},
        {"0\n2\nt 0 1\n", false, 0},
        {"0\n1\nt 0 1\nu 0 1\n", false, 0},
        {"0\n2147483647\nt 0 1\n", false, 0}, // no allocation by what a file claims
        {"0\n-1\n", false, 0},
        {"0\n1\nt 0\n", false, 0},
        {"0\n1\nt 0 1 2\n", false, 0},
        {"0\n1\nt  0 1\n", false, 0},
        {"0\n1\nt x 1\n", false, 0},
        {"0\n1\nt -1 1\n", false, 0},
        {"0\n1\nt 0 99999999999999999999\n", false, 0},
        {"0\n1\n../t 0 1\n", false, 0},
        {"0\n1\n.. 0 1\n", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct checkpoint c;
        char why[200] = "";
        struct text reason = TEXT_IN(why);
        cr_assert_eq(checkpoint_parse(str_of(cases[i].text), &c, &reason), cases[i].good, "case %zu: %s", i, why);
        cr_assert_eq(why[0] == '\0', cases[i].good, "case %zu", i);
        cr_assert_eq(c.count, cases[i].count, "case %zu", i);
        checkpoint_free(&c);
    }
}

Test(dir_name, table) {
    static const struct {
        const char *name;
        enum dir_kind kind;
        const char *topic;
        int32_t partition;
    } cases[] = {
        {"orders-7", DIR_PARTITION, "orders", 7},
        {"a.b-c-0", DIR_PARTITION, "a.b-c", 0},
        {"__consumer_offsets-49", DIR_PARTITION, "__consumer_offsets", 49},
        {"orders-7.0123456789abcdef0123456789abcdef-delete", DIR_DELETE, "orders", 7},
        {"a.b-7.0123456789abcdef0123456789abcdef-future", DIR_FUTURE, "a.b", 7},
        {"a.b-7.x-stray", DIR_STRAY, "a.b", 7},
        {"remote-log-index-cache", DIR_FOREIGN, NULL, 0},
        {"__cluster_metadata-0", DIR_FOREIGN, NULL, 0},
        {"orders", DIR_UNKNOWN, NULL, 0},
        {"lost+found", DIR_UNKNOWN, NULL, 0},
        {"orders-", DIR_UNKNOWN, NULL, 0},
        {"-7", DIR_UNKNOWN, NULL, 0},
        {"orders-x", DIR_UNKNOWN, NULL, 0},
        {"orders--1", DIR_PARTITION, "orders-", 1},
        {"orders-2147483648", DIR_UNKNOWN, NULL, 0},
        {"orders-7-delete", DIR_UNKNOWN, NULL, 0},
        {"orders-7.-delete", DIR_UNKNOWN, NULL, 0},
        {"orders-delete", DIR_UNKNOWN, NULL, 0},
        {"x.y-delete", DIR_UNKNOWN, NULL, 0},
        {"..-1", DIR_UNKNOWN, NULL, 0},
        {"t\xc3\xa4-1", DIR_UNKNOWN, NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct str topic = {NULL, 0};
        int32_t partition = 0;
        cr_assert_eq(dir_name_parse(str_of(cases[i].name), &topic, &partition), cases[i].kind, "%s", cases[i].name);
        if (cases[i].topic) cr_assert(str_is(topic, cases[i].topic), "%s", cases[i].name);
        if (cases[i].topic) cr_assert_eq(partition, cases[i].partition, "%s", cases[i].name);
    }
}

Test(dir_name, long_topics_are_cut) {
    char topic[250], name[DIR_NAME_BYTES_MAX + 1];
    memset(topic, 'x', 249);
    topic[249] = '\0';
    dir_name_print(name, topic, 12345);
    cr_assert_eq(strlen(name), 255);
    dir_name_print_suffixed(name, topic, 12345, 1, 0xffffffffffffffff, "delete");
    cr_assert_eq(strlen(name), 255);
    cr_assert_not_null(strstr(name, "x-12345.0000000000000001ffffffffffffffff-delete"));
    struct str parsed;
    int32_t partition;
    cr_assert_eq(dir_name_parse(str_of(name), &parsed, &partition), DIR_DELETE);
    cr_assert_eq(partition, 12345);
}

Test(dir_name, files) {
    int64_t offset;
    struct str suffix;
    cr_assert(file_name_parse(str_of("00000000000000000042.log"), &offset, &suffix));
    cr_assert_eq(offset, 42);
    cr_assert(str_is(suffix, ".log"));
    cr_assert(file_name_parse(str_of("09223372036854775807.index.swap"), &offset, &suffix));
    cr_assert_eq(offset, INT64_MAX);
    cr_assert(str_is(suffix, ".index.swap"));
    cr_assert_not(file_name_parse(str_of("09223372036854775808.log"), &offset, &suffix));
    cr_assert_not(file_name_parse(str_of("0000000000000000004.log"), &offset, &suffix));
    cr_assert_not(file_name_parse(str_of("-0000000000000000042.log"), &offset, &suffix));
    cr_assert_not(file_name_parse(str_of("00000000000000000042log"), &offset, &suffix));
    cr_assert_not(file_name_parse(str_of("leader-epoch-checkpoint"), &offset, &suffix));
}
