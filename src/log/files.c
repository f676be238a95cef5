// SPDX-License-Identifier: Apache-2.0
// Replacing a file: open the directory, write <name>.tmp, fsync it, rename it over the name, fsync the directory.
// Whatever fails, the name still holds its old bytes (or, if only the last fsync failed, one of the two), and the error
// goes to the caller, who decides what it means for the directory. The directory is opened first, so that a lack of
// descriptors never comes after the rename.
#include "log/files.h"
#include "base/assert.h"
#include "base/text.h"
#include "os/shortage.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DELETE_DEPTH_MAX = 4 };

bool path_join(char path[static FILES_PATH_MAX], const char *directory, const char *name) {
    struct text t = text_in(path, FILES_PATH_MAX);
    text_add(&t, str_of(directory));
    if (t.size == 0 || t.data[t.size - 1] != '/') text_add(&t, str_of("/"));
    text_add(&t, str_of(name));
    return !t.truncated;
}

static int read_open_file(struct os_host *host, int file, size_t limit_bytes, char **data, size_t *size_bytes) {
    struct os_stat stat;
    int error = os_stat_file(host, file, &stat);
    if (error < 0) return error;
    if (stat.is_directory) return -EISDIR;
    if (stat.size_bytes > limit_bytes) return -EFBIG;
    char *memory = malloc(stat.size_bytes + 1);
    ASSERT(memory != NULL);
    int64_t got = os_pread(host, file, memory, stat.size_bytes, 0);
    if (got < 0) {
        free(memory);
        return (int)got;
    }
    memory[got] = '\0';
    *data = memory;
    *size_bytes = (size_t)got;
    return 0;
}

int file_read_all(struct os_host *host, const char *path, size_t limit_bytes, char **data, size_t *size_bytes) {
    int file = os_open(host, path, OS_READ);
    if (file < 0) return file;
    int error = read_open_file(host, file, limit_bytes, data, size_bytes);
    os_close(host, file);
    return error;
}

int file_write_all(struct os_host *host, int file, const void *data, size_t size_bytes, uint64_t position) {
    size_t done = 0;
    while (done < size_bytes) {
        struct os_vector rest = {(const char *)data + done, size_bytes - done};
        int64_t written = os_pwritev(host, file, &rest, 1, position + done);
        if (written < 0) return (int)written;
        if (written == 0) return -EIO;
        done += (size_t)written;
    }
    return 0;
}

// A shortage is no disaster when an open or a write says so, but it is when an fsync does: what it lost is not known.
static int sync_error(int error) {
    return os_is_shortage(error) ? -EIO : error;
}

static int write_new(struct os_host *host, const char *path, const void *data, size_t size_bytes, bool sync) {
    int file = os_open(host, path, OS_WRITE | OS_CREATE | OS_TRUNCATE);
    if (file < 0) return file;
    int error = file_write_all(host, file, data, size_bytes, 0);
    if (error == 0 && sync) error = sync_error(os_fsync(host, file));
    int closed = os_close(host, file);
    return error < 0 ? error : closed < 0 ? closed : 0;
}

int file_write(struct os_host *host, const char *directory, const char *name, const void *data, size_t size_bytes,
               bool sync) {
    char path[FILES_PATH_MAX];
    if (!path_join(path, directory, name)) return -ENAMETOOLONG;
    return write_new(host, path, data, size_bytes, sync);
}

int file_replace(struct os_host *host, const char *directory, const char *name, const void *data, size_t size_bytes) {
    char path[FILES_PATH_MAX], temporary[FILES_PATH_MAX];
    if (!path_join(path, directory, name) || !path_join(temporary, directory, name)) return -ENAMETOOLONG;
    if (strlen(temporary) + sizeof ".tmp" > sizeof temporary) return -ENAMETOOLONG;
    strcat(temporary, ".tmp");
    int parent = directory_open(host, directory);
    if (parent < 0) return parent;
    int error = write_new(host, temporary, data, size_bytes, true);
    if (error == 0) error = os_rename(host, temporary, path);
    if (error == 0) return directory_sync_and_close(host, parent);
    os_unlink(host, temporary);
    os_close(host, parent);
    return error;
}

bool file_exists(struct os_host *host, const char *directory, const char *name) {
    char path[FILES_PATH_MAX];
    struct os_stat stat;
    return path_join(path, directory, name) && os_stat(host, path, &stat) == 0 && !stat.is_directory;
}

