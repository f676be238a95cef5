// SPDX-License-Identifier: Apache-2.0
// Files: the calls that complete at once. Every failure is a negative errno; an interrupted call is made again.
#include "os/linux/engine.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

// An os_vector is handed to the kernel as an iovec.
_Static_assert(sizeof(struct os_vector) == sizeof(struct iovec), "os_vector is an iovec");
_Static_assert(offsetof(struct os_vector, data) == offsetof(struct iovec, iov_base), "os_vector is an iovec");
_Static_assert(offsetof(struct os_vector, size) == offsetof(struct iovec, iov_len), "os_vector is an iovec");

// Makes the call until no signal interrupts it.
#define UNINTERRUPTED(call)                                                                                            \
    __extension__({                                                                                                    \
        __typeof__(call) rc_;                                                                                          \
        do {                                                                                                           \
            rc_ = (call);                                                                                              \
        } while (rc_ == -1 && errno == EINTR);                                                                         \
        rc_ == -1 ? -errno : rc_;                                                                                      \
    })

// It would be waited for until somebody opens its other end.
static bool is_fifo(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISFIFO(s.st_mode);
}

int os_open(struct os_host *host, const char *path, int flags) {
    (void)host;
    ASSERT(flags & (OS_READ | OS_WRITE));
    ASSERT(!(flags & (OS_CREATE | OS_TRUNCATE)) || (flags & OS_WRITE));
    ASSERT(!(flags & OS_EXCLUSIVE) || (flags & OS_CREATE));
    if (!(flags & OS_DIRECTORY) && is_fifo(path)) return -ESPIPE;
    int how = O_CLOEXEC;
    how |= (flags & OS_READ) && (flags & OS_WRITE) ? O_RDWR : flags & OS_WRITE ? O_WRONLY : O_RDONLY;
    if (flags & OS_CREATE) how |= O_CREAT;
    if (flags & OS_EXCLUSIVE) how |= O_EXCL;
    if (flags & OS_TRUNCATE) how |= O_TRUNC;
    if (flags & OS_DIRECTORY) how |= O_DIRECTORY;
    return UNINTERRUPTED(open(path, how, 0644));
}

int os_close(struct os_host *host, int file) {
    (void)host;
    ASSERT(file >= 0);
    // Linux gives the number back whatever close says, so it is never tried again.
    return close(file) == 0 ? 0 : -errno;
}

int64_t os_pread(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    (void)host;
    size_t got = 0;
    while (got < size) {
        ssize_t n = UNINTERRUPTED(pread(file, (uint8_t *)buffer + got, size - got, (off_t)(position + got)));
        if (n < 0) return n;
        if (n == 0) break;
        got += (size_t)n;
    }
    return (int64_t)got;
}

int64_t os_pread_nowait(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    (void)host;
    struct iovec vector = {buffer, size};
    int64_t n = UNINTERRUPTED(preadv2(file, &vector, 1, (off_t)position, RWF_NOWAIT));
    return n == -EOPNOTSUPP ? -EAGAIN : n; // a file system that cannot say
}

int64_t os_pwritev(struct os_host *host, int file, const struct os_vector *vectors, int count, uint64_t position) {
    (void)host;
    ASSERT(count > 0 && count <= OS_VECTORS_MAX);
    return UNINTERRUPTED(pwritev(file, (const struct iovec *)vectors, count, (off_t)position));
}

// A failed sync is never tried again: the kernel may have dropped the pages.
int os_fsync(struct os_host *host, int file) {
    (void)host;
    return fsync(file) == 0 ? 0 : -errno;
}

int os_fdatasync(struct os_host *host, int file) {
    (void)host;
    return fdatasync(file) == 0 ? 0 : -errno;
}

// Of a file system that has made itself read-only (ext4 after an error, before Linux 6.12) the kernel writes nothing,
// and answers that all is well.
int os_sync_filesystem(struct os_host *host, int file) {
    (void)host;
    struct statvfs s;
    if (syncfs(file) != 0 || fstatvfs(file, &s) != 0) return -errno;
    return s.f_flag & ST_RDONLY ? -EROFS : 0;
}

bool os_sync_filesystem_is_enough(struct os_host *host, int file) {
    (void)host;
    struct statfs s;
    if (fstatfs(file, &s) != 0) return false;
    switch (s.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC: return true;
    default: return false;
    }
}

int os_truncate(struct os_host *host, int file, uint64_t size_bytes) {
    (void)host;
    return UNINTERRUPTED(ftruncate(file, (off_t)size_bytes));
}

