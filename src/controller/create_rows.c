// SPDX-License-Identifier: Apache-2.0
// What a row of CreateTopics says by itself: its assignments of replicas and its settings.
#include "controller/internal.h"
#include <stdlib.h>

enum {
    ASSIGNED_MAX = 1000, // replicas of one partition, as a client assigns them
    SETTINGS_MAX = 256,  // far more than there are keys: among so many one is unknown, which is an error anyway
};

// Of a partition that is assigned twice the last one counts: the others are taken out, before anything looks at them.
static void drop_repeated(struct arena *scratch, struct arena *texts, struct controller_create_topic *r) {
    size_t count = r->assignment_count;
    struct controller_assignment *kept = arena_alloc_array(texts, count, sizeof *kept);
    bool *seen = arena_alloc_array(scratch, count, sizeof *seen);
    ASSERT(seen != NULL);
    if (!kept) return; // what is repeated will be refused
    size_t first = count;
    for (size_t i = count; i > 0; i--) {
        int32_t partition = r->assignments[i - 1].partition;
        bool in_range = partition >= 0 && (size_t)partition < count; // others are refused later
        if (in_range && seen[partition]) continue;
        if (in_range) seen[partition] = true;
        kept[--first] = r->assignments[i - 1];
    }
    r->assignments = kept + first;
    r->assignment_count = count - first;
}

static bool has_repeated_broker(const struct controller_assignment *a) {
    for (size_t i = 0; i < a->broker_count; i++) {
        if (a->brokers[i] < 0) return true; // no broker's id
        for (size_t j = 0; j < i; j++)
            if (a->brokers[i] == a->brokers[j]) return true;
    }
    return false;
}

// "0 -> ArrayBuffer(0, 0), ": Kafka prints its map of all assignments.
static int16_t refuse_repeated_broker(struct arena *texts, const struct controller_create_topic *r,
                                      struct str *message) {
    char memory[900];
    struct text text = TEXT_IN(memory);
    for (size_t i = 0; i < r->assignment_count && !text.truncated; i++) {
        text_addf(&text, "%s%d -> ArrayBuffer(", i > 0 ? ", " : "", r->assignments[i].partition);
        for (size_t j = 0; j < r->assignments[i].broker_count && !text.truncated; j++)
            text_addf(&text, "%s%d", j > 0 ? ", " : "", r->assignments[i].brokers[j]);
        text_addf(&text, ")");
    }
    *message = arena_format(texts, "Duplicate replica assignment found: HashMap(%s)", memory);
    return KAFKA_ERROR_INVALID_REPLICA_ASSIGNMENT;
}

static int16_t refuse(const char *reason, struct str *message) {
    *message = str_of(reason);
    return KAFKA_ERROR_INVALID_REPLICA_ASSIGNMENT;
}

int16_t create_row_check_assignments(struct arena *scratch, struct arena *texts, struct controller_create_topic *r,
                                     struct str *message) {
    drop_repeated(scratch, texts, r);
    for (size_t i = 0; i < r->assignment_count; i++) {
        const struct controller_assignment *a = &r->assignments[i];
        if (a->broker_count != r->assignments[0].broker_count || a->broker_count == 0 || a->broker_count > ASSIGNED_MAX)
            return refuse("All partitions should have the same number of replicas", message);
    }
    for (size_t i = 0; i < r->assignment_count; i++)
        if (has_repeated_broker(&r->assignments[i])) return refuse_repeated_broker(texts, r, message);
    for (size_t i = 0; i < r->assignment_count; i++) {
        int32_t partition = r->assignments[i].partition;
        if (partition < 0 || (size_t)partition >= r->assignment_count)
            return refuse("partitions should be a consecutive 0-based integer sequence", message);
    }
    return KAFKA_ERROR_NONE; // none twice and all in range: 0 to n-1
}

static int compare_entries(const void *a, const void *b) {
    return str_compare(((const struct config_entry *)a)->key, ((const struct config_entry *)b)->key);
}

// Of a key that comes twice the last counts.
struct config_map create_row_overrides(struct arena *texts, const struct controller_create_topic *r) {
    struct config_entry *entries = arena_alloc_array(texts, r->setting_count, sizeof *entries);
    size_t count = 0;
    for (size_t i = 0; entries && i < r->setting_count && count < SETTINGS_MAX; i++) {
        size_t place = 0;
        while (place < count && !str_equal(entries[place].key, r->settings[i].key))
            place++;
        entries[place] = (struct config_entry){r->settings[i].key, r->settings[i].value};
        if (place == count) count++;
    }
    if (entries) qsort(entries, count, sizeof *entries, compare_entries);
    return (struct config_map){entries, count};
}

int16_t create_row_check_nulls(struct arena *texts, const struct controller_create_topic *r, struct str *message) {
    char memory[512];
    struct text keys = TEXT_IN(memory);
    bool any = false;
    for (size_t i = 0; i < r->setting_count && !keys.truncated; i++) {
        if (!str_is_null(r->settings[i].value)) continue;
        if (any) text_addf(&keys, ",");
        text_add_escaped(&keys, r->settings[i].key);
        any = true;
    }
    if (!any) return KAFKA_ERROR_NONE;
    *message = arena_format(texts, "Null value not supported for topic configs: %s", memory);
    return KAFKA_ERROR_INVALID_CONFIG;
}
