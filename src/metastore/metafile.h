// SPDX-License-Identifier: Apache-2.0
// The bytes of the embedded store's file (all integers big-endian): pure encoding and decoding, without I/O.
//
//   file header, 32 bytes:   "TAILMETA", u32 format version, u32 zero, u64 file id, u64 checksum of the 24 bytes before
//   record header, 48 bytes: u32 payload size, u32 kind, i64 zxid, i64 wall time ms, u64 synced bytes, u64 checksum of
//   the
//                            payload (seeded with the file id), u64 checksum of the 40 bytes before (seeded with
//                            file id + position of the record)
//
// A file begins with a whole snapshot (one record a node, then an end record), then come the changes. "synced bytes" is
// the size that was durable when the record was written. It tells a torn end from damage: if a record is not whole and
// any later one says that it was durable, bytes have changed on the disk, and the file is refused. The seeds bind a
// record to its file and its place, so that old blocks are never taken for new ones.
#pragma once

#include "metastore/tree.h"

enum { METAFILE_FORMAT_VERSION = 1, METAFILE_HEADER_SIZE = 32, METAFILE_RECORD_HEADER_SIZE = 48 };

struct metafile_buffer {
    uint8_t *data;
    size_t size, capacity;
};
// Where the next record goes.
struct metafile_place {
    uint64_t file_id;
    uint64_t position; // in the file, of the buffer's first byte: all before it is durable when the buffer is written
};
// Header, every node, end record: the first bytes of a new file.
void metafile_put_snapshot(struct metafile_buffer *buffer, uint64_t file_id, const struct tree *tree, int64_t now_ms);
// A write that the tree has taken: checks are left out, sequential names are written out.
void metafile_put_write(struct metafile_buffer *buffer, const struct metafile_place *place, int64_t zxid,
                        int64_t session, int64_t now_ms, const struct metastore_change *changes, size_t count);
// Ephemeral nodes of `session` (0: of all) are gone.
void metafile_put_session_end(struct metafile_buffer *buffer, const struct metafile_place *place, int64_t zxid,
                              int64_t session, int64_t now_ms);
void metafile_buffer_free(struct metafile_buffer *buffer);

struct metafile_load {
    // out
    bool ok;              // false: the file is refused, see reason
    uint64_t file_id;     //
    uint64_t valid_bytes; // what follows is a torn end
    char reason[400];     // of a refusal; names the byte
};
// Rebuilds the tree (empty before; after a refusal of no use).
void metafile_load(struct tree *tree, const uint8_t *data, size_t size, struct metafile_load *load);
