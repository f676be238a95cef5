// SPDX-License-Identifier: Apache-2.0
// The file calls of src/os/os.h on the simulated file system, with latency and faults.
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
static uint64_t latency(struct inode *inode, uint64_t low_ns, uint64_t high_ns) {
    uint64_t ns = sim_range(SIM_DISK, low_ns, high_ns);
    const struct sim_disk_faults *faults = &inode->disk->faults;
    if (sim_chance(SIM_FAULTS, faults->slow)) ns += sim_range(SIM_FAULTS, 0, faults->slow_ns);
    return ns;
}

static bool fault(uint32_t per_million, uint32_t *countdown) {
    if (*countdown > 0 && --*countdown == 0) return true;
    return sim_chance(SIM_FAULTS, per_million);
}

static void trace_file(struct os_host *host, const char *what, struct inode *inode, uint64_t number) {
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
    sim_block(host, "os_mkdir", latency(host->root, 5 * SIM_US, 100 * SIM_US));
    sim_trace(host, -1, "mkdir", path, 0);
    return make_directory(host, path);
}

// ---- open and close
// ----------------------------------------------------------------------------------------------------------
int os_open(struct os_host *host, const char *path, int flags) {
    sim_block(host, "os_open", latency(host->root, 2 * SIM_US, 60 * SIM_US));
    sim_trace(host, -1, "open", path, (uint64_t)flags);
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
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
    return descriptor;
}

void disk_close(struct os_host *host, struct handle *handle) {
    if (handle->inode->lock == (int)(handle - host->handles)) handle->inode->lock = 0;
    inode_drop(handle->inode);
    handle->inode = NULL;
}

// The file behind a descriptor; a wrong one is the caller's mistake, as is a file that was not opened for this.
static struct inode *file_of(struct os_host *host, int file, int flag, const char *what) {
    struct handle *handle = handle_get(host, file);
    SIM_CHECK(handle && handle->kind == HANDLE_FILE, "%s(%d): not an open file", what, file);
    SIM_CHECK(flag == 0 || (handle->flags & flag), "%s(%d): not opened for that", what, file);
    return handle->inode;
}

int os_lock(struct os_host *host, int file) {
    struct inode *inode = file_of(host, file, 0, "os_lock");
    if (inode->lock != 0 && inode->lock != file) return -EAGAIN;
    inode->lock = file;
    return 0;
}

// ---- reading
// -----------------------------------------------------------------------------------------------------------------
static bool is_cold(const struct inode *inode, uint64_t position, size_t size) {
    if (!inode->cold || size == 0) return false;
    for (uint64_t page = position / PAGE_BYTES; page <= (position + size - 1) / PAGE_BYTES; page++)
        if (page < inode->cold_pages && inode->cold[page]) return true;
    return false;
}

static void warm(struct inode *inode, uint64_t position, uint64_t size) {
    if (!inode->cold || size == 0) return;
    for (uint64_t page = position / PAGE_BYTES; page <= (position + size - 1) / PAGE_BYTES; page++)
        if (page < inode->cold_pages) inode->cold[page] = 0;
}

static void evict(struct inode *inode) {
    uint64_t pages = (inode->size + PAGE_BYTES - 1) / PAGE_BYTES;
    free(inode->cold);
    inode->cold = pages ? malloc(pages) : NULL;
    inode->cold_pages = pages;
    if (inode->cold) memset(inode->cold, 1, pages);
}

static size_t readable(const struct inode *inode, size_t size, uint64_t position) {
    return position >= inode->size ? 0 : min_size(size, inode->size - position);
}

static int64_t read_now(struct os_host *host, struct inode *inode, void *buffer, size_t size, uint64_t position) {
    if (inode->is_directory) return -EISDIR;
    if (fault(inode->disk->faults.read_eio, &inode->disk->faults.read_eio_in)) {
        trace_file(host, "read-eio", inode, position);
        return -EIO;
    }
    size_t n = readable(inode, size, position);
    if (n > 0) memcpy(buffer, inode->data + position, n);
    warm(inode, position, n);
    trace_file(host, "read", inode, n);
    return (int64_t)n;
}

int64_t disk_peek(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    struct inode *inode = file_of(host, file, OS_READ, "os_send");
    size_t n = readable(inode, size, position);
    if (n > 0) memcpy(buffer, inode->data + position, n);
    return (int64_t)n;
}

int64_t os_pread(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    struct inode *inode = file_of(host, file, OS_READ, "os_pread");
    bool cold = is_cold(inode, position, readable(inode, size, position));
    inode_hold(inode);
    sim_block(host, "os_pread", cold ? latency(inode, 30 * SIM_US, 2 * SIM_MS) : latency(inode, 500, 20 * SIM_US));
    int64_t n = read_now(host, inode, buffer, size, position);
    inode_drop(inode);
    return n;
}

