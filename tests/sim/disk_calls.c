// SPDX-License-Identifier: Apache-2.0
// The file calls of src/os/os.h on the simulated file system, with latency and faults; disk_data.c has what reads,
// writes and makes durable.
//
// In a fiber (main function, offload) a call that may sleep takes its time before it has an effect; what it does is
// then done at one instant. Operations of cores take effect somewhere between start and completion. A failed fsync
// drops the unsynced changes: they stay visible, the next fsync succeeds, and a power cut takes them.
#include "disk.h"
#include <errno.h>
#include <stdio.h>

enum { NAME_BYTES_MAX = 255, PATH_BYTES_MAX = 4095 };

// ---- latency and faults
// --------------------------------------------------------------------------------------------------
uint64_t disk_latency(struct inode *inode, uint64_t low_ns, uint64_t high_ns) {
    uint64_t ns = sim_range(SIM_DISK, low_ns, high_ns);
    const struct sim_disk_faults *faults = &inode->disk->faults;
    if (sim_chance(SIM_FAULTS, faults->slow)) ns += sim_range(SIM_FAULTS, 0, faults->slow_ns);
    return ns;
}

bool disk_fault(uint32_t per_million, uint32_t *countdown) {
    if (*countdown > 0 && --*countdown == 0) return true;
    return sim_chance(SIM_FAULTS, per_million);
}

void disk_trace(struct os_host *host, const char *what, struct inode *inode, uint64_t number) {
    char detail[48];
    snprintf(detail, sizeof detail, "inode %llu", (unsigned long long)inode->id);
    sim_trace(host, sim.current_os ? sim.current_os->core_id : -1, what, detail, number);
}

void disk_host_init(struct os_host *host) {
    host->disk_count = 1;
    host->disks[0] = (struct disk){.id = host->id * SIM_DISKS_MAX, .faults.capacity = host->options.disk_bytes};
    list_init(&host->disks[0].inodes);
    host->root = inode_create(&host->disks[0], true);
    inode_hold(host->root);
}

static struct disk *disk_add(struct os_host *host) {
    ASSERT(host->disk_count < SIM_DISKS_MAX);
    struct disk *disk = &host->disks[host->disk_count++];
    *disk = (struct disk){.id = host->disks[0].id + host->disk_count, .faults.capacity = host->options.disk_bytes};
    list_init(&disk->inodes);
    return disk;
}

// ---- paths
// -----------------------------------------------------------------------------------------------------------------
struct place {
    struct inode *directory, *inode; // inode NULL: no such entry in the directory
    char name[NAME_BYTES_MAX + 1];
};

// 0, -ENOENT (a directory on the way is missing), -ENOTDIR, -ENAMETOOLONG, -EINVAL ("..").
static int find(struct os_host *host, const char *path, struct place *place) {
    *place = (struct place){.directory = host->root, .inode = host->root};
    if (*path == 0) return -ENOENT;
    if (strlen(path) > PATH_BYTES_MAX) return -ENAMETOOLONG;
    while (*path) {
        size_t size = strcspn(path, "/");
        bool here = size == 0 || (size == 1 && path[0] == '.');
        if (!here) {
            if (size > NAME_BYTES_MAX) return -ENAMETOOLONG;
            if (size == 2 && path[0] == '.' && path[1] == '.') return -EINVAL;
            if (!place->inode) return -ENOENT;
            if (!place->inode->is_directory) return -ENOTDIR;
            place->directory = place->inode;
            memcpy(place->name, path, size);
            place->name[size] = 0;
            place->inode = directory_find(&place->directory->entries, path, size);
        }
        path += size;
        while (*path == '/')
            path++;
    }
    return 0;
}

static void settle_root(struct os_host *host, struct inode *directory) {
    if (directory == host->root) inode_sync(directory, UINT64_MAX); // mount points are there from the start
}

