// SPDX-License-Identifier: Apache-2.0
// Checkpoint files: parsed strictly, replaced durably. A file that is missing or empty says nothing; a damaged one is
// an error that names the line, and what it means is the caller's business (the recovery point can be taken as 0).
#include "log/checkpoint.h"
#include "base/assert.h"
#include "config/topic_name.h"
#include "log/files.h"
#include "os/shortage.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

const char *checkpoint_file_name(enum checkpoint_kind kind) {
    switch (kind) {
    case CHECKPOINT_RECOVERY_POINT: return "recovery-point-offset-checkpoint";
    case CHECKPOINT_LOG_START: return "log-start-offset-checkpoint";
    case CHECKPOINT_HIGH_WATERMARK: return "replication-offset-checkpoint";
    case CHECKPOINT_CLEANER: return "cleaner-offset-checkpoint";
    }
    UNREACHABLE();
}

void checkpoint_free(struct checkpoint *checkpoint) {
    for (size_t i = 0; i < checkpoint->count; i++)
        free(checkpoint->entries[i].topic);
    free(checkpoint->entries);
    *checkpoint = (struct checkpoint){0};
}

// ---- text
// ----------------------------------------------------------------------------------------------------------------------------
// Takes the next piece up to `end` (or the end of the text) off the front; false when nothing is left.
static bool take_until(struct str *rest, char end, struct str *piece) {
    if (rest->size == 0) return false;
    const char *found = memchr(rest->data, end, rest->size);
    size_t size = found ? (size_t)(found - rest->data) : rest->size;
    *piece = (struct str){rest->data, size};
    size_t taken = size + (found ? 1 : 0);
    rest->data += taken;
    rest->size -= taken;
    return true;
}

static bool parse_line(struct str line, struct checkpoint_entry *entry) {
    struct str topic, partition, offset, nothing;
    int64_t partition_value, offset_value;
    if (!take_until(&line, ' ', &topic) || !take_until(&line, ' ', &partition) || !take_until(&line, ' ', &offset))
        return false;
    if (take_until(&line, ' ', &nothing) || !topic_name_is_legal(topic)) return false;
    if (!parse_i64(partition, 0, INT32_MAX, &partition_value)) return false;
    if (!parse_i64(offset, INT64_MIN, INT64_MAX, &offset_value)) return false;
    *entry = (struct checkpoint_entry){strndup(topic.data, topic.size), (int32_t)partition_value, offset_value};
    ASSERT(entry->topic != NULL);
    return true;
}

// The shortest line has 6 bytes ("a 0 0" and the newline): a count beyond what the text can hold is not believed.
static bool parse_entries(struct str rest, int64_t count, struct checkpoint *checkpoint, struct text *reason) {
    if (count > (int64_t)(rest.size + 1) / 6) {
        text_addf(reason, "line 2 announces %" PRId64 " entries, more than the file has room for", count);
        return false;
    }
    if (count > 0) {
        checkpoint->entries = calloc((size_t)count, sizeof *checkpoint->entries);
        ASSERT(checkpoint->entries != NULL);
    }
    struct str line;
    while (take_until(&rest, '\n', &line)) {
        if (checkpoint->count == (size_t)count) {
            text_addf(reason, "line %zu: line 2 announces only %" PRId64 " entries", checkpoint->count + 3, count);
            return false;
        }
        if (!parse_line(line, &checkpoint->entries[checkpoint->count])) {
            text_addf(reason, "line %zu must be a topic, a partition and an offset", checkpoint->count + 3);
            return false;
        }
        checkpoint->count++;
    }
    if (checkpoint->count == (size_t)count) return true;
    text_addf(reason, "line 2 announces %" PRId64 " entries, there are %zu", count, checkpoint->count);
    return false;
}

bool checkpoint_parse(struct str text, struct checkpoint *checkpoint, struct text *reason) {
    *checkpoint = (struct checkpoint){0};
    struct str line;
    int64_t version, count;
    if (!take_until(&text, '\n', &line)) return true;
    if (!parse_i64(line, 0, INT32_MAX, &version) || version != 0) {
        text_addf(reason, "line 1: the version must be 0");
        return false;
    }
    if (!take_until(&text, '\n', &line)) return true;
    if (!parse_i64(line, 0, INT32_MAX, &count)) {
        text_addf(reason, "line 2 must be the number of entries");
        return false;
    }
    if (parse_entries(text, count, checkpoint, reason)) return true;
    checkpoint_free(checkpoint);
    return false;
}

