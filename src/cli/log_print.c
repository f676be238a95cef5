// SPDX-License-Identifier: Apache-2.0
// Everything that is printed came from files that anybody may have written: control characters are always escaped.
#include "cli/log_print.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/bits.h"
#include "base/date.h"
#include "protocol/message.h"
#include "protocol/messages/consumer_protocol.h"
#include "protocol/messages/group_log.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { MS_OF_DAY = 86400000, OFFSETS_RECORD_BYTES_MAX = 16 << 20 };

bool log_value_format_parse(const char *word, enum log_value_format *format) {
    static const char *const words[] = {"text", "hex", "json"};
    for (int i = LOG_VALUE_TEXT; i <= LOG_VALUE_JSON; i++) {
        if (strcmp(word, words[i]) != 0) continue;
        *format = (enum log_value_format)i;
        return true;
    }
    return false;
}

// ---- times
// -----------------------------------------------------------------------------------------------------------------------------
const char *log_size_text(uint64_t size_bytes, char text[static LOG_SIZE_TEXT_BYTES]) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (size_bytes < 1024) {
        snprintf(text, LOG_SIZE_TEXT_BYTES, "%u B", (unsigned)size_bytes);
        return text;
    }
    double size = (double)size_bytes / 1024;
    size_t unit = 0;
    for (; size >= 1023.95 && unit + 1 < ARRAY_LENGTH(units); unit++)
        size /= 1024;
    snprintf(text, LOG_SIZE_TEXT_BYTES, "%.1f %s", size, units[unit]);
    return text;
}

const char *log_time_text(int64_t time_ms, char text[static LOG_TIME_TEXT_BYTES]) {
    struct text t = text_in(text, LOG_TIME_TEXT_BYTES);
    if (time_ms == -1) {
        text_addf(&t, "-");
        return text;
    }
    int64_t days = time_ms / MS_OF_DAY, rest = time_ms % MS_OF_DAY;
    if (rest < 0) {
        rest += MS_OF_DAY;
        days--;
    }
    struct date d = date_of_days(days);
    text_addf(&t, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d.%03dZ", d.year, d.month, d.day, (int)(rest / 3600000),
              (int)(rest / 60000 % 60), (int)(rest / 1000 % 60), (int)(rest % 1000));
    return text;
}

// Takes exactly `digits` digits off the front.
static bool take_number(const char **at, int digits, int *value) {
    *value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9') return false;
        *value = *value * 10 + (**at - '0');
    }
    return true;
}

static bool take_clock(const char *at, int64_t *ms) {
    int hour, minute, second = 0, milli = 0;
    if (*at++ != 'T' || !take_number(&at, 2, &hour) || *at++ != ':' || !take_number(&at, 2, &minute)) return false;
    if (*at == ':' && (at++, !take_number(&at, 2, &second))) return false;
    if (*at == '.') {
        at++;
        int unit = 100;
        for (; *at >= '0' && *at <= '9' && unit > 0; at++, unit /= 10)
            milli += (*at - '0') * unit;
    }
    if (*at == 'Z') at++;
    *ms = ((int64_t)hour * 60 + minute) * 60000 + (int64_t)second * 1000 + milli;
    return *at == '\0' && hour < 24 && minute < 60 && second < 60;
}

bool log_time_parse(const char *word, int64_t *time_ms) {
    if (parse_i64(str_of(word), INT64_MIN, INT64_MAX, time_ms)) return true;
    int year, month, day;
    int64_t clock_ms = 0;
    const char *at = word;
    if (!take_number(&at, 4, &year) || *at++ != '-' || !take_number(&at, 2, &month) || *at++ != '-' ||
        !take_number(&at, 2, &day))
        return false;
    struct date d = {year, month, day};
    if (!date_is_valid(d) || (*at && !take_clock(at, &clock_ms))) return false;
    *time_ms = date_to_days(d) * MS_OF_DAY + clock_ms;
    return true;
}

