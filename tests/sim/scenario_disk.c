// SPDX-License-Identifier: Apache-2.0
// The simulated disk itself: what a power cut must keep, what it may take, and that it does take it. Each case is
// played many times; at the end every outcome that is legal must have been seen.
#include "base/bits.h"
#include "scenario.h"
#include <errno.h>
#include <stdlib.h>

enum { GAMES = 200, FILE_BYTES = 5 * 512 + 100 };
enum sight {
    NAME_LOST,
    NAME_KEPT,
    DATA_LOST,
    DATA_KEPT,
    DATA_TORN,
    DATA_ZERO,
    RENAME_LOST,
    RENAME_KEPT,
    UNLINK_LOST,
    UNLINK_KEPT,
    SIGHTS
};
struct game {
    void (*play)(struct os_host *host);
    int seen[SIGHTS];
    bool played;
};

static void must(bool condition, const char *what) {
    SIM_CHECK(condition, "%s", what);
}
static int open_file(struct os_host *host, const char *path, int flags) {
    int file = os_open(host, path, OS_READ | OS_WRITE | flags);
    must(file >= 0, path);
    return file;
}
static void sync_directory(struct os_host *host) {
    int directory = os_open(host, "/d", OS_READ | OS_DIRECTORY);
    must(directory >= 0 && os_fsync(host, directory) == 0, "fsync of the directory");
    os_close(host, directory);
}
static void fill(struct os_host *host, int file, uint8_t with, uint64_t position, size_t size) {
    uint8_t bytes[FILE_BYTES];
    memset(bytes, with, sizeof bytes);
    const struct os_vector vectors[2] = {{bytes, size / 3}, {bytes, size - size / 3}};
    must(os_pwritev(host, file, vectors, 2, position) == (int64_t)size, "write");
}

// ---- the cases
static void play_unsynced_name(struct os_host *host) {
    int file = open_file(host, "/d/new", OS_CREATE | OS_EXCLUSIVE);
    fill(host, file, 1, 0, FILE_BYTES);
    must(os_fsync(host, file) == 0, "fsync");
}
static void look_unsynced_name(struct os_host *host, int *seen) {
    uint64_t size = 0;
    const uint8_t *bytes = sim_file(host, "/d/new", &size);
    seen[bytes ? NAME_KEPT : NAME_LOST]++;
    if (bytes) must(size == FILE_BYTES && bytes[0] == 1 && bytes[FILE_BYTES - 1] == 1, "a synced file is not whole");
}

static void play_unsynced_data(struct os_host *host) {
    int file = open_file(host, "/d/file", OS_CREATE);
    sync_directory(host);
    fill(host, file, 1, 0, FILE_BYTES);
    must(os_fdatasync(host, file) == 0, "fdatasync");
    fill(host, file, 2, 512, FILE_BYTES); // overwrites most of it, and makes it longer
}
static void look_unsynced_data(struct os_host *host, int *seen) {
    uint64_t size = 0;
    const uint8_t *bytes = sim_file(host, "/d/file", &size);
    must(bytes && size >= FILE_BYTES && size <= FILE_BYTES + 512, "a synced file has lost its size");
    int old = 0, new = 0, zero = 0;
    for (uint64_t i = 0; i < size; i++) {
        must(i >= 512 || bytes[i] == 1, "a byte that nobody overwrote has changed");
        must(bytes[i] == 1 || bytes[i] == 2 || (bytes[i] == 0 && i >= FILE_BYTES), "a byte that nobody wrote");
        if (i < 512) continue;
        old += bytes[i] == 1;
        new += bytes[i] == 2;
        zero += bytes[i] == 0;
    }
    seen[zero ? DATA_ZERO : old && new ? DATA_TORN : new ? DATA_KEPT : DATA_LOST]++;
}

static void play_rename(struct os_host *host) {
    int old = open_file(host, "/d/it", OS_CREATE);
    fill(host, old, 1, 0, 1000);
    must(os_fsync(host, old) == 0, "fsync");
    sync_directory(host);
    int new = open_file(host, "/d/it.tmp", OS_CREATE);
    fill(host, new, 2, 0, 1000);
    must(os_fsync(host, new) == 0, "fsync");
    must(os_rename(host, "/d/it.tmp", "/d/it") == 0, "rename");
}
static void look_rename(struct os_host *host, int *seen) {
    uint64_t size = 0;
    const uint8_t *bytes = sim_file(host, "/d/it", &size);
    must(bytes && size == 1000 && bytes[0] == bytes[999], "a rename is not atomic");
    seen[bytes[0] == 2 ? RENAME_KEPT : RENAME_LOST]++;
}

static void play_unlink(struct os_host *host) {
    int file = open_file(host, "/d/gone", OS_CREATE);
    sync_directory(host);
    os_close(host, file);
    must(os_unlink(host, "/d/gone") == 0 && os_open(host, "/d/gone", OS_READ) == -ENOENT, "unlink");
}
static void look_unlink(struct os_host *host, int *seen) {
    uint64_t size;
    seen[sim_file(host, "/d/gone", &size) ? UNLINK_LOST : UNLINK_KEPT]++;
}

static const struct {
    void (*play)(struct os_host *host);
    void (*look)(struct os_host *host, int *seen);
} cases[] = {
    {play_unsynced_name, look_unsynced_name},
    {play_unsynced_data, look_unsynced_data},
    {play_rename, look_rename},
    {play_unlink, look_unlink},
};