char *checkpoint_format(const struct checkpoint *checkpoint, size_t *size_bytes) {
    size_t capacity = 64;
    for (size_t i = 0; i < checkpoint->count; i++)
        capacity += strlen(checkpoint->entries[i].topic) + 36;
    char *memory = malloc(capacity);
    ASSERT(memory != NULL);
    struct text t = text_in(memory, capacity);
    text_addf(&t, "0\n%zu\n", checkpoint->count);
    for (size_t i = 0; i < checkpoint->count; i++) {
        const struct checkpoint_entry *e = &checkpoint->entries[i];
        text_addf(&t, "%s %" PRId32 " %" PRId64 "\n", e->topic, e->partition, e->offset);
    }
    ASSERT(!t.truncated);
    *size_bytes = t.size;
    return memory;
}

// ---- order
// ---------------------------------------------------------------------------------------------------------------------------
static int compare_key(const char *topic_a, int32_t partition_a, const char *topic_b, int32_t partition_b) {
    int order = strcmp(topic_a, topic_b);
    return order != 0 ? order : (partition_a > partition_b) - (partition_a < partition_b);
}

// Compares lines of one table: where they lie breaks ties, so that sorting is stable.
static int compare_indexed(const void *a, const void *b) {
    const struct checkpoint_entry *x = *(const struct checkpoint_entry *const *)a,
                                  *y = *(const struct checkpoint_entry *const *)b;
    int order = compare_key(x->topic, x->partition, y->topic, y->partition);
    return order != 0 ? order : (x > y) - (x < y);
}

void checkpoint_sort(struct checkpoint *checkpoint) {
    size_t count = checkpoint->count;
    if (count < 2) return;
    struct checkpoint_entry **order = calloc(count, sizeof *order);
    struct checkpoint_entry *sorted = calloc(count, sizeof *sorted);
    ASSERT(order != NULL);
    ASSERT(sorted != NULL);
    for (size_t i = 0; i < count; i++)
        order[i] = &checkpoint->entries[i];
    qsort(order, count, sizeof *order, compare_indexed);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool repeats = i + 1 < count && compare_key(order[i]->topic, order[i]->partition, order[i + 1]->topic,
                                                    order[i + 1]->partition) == 0;
        if (repeats)
            free(order[i]->topic);
        else
            sorted[kept++] = *order[i];
    }
    free(order);
    free(checkpoint->entries);
    checkpoint->entries = sorted;
    checkpoint->count = kept;
}

const struct checkpoint_entry *checkpoint_find(const struct checkpoint *checkpoint, const char *topic,
                                               int32_t partition) {
    size_t low = 0, high = checkpoint->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct checkpoint_entry *e = &checkpoint->entries[middle];
        int order = compare_key(e->topic, e->partition, topic, partition);
        if (order == 0) return e;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// ---- files
// ---------------------------------------------------------------------------------------------------------------------------
int checkpoint_read_explained(struct os_host *host, struct log_dir *dir, enum checkpoint_kind kind,
                              struct checkpoint *checkpoint, struct text *reason) {
    *checkpoint = (struct checkpoint){0};
    char path[FILES_PATH_MAX], *data;
    size_t size;
    if (!path_join(path, dir->path, checkpoint_file_name(kind))) return -ENAMETOOLONG;
    int error = file_read_all(host, path, CHECKPOINT_FILE_BYTES_MAX, &data, &size);
    if (error == -ENOENT) return 0;
    if (error == -EFBIG) text_addf(reason, "larger than %d bytes", CHECKPOINT_FILE_BYTES_MAX);
    if (error == -EFBIG) return -EINVAL;
    if (error < 0) return error;
    bool good = checkpoint_parse((struct str){data, size}, checkpoint, reason);
    free(data);
    return good ? 0 : -EINVAL;
}

int checkpoint_read(struct os_host *host, struct log_dir *dir, enum checkpoint_kind kind,
                    struct checkpoint *checkpoint) {
    char ignored[128];
    struct text reason = TEXT_IN(ignored);
    return checkpoint_read_explained(host, dir, kind, checkpoint, &reason);
}

int checkpoint_write(struct os_host *host, struct log_dir *dir, enum checkpoint_kind kind,
                     const struct checkpoint *checkpoint) {
    if (log_dir_is_failed(dir)) return -EIO;
    size_t size;
    char *text = checkpoint_format(checkpoint, &size);
    int error = file_replace(host, dir->path, checkpoint_file_name(kind), text, size);
    free(text);
    if (error < 0 && !os_is_shortage(error)) log_dir_fail(dir, checkpoint_file_name(kind), error);
    return error;
}
