// SPDX-License-Identifier: Apache-2.0
// Inodes, directories, durability, and what a power cut leaves.
#include "disk.h"
#include <stdio.h>

struct inode *inode_create(struct disk *disk, bool is_directory) {
    struct inode *inode = calloc(1, sizeof *inode);
    ASSERT(inode != NULL);
    inode->id = ++sim.next_inode;
    inode->disk = disk;
    inode->is_directory = is_directory;
    inode->changes_last = &inode->changes;
    inode->operations_last = &inode->operations;
    list_init(&inode->link);
    list_push_back(&disk->inodes, &inode->link);
    return inode;
}

void inode_hold(struct inode *inode) {
    inode->references++;
}

static void directory_free(struct directory *directory) {
    for (int i = 0; i < directory->count; i++) {
        free(directory->entries[i].name);
        inode_drop(directory->entries[i].inode);
    }
    free(directory->entries);
    *directory = (struct directory){0};
}

static void directory_changes_free(struct inode *inode) {
    while (inode->operations) {
        struct directory_change *change = inode->operations;
        inode->operations = change->next;
        if (change->twin) change->twin->twin = NULL;
        if (change->inode) inode_drop(change->inode);
        free(change->name);
        free(change->old_name);
        free(change);
    }
    inode->operations_last = &inode->operations;
}

void file_forget_changes(struct inode *inode, uint64_t sequence) {
    while (inode->changes && inode->changes->sequence <= sequence) {
        struct change *change = inode->changes;
        inode->changes = change->next;
        free(change);
    }
    if (!inode->changes) inode->changes_last = &inode->changes;
}

void inode_drop(struct inode *inode) {
    ASSERT(inode->references > 0);
    if (--inode->references > 0) return;
    list_remove(&inode->link);
    inode->disk->used_bytes -= inode->size + inode->reserved_bytes;
    file_forget_changes(inode, UINT64_MAX);
    directory_changes_free(inode);
    directory_free(&inode->entries);
    directory_free(&inode->durable_entries);
    free(inode->data);
    free(inode->durable);
    free(inode->cold);
    free(inode);
}

