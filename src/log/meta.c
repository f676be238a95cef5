// SPDX-License-Identifier: Apache-2.0
// Version 0 is that of brokers with ZooKeeper (and ours); a missing version is 0 too. Version 1, with node.id, is
// KRaft's: its brokers keep their metadata elsewhere, so such a directory is refused.
#include "log/meta.h"
#include "base/date.h"
#include "config/properties.h"
#include <inttypes.h>

static struct str value_of(const struct property_list *list, const char *key) {
    struct str value = {NULL, 0};
    for (size_t i = 0; i < list->count; i++)
        if (str_is(list->items[i].key, key)) value = list->items[i].value; // the last one counts, as in Java
    return value;
}

static bool copy_id(char *to, size_t capacity, struct str value, const char *key, struct text *reason) {
    struct text t = text_in(to, capacity);
    text_add(&t, value);
    if (!t.truncated) return true;
    text_addf(reason, "%s has %zu letters, at most %zu are allowed", key, value.size, capacity - 1);
    return false;
}

static bool take_values(const struct property_list *list, struct meta_properties *meta, struct text *reason) {
    struct str version = value_of(list, "version"), broker_id = value_of(list, "broker.id");
    int64_t number = 0;
    if (!str_is_null(version) && (!parse_i64(version, 0, INT32_MAX, &number) || number > 1)) {
        meta->is_foreign = number > 1;
        text_addf(reason, "version=");
        text_add_escaped(reason, version);
        text_addf(reason, " is not known, 0 is");
        return false;
    }
    if (number == 1) {
        meta->is_foreign = true;
        text_addf(reason, "version=1 is the format of a KRaft broker, whose metadata this broker cannot read");
        return false;
    }
    if (!str_is_null(broker_id)) {
        if (!parse_i64(broker_id, 0, INT32_MAX, &number)) {
            text_addf(reason, "broker.id=");
            text_add_escaped(reason, broker_id);
            text_addf(reason, " must be a number from 0 to %d", INT32_MAX);
            return false;
        }
        meta->broker_id = (int32_t)number;
    }
    return copy_id(meta->cluster_id, sizeof meta->cluster_id, value_of(list, "cluster.id"), "cluster.id", reason) &&
           copy_id(meta->directory_id, sizeof meta->directory_id, value_of(list, "directory.id"), "directory.id",
                   reason);
}

bool meta_parse(struct str text, struct meta_properties *meta, struct text *reason) {
    enum { ARENA_BYTES = 4 << 20 };
    *meta = (struct meta_properties){.broker_id = -1};
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct property_list list;
    int32_t line = 0;
    char why[200];
    struct text error = TEXT_IN(why);
    bool good = properties_parse(&arena, text, &list, &line, &error);
    if (!good) text_addf(reason, "line %" PRId32 ": %s", line, why);
    if (good) good = take_values(&list, meta, reason);
    arena_drop(&arena);
    if (!good) *meta = (struct meta_properties){.broker_id = -1, .is_foreign = meta->is_foreign};
    return good;
}

static void add_date(int64_t now_ms, struct text *out) {
    static const char *const weekdays[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int64_t seconds = now_ms > 0 ? now_ms / 1000 : 0;
    int64_t days = seconds / 86400;
    int second = (int)(seconds % 86400);
    struct date date = date_of_days(days);
    text_addf(out, "%s %s %02d %02d:%02d:%02d UTC %" PRId64, weekdays[days % 7], months[date.month - 1], date.day,
              second / 3600, second / 60 % 60, second % 60, date.year);
}

void meta_format(const struct meta_properties *meta, int64_t now_ms, struct text *out) {
    text_addf(out, "#\n#");
    add_date(now_ms, out);
    text_addf(out, "\nversion=0\n");
    if (meta->broker_id >= 0) text_addf(out, "broker.id=%" PRId32 "\n", meta->broker_id);
    if (meta->cluster_id[0]) text_addf(out, "cluster.id=%s\n", meta->cluster_id);
    if (meta->directory_id[0]) text_addf(out, "directory.id=%s\n", meta->directory_id);
}
