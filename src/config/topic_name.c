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

bool topic_name_is_internal(struct str name) {
    return str_is(name, "__consumer_offsets") || str_is(name, "__transaction_state");
}
