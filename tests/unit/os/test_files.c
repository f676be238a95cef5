// SPDX-License-Identifier: Apache-2.0
// Files: the calls that complete at once, and the operations.
#include "fixture.h"
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

Test(files, open_flags_say_what_they_mean) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    cr_assert_eq(os_open(f.host, t.file, OS_READ), -ENOENT);
    int file = os_open(f.host, t.file, OS_READ | OS_WRITE | OS_CREATE | OS_EXCLUSIVE);
    cr_assert_geq(file, 0);
    cr_assert(fcntl(file, F_GETFD) & FD_CLOEXEC);
    cr_assert_eq(os_open(f.host, t.file, OS_WRITE | OS_CREATE | OS_EXCLUSIVE), -EEXIST);
    struct os_vector v = {"abc", 3};
    cr_assert_eq(os_pwritev(f.host, file, &v, 1, 0), 3);
    cr_assert_eq(os_close(f.host, file), 0);
    file = os_open(f.host, t.file, OS_WRITE | OS_TRUNCATE);
    struct os_stat stat;
    cr_assert_eq(os_stat_file(f.host, file, &stat), 0);
    cr_assert_eq(stat.size_bytes, 0);
    os_close(f.host, file);
    int directory = os_open(f.host, t.path, OS_READ | OS_DIRECTORY);
    cr_assert_geq(directory, 0);
    cr_assert_eq(os_fsync(f.host, directory), 0);
    cr_assert_eq(os_sync_filesystem(f.host, directory), 0);
    os_close(f.host, directory);
    cr_assert_eq(os_open(f.host, t.file, OS_READ | OS_DIRECTORY), -ENOTDIR);
    temporary_close(&t);
    fixture_close(&f);
}

enum { NOT_ALLOWED = 77 };

// In a process of its own, which sees the directory read-only: what it exits with.
static int sync_read_only(struct os_host *host, const char *path) {
    int how = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(how) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, path, NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0)
        return NOT_ALLOWED;
    int directory = os_open(host, path, OS_READ | OS_DIRECTORY);
    return directory >= 0 && os_sync_filesystem(host, directory) == -EROFS ? 0 : 1;
}

// The kernel says that it has written everything, but has not looked.
Test(files, a_read_only_file_system_is_not_said_to_be_synchronised) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    pid_t child = fork();
    if (child == 0) _exit(sync_read_only(f.host, t.path));
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    temporary_close(&t);
    fixture_close(&f);
    cr_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_ALLOWED) cr_skip_test("mounts are not allowed here");
    cr_assert_eq(WEXITSTATUS(status), 0);
}

// Not of what nobody has looked at, as /proc.
Test(files, syncfs_is_enough_only_where_that_is_known) {
    struct fixture f = fixture_open(8);
    int directory = os_open(f.host, "/proc", OS_READ | OS_DIRECTORY);
    cr_assert_geq(directory, 0);
    cr_assert_not(os_sync_filesystem_is_enough(f.host, directory));
    os_close(f.host, directory);
    fixture_close(&f);
}

// Opening a FIFO would wait for its other end.
Test(files, a_fifo_is_not_opened) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    cr_assert_eq(mkfifo(t.file, 0600), 0);
    cr_assert_eq(os_open(f.host, t.file, OS_READ), -ESPIPE);
    cr_assert_eq(os_open(f.host, t.file, OS_WRITE | OS_CREATE), -ESPIPE);
    temporary_close(&t);
    fixture_close(&f);
}