static int make_directory(struct os_host *host, const char *path) {
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (place.inode) return -EEXIST;
    struct disk *disk = place.directory == host->root ? disk_add(host) : place.directory->disk;
    struct inode *inode = inode_create(disk, true);
    inode->modified_ms = os_host_wall_ms(host);
    directory_change(place.directory, place.name, inode, NULL);
    settle_root(host, place.directory);
    return 0;
}

void sim_mkdir(struct os_host *host, const char *path) {
    int error = make_directory(host, path);
    SIM_CHECK(error == 0, "sim_mkdir(%s): %s", path, os_error_text(error));
    struct place place;
    find(host, path, &place);
    inode_sync(place.directory, UINT64_MAX);
}

int os_mkdir(struct os_host *host, const char *path) {
    sim_block(host, "os_mkdir", disk_latency(host->root, 5 * SIM_US, 100 * SIM_US));
    sim_trace(host, -1, "mkdir", path, 0);
    return make_directory(host, path);
}

// ---- open and close
// ----------------------------------------------------------------------------------------------------------
int os_open(struct os_host *host, const char *path, int flags) {
    sim_block(host, "os_open", disk_latency(host->root, 2 * SIM_US, 60 * SIM_US));
    sim_trace(host, -1, "open", path, (uint64_t)flags);
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    const uint32_t emfile = place.directory->disk->faults.open_emfile;
    if (emfile > 0 && sim_chance(SIM_FAULTS, emfile)) return -EMFILE;
    if (!place.inode && !(flags & OS_CREATE)) return -ENOENT;
    if (place.inode && (flags & OS_CREATE) && (flags & OS_EXCLUSIVE)) return -EEXIST;
    if (place.inode && place.inode->is_directory && (flags & (OS_WRITE | OS_TRUNCATE | OS_CREATE))) return -EISDIR;
    if (place.inode && !place.inode->is_directory && (flags & OS_DIRECTORY)) return -ENOTDIR;
    int descriptor = handle_new(host, HANDLE_FILE);
    if (descriptor < 0) return descriptor;
    if (!place.inode) {
        place.inode = inode_create(place.directory->disk, false);
        place.inode->modified_ms = os_host_wall_ms(host);
        directory_change(place.directory, place.name, place.inode, NULL);
        settle_root(host, place.directory);
    } else if ((flags & OS_TRUNCATE) && place.inode->size > 0) {
        file_truncate(place.inode, 0);
        place.inode->modified_ms = os_host_wall_ms(host);
    }
    inode_hold(place.inode);
    host->handles[descriptor].inode = place.inode;
    host->handles[descriptor].flags = flags;
    bool unreported = place.inode->write_errors > 0 && !place.inode->error_is_reported;
    host->handles[descriptor].errors_seen = place.inode->write_errors - unreported;
    const struct disk *disk = place.inode->disk;
    bool disk_unreported = disk->write_errors > 0 && !disk->error_is_reported;
    host->handles[descriptor].disk_errors_seen = disk->write_errors - disk_unreported;
    return descriptor;
}

void disk_close(struct os_host *host, struct handle *handle) {
    if (handle->inode->lock == (int)(handle - host->handles)) handle->inode->lock = 0;
    inode_drop(handle->inode);
    handle->inode = NULL;
}

// The file behind a descriptor; a wrong one is the caller's mistake, as is a file that was not opened for this.
struct inode *disk_file(struct os_host *host, int file, int flag, const char *what) {
    struct handle *handle = handle_get(host, file);
    SIM_CHECK(handle && handle->kind == HANDLE_FILE, "%s(%d): not an open file", what, file);
    SIM_CHECK(flag == 0 || (handle->flags & flag), "%s(%d): not opened for that", what, file);
    return handle->inode;
}

int os_lock(struct os_host *host, int file) {
    struct inode *inode = disk_file(host, file, 0, "os_lock");
    if (inode->lock != 0 && inode->lock != file) return -EAGAIN;
    inode->lock = file;
    return 0;
}