int64_t os_pread_nowait(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    struct inode *inode = file_of(host, file, OS_READ, "os_pread_nowait");
    if (sim_chance(SIM_FAULTS, inode->disk->faults.cache_miss)) evict(inode);
    if (is_cold(inode, position, readable(inode, size, position))) {
        trace_file(host, "read-cold", inode, position);
        return -EAGAIN;
    }
    return read_now(host, inode, buffer, size, position);
}

struct disk_read {
    struct os_op *op;
    struct inode *inode;
    void *buffer;
    size_t size;
    uint64_t position;
};
static void read_done(struct event *event) {
    struct disk_read read = *(struct disk_read *)event->b;
    free(event->b);
    op_complete(event->a, read.op, read_now(event->host, read.inode, read.buffer, read.size, read.position));
    inode_drop(read.inode);
}

void os_pread_start(struct os *os, struct os_op *op, int file, void *buffer, size_t size, uint64_t position) {
    op_begin(os, op);
    struct inode *inode = file_of(os->host, file, OS_READ, "os_pread_start");
    struct disk_read *read = malloc(sizeof *read);
    ASSERT(read != NULL);
    *read = (struct disk_read){op, inode, buffer, size, position};
    inode_hold(inode);
    bool cold = is_cold(inode, position, readable(inode, size, position));
    event_add(cold ? latency(inode, 30 * SIM_US, 2 * SIM_MS) : latency(inode, 1 * SIM_US, 50 * SIM_US), read_done,
              os->host, os, read, 0);
}

// ---- writing
// -----------------------------------------------------------------------------------------------------------------
static uint64_t vectors_size(const struct os_vector *vectors, int count) {
    ASSERT(count >= 1 && count <= OS_VECTORS_MAX);
    uint64_t size = 0;
    for (int i = 0; i < count; i++)
        size += vectors[i].size;
    return size;
}

// How many of `size` bytes the disk takes, or an error.
static int64_t write_admit(struct os_host *host, struct inode *inode, uint64_t size, uint64_t position) {
    struct sim_disk_faults *faults = &inode->disk->faults;
    if (size == 0) return 0;
    if (fault(faults->write_eio, &faults->write_eio_in)) {
        trace_file(host, "write-eio", inode, position);
        return -EIO;
    }
    if (size > 1 && sim_chance(SIM_FAULTS, faults->short_write)) size = sim_range(SIM_FAULTS, 1, size - 1);
    uint64_t end = position + size, used = inode->disk->used_bytes;
    uint64_t free_bytes = used >= faults->capacity ? 0 : faults->capacity - used;
    if (end > inode->size && end - inode->size > free_bytes) {
        uint64_t limit = inode->size + free_bytes;
        if (limit <= position) {
            trace_file(host, "write-enospc", inode, position);
            return -ENOSPC;
        }
        size = limit - position;
    }
    return (int64_t)size;
}

// Writes bytes [from, to) of what the vectors hold together.
static void write_part(struct inode *inode, const struct os_vector *vectors, int count, uint64_t position,
                       uint64_t from, uint64_t to) {
    uint64_t at = 0;
    for (int i = 0; i < count && at < to; i++) {
        uint64_t start = at, end = at + vectors[i].size;
        at = end;
        if (end <= from) continue;
        uint64_t first = start > from ? start : from, last = end < to ? end : to;
        sim_file_write(inode, (const uint8_t *)vectors[i].data + (first - start), last - first, position + first);
    }
}

int64_t os_pwritev(struct os_host *host, int file, const struct os_vector *vectors, int count, uint64_t position) {
    struct inode *inode = file_of(host, file, OS_WRITE, "os_pwritev");
    uint64_t size = vectors_size(vectors, count);
    if (sim.current_fiber && !sim.current_os) {
        inode_hold(inode);
        sim_block(host, "os_pwritev", latency(inode, 500, 30 * SIM_US));
        inode_drop(inode);
    }
    int64_t n = write_admit(host, inode, size, position);
    if (n <= 0) return n;
    write_part(inode, vectors, count, position, 0, (uint64_t)n);
    inode->modified_ms = os_host_wall_ms(host);
    trace_file(host, "write", inode, (uint64_t)n);
    return n;
}

