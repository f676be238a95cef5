// SPDX-License-Identifier: Apache-2.0
// One configuration value: from text to a checked number, list or string, by the rules of its key. The canonical text
// is what DescribeConfigs shows: what Kafka prints after it has parsed the value ("007" is "7", "a , b" is "a,b",
// "1e-1" is "0.1").
#pragma once

#include "base/arena.h"
#include "config/keys.h"

struct config_value {
    struct str text; // canonical; null if the key has no value
    int64_t integer; // BOOLEAN (0 or 1), INT, SHORT, LONG
    double real;     // DOUBLE
};

// raw null gives the null value. False: *reason says what is wrong in the words that Kafka's clients are used to ("Not
// a number of type INT"), and out->text is what Kafka would show as the value (for a list: the entry that is not
// allowed). Memory of the canonical text: raw's own where nothing changed, else the arena.
bool config_value_parse(struct arena *a, const struct config_key_info *key, struct str raw, struct config_value *out,
                        struct text *reason);

// White space and control characters off both ends, as Java's String.trim.
struct str config_trim(struct str s);
// Entries of a comma-separated text, trimmed: struct str rest = config_list_begin(text), entry; while
// (config_list_next(&rest, &entry)).
// "" has no entry, "a," has two.
static inline struct str config_list_begin(struct str text) {
    return text.size > 0 ? text : (struct str){0};
}
bool config_list_next(struct str *rest, struct str *entry);
// An entry "host:count"; the host may hold colons, but not be empty. False: it is none.
bool config_host_count(struct str entry, struct str *host, uint32_t *count);
