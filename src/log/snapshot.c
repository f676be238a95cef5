// SPDX-License-Identifier: Apache-2.0
// A snapshot is written in place: its checksum tells a torn one, and then the next older one is as good, only slower.
#include "log/snapshot.h"
#include "base/assert.h"
#include "log/dir_name.h"
#include "log/files.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { SNAPSHOT_NAME_BYTES = 40 };

static void snapshot_name(char name[static SNAPSHOT_NAME_BYTES], int64_t offset) {
    struct text t = text_in(name, SNAPSHOT_NAME_BYTES);
    text_addf(&t, "%020" PRId64 ".snapshot", offset);
    ASSERT(!t.truncated);
}

void offset_list_add(struct offset_list *list, int64_t offset) {
    ASSERT(list->count == 0 || offset > list->offsets[list->count - 1]);
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 8;
        list->offsets = realloc(list->offsets, list->capacity * sizeof *list->offsets);
        ASSERT(list->offsets != NULL);
    }
    list->offsets[list->count++] = offset;
}

void offset_list_free(struct offset_list *list) {
    free(list->offsets);
    *list = (struct offset_list){0};
}

static bool offset_list_has(const struct offset_list *list, int64_t offset) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->offsets[middle] == offset) return true;
        if (list->offsets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

// Twenty digits sort as text as they do as numbers, and the names are in bytewise order.
void snapshot_pick(const struct name_list *names, struct offset_list *list) {
    *list = (struct offset_list){0};
    for (size_t i = 0; i < names->count; i++) {
        int64_t offset;
        struct str suffix;
        if (file_name_parse(str_of(names->names[i]), &offset, &suffix) && str_is(suffix, ".snapshot"))
            offset_list_add(list, offset);
    }
}

int snapshot_list(struct os_host *host, const char *directory, struct offset_list *list) {
    struct name_list names;
    *list = (struct offset_list){0};
    int error = name_list_read(host, directory, &names);
    if (error < 0) return error;
    snapshot_pick(&names, list);
    name_list_free(&names);
    return 0;
}

int snapshot_write(struct os_host *host, const char *directory, int64_t offset, struct producers *producers,
                   bool sync) {
    char name[SNAPSHOT_NAME_BYTES];
    snapshot_name(name, offset);
    size_t size = producers_snapshot_bytes(producers);
    uint8_t *bytes = malloc(size);
    ASSERT(bytes != NULL);
    producers_encode(producers, bytes);
    int error = file_write(host, directory, name, bytes, size, sync);
    free(bytes);
    if (error == 0) producers->snapshot_offset = offset;
    return error;
}

int snapshot_delete(struct os_host *host, const char *directory, int64_t offset) {
    char name[SNAPSHOT_NAME_BYTES];
    snapshot_name(name, offset);
    return file_delete(host, directory, name);
}

// 0: `producers` holds it; -EINVAL: it is damaged.
static int load_one(struct os_host *host, const char *directory, int64_t offset, const struct snapshot_limits *limits,
                    struct producers *producers, struct text *warning) {
    char name[SNAPSHOT_NAME_BYTES], path[FILES_PATH_MAX], why[160], *data;
    size_t size;
    struct text reason = TEXT_IN(why);
    snapshot_name(name, offset);
    if (!path_join(path, directory, name)) return -ENAMETOOLONG;
    int error = file_read_all(host, path, SNAPSHOT_FILE_BYTES_MAX, &data, &size);
    if (error == -EFBIG) text_addf(&reason, "more than %d bytes", SNAPSHOT_FILE_BYTES_MAX);
    if (error < 0 && error != -EFBIG) return error;
    bool good = error == 0 && producers_decode(producers, (struct bytes){(uint8_t *)data, size}, limits->now_ms,
                                               limits->expiration_ms, &reason);
    if (error == 0) free(data);
    if (good) return 0;
    text_addf(warning, "%s%s was damaged (%s)", warning->size ? "; " : "", name, why);
    return -EINVAL;
}

int snapshot_load_newest(struct os_host *host, const char *directory, const struct offset_list *list,
                         const struct snapshot_limits *limits, struct producers *producers, int64_t *offset,
                         struct text *warning) {
    producers_clear(producers);
    producers->snapshot_offset = -1;
    *offset = -1;
    for (size_t i = list->count; i > 0; i--) {
        int64_t candidate = list->offsets[i - 1];
        if (candidate > limits->max_offset) continue;
        if (candidate <= limits->log_start_offset) break;
        int error = load_one(host, directory, candidate, limits, producers, warning);
        if (error == 0) {
            *offset = producers->snapshot_offset = candidate;
            return 0;
        }
        if (error == -EINVAL) error = snapshot_delete(host, directory, candidate);
        if (error < 0 && error != -ENOENT) return error;
    }
    return 0;
}

int snapshot_delete_strays(struct os_host *host, const char *directory, const struct offset_list *list,
                           const struct offset_list *bases, int64_t log_start_offset, int64_t end_offset) {
    ASSERT(bases->count > 0);
    int error = 0;
    int64_t last_base = bases->offsets[bases->count - 1], newest = -1;
    for (size_t i = 0; i < list->count; i++)
        if (list->offsets[i] <= end_offset) newest = list->offsets[i];
    for (size_t i = 0; i < list->count && error == 0; i++) {
        int64_t offset = list->offsets[i];
        bool in_range = offset > log_start_offset && offset <= end_offset;
        bool wanted = offset_list_has(bases, offset) || (offset == newest && offset >= last_base);
        if (!in_range || !wanted) error = snapshot_delete(host, directory, offset);
    }
    return error;
}