int file_delete(struct os_host *host, const char *directory, const char *name) {
    char path[FILES_PATH_MAX];
    if (!path_join(path, directory, name)) return -ENAMETOOLONG;
    int error = os_unlink(host, path);
    return error == -ENOENT ? 0 : error;
}

int file_rename(struct os_host *host, const char *directory, const char *from, const char *to) {
    char source[FILES_PATH_MAX], target[FILES_PATH_MAX];
    if (!path_join(source, directory, from) || !path_join(target, directory, to)) return -ENAMETOOLONG;
    return os_rename(host, source, target);
}

// ---- directories
// ----------------------------------------------------------------------------------------------------------------------
int directory_open(struct os_host *host, const char *path) {
    return os_open(host, path, OS_READ | OS_DIRECTORY);
}

int directory_sync_and_close(struct os_host *host, int directory) {
    int error = sync_error(os_fsync(host, directory));
    os_close(host, directory);
    return error;
}

int directory_sync(struct os_host *host, const char *path) {
    int directory = directory_open(host, path);
    return directory < 0 ? directory : directory_sync_and_close(host, directory);
}

// "a/b/c" -> "a/b"; "c" -> "."; "/c" -> "/".
static void parent_of(char path[static FILES_PATH_MAX]) {
    char *slash = strrchr(path, '/');
    if (!slash)
        strcpy(path, ".");
    else
        slash[slash == path ? 1 : 0] = '\0';
}

static int create_one(struct os_host *host, const char *path) {
    struct os_stat stat;
    int error = os_stat(host, path, &stat);
    if (error == 0) return stat.is_directory ? 0 : -ENOTDIR;
    if (error != -ENOENT) return error;
    error = os_mkdir(host, path);
    if (error < 0 && error != -EEXIST) return error;
    char parent[FILES_PATH_MAX];
    strcpy(parent, path);
    parent_of(parent);
    return directory_sync(host, parent);
}

int directory_create_all(struct os_host *host, const char *path) {
    char part[FILES_PATH_MAX];
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    if (size == 0 || size >= sizeof part) return size == 0 ? -ENOENT : -ENAMETOOLONG;
    for (size_t i = 1; i <= size; i++) {
        bool ends_a_part = (i == size || path[i] == '/') && path[i - 1] != '/';
        if (!ends_a_part) continue;
        memcpy(part, path, i);
        part[i] = '\0';
        int error = create_one(host, part);
        if (error < 0) return error;
    }
    // A process that was killed may have made it without getting this far.
    parent_of(part);
    int error = directory_sync(host, part);
    return error == -EACCES ? 0 : error;
}

static int add_name(void *context, const char *name) {
    struct name_list *list = context;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 16;
        list->names = realloc(list->names, list->capacity * sizeof *list->names);
        ASSERT(list->names != NULL);
    }
    list->names[list->count] = strdup(name);
    ASSERT(list->names[list->count] != NULL);
    list->count++;
    return 0;
}

int name_list_read(struct os_host *host, const char *path, struct name_list *list) {
    *list = (struct name_list){0};
    int error = os_list_directory(host, path, add_name, list);
    if (error < 0) name_list_free(list);
    return error < 0 ? error : 0;
}

bool name_list_has(const struct name_list *list, const char *name) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->names[middle], name);
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

void name_list_free(struct name_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct name_list){0};
}

static int delete_to_depth(struct os_host *host, const char *path, int depth) {
    struct name_list list;
    int error = name_list_read(host, path, &list);
    for (size_t i = 0; error == 0 && i < list.count; i++) {
        char entry[FILES_PATH_MAX];
        struct os_stat stat;
        if (!path_join(entry, path, list.names[i])) error = -ENAMETOOLONG;
        if (error == 0) error = os_stat(host, entry, &stat);
        if (error == 0)
            error = !stat.is_directory ? os_unlink(host, entry)
                    : depth > 0        ? delete_to_depth(host, entry, depth - 1)
                                       : -ENOTEMPTY;
        if (error == -ENOENT) error = 0; // a dangling link, or somebody was faster
    }
    name_list_free(&list);
    if (error < 0) return error;
    error = os_rmdir(host, path);
    return error == -ENOTDIR ? os_unlink(host, path) : error; // a link to a directory
}

int directory_delete(struct os_host *host, const char *path) {
    return delete_to_depth(host, path, DELETE_DEPTH_MAX);
}
