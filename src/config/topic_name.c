// SPDX-License-Identifier: Apache-2.0
#include "config/topic_name.h"

bool topic_name_is_legal(struct str name) {
    if (name.size == 0 || name.size > TOPIC_NAME_MAX || str_is(name, ".") || str_is(name, "..")) return false;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                     c == '_' || c == '-';
        if (!legal) return false;
    }
    return true;
}

void topic_name_problem(struct str name, struct text *problem) {
    if (topic_name_is_legal(name)) return;
    char memory[TOPIC_NAME_MAX * 4 + 64];
    struct text escaped = TEXT_IN(memory);
    text_add_escaped(&escaped, name);
    text_addf(problem, "Topic name is invalid: ");
    if (name.size == 0) {
        text_addf(problem, "the empty string is not allowed");
    } else if (name.size > TOPIC_NAME_MAX) {
        text_addf(problem, "the length of '%s' is longer than the max allowed length %d", memory, TOPIC_NAME_MAX);
    } else if (str_is(name, ".") || str_is(name, "..")) {
        text_addf(problem, "'%s' is not allowed", memory);
    } else {
        text_addf(problem, "'%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
                  memory);
    }
}

bool topic_name_is_internal(struct str name) {
    return str_is(name, "__consumer_offsets") || str_is(name, "__transaction_state");
}
