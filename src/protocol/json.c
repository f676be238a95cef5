// SPDX-License-Identifier: Apache-2.0
// See json.h.
#include "protocol/json.h"

void json_add_string(struct text *out, struct str s) {
    if (str_is_null(s)) {
        text_add(out, str_of("null"));
        return;
    }
    static const char short_escapes[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
    text_add(out, str_of("\""));
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];
        const char *escape = c ? strchr(short_escapes, c) : NULL;
        if (escape) {
            text_addf(out, "\\%c", letters[escape - short_escapes]);
        } else if (c < 0x20) {
            text_addf(out, "\\u%04X", c);
        } else {
            text_add(out, (struct str){&s.data[i], 1});
        }
    }
    text_add(out, str_of("\""));
}

void json_add_camel(struct text *out, const char *snake, bool capital) {
    for (const char *p = snake; *p; p++) {
        if (*p == '_') {
            capital = true;
            continue;
        }
        char c = capital && *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
        text_add(out, (struct str){&c, 1});
        capital = false;
    }
}
