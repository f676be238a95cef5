// SPDX-License-Identifier: Apache-2.0
// How the tailrace log commands show values: times, names, keys and values of records; for people and as JSON.
#pragma once

#include "log/inspect.h"
#include "tailrace/record.h"

enum log_value_format { LOG_VALUE_TEXT, LOG_VALUE_HEX, LOG_VALUE_JSON };
// False: not one of text, hex, json.
bool log_value_format_parse(const char *word, enum log_value_format *format);

enum { LOG_TIME_TEXT_BYTES = 40 };
// "2026-11-29T19:36:41.123Z", or "-" for -1.
const char *log_time_text(int64_t time_ms, char text[static LOG_TIME_TEXT_BYTES]);
enum { LOG_SIZE_TEXT_BYTES = 16 };
// "832 B", "1.5 KiB", "64.0 MiB": for people.
const char *log_size_text(uint64_t size_bytes, char text[static LOG_SIZE_TEXT_BYTES]);
// Milliseconds since 1970, or such a time ("2026-11-29", "2026-11-29T19:36"; always UTC). False: neither.
bool log_time_parse(const char *word, int64_t *time_ms);

// To standard output. A quoted string with what JSON and terminals need escaped; bytes that are no UTF-8 become U+FFFD.
void log_print_string(struct tailrace_bytes bytes);
static inline struct tailrace_bytes log_text(const char *text) {
    return (struct tailrace_bytes){(const uint8_t *)text, strlen(text)};
}
// null, "text", "hex", or the JSON that it is, on one line; what is not JSON, as a string.
void log_print_value(struct tailrace_bytes value, enum log_value_format format);
// A key and value of __consumer_offsets as JSON. False: not one that is known, and nothing is printed.
bool log_print_offsets_key(struct tailrace_bytes key);
bool log_print_offsets_value(struct tailrace_bytes key, struct tailrace_bytes value);

// What a listener of inspect.h prints: the finding on one line, or as a JSON object on one.
void log_print_finding(const struct inspect_finding *finding, bool json);