struct disk_write {
    struct os *os;
    struct os_op *op;
    struct inode *inode;
    const struct os_vector *vectors;
    int count;
    uint64_t position, first_part, size;
};
static void write_first_part(struct event *event) {
    struct disk_write *write = event->a;
    write_part(write->inode, write->vectors, write->count, write->position, 0, write->first_part);
}
static void write_done(struct event *event) {
    struct disk_write write = *(struct disk_write *)event->a;
    free(event->a);
    write_part(write.inode, write.vectors, write.count, write.position, write.first_part, write.size);
    write.inode->modified_ms = os_host_wall_ms(event->host);
    trace_file(event->host, "write", write.inode, write.size);
    op_complete(write.os, write.op, (int64_t)write.size);
    inode_drop(write.inode);
}

void os_pwritev_start(struct os *os, struct os_op *op, int file, const struct os_vector *vectors, int count,
                      uint64_t position) {
    op_begin(os, op);
    struct inode *inode = file_of(os->host, file, OS_WRITE, "os_pwritev_start");
    int64_t n = write_admit(os->host, inode, vectors_size(vectors, count), position);
    uint64_t delay_ns = latency(inode, 2 * SIM_US, 300 * SIM_US);
    if (n <= 0) {
        op_complete_after(os, op, n, delay_ns);
        return;
    }
    struct disk_write *write = malloc(sizeof *write);
    ASSERT(write != NULL);
    *write =
        (struct disk_write){os, op, inode, vectors, count, position, sim_range(SIM_DISK, 0, (uint64_t)n), (uint64_t)n};
    inode_hold(inode);
    event_add(delay_ns / 2, write_first_part, os->host, write, NULL, 0);
    event_add(delay_ns, write_done, os->host, write, NULL, 0);
}

// ---- making it durable
// -------------------------------------------------------------------------------------------------------
static uint64_t sync_latency(struct inode *inode) {
    // Mostly a fast disk, sometimes one that has other things to do.
    bool busy = sim_chance(SIM_DISK, 50000);
    return latency(inode, 50 * SIM_US, busy ? 20 * SIM_MS : 1 * SIM_MS);
}

// Writes back. What fails is dropped and remembered.
static int write_back(struct os_host *host, struct inode *inode, uint64_t sequence) {
    struct sim_disk_faults *faults = &inode->disk->faults;
    if (fault(faults->fsync_eio, &faults->fsync_eio_in)) {
        trace_file(host, "fsync-eio", inode, sequence);
        file_forget_changes(inode, sequence);
        inode->write_errors++;
        inode->error_is_reported = false;
        return -EIO;
    }
    inode_sync(inode, sequence);
    host->syncs++;
    trace_file(host, "fsync", inode, sequence);
    return 0;
}

// As Linux does: every descriptor is told once of an error that came after it was opened, whoever met it.
static int sync_now(struct os_host *host, int file, struct inode *inode, uint64_t sequence) {
    write_back(host, inode, sequence);
    struct handle *handle = handle_get(host, file);
    SIM_CHECK(handle && handle->inode == inode, "a file was closed during its fsync");
    if (handle->errors_seen == inode->write_errors) return 0;
    handle->errors_seen = inode->write_errors;
    inode->error_is_reported = true;
    return -EIO;
}

static int sync_file(struct os_host *host, int file, const char *what) {
    struct inode *inode = file_of(host, file, 0, what);
    uint64_t sequence = inode->last_sequence;
    inode_hold(inode);
    sim_block(host, what, sync_latency(inode));
    int error = sync_now(host, file, inode, sequence);
    inode_drop(inode);
    return error;
}
int os_fsync(struct os_host *host, int file) {
    return sync_file(host, file, "os_fsync");
}
int os_fdatasync(struct os_host *host, int file) {
    return sync_file(host, file, "os_fdatasync");
}

int os_sync_filesystem(struct os_host *host, int file) {
    struct disk *disk = file_of(host, file, 0, "os_sync_filesystem")->disk;
    // What each inode had at submission; inodes made in between are not in it.
    size_t count = 0, capacity = 0;
    struct {
        struct inode *inode;
        uint64_t sequence;
    } *all = NULL;
    LIST_FOREACH (link, &disk->inodes) {
        struct inode *inode = container_of(link, struct inode, link);
        if (!inode->changes && !inode->operations) continue;
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            all = realloc(all, capacity * sizeof *all);
            ASSERT(all != NULL);
        }
        inode_hold(inode);
        all[count].inode = inode;
        all[count++].sequence = inode->last_sequence;
    }
    sim_block(host, "os_sync_filesystem", latency(host->root, 100 * SIM_US, 5 * SIM_MS));
    int error = 0;
    for (size_t i = 0; i < count; i++) {
        if (write_back(host, all[i].inode, all[i].sequence) != 0) error = -EIO;
        inode_drop(all[i].inode);
    }
    free(all);
    return error;
}