// ---- everything else
// ---------------------------------------------------------------------------------------------------------
int os_truncate(struct os_host *host, int file, uint64_t size_bytes) {
    sim_block(host, "os_truncate", disk_latency(host->root, 5 * SIM_US, 100 * SIM_US));
    struct inode *inode = disk_file(host, file, OS_WRITE, "os_truncate");
    file_truncate(inode, size_bytes);
    inode->modified_ms = os_host_wall_ms(host);
    disk_trace(host, "truncate", inode, size_bytes);
    return 0;
}

int os_allocate(struct os_host *host, int file, uint64_t size_bytes) {
    sim_block(host, "os_allocate", disk_latency(host->root, 5 * SIM_US, 100 * SIM_US));
    struct inode *inode = disk_file(host, file, OS_WRITE, "os_allocate");
    ASSERT(inode->size <= size_bytes);
    if (inode->disk->used_bytes + size_bytes - inode->size > inode->disk->faults.capacity) return -ENOSPC;
    file_truncate(inode, size_bytes);
    inode->modified_ms = os_host_wall_ms(host);
    disk_trace(host, "allocate", inode, size_bytes);
    return 0;
}

int os_reserve(struct os_host *host, int file, uint64_t position, uint64_t size_bytes) {
    sim_block(host, "os_reserve", disk_latency(host->root, 5 * SIM_US, 100 * SIM_US));
    struct inode *inode = disk_file(host, file, OS_WRITE, "os_reserve");
    const uint64_t end = position + size_bytes, now = inode->size + inode->reserved_bytes;
    if (end <= now) return 0;
    struct disk *disk = inode->disk;
    if (disk->used_bytes + end - now > disk->faults.capacity) return -ENOSPC;
    disk->used_bytes += end - now;
    inode->reserved_bytes = end - inode->size;
    return 0;
}

static void stat_inode(const struct inode *inode, struct os_stat *stat) {
    *stat = (struct os_stat){.size_bytes = inode->is_directory ? PAGE_BYTES : inode->size,
                             .modified_ms = inode->modified_ms,
                             .is_directory = inode->is_directory,
                             .device = (uint64_t)inode->disk->id + 1};
}
int os_stat(struct os_host *host, const char *path, struct os_stat *stat) {
    sim_block(host, "os_stat", disk_latency(host->root, 1 * SIM_US, 30 * SIM_US));
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (!place.inode) return -ENOENT;
    stat_inode(place.inode, stat);
    return 0;
}
int os_stat_file(struct os_host *host, int file, struct os_stat *stat) {
    stat_inode(disk_file(host, file, 0, "os_stat_file"), stat);
    return 0;
}
int os_set_modified(struct os_host *host, const char *path, int64_t modified_ms) {
    sim_block(host, "os_set_modified", disk_latency(host->root, 1 * SIM_US, 30 * SIM_US));
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (!place.inode) return -ENOENT;
    place.inode->modified_ms = modified_ms;
    return 0;
}

int os_rename(struct os_host *host, const char *from, const char *to) {
    sim_block(host, "os_rename", disk_latency(host->root, 5 * SIM_US, 100 * SIM_US));
    sim_trace(host, -1, "rename", from, 0);
    sim_trace(host, -1, "rename-to", to, 0);
    struct place old, new;
    int error = find(host, from, &old);
    if (!error) error = find(host, to, &new);
    if (error) return error;
    if (!old.inode) return -ENOENT;
    if (old.inode == new.inode) return 0;
    if (old.directory == host->root || new.directory == host->root) return -EBUSY; // mount points
    if (old.directory->disk != new.directory->disk) return -EXDEV;
    if (new.inode &&new.inode->is_directory != old.inode->is_directory)
        return new.inode->is_directory ? -EISDIR : -ENOTDIR;
    if (new.inode &&new.inode->is_directory &&new.inode->entries.count > 0) return -ENOTEMPTY;
    inode_hold(old.inode);
    if (old.directory == new.directory) {
        directory_change(new.directory, new.name, old.inode, old.name);
    } else {
        directory_move(old.directory, old.name, new.directory, new.name, old.inode);
    }
    inode_drop(old.inode);
    return 0;
}