Test(files, vectors_are_written_in_order_and_reads_stop_at_the_end) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    int file = os_open(f.host, t.file, OS_READ | OS_WRITE | OS_CREATE);
    struct os_vector v[] = {{"one ", 4}, {"", 0}, {"two ", 4}, {"three", 5}};
    cr_assert_eq(os_pwritev(f.host, file, v, 4, 2), 13);
    char buffer[64];
    cr_assert_eq(os_pread(f.host, file, buffer, sizeof buffer, 2), 13);
    cr_assert_eq(memcmp(buffer, "one two three", 13), 0);
    cr_assert_eq(os_pread(f.host, file, buffer, sizeof buffer, 15), 0);
    cr_assert_eq(os_pread(f.host, file, buffer, 4, 6), 4);
    int64_t n = os_pread_nowait(f.host, file, buffer, 4, 6);
    cr_assert(n == 4 || n == -EAGAIN);
    cr_assert_eq(os_fdatasync(f.host, file), 0);
    os_start_writeback(f.os, file, 0, 15);
    os_wait(f.os, 0);
    cr_assert_eq(os_will_need(f.host, file, 0, 15), 0);
    cr_assert_eq(os_truncate(f.host, file, 5), 0);
    cr_assert_eq(os_pread(f.host, file, buffer, sizeof buffer, 2), 3);
    cr_assert_eq(os_pread(f.host, -1, buffer, 1, 0), -EBADF);
    cr_assert_eq(os_truncate(f.host, file, 0), 0);
    cr_assert_eq(os_allocate(f.host, file, 40), 0);
    cr_assert_eq(os_pread(f.host, file, buffer, sizeof buffer, 0), 40);
    cr_assert(buffer[0] == 0 && memcmp(buffer, buffer + 1, 39) == 0);
    os_close(f.host, file);
    temporary_close(&t);
    fixture_close(&f);
}

Test(files, operations_write_sync_and_read) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    int file = os_open(f.host, t.file, OS_READ | OS_WRITE | OS_CREATE);
    enum { SIZE = 300 * 1024 };
    char *out = malloc(SIZE), *in = malloc(2 * SIZE);
    for (int i = 0; i < SIZE; i++)
        out[i] = (char)(i * 31 >> 3);
    struct os_vector v[] = {{out, 1000}, {out + 1000, SIZE - 1000}};
    struct os_op op = OS_OP(op_note_done);
    os_pwritev_start(f.os, &op, file, v, 2, 0);
    cr_assert(op.in_flight);
    cr_assert_eq(op_await(f.os, &op), SIZE);
    os_fdatasync_start(f.os, &op, file);
    cr_assert_eq(op_await(f.os, &op), 0);
    os_pread_start(f.os, &op, file, in, 2 * SIZE, 0); // more than there is: a short result means the end
    cr_assert_eq(op_await(f.os, &op), SIZE);
    cr_assert_eq(memcmp(in, out, SIZE), 0);
    os_pread_start(f.os, &op, file, in, 10, SIZE);
    cr_assert_eq(op_await(f.os, &op), 0);
    os_close(f.host, file);
    os_fdatasync_start(f.os, &op, file);
    cr_assert_eq(op_await(f.os, &op), -EBADF);
    free(out);
    free(in);
    temporary_close(&t);
    fixture_close(&f);
}

Test(files, more_operations_than_the_ring_has_room_for) {
    struct fixture f = fixture_open(4);
    struct temporary t = temporary_open();
    int file = os_open(f.host, t.file, OS_READ | OS_WRITE | OS_CREATE);
    enum { N = 500 };
    static struct os_op ops[N];
    static uint32_t numbers[N];
    static struct os_vector vectors[N];
    for (uint32_t i = 0; i < N; i++) {
        ops[i] = OS_OP(op_note_done);
        numbers[i] = i * 7;
        vectors[i] = (struct os_vector){&numbers[i], sizeof numbers[i]};
        os_pwritev_start(f.os, &ops[i], file, &vectors[i], 1, i * sizeof numbers[i]);
    }
    for (int i = 0; i < N; i++)
        cr_assert_eq(op_await(f.os, &ops[i]), sizeof numbers[i]);
    memset(numbers, 0, sizeof numbers);
    for (uint32_t i = 0; i < N; i++)
        os_pread_start(f.os, &ops[i], file, &numbers[i], 4, i * 4);
    for (uint32_t i = 0; i < N; i++) {
        cr_assert_eq(op_await(f.os, &ops[i]), 4);
        cr_assert_eq(numbers[i], i * 7);
    }
    os_close(f.host, file);
    temporary_close(&t);
    fixture_close(&f);
}

