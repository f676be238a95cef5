// SPDX-License-Identifier: Apache-2.0
#include "kept_files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    struct kept_files *kept;
    const char *path;
};

static bool ends_with(const char *path, const char *end) {
    const size_t size = strlen(path), end_size = strlen(end);
    return size >= end_size && strcmp(path + size - end_size, end) == 0;
}

// A partition's last snapshot of its producers is the only one that counts; the names sort by offset.
static void forget_older_snapshots(struct kept_files *kept, const char *path) {
    const size_t directory = (size_t)(strrchr(path, '/') - path);
    for (size_t i = 0; i < kept->count; i++) {
        struct kept_file *file = &kept->files[i];
        if (!ends_with(file->path, ".snapshot") || strncmp(file->path, path, directory + 1) != 0) continue;
        free(file->bytes);
        *file = kept->files[--kept->count];
        return;
    }
}

static void keep(struct kept_files *kept, const char *path) {
    uint64_t size;
    const uint8_t *bytes = sim_file(kept->host, path, &size);
    if (!bytes) return;
    if (ends_with(path, ".snapshot")) forget_older_snapshots(kept, path);
    SIM_CHECK(kept->count < KEPT_FILES_MAX, "too many files");
    struct kept_file *file = &kept->files[kept->count++];
    snprintf(file->path, sizeof file->path, "%s", path);
    file->size = size;
    file->bytes = malloc(size + 1);
    SIM_CHECK(file->bytes, "no memory");
    memcpy(file->bytes, bytes, size);
}

static int look_at(void *context, const char *name);
static int look_into(struct kept_files *kept, const char *path) {
    struct place place = {kept, path};
    return os_list_directory(kept->host, path, look_at, &place);
}

static int look_at(void *context, const char *name) {
    const struct place *place = context;
    char path[KEPT_PATH_MAX];
    if (strstr(name, "delete") || strcmp(name, ".lock") == 0) return 0;
    snprintf(path, sizeof path, "%s/%s", place->path, name);
    if (look_into(place->kept, path) != 0) keep(place->kept, path); // not a directory
    return 0;
}

void kept_files_add(struct kept_files *kept, const char *log_dir) {
    int error = look_into(kept, log_dir);
    SIM_CHECK(error == 0, "%s: %s", log_dir, os_error_text(error));
}

void kept_files_forget(struct kept_files *kept, const char *prefix) {
    size_t left = 0;
    for (size_t i = 0; i < kept->count; i++) {
        if (strncmp(kept->files[i].path, prefix, strlen(prefix)) != 0) {
            kept->files[left++] = kept->files[i];
        } else {
            free(kept->files[i].bytes);
        }
    }
    kept->count = left;
}

void kept_files_check_same(const struct kept_files *kept) {
    for (size_t i = 0; i < kept->count; i++) {
        const struct kept_file *file = &kept->files[i];
        uint64_t size = 0;
        const uint8_t *bytes = sim_file(kept->host, file->path, &size);
        SIM_CHECK(bytes, "%s is gone", file->path);
        SIM_CHECK(size == file->size && memcmp(bytes, file->bytes, size) == 0,
                  "%s: of its %llu bytes, %llu are there or they are others", file->path,
                  (unsigned long long)file->size, (unsigned long long)size);
    }
}

void kept_files_check_logs_go_on(const struct kept_files *kept, const char *topic) {
    for (size_t i = 0; i < kept->count; i++) {
        const struct kept_file *file = &kept->files[i];
        if (!strstr(file->path, topic) || !ends_with(file->path, ".log")) continue;
        uint64_t size = 0;
        const uint8_t *bytes = sim_file(kept->host, file->path, &size);
        SIM_CHECK(bytes && size >= file->size && memcmp(bytes, file->bytes, file->size) == 0,
                  "%s: its %llu bytes are not there after the start", file->path, (unsigned long long)file->size);
    }
}

void kept_files_clear(struct kept_files *kept) {
    for (size_t i = 0; i < kept->count; i++)
        free(kept->files[i].bytes);
    kept->count = 0;
}
