// SPDX-License-Identifier: Apache-2.0
// Names and texts of the error codes (see error.h), looked up by position: the codes have no gaps, which is checked
// when this file is compiled.
#include "tailrace/error.h"
#include <stddef.h>

struct error_row {
    int16_t code;
    bool retriable;
    const char *name;
    const char *text;
};

#define ERROR_ROW(code, name, retriable, text) {code, retriable, #name, text},
static const struct error_row error_rows[] = {KAFKA_ERRORS(ERROR_ROW)};

enum { ERROR_ROW_COUNT = sizeof error_rows / sizeof error_rows[0] };
_Static_assert(KAFKA_ERROR_UNKNOWN_SERVER_ERROR == -1 && KAFKA_ERROR_VOTER_NOT_FOUND == ERROR_ROW_COUNT - 2,
               "the table of errors has a gap");

static const struct error_row *error_row(int16_t code) {
    if (code < -1 || code > ERROR_ROW_COUNT - 2) return NULL;
    return &error_rows[code + 1];
}

const char *kafka_error_name(int16_t code) {
    const struct error_row *row = error_row(code);
    return row ? row->name : "UNKNOWN";
}

const char *kafka_error_text(int16_t code) {
    const struct error_row *row = error_row(code);
    return row ? row->text : "an error code that this release does not know";
}

bool kafka_error_is_retriable(int16_t code) {
    const struct error_row *row = error_row(code);
    return row && row->retriable;
}
