// SPDX-License-Identifier: Apache-2.0
// See perf_date.h.
#include "cli/perf_date.h"
#include <string.h>
#include <time.h>

// One run of `count` equal letters. False: not a letter that is known.
static bool add_field(struct text *out, char letter, int count, const struct tm *t, int millisecond) {
    int hour = t->tm_hour % 12;
    switch (letter) {
    case 'y': text_addf(out, "%0*d", count, count == 2 ? t->tm_year % 100 : t->tm_year + 1900); return true;
    case 'M': text_addf(out, "%0*d", count, t->tm_mon + 1); return count <= 2;
    case 'd': text_addf(out, "%0*d", count, t->tm_mday); return true;
    case 'H': text_addf(out, "%0*d", count, t->tm_hour); return true;
    case 'h': text_addf(out, "%0*d", count, hour == 0 ? 12 : hour); return true;
    case 'm': text_addf(out, "%0*d", count, t->tm_min); return true;
    case 's': text_addf(out, "%0*d", count, t->tm_sec); return true;
    case 'S': text_addf(out, "%0*d", count, millisecond); return true;
    case 'a': text_addf(out, "%s", t->tm_hour < 12 ? "AM" : "PM"); return true;
    default: return false;
    }
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// 'text', and '' for a quote: what is behind it, or NULL without an end.
static const char *add_quoted(struct text *out, const char *at) {
    if (at[1] == '\'') {
        text_add(out, str_of("'"));
        return at + 2;
    }
    const char *end = strchr(at + 1, '\'');
    if (!end) return NULL;
    text_add(out, (struct str){at + 1, (size_t)(end - at - 1)});
    return end + 1;
}

bool perf_date_add(struct text *out, const char *pattern, int64_t wall_ms) {
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm t;
    localtime_r(&seconds, &t);
    const char *at = pattern;
    while (*at) {
        if (*at == '\'') {
            at = add_quoted(out, at);
            if (!at) return false;
            continue;
        }
        int count = 1;
        while (at[count] == *at && count < 16) {
            count++;
        }
        if (is_letter(*at)) {
            if (!add_field(out, *at, count, &t, (int)(wall_ms % 1000))) return false;
        } else {
            text_add(out, (struct str){at, (size_t)count});
        }
        at += count;
    }
    return true;
}