static int remove_entry(struct os_host *host, const char *path, bool directory) {
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (!place.inode) return -ENOENT;
    if (place.inode->is_directory != directory) return directory ? -ENOTDIR : -EISDIR;
    if (directory && place.inode->entries.count > 0) return -ENOTEMPTY;
    if (place.directory == host->root && directory) return -EBUSY;
    directory_change(place.directory, place.name, NULL, NULL);
    settle_root(host, place.directory);
    return 0;
}
int os_unlink(struct os_host *host, const char *path) {
    sim_block(host, "os_unlink", disk_latency(host->root, 5 * SIM_US, 300 * SIM_US));
    sim_trace(host, -1, "unlink", path, 0);
    return remove_entry(host, path, false);
}
int os_rmdir(struct os_host *host, const char *path) {
    sim_block(host, "os_rmdir", disk_latency(host->root, 5 * SIM_US, 100 * SIM_US));
    sim_trace(host, -1, "rmdir", path, 0);
    return remove_entry(host, path, true);
}

int os_list_directory(struct os_host *host, const char *path, int (*entry)(void *context, const char *name),
                      void *context) {
    sim_block(host, "os_list_directory", disk_latency(host->root, 5 * SIM_US, 200 * SIM_US));
    sim_trace(host, -1, "list", path, 0);
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (!place.inode) return -ENOENT;
    if (!place.inode->is_directory) return -ENOTDIR;
    // A copy: the callback may change the directory.
    int count = place.inode->entries.count, answer = 0;
    char **names = calloc((size_t)count + 1, sizeof *names);
    ASSERT(names != NULL);
    for (int i = 0; i < count; i++)
        names[i] = strdup(place.inode->entries.entries[i].name);
    for (int i = 0; i < count && answer == 0; i++)
        answer = entry(context, names[i]);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return answer;
}

int os_space(struct os_host *host, const char *path, uint64_t *total_bytes, uint64_t *available_bytes) {
    sim_block(host, "os_space", disk_latency(host->root, 1 * SIM_US, 30 * SIM_US));
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (!place.inode) return -ENOENT;
    const struct disk *disk = place.inode->disk;
    *total_bytes = disk->faults.capacity;
    *available_bytes = disk->used_bytes >= disk->faults.capacity ? 0 : disk->faults.capacity - disk->used_bytes;
    return 0;
}

// ---- for scenarios
// -----------------------------------------------------------------------------------------------------------
struct sim_disk_faults *sim_disk_faults(struct os_host *host, const char *path) {
    struct place place;
    int error = find(host, path, &place);
    SIM_CHECK(error == 0 && place.inode, "sim_disk_faults(%s): no such file or directory", path);
    return &place.inode->disk->faults;
}

void sim_wipe(struct os_host *host, const char *path) {
    struct place place;
    int error = find(host, path, &place);
    SIM_CHECK(error == 0 && place.inode && place.inode->is_directory, "sim_wipe(%s): no such directory", path);
    while (place.inode->entries.count > 0) {
        char *name = strdup(place.inode->entries.entries[0].name);
        directory_change(place.inode, name, NULL, NULL);
        free(name);
    }
    inode_sync(place.inode, UINT64_MAX);
}

static struct inode *file_at(struct os_host *host, const char *path) {
    struct place place;
    int error = find(host, path, &place);
    return error == 0 && place.inode && !place.inode->is_directory ? place.inode : NULL;
}
const uint8_t *sim_file(struct os_host *host, const char *path, uint64_t *size) {
    struct inode *inode = file_at(host, path);
    if (!inode) return NULL;
    *size = inode->size;
    return inode->data ? inode->data : (const uint8_t *)"";
}
const uint8_t *sim_file_durable(struct os_host *host, const char *path, uint64_t *size) {
    struct inode *inode = file_at(host, path);
    if (!inode) return NULL;
    *size = inode->durable_size;
    return inode->durable ? inode->durable : (const uint8_t *)"";
}
uint64_t sim_disk_syncs(const struct os_host *host) {
    return host->syncs;
}