int os_allocate(struct os_host *host, int file, uint64_t size_bytes) {
    int error = UNINTERRUPTED(fallocate(file, 0, 0, (off_t)size_bytes));
    return error == -EOPNOTSUPP || error == -ENOSYS ? os_truncate(host, file, size_bytes) : error;
}

int os_reserve(struct os_host *host, int file, uint64_t position, uint64_t size_bytes) {
    (void)host;
    return UNINTERRUPTED(fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)position, (off_t)size_bytes));
}

int os_will_need(struct os_host *host, int file, uint64_t position, uint64_t size_bytes) {
    (void)host;
    return -posix_fadvise(file, (off_t)position, (off_t)size_bytes, POSIX_FADV_WILLNEED);
}

static void stat_convert(const struct stat *from, struct os_stat *to) {
    to->size_bytes = (uint64_t)from->st_size;
    to->modified_ms = (int64_t)from->st_mtim.tv_sec * 1000 + from->st_mtim.tv_nsec / 1000000;
    to->is_directory = S_ISDIR(from->st_mode);
    to->device = from->st_dev;
}

int os_stat(struct os_host *host, const char *path, struct os_stat *stat_out) {
    (void)host;
    struct stat s;
    if (stat(path, &s) != 0) return -errno;
    stat_convert(&s, stat_out);
    return 0;
}

int os_stat_file(struct os_host *host, int file, struct os_stat *stat_out) {
    (void)host;
    struct stat s;
    if (fstat(file, &s) != 0) return -errno;
    stat_convert(&s, stat_out);
    return 0;
}

int os_set_modified(struct os_host *host, const char *path, int64_t modified_ms) {
    (void)host;
    int64_t seconds = modified_ms / 1000, rest_ms = modified_ms % 1000;
    if (rest_ms < 0) {
        rest_ms += 1000;
        seconds--;
    }
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = seconds, .tv_nsec = rest_ms * 1000000}};
    return utimensat(AT_FDCWD, path, times, 0) == 0 ? 0 : -errno;
}

int os_rename(struct os_host *host, const char *from, const char *to) {
    (void)host;
    return rename(from, to) == 0 ? 0 : -errno;
}

int os_unlink(struct os_host *host, const char *path) {
    (void)host;
    return unlink(path) == 0 ? 0 : -errno;
}

int os_mkdir(struct os_host *host, const char *path) {
    (void)host;
    return mkdir(path, 0755) == 0 ? 0 : -errno;
}

int os_rmdir(struct os_host *host, const char *path) {
    (void)host;
    return rmdir(path) == 0 ? 0 : -errno;
}

// ---- directories: the names are collected and sorted first, so that the caller may change the directory as it goes
struct names {
    char **list;
    size_t count, capacity;
};

static void names_free(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static int names_add(struct names *names, const char *name) {
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? names->capacity * 2 : 64;
        char **list = realloc(names->list, capacity * sizeof *list);
        if (!list) return -ENOMEM;
        names->list = list;
        names->capacity = capacity;
    }
    names->list[names->count] = strdup(name);
    if (!names->list[names->count]) return -ENOMEM;
    names->count++;
    return 0;
}

static int names_compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int names_read(struct names *names, const char *path) {
    DIR *directory = opendir(path);
    if (!directory) return -errno;
    int error = 0;
    while (error == 0) {
        errno = 0;
        struct dirent *entry = readdir(directory);
        if (!entry) {
            error = -errno;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            error = names_add(names, entry->d_name);
    }
    closedir(directory);
    return error;
}

int os_list_directory(struct os_host *host, const char *path, int (*entry)(void *context, const char *name),
                      void *context) {
    (void)host;
    struct names names = {0};
    int result = names_read(&names, path);
    if (result == 0 && names.count > 0) qsort(names.list, names.count, sizeof *names.list, names_compare);
    for (size_t i = 0; result == 0 && i < names.count; i++)
        result = entry(context, names.list[i]);
    names_free(&names);
    return result;
}

// Of the open file, not of the process: two opens of one process exclude each other too, and Java's FileLock (an fcntl
// lock) is seen.
int os_lock(struct os_host *host, int file) {
    (void)host;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int result = UNINTERRUPTED(fcntl(file, F_OFD_SETLK, &lock));
    return result == -EACCES ? -EAGAIN : result;
}

int os_space(struct os_host *host, const char *path, uint64_t *total_bytes, uint64_t *available_bytes) {
    (void)host;
    struct statvfs s;
    if (statvfs(path, &s) != 0) return -errno;
    *total_bytes = (uint64_t)s.f_blocks * s.f_frsize;
    *available_bytes = (uint64_t)s.f_bavail * s.f_frsize;
    return 0;
}
