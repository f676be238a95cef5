// SPDX-License-Identifier: Apache-2.0
// The simulated file system. A file has two contents: what processes see (the page cache) and what is on the platter;
// between them lies a list of changes that are not synced. A directory has the same: entries, durable entries, and a
// list of operations. fsync applies the list up to the moment of its submission; a power cut applies a legal part of
// it.
#pragma once

#include "world.h"

struct inode;
struct entry {
    char *name;
    struct inode *inode;
};
struct directory {
    struct entry *entries; // sorted by name
    int count, capacity;
};
// An unsynced write (bytes) or truncation of a file.
struct change {
    struct change *next;
    uint64_t sequence, position, size_bytes;
    bool truncate; // to `position`
    uint8_t bytes[];
};
// An unsynced operation on a directory: `name` now leads to `inode` (or nowhere: NULL), and in the same step `old_name`
// (if any) leads nowhere. A rename between directories is two operations, which become durable together.
struct directory_change {
    struct directory_change *next, *twin;
    uint64_t sequence;
    struct inode *directory, *inode;
    char *name, *old_name;
};
struct inode {
    uint64_t id;
    struct list link; // of the disk
    struct disk *disk;
    int references; // handles, entries, durable entries, changes
    bool is_directory, reachable;
    int64_t modified_ms;
    uint32_t write_errors; // failed write-backs so far
    bool error_is_reported;
    int lock;               // the descriptor that holds it; 0: none
    uint64_t last_sequence; // of its changes
    // file
    uint8_t *data, *durable;
    uint64_t size, capacity, durable_size, durable_capacity;
    uint64_t reserved_bytes; // taken from the disk beyond the size
    struct change *changes, **changes_last;
    uint8_t *cold; // a byte for each page that is not in the page cache; NULL: all are
    uint64_t cold_pages;
    // directory
    struct directory entries, durable_entries;
    struct directory_change *operations, **operations_last;
};
enum { SECTOR_BYTES = 512, PAGE_BYTES = 4096 };

struct inode *inode_create(struct disk *disk, bool is_directory);
void inode_hold(struct inode *inode);
void inode_drop(struct inode *inode); // frees it with the last reference
struct inode *directory_find(const struct directory *directory, const char *name, size_t size);
void directory_set(struct directory *directory, const char *name, struct inode *inode); // NULL removes
// Changes what processes see, and notes it as not durable (at once durable in the root directory).
void directory_change(struct inode *directory, const char *name, struct inode *inode, const char *old_name);
void directory_move(struct inode *from, const char *old_name, struct inode *to, const char *name, struct inode *inode);

void sim_file_write(struct inode *inode, const uint8_t *bytes, uint64_t size, uint64_t position);
void file_truncate(struct inode *inode, uint64_t size);
// Makes durable what was done up to `sequence` (UINT64_MAX: all).
void inode_sync(struct inode *inode, uint64_t sequence);
// After a failed fsync: the pages count as clean and will never be written.
void file_forget_changes(struct inode *inode, uint64_t sequence);

// ---- disk_calls.c, for disk_data.c
uint64_t disk_latency(struct inode *inode, uint64_t low_ns, uint64_t high_ns);
bool disk_fault(uint32_t per_million, uint32_t *countdown);
void disk_trace(struct os_host *host, const char *what, struct inode *inode, uint64_t number);
struct inode *disk_file(struct os_host *host, int file, int flag, const char *what); // flag: it was opened with; or 0