// ---- directories
// --------------------------------------------------------------------------------------------------------- The index
// of `name`, or where it would be inserted.
static int directory_index(const struct directory *directory, const char *name, size_t size, bool *found) {
    int low = 0, high = directory->count;
    while (low < high) {
        int middle = (low + high) / 2;
        const char *there = directory->entries[middle].name;
        int order = strncmp(there, name, size);
        if (order == 0 && there[size] != 0) order = 1;
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *found = false;
    return low;
}

struct inode *directory_find(const struct directory *directory, const char *name, size_t size) {
    bool found;
    int at = directory_index(directory, name, size, &found);
    return found ? directory->entries[at].inode : NULL;
}

void directory_set(struct directory *directory, const char *name, struct inode *inode) {
    bool found;
    int at = directory_index(directory, name, strlen(name), &found);
    if (inode) inode_hold(inode);
    if (found) {
        inode_drop(directory->entries[at].inode);
        directory->entries[at].inode = inode;
        if (inode) return;
        free(directory->entries[at].name);
        directory->count--;
        memmove(&directory->entries[at], &directory->entries[at + 1],
                (size_t)(directory->count - at) * sizeof *directory->entries);
        return;
    }
    if (!inode) return;
    if (directory->count == directory->capacity) {
        directory->capacity = directory->capacity ? directory->capacity * 2 : 8;
        directory->entries = realloc(directory->entries, (size_t)directory->capacity * sizeof *directory->entries);
        ASSERT(directory->entries != NULL);
    }
    memmove(&directory->entries[at + 1], &directory->entries[at],
            (size_t)(directory->count - at) * sizeof *directory->entries);
    directory->entries[at] = (struct entry){strdup(name), inode};
    directory->count++;
}

static void directory_apply(struct directory *directory, const struct directory_change *change) {
    if (change->old_name) directory_set(directory, change->old_name, NULL);
    directory_set(directory, change->name, change->inode);
}

static struct directory_change *directory_note(struct inode *directory, const char *name, struct inode *inode,
                                               const char *old_name) {
    struct directory_change *change = calloc(1, sizeof *change);
    ASSERT(change != NULL);
    *change = (struct directory_change){.sequence = ++directory->last_sequence,
                                        .directory = directory,
                                        .inode = inode,
                                        .name = strdup(name),
                                        .old_name = old_name ? strdup(old_name) : NULL};
    if (inode) inode_hold(inode);
    *directory->operations_last = change;
    directory->operations_last = &change->next;
    directory_apply(&directory->entries, change);
    return change;
}

void directory_change(struct inode *directory, const char *name, struct inode *inode, const char *old_name) {
    directory_note(directory, name, inode, old_name);
}

void directory_move(struct inode *from, const char *old_name, struct inode *to, const char *name, struct inode *inode) {
    struct directory_change *there = directory_note(to, name, inode, NULL);
    struct directory_change *gone = directory_note(from, old_name, NULL, NULL);
    there->twin = gone;
    gone->twin = there;
}

static void directory_sync(struct inode *inode, uint64_t sequence) {
    while (inode->operations && inode->operations->sequence <= sequence) {
        struct directory_change *change = inode->operations;
        inode->operations = change->next;
        if (!inode->operations) inode->operations_last = &inode->operations;
        directory_apply(&inode->durable_entries, change);
        struct directory_change *twin = change->twin;
        if (twin) {
            twin->twin = NULL;
            directory_sync(twin->directory, twin->sequence);
        }
        if (change->inode) inode_drop(change->inode);
        free(change->name);
        free(change->old_name);
        free(change);
    }
}

// ---- files
// -----------------------------------------------------------------------------------------------------------------
static void grow(uint8_t **data, uint64_t *capacity, uint64_t size) {
    if (size <= *capacity) return;
    uint64_t to = *capacity ? *capacity : 512;
    while (to < size)
        to *= 2;
    *data = realloc(*data, to);
    ASSERT(*data != NULL);
    memset(*data + *capacity, 0, to - *capacity); // bytes past the size are always zero
    *capacity = to;
}

static void durable_write(struct inode *inode, const uint8_t *bytes, uint64_t size, uint64_t position) {
    if (size == 0) return;
    grow(&inode->durable, &inode->durable_capacity, position + size);
    memcpy(inode->durable + position, bytes, size);
    if (position + size > inode->durable_size) inode->durable_size = position + size;
}

static void durable_truncate(struct inode *inode, uint64_t size) {
    grow(&inode->durable, &inode->durable_capacity, size);
    if (size < inode->durable_size) memset(inode->durable + size, 0, inode->durable_size - size);
    inode->durable_size = size;
}

static void file_note(struct inode *inode, const uint8_t *bytes, uint64_t size, uint64_t position, bool truncate) {
    struct change *change = malloc(sizeof *change + size);
    ASSERT(change != NULL);
    change->next = NULL;
    change->sequence = ++inode->last_sequence;
    change->position = position;
    change->size_bytes = size;
    change->truncate = truncate;
    if (size > 0) memcpy(change->bytes, bytes, size);
    *inode->changes_last = change;
    inode->changes_last = &change->next;
}

static void set_size(struct inode *inode, uint64_t size) {
    const uint64_t end = inode->size + inode->reserved_bytes; // a truncation gives up what was reserved
    inode->reserved_bytes = size >= inode->size && size < end ? end - size : 0;
    inode->disk->used_bytes += size + inode->reserved_bytes - end;
    inode->size = size;
}

void sim_file_write(struct inode *inode, const uint8_t *bytes, uint64_t size, uint64_t position) {
    if (size == 0) return;
    grow(&inode->data, &inode->capacity, position + size);
    memcpy(inode->data + position, bytes, size);
    if (position + size > inode->size) set_size(inode, position + size);
    file_note(inode, bytes, size, position, false);
}

void file_truncate(struct inode *inode, uint64_t size) {
    grow(&inode->data, &inode->capacity, size);
    if (size < inode->size) memset(inode->data + size, 0, inode->size - size);
    set_size(inode, size);
    file_note(inode, NULL, 0, size, true);
}

void inode_sync(struct inode *inode, uint64_t sequence) {
    if (inode->is_directory) {
        directory_sync(inode, sequence);
        return;
    }
    while (inode->changes && inode->changes->sequence <= sequence) {
        struct change *change = inode->changes;
        if (change->truncate) {
            durable_truncate(inode, change->position);
        } else {
            durable_write(inode, change->bytes, change->size_bytes, change->position);
        }
        inode->changes = change->next;
        free(change);
    }
    if (!inode->changes) inode->changes_last = &inode->changes;
}

// ---- the power cut
// ------------------------------------------------------------------------------------------------------- Sectors of a
// write reach the platter one by one and in any order; the size may get there before them.
static void cut_write(struct inode *inode, const struct change *change, uint32_t keep_per_million) {
    uint64_t at = change->position, end = change->position + change->size_bytes;
    while (at < end) {
        uint64_t next = (at / SECTOR_BYTES + 1) * SECTOR_BYTES;
        if (next > end) next = end;
        if (sim_chance(SIM_DISK, keep_per_million))
            durable_write(inode, change->bytes + (at - change->position), next - at, at);
        at = next;
    }
    if (end > inode->durable_size && sim_chance(SIM_DISK, 250000)) durable_truncate(inode, end);
}

static void cut_file(struct inode *inode) {
    enum { LOSE_ALL, KEEP_ALL, KEEP_FIRST, KEEP_SOME, WAYS };
    uint64_t way = sim_range(SIM_DISK, 0, WAYS - 1), count = 0;
    for (struct change *change = inode->changes; change; change = change->next)
        count++;
    uint64_t first = way == KEEP_ALL ? count : way == LOSE_ALL ? 0 : sim_range(SIM_DISK, 0, count);
    uint32_t keep = (uint32_t)sim_range(SIM_DISK, 50000, 950000);
    uint64_t at = 0;
    for (struct change *change = inode->changes; change; change = change->next, at++) {
        if (change->truncate) {
            if (at < first) durable_truncate(inode, change->position); // truncations keep their order
        } else if (at < first && way != KEEP_SOME) {
            durable_write(inode, change->bytes, change->size_bytes, change->position);
        } else if (way == KEEP_SOME || (way == KEEP_FIRST && at == first)) {
            cut_write(inode, change, keep);
        }
    }
    file_forget_changes(inode, UINT64_MAX);
    inode->disk->used_bytes += inode->durable_size - inode->size - inode->reserved_bytes;
    inode->reserved_bytes = 0;
    inode->size = inode->durable_size;
    free(inode->data);
    inode->data = NULL;
    inode->capacity = 0;
    grow(&inode->data, &inode->capacity, inode->size);
    if (inode->size > 0) memcpy(inode->data, inode->durable, inode->size);
    free(inode->cold); // the page cache is empty
    inode->cold_pages = (inode->size + PAGE_BYTES - 1) / PAGE_BYTES;
    inode->cold = inode->cold_pages ? malloc(inode->cold_pages) : NULL;
    if (inode->cold) memset(inode->cold, 1, inode->cold_pages);
}

static void cut_directory(struct inode *inode) {
    uint64_t count = 0;
    for (struct directory_change *change = inode->operations; change; change = change->next)
        count++;
    uint64_t kept = count == 0 ? 0 : sim_range(SIM_DISK, 0, count);
    for (; kept > 0 && inode->operations; kept--)
        directory_sync(inode, inode->operations->sequence);
}

static void restore_directory(struct inode *inode) {
    directory_changes_free(inode);
    directory_free(&inode->entries);
    for (int i = 0; i < inode->durable_entries.count; i++)
        directory_set(&inode->entries, inode->durable_entries.entries[i].name, inode->durable_entries.entries[i].inode);
}

void disk_power_cut(struct os_host *host) {
    // First what persists of the directories (that can free inodes only through references, which are held here), then
    // the files, then what is visible becomes what is durable.
    for (int d = 0; d < host->disk_count; d++) {
        host->disks[d].error_is_reported = true; // nobody remembers it any more
        LIST_FOREACH (link, &host->disks[d].inodes) {
            struct inode *inode = container_of(link, struct inode, link);
            inode_hold(inode);
            inode->error_is_reported = true;
        }
    }
    for (int d = 0; d < host->disk_count; d++) {
        LIST_FOREACH (link, &host->disks[d].inodes) {
            struct inode *inode = container_of(link, struct inode, link);
            if (inode->is_directory) cut_directory(inode);
        }
    }
    for (int d = 0; d < host->disk_count; d++) {
        LIST_FOREACH (link, &host->disks[d].inodes) {
            struct inode *inode = container_of(link, struct inode, link);
            inode->lock = 0;
            if (inode->is_directory) {
                restore_directory(inode);
            } else {
                cut_file(inode);
            }
        }
    }
    for (int d = 0; d < host->disk_count; d++) {
        // A drop may free others, but never one in `all`: those are still held.
        struct list all;
        list_init(&all);
        for (struct list *link; (link = list_pop_front(&host->disks[d].inodes));)
            list_push_back(&all, link);
        for (struct list *link; (link = list_pop_front(&all));) {
            list_push_back(&host->disks[d].inodes, link);
            inode_drop(container_of(link, struct inode, link));
        }
    }
    sim_trace(host, -1, "power-cut", "", 0);
}
