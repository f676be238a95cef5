// SPDX-License-Identifier: Apache-2.0
// A sorted array: a log has a handful of epochs, appends come at the end.
//
// What may go wrong: only the text of the file, which is not trusted. Entries must rise; Kafka itself drops those that
// do not (with the rule of epochs_assign), and so do we.
#include "log/epochs.h"
#include "base/assert.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void epochs_init(struct epochs *e) {
    *e = (struct epochs){0};
}

void epochs_free(struct epochs *e) {
    free(e->entries);
    epochs_init(e);
}

void epochs_clear(struct epochs *e) {
    if (e->count > 0) e->version++;
    e->count = 0;
}

static void epochs_check(const struct epochs *e) {
    if (e->count >= 2) {
        ASSERT(e->entries[e->count - 2].epoch < e->entries[e->count - 1].epoch);
        ASSERT(e->entries[e->count - 2].start_offset < e->entries[e->count - 1].start_offset);
    }
}

bool epochs_assign(struct epochs *e, int32_t epoch, int64_t start_offset) {
    ASSERT(epoch >= 0);
    ASSERT(start_offset >= 0);
    if (e->count > 0) {
        const struct epoch_entry *last = &e->entries[e->count - 1];
        if (last->epoch == epoch && last->start_offset <= start_offset) return false;
    }
    while (e->count > 0 &&
           (e->entries[e->count - 1].epoch >= epoch || e->entries[e->count - 1].start_offset >= start_offset))
        e->count--;
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? e->capacity * 2 : 4;
        e->entries = realloc(e->entries, e->capacity * sizeof *e->entries);
        ASSERT(e->entries != NULL);
    }
    e->entries[e->count++] = (struct epoch_entry){epoch, start_offset};
    e->version++;
    epochs_check(e);
    return true;
}

bool epochs_truncate_end(struct epochs *e, int64_t end_offset) {
    size_t before = e->count;
    while (e->count > 0 && e->entries[e->count - 1].start_offset >= end_offset)
        e->count--;
    if (e->count == before) return false;
    e->version++;
    return true;
}

bool epochs_truncate_start(struct epochs *e, int64_t start_offset) {
    size_t below = 0; // entries that begin at or before the start
    while (below < e->count && e->entries[below].start_offset <= start_offset)
        below++;
    if (below == 0) return false;
    struct epoch_entry *in_force = &e->entries[below - 1];
    if (below == 1 && in_force->start_offset == start_offset) return false;
    in_force->start_offset = start_offset;
    memmove(e->entries, in_force, (e->count - (below - 1)) * sizeof *e->entries);
    e->count -= below - 1;
    e->version++;
    epochs_check(e);
    return true;
}

int32_t epochs_latest(const struct epochs *e) {
    return e->count == 0 ? -1 : e->entries[e->count - 1].epoch;
}

// The number of entries for which the key (epoch or offset) is at most the one asked for.
static size_t count_up_to_epoch(const struct epochs *e, int32_t epoch) {
    size_t n = e->count;
    while (n > 0 && e->entries[n - 1].epoch > epoch)
        n--;
    return n;
}

int32_t epochs_at(const struct epochs *e, int64_t offset) {
    size_t n = e->count;
    while (n > 0 && e->entries[n - 1].start_offset > offset)
        n--;
    return n == 0 ? -1 : e->entries[n - 1].epoch;
}

void epochs_end_of(const struct epochs *e, int32_t epoch, int64_t log_end_offset, int32_t *found_epoch,
                   int64_t *end_offset) {
    *found_epoch = -1;
    *end_offset = -1;
    if (e->count == 0 || epoch == -1 || epoch > epochs_latest(e))
        return; // others below 0 are only below all known ones
    if (epoch == epochs_latest(e)) {
        *found_epoch = epoch;
        *end_offset = log_end_offset;
        return;
    }
    size_t n = count_up_to_epoch(e, epoch);
    ASSERT(n < e->count);
    *found_epoch = n == 0 ? epoch : e->entries[n - 1].epoch;
    *end_offset = e->entries[n].start_offset;
}

// ---- the file: "0", the count, then "epoch start" a line
// -----------------------------------------------------------------------------------
enum { EPOCH_LINE_MAX = 34 }; // 10 digits, blank, 19 digits, newline, and some room

char *epochs_encode(const struct epochs *e, size_t *size_bytes) {
    size_t capacity = EPOCH_LINE_MAX * (e->count + 2);
    char *memory = malloc(capacity);
    ASSERT(memory != NULL);
    struct text t = text_in(memory, capacity);
    text_addf(&t, "0\n%zu\n", e->count);
    for (size_t i = 0; i < e->count; i++)
        text_addf(&t, "%" PRId32 " %" PRId64 "\n", e->entries[i].epoch, e->entries[i].start_offset);
    ASSERT(!t.truncated);
    *size_bytes = t.size;
    return memory;
}

// Takes the next line off the text; false when nothing is left.
static bool next_line(struct str *rest, struct str *line) {
    if (rest->size == 0) return false;
    const char *newline = memchr(rest->data, '\n', rest->size);
    size_t size = newline ? (size_t)(newline - rest->data) : rest->size;
    *line = (struct str){rest->data, size};
    size_t taken = size + (newline ? 1 : 0);
    rest->data += taken;
    rest->size -= taken;
    return true;
}

static bool parse_entry(struct str line, struct epoch_entry *entry) {
    const char *blank = line.size == 0 ? NULL : memchr(line.data, ' ', line.size);
    if (!blank) return false;
    struct str first = {line.data, (size_t)(blank - line.data)};
    struct str second = {blank + 1, line.size - first.size - 1};
    int64_t epoch, start_offset;
    if (!parse_i64(first, 0, INT32_MAX, &epoch) || !parse_i64(second, 0, INT64_MAX, &start_offset)) return false;
    *entry = (struct epoch_entry){(int32_t)epoch, start_offset};
    return true;
}

static bool decode_lines(struct epochs *e, struct str rest, struct text *reason) {
    struct str line;
    int64_t value = 0;
    if (!next_line(&rest, &line)) return true;
    if (!parse_i64(line, 0, INT32_MAX, &value) || value != 0) {
        text_addf(reason, "line 1: the version must be 0");
        return false;
    }
    if (!next_line(&rest, &line)) return true;
    if (!parse_i64(line, 0, EPOCHS_MAX, &value)) {
        text_addf(reason, "line 2: the number of entries must be 0 to %d", EPOCHS_MAX);
        return false;
    }
    int64_t found = 0;
    while (next_line(&rest, &line)) {
        struct epoch_entry entry;
        if (found == value || !parse_entry(line, &entry)) {
            text_addf(reason, "line %" PRId64 ": %s", found + 3,
                      found == value ? "more entries than line 2 announces"
                                     : "must be an epoch, a blank and an offset");
            return false;
        }
        epochs_assign(e, entry.epoch, entry.start_offset);
        found++;
    }
    if (found == value) return true;
    text_addf(reason, "line 2 announces %" PRId64 " entries, there are %" PRId64, value, found);
    return false;
}

bool epochs_decode(struct epochs *e, struct str text, struct text *reason) {
    epochs_clear(e);
    if (decode_lines(e, text, reason)) {
        e->written_version = e->version;
        return true;
    }
    epochs_clear(e);
    return false;
}