// ---- errors and limits, in one process
static void check_failed_fsync(struct os_host *host, struct sim_disk_faults *faults) {
    int file = open_file(host, "/d/bad", OS_CREATE), other = open_file(host, "/d/bad", 0);
    fill(host, file, 1, 0, 100);
    faults->fsync_eio_in = 1;
    must(os_fdatasync(host, file) == -EIO, "the failure comes");
    must(os_fdatasync(host, file) == 0, "and is told once");
    must(os_fsync(host, other) == -EIO && os_fsync(host, other) == 0, "to every descriptor");
    uint64_t size = 0, durable = 99;
    sim_file(host, "/d/bad", &size);
    sim_file_durable(host, "/d/bad", &durable);
    must(size == 100 && durable == 0, "what was dropped stays visible");
    os_close(host, file);
    os_close(host, other);
}
static void check_failed_syncfs(struct os_host *host, struct sim_disk_faults *faults) {
    int one = open_file(host, "/d/one", OS_CREATE), two = open_file(host, "/d/two", OS_CREATE);
    must(os_sync_filesystem(host, one) == -EIO, "nobody was told yet of the failure before");
    must(os_sync_filesystem(host, two) == -EIO && os_sync_filesystem(host, two) == 0, "all are, once");
    fill(host, two, 1, 0, 100);
    faults->fsync_eio_in = 1;
    must(os_sync_filesystem(host, one) == -EIO, "whatever file met the failure, it comes");
    must(os_sync_filesystem(host, one) == 0, "and is told once");
    must(os_sync_filesystem(host, two) == -EIO, "to every descriptor that was open");
    int late = open_file(host, "/d/one", 0);
    must(os_sync_filesystem(host, late) == 0, "to none that was opened after it was told");
    must(os_fdatasync(host, one) == 0 && os_fdatasync(host, two) == -EIO, "a file tells of its own only");
    fill(host, two, 2, 0, 100);
    faults->fsync_eio_in = 1;
    must(os_fdatasync(host, two) == -EIO, "a failure of one file");
    must(os_sync_filesystem(host, one) == -EIO, "is told by the next syncfs");
    os_close(host, one);
    os_close(host, two);
    os_close(host, late);
}
static void check_limits(struct os_host *host, struct sim_disk_faults *faults) {
    uint64_t capacity = faults->capacity, total, left;
    int file = open_file(host, "/d/full", OS_CREATE);
    must(os_space(host, "/d", &total, &left) == 0 && total == capacity, "space");
    faults->capacity = total - left + 1000;
    uint8_t bytes[700] = {7};
    const struct os_vector vector = {bytes, sizeof bytes};
    must(os_pwritev(host, file, &vector, 1, 0) == 700, "there is room");
    must(os_pwritev(host, file, &vector, 1, 700) == 300, "a part fits");
    must(os_pwritev(host, file, &vector, 1, 1000) == -ENOSPC, "nothing fits");
    must(os_pwritev(host, file, &vector, 1, 0) == 700, "overwriting needs no room");
    must(os_truncate(host, file, 0) == 0 && os_pwritev(host, file, &vector, 1, 0) == 700, "truncation gives room");
    faults->capacity = capacity;
    must(os_lock(host, file) == 0, "lock");
    int again = open_file(host, "/d/full", 0);
    must(os_lock(host, again) == -EAGAIN, "locked");
    os_close(host, file);
    must(os_lock(host, again) == 0, "a closed file has no lock");
    uint8_t got[800];
    must(os_pread(host, again, got, sizeof got, 0) == 700 && os_pread(host, again, got, 10, 700) == 0,
         "short at the end");
    must(os_open(host, "/d/none/x", OS_READ) == -ENOENT && os_open(host, "/d/full/x", OS_READ) == -ENOTDIR, "paths");
    must(os_rmdir(host, "/d/full") == -ENOTDIR && os_mkdir(host, "/d/full") == -EEXIST, "kinds");
    os_close(host, again);
}
static int check_main(struct os_host *host, void *argument) {
    struct sim_disk_faults *faults = sim_disk_faults(host, "/d");
    check_failed_fsync(host, faults);
    check_failed_syncfs(host, faults);
    check_limits(host, faults);
    *(bool *)argument = true;
    return 0;
}

// ---- the scenario
static int play_main(struct os_host *host, void *argument) {
    struct game *game = argument;
    game->play(host);
    game->played = true;
    sim_sleep(host, 1000 * SIM_SECOND); // until the power goes
    return 1;
}
static bool is_true(void *flag) {
    return *(bool *)flag;
}

void scenario_disk(void) {
    struct game game = {0};
    struct os_host *host = sim_host_create("disk", SIM_HOST_DEFAULT);
    sim_mkdir(host, "/d");
    for (int round = 0; round < GAMES; round++) {
        for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
            game.play = cases[i].play;
            game.played = false;
            sim_start(host, play_main, &game);
            must(sim_run(60 * SIM_SECOND, is_true, &game.played), "the game ends");
            sim_crash(host, SIM_POWER);
            cases[i].look(host, game.seen);
            sim_wipe(host, "/d");
        }
    }
    for (int sight = 0; sight < SIGHTS; sight++)
        SIM_CHECK(game.seen[sight] > 0, "outcome %d was never seen", sight);
    bool done = false;
    sim_start(host, check_main, &done);
    must(sim_run(60 * SIM_SECOND, is_true, &done), "the checks end");
}
