// SPDX-License-Identifier: Apache-2.0
// cli/log_print: times there and back.
#include "base/bits.h"
#include "cli/log_print.h"
#include "protocol/message.h"
#include "protocol/messages/group_log.h"
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

Test(log_print, sizes) {
    char text[LOG_SIZE_TEXT_BYTES];
    cr_assert_str_eq(log_size_text(0, text), "0 B");
    cr_assert_str_eq(log_size_text(1023, text), "1023 B");
    cr_assert_str_eq(log_size_text(1536, text), "1.5 KiB");
    cr_assert_str_eq(log_size_text((1 << 20) - 1, text), "1.0 MiB");
    cr_assert_str_eq(log_size_text(64 << 20, text), "64.0 MiB");
    cr_assert_str_eq(log_size_text(UINT64_MAX, text), "16777216.0 TiB");
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

// Subscription and assignment of a consumer's member are shown, those of others (and what is none) as they lie there.
Test(log_print, members_of_groups) {
    static const uint8_t key[] = {0, 2, 0, 1, 'g'}, cut[] = {0, 1, 0, 0, 0, 9};
    static const uint8_t subscription[] = {0, 1, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t assignment[] = {0, 1, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff};
    char shown[4096] = "";
    uint8_t memory[512] = {0, 3};
    cr_redirect_stdout();
    for (int is_consumer = 0; is_consumer < 2; is_consumer++) {
        struct group_metadata_value_member_metadata members[2];
        for (int i = 0; i < 2; i++) {
            message_default(&group_metadata_value_member_metadata_schema, &members[i]);
            members[i].member_id = str_of(i == 0 ? "\"subscription\":\"" : "m");
            members[i].client_id = members[i].client_host = str_of("c");
            members[i].subscription = (struct bytes){subscription, sizeof subscription};
            members[i].assignment =
                i == 0 ? (struct bytes){assignment, sizeof assignment} : (struct bytes){cut, sizeof cut};
        }
        struct group_metadata_value value;
        message_default(&group_metadata_value_schema, &value);
        value.protocol_type = str_of(is_consumer ? "consumer" : "connect");
        value.members = members;
        value.members_count = 2;
        size_t size;
        cr_assert(message_size(&group_metadata_value_schema, 3, &value, &size, NULL) && size + 2 <= sizeof memory);
        message_encode(&group_metadata_value_schema, 3, &value, memory + 2, size);
        struct tailrace_bytes printed = {memory, size + 2};
        cr_assert(log_print_offsets_value((struct tailrace_bytes){key, sizeof key}, printed));
        putchar('\n');
    }
    fflush(stdout);
    shown[fread(shown, 1, sizeof shown - 1, cr_get_redirected_stdout())] = '\0';
    static const char member_0[] =
        "\"subscription\":{\"topics\":[\"t\"],\"userData\":\"\",\"ownedPartitions\":[]},"
        "\"assignment\":{\"assignedPartitions\":[{\"topic\":\"t\",\"partitions\":[7]}],\"userData\":null}}";
    static const char member_1[] = "\"ownedPartitions\":[]},\"assignment\":\"AAEAAAAJ\"}]}}\n";
    char *consumer = strstr(shown, "\n") + 1;
    cr_assert_not_null(strstr(consumer, member_0), "%s", consumer);
    cr_assert_not_null(strstr(consumer, member_1), "%s", consumer);
    *consumer = '\0';
    cr_assert_null(strstr(shown, "topics"), "%s", shown);
    cr_assert_not_null(strstr(shown, "\"assignment\":\"AAEAAAAJ\"}]}}\n"), "%s", shown);
}