// ---- strings
// ---------------------------------------------------------------------------------------------------------------------------
// The length of the well-formed UTF-8 sequence at p, 0 if there is none.
static size_t utf8_length(const uint8_t *p, size_t left) {
    static const uint8_t least_second[] = {0xa0, 0x80, 0x90}; // after 0xe0, 0xed, 0xf0
    size_t length = p[0] < 0x80                   ? 1
                    : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                    : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                    : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (p[0] == 0xe0 && p[1] < least_second[0]) return 0;
    if (p[0] == 0xed && p[1] > 0x9f) return 0; // surrogates
    if (p[0] == 0xf0 && p[1] < least_second[2]) return 0;
    if (p[0] == 0xf4 && p[1] > 0x8f) return 0;
    return length;
}

static void print_character(const uint8_t *p, size_t length) {
    if (length == 0)
        fputs("\\ufffd", stdout);
    else if (length > 1 && !(length == 2 && p[0] == 0xc2 && p[1] < 0xa0)) // not the control characters from 0x80 on
        fwrite(p, 1, length, stdout);
    else if (length == 2)
        printf("\\u00%02x", p[1]);
    else if (p[0] == '"' || p[0] == '\\')
        printf("\\%c", p[0]);
    else if (p[0] == '\n' || p[0] == '\r' || p[0] == '\t')
        fputs(p[0] == '\n' ? "\\n" : p[0] == '\r' ? "\\r" : "\\t", stdout);
    else if (p[0] < 0x20 || p[0] == 0x7f)
        printf("\\u%04x", p[0]);
    else
        putchar(p[0]);
}

void log_print_string(struct tailrace_bytes bytes) {
    putchar('"');
    for (size_t i = 0; i < bytes.size;) {
        size_t length = utf8_length(bytes.data + i, bytes.size - i);
        print_character(bytes.data + i, length);
        i += length == 0 ? 1 : length;
    }
    putchar('"');
}

// As it was written, numbers to the last digit, but on one line. False: it is no JSON.
static bool print_json(struct tailrace_bytes value) {
    size_t flags = JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    json_t *json = json_loadb((const char *)value.data, value.size, flags, NULL);
    json_decref(json);
    if (!json) return false;
    bool is_string = false;
    for (size_t i = 0; i < value.size;) {
        const uint8_t *p = value.data + i;
        size_t length = is_string && p[0] == '\\' ? 2 : utf8_length(p, value.size - i);
        ASSERT(length > 0 && length <= value.size - i); // jansson has seen to it
        bool is_blank = p[0] == ' ' || p[0] == '\n' || p[0] == '\r' || p[0] == '\t';
        if (p[0] == '"') is_string = !is_string;
        if (length > 1 && p[0] != '\\') // what is behind a backslash is a letter
            print_character(p, length);
        else if (p[0] == 0x7f)
            print_character(p, 1);
        else if (is_string || !is_blank)
            fwrite(p, 1, length, stdout);
        i += length;
    }
    return true;
}

void log_print_value(struct tailrace_bytes value, enum log_value_format format) {
    if (!value.data) {
        fputs("null", stdout);
        return;
    }
    if (format == LOG_VALUE_JSON && print_json(value)) return;
    if (format != LOG_VALUE_HEX) {
        log_print_string(value);
        return;
    }
    putchar('"');
    for (size_t i = 0; i < value.size; i++)
        printf("%02x", value.data[i]);
    putchar('"');
}

// ---- __consumer_offsets
// ---------------------------------------------------------------------------------------------------------------
// False, and nothing is added, if the bytes are not such a message behind its version.
static bool add_message(struct text *out, const struct schema *schema, struct bytes bytes, struct arena *arena) {
    if (bytes.size < 2) return false;
    int16_t version = (int16_t)load_be16(bytes.data);
    void *message = schema_has_version(schema, version) ? arena_alloc(arena, schema->size_bytes) : NULL;
    struct bytes body = {bytes.data + 2, bytes.size - 2};
    if (!message || !message_decode(schema, version, body, NULL, message, arena, NULL)) return false;
    message_print(schema, version, message, out);
    return true;
}

// Copies from `at` up to the field, a string in base64, and puts the message that it is in its place. Returns what is
// behind it. (No text that a client chose can look like the field: its quotes are escaped.)
static const char *add_opaque(struct text *out, const char *at, const char *field, const struct schema *schema,
                              struct bytes bytes, struct arena *arena) {
    const char *found = strstr(at, field);
    if (!found) return at;
    const char *begin = found + strlen(field), *end = strchr(begin + 1, '"') + 1;
    text_add(out, (struct str){at, (size_t)(begin - at)});
    if (!add_message(out, schema, bytes, arena)) text_add(out, (struct str){begin, (size_t)(end - begin)});
    return end;
}

