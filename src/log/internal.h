// SPDX-License-Identifier: Apache-2.0
// What the files of log/ share: the log's and the segment's structs. Not for other folders.
//
// log.c life and accessors · segment.c files of a segment · index.c offset and time index · append.c the writer flow ·
// flush.c group commit read.c, lookup.c positions by offset and by time · roll.c · load.c, recover.c · producers.c,
// snapshot.c · epochs.c · retention.c (pure plan) and work.c (carries it out) · log_dir.c, checkpoint.c
#pragma once

#include "log/epochs.h"
#include "log/index.h"
#include "log/log.h"
#include "log/producers.h"

struct segment {
    struct log *log;
    int64_t base_offset;
    uint64_t size_bytes; // of whole batches in <base>.log
    int file;            // -1: closed; opened lazily, closed when cold and unreferenced
    uint32_t references; // reads whose slices are not sent yet
    bool deleted;        // out of the log: freed with the last reference
    struct index index;  // offset index; entries in memory for the active segment, loaded on demand for others
    struct time_index time_index;
    uint32_t bytes_since_index;   // appended since the last index entry
    int64_t max_timestamp_ms;     // -1: no batch with a timestamp
    int64_t max_timestamp_offset; // the last offset of the first batch that has it
    int64_t first_timestamp_ms;   // max timestamp of the first batch, for rolling by time; -1: none
    int64_t modified_ms;          // the file's mtime at load, or of its creation
    uint64_t flushed_bytes;
};
struct log {
    struct core *core;
    struct log_dir *dir;
    struct log_listener *listener;
    char *topic;
    int32_t partition;
    struct uuid topic_id;
    char *path; // of the partition directory
    struct topic_config config;
    struct segment **segments; // by base offset, at least one; the last is active
    size_t segment_count, segment_capacity;
    int64_t start_offset, end_offset, flushed_end, high_watermark;
    int64_t recovery_point;
    struct epochs epochs;
    struct producers producers;
    bool durable;
};
