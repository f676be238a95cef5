// SPDX-License-Identifier: Apache-2.0
// The bytes of files: reading with a page cache that may be cold, writing, fsync. A failed fsync drops the unsynced
// changes.
#include "disk.h"
#include <errno.h>

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
    if (disk_fault(inode->disk->faults.read_eio, &inode->disk->faults.read_eio_in)) {
        disk_trace(host, "read-eio", inode, position);
        return -EIO;
    }
    size_t n = readable(inode, size, position);
    if (n > 0) memcpy(buffer, inode->data + position, n);
    warm(inode, position, n);
    disk_trace(host, "read", inode, n);
    return (int64_t)n;
}

int64_t disk_peek(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    struct inode *inode = disk_file(host, file, OS_READ, "os_send");
    size_t n = readable(inode, size, position);
    if (n > 0) memcpy(buffer, inode->data + position, n);
    return (int64_t)n;
}

int64_t os_pread(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    struct inode *inode = disk_file(host, file, OS_READ, "os_pread");
    bool cold = is_cold(inode, position, readable(inode, size, position));
    inode_hold(inode);
    sim_block(host, "os_pread",
              cold ? disk_latency(inode, 30 * SIM_US, 2 * SIM_MS) : disk_latency(inode, 500, 20 * SIM_US));
    int64_t n = read_now(host, inode, buffer, size, position);
    inode_drop(inode);
    return n;
}

int64_t os_pread_nowait(struct os_host *host, int file, void *buffer, size_t size, uint64_t position) {
    struct inode *inode = disk_file(host, file, OS_READ, "os_pread_nowait");
    if (sim_chance(SIM_FAULTS, inode->disk->faults.cache_miss)) evict(inode);
    if (is_cold(inode, position, readable(inode, size, position))) {
        disk_trace(host, "read-cold", inode, position);
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
    struct inode *inode = disk_file(os->host, file, OS_READ, "os_pread_start");
    struct disk_read *read = malloc(sizeof *read);
    ASSERT(read != NULL);
    *read = (struct disk_read){op, inode, buffer, size, position};
    inode_hold(inode);
    bool cold = is_cold(inode, position, readable(inode, size, position));
    event_add(cold ? disk_latency(inode, 30 * SIM_US, 2 * SIM_MS) : disk_latency(inode, 1 * SIM_US, 50 * SIM_US),
              read_done, os->host, os, read, 0);
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
    if (disk_fault(faults->write_eio, &faults->write_eio_in)) {
        disk_trace(host, "write-eio", inode, position);
        return -EIO;
    }
    if (size > 1 && sim_chance(SIM_FAULTS, faults->short_write)) size = sim_range(SIM_FAULTS, 1, size - 1);
    uint64_t end = position + size, used = inode->disk->used_bytes;
    uint64_t free_bytes = (used >= faults->capacity ? 0 : faults->capacity - used) + inode->reserved_bytes;
    if (end > inode->size && end - inode->size > free_bytes) {
        uint64_t limit = inode->size + free_bytes;
        if (limit <= position) {
            disk_trace(host, "write-enospc", inode, position);
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
    struct inode *inode = disk_file(host, file, OS_WRITE, "os_pwritev");
    uint64_t size = vectors_size(vectors, count);
    if (sim.current_fiber && !sim.current_os) {
        inode_hold(inode);
        sim_block(host, "os_pwritev", disk_latency(inode, 500, 30 * SIM_US));
        inode_drop(inode);
    }
    int64_t n = write_admit(host, inode, size, position);
    if (n <= 0) return n;
    write_part(inode, vectors, count, position, 0, (uint64_t)n);
    inode->modified_ms = os_host_wall_ms(host);
    disk_trace(host, "write", inode, (uint64_t)n);
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
    disk_trace(event->host, "write", write.inode, write.size);
    op_complete(write.os, write.op, (int64_t)write.size);
    inode_drop(write.inode);
}

void os_pwritev_start(struct os *os, struct os_op *op, int file, const struct os_vector *vectors, int count,
                      uint64_t position) {
    op_begin(os, op);
    struct inode *inode = disk_file(os->host, file, OS_WRITE, "os_pwritev_start");
    int64_t n = write_admit(os->host, inode, vectors_size(vectors, count), position);
    uint64_t delay_ns = disk_latency(inode, 2 * SIM_US, 300 * SIM_US);
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
    return disk_latency(inode, 50 * SIM_US, busy ? 20 * SIM_MS : 1 * SIM_MS);
}

// Writes back. What fails is dropped and remembered.
static int write_back(struct os_host *host, struct inode *inode, uint64_t sequence) {
    struct sim_disk_faults *faults = &inode->disk->faults;
    if (disk_fault(faults->fsync_eio, &faults->fsync_eio_in)) {
        disk_trace(host, "fsync-eio", inode, sequence);
        file_forget_changes(inode, sequence);
        inode->write_errors++;
        inode->error_is_reported = false;
        inode->disk->write_errors++;
        inode->disk->error_is_reported = false;
        return -EIO;
    }
    inode_sync(inode, sequence);
    host->syncs++;
    disk_trace(host, "fsync", inode, sequence);
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
    struct inode *inode = disk_file(host, file, 0, what);
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

// Of an error a descriptor is told once, as by fsync, whatever file met it and in whichever write-back.
int os_sync_filesystem(struct os_host *host, int file) {
    struct disk *disk = disk_file(host, file, 0, "os_sync_filesystem")->disk;
    // What each inode had at submission, in some what came meanwhile too; inodes made in between are not in it.
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
    sim_block(host, "os_sync_filesystem", disk_latency(host->root, 100 * SIM_US, 5 * SIM_MS));
    for (size_t i = 0; i < count; i++) {
        write_back(host, all[i].inode, sim_chance(SIM_DISK, 300000) ? all[i].inode->last_sequence : all[i].sequence);
        inode_drop(all[i].inode);
    }
    free(all);
    struct handle *handle = handle_get(host, file);
    SIM_CHECK(handle && handle->inode->disk == disk, "a file was closed during its syncfs");
    if (handle->disk_errors_seen == disk->write_errors) return 0;
    handle->disk_errors_seen = disk->write_errors;
    disk->error_is_reported = true;
    return -EIO;
}

bool os_sync_filesystem_is_enough(struct os_host *host, int file) {
    (void)host;
    (void)file;
    return true;
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
    struct inode *inode = disk_file(os->host, file, 0, "os_fdatasync_start");
    struct disk_sync *sync = malloc(sizeof *sync);
    ASSERT(sync != NULL);
    *sync = (struct disk_sync){op, inode, file};
    inode_hold(inode);
    event_add(sync_latency(inode), sync_done, os->host, os, sync, inode->last_sequence);
}

void os_start_writeback(struct os *os, int file, uint64_t position, uint64_t size_bytes) {
    (void)position, (void)size_bytes;
    disk_file(os->host, file, 0, "os_start_writeback");
}
int os_will_need(struct os_host *host, int file, uint64_t position, uint64_t size_bytes) {
    warm(disk_file(host, file, 0, "os_will_need"), position, size_bytes);
    return 0;
}