// The members of a consumer group say what they subscribed to and were assigned, as with Kafka's own decoder.
static void add_group(struct text *out, const char *printed, const struct group_metadata_value *group,
                      struct arena *arena) {
    bool is_consumers = str_is(group->protocol_type, "consumer");
    for (int32_t i = 0; i < group->members_count && is_consumers; i++) {
        const struct group_metadata_value_member_metadata *m = &group->members[i];
        printed = add_opaque(out, printed, "\"subscription\":", &consumer_protocol_subscription_schema, m->subscription,
                             arena);
        printed =
            add_opaque(out, printed, "\"assignment\":", &consumer_protocol_assignment_schema, m->assignment, arena);
    }
    text_add(out, str_of(printed));
}

// {"version":1,"data":{...}}
static bool print_versioned(const struct schema *schema, struct tailrace_bytes bytes) {
    int16_t version = (int16_t)load_be16(bytes.data);
    if (!schema_has_version(schema, version)) return false;
    struct arena arena;
    arena_init(&arena, OFFSETS_RECORD_BYTES_MAX);
    void *message = arena_alloc(&arena, schema->size_bytes);
    size_t capacity = bytes.size * 16 + 4096; // escapes, names of fields
    char *memory = malloc(2 * capacity);
    ASSERT(memory != NULL);
    struct text out = text_in(memory, capacity), shown = text_in(memory + capacity, capacity);
    struct bytes body = {bytes.data + 2, bytes.size - 2};
    bool good = message && message_decode(schema, version, body, NULL, message, &arena, NULL);
    if (good) message_print(schema, version, message, &out);
    good = good && !out.truncated;
    if (good && schema == &group_metadata_value_schema)
        add_group(&shown, out.data, message, &arena);
    else
        text_add(&shown, str_of(out.data));
    good = good && !shown.truncated;
    if (good) printf("{\"version\":%d,\"data\":%s}", version, shown.data);
    free(memory);
    arena_drop(&arena);
    return good;
}

static bool is_group(struct tailrace_bytes key) {
    return load_be16(key.data) == 2;
}

bool log_print_offsets_key(struct tailrace_bytes key) {
    if (!key.data || key.size < 2 || key.size > OFFSETS_RECORD_BYTES_MAX) return false;
    return print_versioned(is_group(key) ? &group_metadata_key_schema : &offset_commit_key_schema, key);
}

bool log_print_offsets_value(struct tailrace_bytes key, struct tailrace_bytes value) {
    if (!key.data || key.size < 2 || !value.data || value.size < 2 || value.size > OFFSETS_RECORD_BYTES_MAX)
        return false;
    if (load_be16(key.data) > 2) return false;
    return print_versioned(is_group(key) ? &group_metadata_value_schema : &offset_commit_value_schema, value);
}

// ---- findings
// -----------------------------------------------------------------------------------------------------------------------------
void log_print_finding(const struct inspect_finding *f, bool json) {
    const char *slash = f->file[0] ? "/" : "";
    if (json) {
        printf("{\"type\":\"%s\",\"directory\":", f->is_damage ? "damage" : "note");
        log_print_string(log_text(f->directory));
        fputs(",\"file\":", stdout);
        log_print_string(log_text(f->file));
        if (f->byte >= 0) printf(",\"byte\":%" PRId64, f->byte);
        fputs(",\"what\":", stdout);
        log_print_string(log_text(f->text));
        fputs("}\n", stdout);
        return;
    }
    char line[4096 + 1024];
    struct text t = TEXT_IN(line);
    text_addf(&t, "%s: ", f->is_damage ? "DAMAGED" : "note");
    text_add_escaped(&t, str_of(f->directory));
    text_addf(&t, "%s", slash);
    text_add_escaped(&t, str_of(f->file));
    if (f->byte >= 0) text_addf(&t, " byte %" PRId64, f->byte);
    text_addf(&t, ": ");
    text_add_escaped(&t, str_of(f->text));
    puts(line);
}