struct listing {
    char text[128];
    int left; // stops with 42 after so many
};
static int collect(void *context, const char *name) {
    struct listing *l = context;
    strcat(strcat(l->text, name), " ");
    return --l->left == 0 ? 42 : 0;
}

Test(files, names_change_and_are_listed_in_order) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    static const char *const names[] = {"b", "a.log", "A", "orders-7", "a"};
    char path[128], other[128];
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", t.path, names[i]);
        int file = os_open(f.host, path, OS_WRITE | OS_CREATE);
        cr_assert_eq(os_close(f.host, file), 0);
    }
    snprintf(path, sizeof path, "%s/orders-7", t.path);
    snprintf(other, sizeof other, "%s/b", t.path);
    cr_assert_eq(os_rename(f.host, path, other), 0);
    cr_assert_eq(os_rename(f.host, path, other), -ENOENT);
    snprintf(path, sizeof path, "%s/dir", t.path);
    cr_assert_eq(os_mkdir(f.host, path), 0);
    cr_assert_eq(os_mkdir(f.host, path), -EEXIST);
    struct os_stat stat;
    cr_assert_eq(os_stat(f.host, path, &stat), 0);
    cr_assert(stat.is_directory);
    struct listing listing = {.left = 100};
    cr_assert_eq(os_list_directory(f.host, t.path, collect, &listing), 0);
    cr_assert_str_eq(listing.text, "A a a.log b dir ");
    listing = (struct listing){.left = 2};
    cr_assert_eq(os_list_directory(f.host, t.path, collect, &listing), 42);
    cr_assert_str_eq(listing.text, "A a ");
    cr_assert_eq(os_list_directory(f.host, other, collect, &listing), -ENOTDIR);
    cr_assert_eq(os_rmdir(f.host, path), 0);
    cr_assert_eq(os_unlink(f.host, other), 0);
    cr_assert_eq(os_unlink(f.host, other), -ENOENT);
    temporary_close(&t);
    fixture_close(&f);
}

Test(files, times_and_space) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    os_close(f.host, os_open(f.host, t.file, OS_WRITE | OS_CREATE));
    struct os_stat stat, parent;
    cr_assert_eq(os_set_modified(f.host, t.file, 1234567890123), 0);
    cr_assert_eq(os_stat(f.host, t.file, &stat), 0);
    cr_assert_eq(stat.modified_ms, 1234567890123);
    cr_assert_not(stat.is_directory);
    cr_assert_eq(os_stat(f.host, t.path, &parent), 0);
    cr_assert_eq(stat.device, parent.device);
    uint64_t total, available;
    cr_assert_eq(os_space(f.host, t.path, &total, &available), 0);
    cr_assert(total > 0 && available <= total);
    temporary_close(&t);
    cr_assert_eq(os_space(f.host, t.path, &total, &available), -ENOENT);
    fixture_close(&f);
}

// Java's FileLock is an fcntl lock: it and ours exclude each other, over processes.
Test(files, a_lock_excludes_other_opens_and_other_processes) {
    struct fixture f = fixture_open(8);
    struct temporary t = temporary_open();
    int first = os_open(f.host, t.file, OS_READ | OS_WRITE | OS_CREATE);
    int second = os_open(f.host, t.file, OS_READ | OS_WRITE);
    cr_assert_eq(os_lock(f.host, first), 0);
    cr_assert_eq(os_lock(f.host, second), -EAGAIN);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(t.file, O_RDWR);
        _exit(fd >= 0 && fcntl(fd, F_SETLK, &lock) == -1 && (errno == EAGAIN || errno == EACCES) ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    os_close(f.host, first);
    cr_assert_eq(os_lock(f.host, second), 0);
    os_close(f.host, second);
    temporary_close(&t);
    fixture_close(&f);
}
