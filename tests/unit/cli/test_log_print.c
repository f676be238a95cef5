// SPDX-License-Identifier: Apache-2.0
// cli/log_print: times there and back.
#include "cli/log_print.h"
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

Test(log_print, times) {
    static const struct {
        const char *word;
        bool good;
        int64_t ms;
    } cases[] = {
        {"0", true, 0},
        {"-5", true, -5},
        {"1795981766637", true, 1795981766637},
        {"1970-01-01", true, 0},
        {"2026-11-29", true, 1795910400000},
        {"2026-11-29T19:49", true, 1795981740000},
        {"2026-11-29T19:49:26", true, 1795981766000},
        {"2026-11-29T19:49:26Z", true, 1795981766000},
        {"2026-11-29T19:49:26.637Z", true, 1795981766637},
        {"2026-11-29T19:49:26.6", true, 1795981766600},
        {"1969-12-31T23:59:59.999", true, -1},
        {"2024-02-29", true, 1709164800000},
        {"2026-02-29", false, 0},
        {"2026-13-01", false, 0},
        {"2026-11-29T24:00", false, 0},
        {"2026-11-29T19", false, 0},
        {"2026-11-29T19:49:2", false, 0},
        {"2026-11-29 19:49", false, 0},
        {"2026-11-29T19:49:26+01:00", false, 0},
        {"26-11-29", false, 0},
        {"", false, 0},
        {"now", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t ms = 77;
        cr_assert_eq(log_time_parse(cases[i].word, &ms), cases[i].good, "%s", cases[i].word);
        if (cases[i].good) cr_assert_eq(ms, cases[i].ms, "%s: %lld", cases[i].word, (long long)ms);
    }
    char text[LOG_TIME_TEXT_BYTES];
    cr_assert_str_eq(log_time_text(-1, text), "-");
    cr_assert_str_eq(log_time_text(1795981766637, text), "2026-11-29T19:49:26.637Z");
    cr_assert_str_eq(log_time_text(-2, text), "1969-12-31T23:59:59.998Z");
    cr_assert_gt(strlen(log_time_text(INT64_MAX, text)), 20);
    cr_assert_gt(strlen(log_time_text(INT64_MIN, text)), 20);
}

Test(log_print, formats) {
    enum log_value_format format;
    cr_assert(log_value_format_parse("hex", &format));
    cr_assert_eq(format, LOG_VALUE_HEX);
    cr_assert(log_value_format_parse("json", &format));
    cr_assert_eq(format, LOG_VALUE_JSON);
    cr_assert_not(log_value_format_parse("xml", &format));
}

static const struct {
    const char *value, *shown;
} json_cases[] = {
    {"{\"b\": 0.1, \"a\": 1.10, \"b\": 2}", "{\"b\":0.1,\"a\":1.10,\"b\":2}"},
    {"[12345678901234567890123, 1e5,\n -0]", "[12345678901234567890123,1e5,-0]"},
    {" \"a \\\" \\\\\" ", "\"a \\\" \\\\\""},
    {"{\"k\":\"\\u0000 \xc3\xa4 \xc2\x9b \x7f\"}", "{\"k\":\"\\u0000 \xc3\xa4 \\u009b \\u007f\"}"},
    {"{\"a\":", "\"{\\\"a\\\":\""},
    {"1 2", "\"1 2\""},
    {"\xff", "\"\\ufffd\""},
    {"", "\"\""},
    {"true", "true"},
};

Test(log_print, json_as_it_was_written) {
    char shown[4096] = "", expected[4096] = "";
    cr_redirect_stdout();
    for (size_t i = 0; i < sizeof json_cases / sizeof json_cases[0]; i++) {
        const char *value = json_cases[i].value;
        log_print_value((struct tailrace_bytes){(const uint8_t *)value, strlen(value)}, LOG_VALUE_JSON);
        putchar('\n');
        strcat(expected, json_cases[i].shown);
        strcat(expected, "\n");
    }
    fflush(stdout);
    shown[fread(shown, 1, sizeof shown - 1, cr_get_redirected_stdout())] = '\0';
    cr_assert_str_eq(shown, expected);
}
