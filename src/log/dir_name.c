// SPDX-License-Identifier: Apache-2.0
// A suffixed name is cut at its last dot; the partition is what follows the last hyphen before it, since topics may
// hold both hyphens and dots.
#include "log/dir_name.h"
#include "base/assert.h"
#include "base/bits.h"
#include "base/text.h"
#include "config/topic_name.h"
#include "log/checkpoint.h"
#include <inttypes.h>

static bool ends_with(struct str s, const char *end) {
    struct str e = str_of(end);
    return s.size >= e.size && memcmp(s.data + s.size - e.size, e.data, e.size) == 0;
}

// "<topic>-<partition>"; a topic that was cut for the sake of the name's length is legal too.
static bool parse_replica(struct str name, struct str *topic, int32_t *partition) {
    const char *hyphen = name.size == 0 ? NULL : memrchr(name.data, '-', name.size);
    int64_t value;
    if (!hyphen) return false;
    struct str before = {name.data, (size_t)(hyphen - name.data)};
    struct str after = {hyphen + 1, name.size - before.size - 1};
    if (!topic_name_is_legal(before) || !parse_i64(after, 0, INT32_MAX, &value)) return false;
    *topic = before;
    *partition = (int32_t)value;
    return true;
}

enum dir_kind dir_name_parse(struct str name, struct str *topic, int32_t *partition) {
    static const struct {
        const char *suffix;
        enum dir_kind kind;
    } suffixes[] = {{"-delete", DIR_DELETE}, {"-future", DIR_FUTURE}, {"-stray", DIR_STRAY}};
    if (str_is(name, "remote-log-index-cache") || str_is(name, "__cluster_metadata-0")) return DIR_FOREIGN;
    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
        if (!ends_with(name, suffixes[i].suffix)) continue;
        const char *dot = memrchr(name.data, '.', name.size);
        if (!dot) return DIR_UNKNOWN;
        struct str replica = {name.data, (size_t)(dot - name.data)};
        bool has_id = name.size - replica.size > 1 + strlen(suffixes[i].suffix);
        return has_id && parse_replica(replica, topic, partition) ? suffixes[i].kind : DIR_UNKNOWN;
    }
    return parse_replica(name, topic, partition) ? DIR_PARTITION : DIR_UNKNOWN;
}

void dir_name_print(char name[static DIR_NAME_BYTES_MAX + 1], const char *topic, int32_t partition) {
    struct text t = text_in(name, DIR_NAME_BYTES_MAX + 1);
    text_addf(&t, "%s-%" PRId32, topic, partition);
    ASSERT(!t.truncated ||
           strlen(topic) > 244); // Kafka has the same limit: topics with over 244 letters, many partitions
}

void dir_name_print_suffixed(char name[static DIR_NAME_BYTES_MAX + 1], const char *topic, int32_t partition,
                             uint64_t random_high, uint64_t random_low, const char *suffix) {
    char end[80];
    struct text e = TEXT_IN(end), t = text_in(name, DIR_NAME_BYTES_MAX + 1);
    text_addf(&e, "-%" PRId32 ".%016" PRIx64 "%016" PRIx64 "-%s", partition, random_high, random_low, suffix);
    ASSERT(!e.truncated);
    struct str whole = str_of(topic);
    text_add(&t, (struct str){whole.data, min_size(whole.size, DIR_NAME_BYTES_MAX - e.size)});
    text_add(&t, (struct str){e.data, e.size});
    ASSERT(!t.truncated);
}

bool file_name_parse(struct str name, int64_t *offset, struct str *suffix) {
    enum { DIGITS = 20 };
    if (name.size <= DIGITS || name.data[DIGITS] != '.') return false;
    int64_t value;
    if (!parse_i64((struct str){name.data, DIGITS}, 0, INT64_MAX, &value)) return false;
    *offset = value;
    *suffix = (struct str){name.data + DIGITS, name.size - DIGITS};
    return true;
}