struct disk_sync {
    struct os_op *op;
    struct inode *inode;
    int file;
};
static void sync_done(struct event *event) {
    struct disk_sync sync = *(struct disk_sync *)event->b;
    free(event->b);
    op_complete(event->a, sync.op, sync_now(event->host, sync.file, sync.inode, event->n));
    inode_drop(sync.inode);
}

void os_fdatasync_start(struct os *os, struct os_op *op, int file) {
    op_begin(os, op);
    struct inode *inode = file_of(os->host, file, 0, "os_fdatasync_start");
    struct disk_sync *sync = malloc(sizeof *sync);
    ASSERT(sync != NULL);
    *sync = (struct disk_sync){op, inode, file};
    inode_hold(inode);
    event_add(sync_latency(inode), sync_done, os->host, os, sync, inode->last_sequence);
}

void os_start_writeback(struct os *os, int file, uint64_t position, uint64_t size_bytes) {
    (void)position, (void)size_bytes;
    file_of(os->host, file, 0, "os_start_writeback");
}
int os_will_need(struct os_host *host, int file, uint64_t position, uint64_t size_bytes) {
    warm(file_of(host, file, 0, "os_will_need"), position, size_bytes);
    return 0;
}

// ---- everything else
// ---------------------------------------------------------------------------------------------------------
int os_truncate(struct os_host *host, int file, uint64_t size_bytes) {
    sim_block(host, "os_truncate", latency(host->root, 5 * SIM_US, 100 * SIM_US));
    struct inode *inode = file_of(host, file, OS_WRITE, "os_truncate");
    file_truncate(inode, size_bytes);
    inode->modified_ms = os_host_wall_ms(host);
    trace_file(host, "truncate", inode, size_bytes);
    return 0;
}

int os_allocate(struct os_host *host, int file, uint64_t size_bytes) {
    sim_block(host, "os_allocate", latency(host->root, 5 * SIM_US, 100 * SIM_US));
    struct inode *inode = file_of(host, file, OS_WRITE, "os_allocate");
    ASSERT(inode->size <= size_bytes);
    if (inode->disk->used_bytes + size_bytes - inode->size > inode->disk->faults.capacity) return -ENOSPC;
    file_truncate(inode, size_bytes);
    inode->modified_ms = os_host_wall_ms(host);
    trace_file(host, "allocate", inode, size_bytes);
    return 0;
}

static void stat_inode(const struct inode *inode, struct os_stat *stat) {
    *stat = (struct os_stat){.size_bytes = inode->is_directory ? PAGE_BYTES : inode->size,
                             .modified_ms = inode->modified_ms,
                             .is_directory = inode->is_directory,
                             .device = (uint64_t)inode->disk->id + 1};
}
int os_stat(struct os_host *host, const char *path, struct os_stat *stat) {
    sim_block(host, "os_stat", latency(host->root, 1 * SIM_US, 30 * SIM_US));
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (!place.inode) return -ENOENT;
    stat_inode(place.inode, stat);
    return 0;
}
int os_stat_file(struct os_host *host, int file, struct os_stat *stat) {
    stat_inode(file_of(host, file, 0, "os_stat_file"), stat);
    return 0;
}
int os_set_modified(struct os_host *host, const char *path, int64_t modified_ms) {
    sim_block(host, "os_set_modified", latency(host->root, 1 * SIM_US, 30 * SIM_US));
    struct place place;
    int error = find(host, path, &place);
    if (error) return error;
    if (!place.inode) return -ENOENT;
    place.inode->modified_ms = modified_ms;
    return 0;
}

int os_rename(struct os_host *host, const char *from, const char *to) {
    sim_block(host, "os_rename", latency(host->root, 5 * SIM_US, 100 * SIM_US));
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
    sim_block(host, "os_unlink", latency(host->root, 5 * SIM_US, 300 * SIM_US));
    sim_trace(host, -1, "unlink", path, 0);
    return remove_entry(host, path, false);
}
int os_rmdir(struct os_host *host, const char *path) {
    sim_block(host, "os_rmdir", latency(host->root, 5 * SIM_US, 100 * SIM_US));
    sim_trace(host, -1, "rmdir", path, 0);
    return remove_entry(host, path, true);
}

int os_list_directory(struct os_host *host, const char *path, int (*entry)(void *context, const char *name),
                      void *context) {
    sim_block(host, "os_list_directory", latency(host->root, 5 * SIM_US, 200 * SIM_US));
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
    sim_block(host, "os_space", latency(host->root, 1 * SIM_US, 30 * SIM_US));
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
