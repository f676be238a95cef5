// SPDX-License-Identifier: Apache-2.0
// Looking at log directories without changing them, whoever wrote them, Kafka or Tailrace, and whether a broker is
// running on them or not: what is there, and whether it is what it should be. Everything blocks: for tools.
#pragma once

#include "log/checkpoint.h"
#include "log/dir_name.h"
#include "log/meta.h"
#include "log/snapshot.h"
#include "protocol/uuid.h"

// ---- what is there
// -------------------------------------------------------------------------------------------------------------------
struct inspect_partition {
    char *path;
    char *name;       // of the directory
    struct str topic; // in name
    int32_t partition;
    enum dir_kind kind;
};
struct inspect_dir {
    char *path;
    struct inspect_partition *partitions; // in bytewise order of the names
    size_t count, capacity;
    struct checkpoint checkpoints[4]; // by enum checkpoint_kind, sorted; empty if missing or damaged
    bool is_clean; // has the clean-shutdown marker: no broker is running, and the last one stopped well
    struct meta_properties meta;
};
// What is wrong, or noteworthy.
struct inspect_finding {
    bool is_damage;
    const char *directory, *file; // file: a name in it, "" if it is about the directory
    int64_t byte;                 // -1: about the whole file
    const char *text;
};
// Called as the work goes on. context is passed on.
struct inspect_listener {
    void *context;
    void (*finding)(void *context, const struct inspect_finding *finding);
    void (*progress)(void *context, uint64_t bytes); // read since the last call
    // A file that could not be read; the work goes on without it.
    void (*unreadable)(void *context, const char *directory, const char *file, int error);
};

// Whether a broker has ever used it as a log directory: meta.properties, the clean-shutdown marker, a checkpoint file,
// or a partition with a segment in it. 1, 0, or a negative errno.
int inspect_is_log_dir(struct os_host *host, const char *path);
// Reads the names and the small files. Damaged small files and unknown directories are findings. 0, or a negative
// errno if the directory itself cannot be read.
int inspect_dir_read(struct os_host *host, const char *path, struct inspect_dir *dir,
                     const struct inspect_listener *listener);
void inspect_dir_free(struct inspect_dir *dir);
// For a path that is a partition directory itself: a dir with this partition only; its log directory's checkpoints are
// read if they are beside it. -EINVAL: its name is not one of a partition.
int inspect_dir_of_partition(struct os_host *host, const char *path, struct inspect_dir *dir,
                             const struct inspect_listener *listener);
// -1: none.
int64_t inspect_checkpoint(const struct inspect_dir *dir, enum checkpoint_kind kind,
                           const struct inspect_partition *partition);

struct inspect_segment {
    int64_t base_offset;
    uint64_t size_bytes;
    int64_t end_offset;                           // behind its last batch
    int64_t first_timestamp_ms, max_timestamp_ms; // -1: none
    uint64_t tail_bytes; // behind the last whole batch: a write in progress, or what a crash left
};
// The bases of the partition's segments, with their sizes; the rest is for inspect_segment_fill.
struct inspect_segments {
    struct inspect_segment *items;
    size_t count;
};
int inspect_segments_read(struct os_host *host, const char *path, struct inspect_segments *segments);
void inspect_segments_free(struct inspect_segments *segments);
// Through the index if that helps; headers only.
int inspect_segment_fill(struct os_host *host, const char *path, struct inspect_segment *segment);

// ---- is it what it should be (inspect_verify.c)
// ---------------------------------------------------------------------------------------
struct inspect_totals {
    uint64_t partitions, segments, batches, records, bytes;
    uint64_t damages, notes;
};
struct inspect_verify {
    struct os_host *host;
    const struct inspect_dir *dir;
    bool records; // every record too: codec, lengths, count
    const struct inspect_listener *listener;
    struct inspect_totals totals;
};
// Checks every file of the partition: batches (checksum, offsets), indexes against the log, snapshots, epochs, topic
// id. What a crash leaves at the end of a log, and what a running broker is just writing, is a note and no damage. 0,
// or a negative errno when the directory could not be read.
int inspect_verify_partition(struct inspect_verify *verify, const struct inspect_partition *partition);
