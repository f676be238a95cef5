// SPDX-License-Identifier: Apache-2.0
// The store of a standalone broker: the tree in memory, and one plain file that can rebuild it.
#pragma once

#include "metastore/metastore.h"

// Opening is an offloaded function: fill the struct, os_offload(embedded_open_run), then embedded_attach. The file is
// made if it is missing; a torn end is cut; anything else that is not as it was written is a refusal that names the
// byte. A new session begins: ephemeral nodes of earlier ones are gone.
struct embedded_open {
    // in
    const char *path;             // <first log directory>/tailrace.metadata
    bool must_exist;              // -ENOENT instead of making the file
    uint64_t compact_above_bytes; // 0: EMBEDDED_COMPACT_BYTES
    uint64_t reserve_bytes;       // 0: EMBEDDED_RESERVE_BYTES
    // out
    struct metastore *store; // NULL on error
    char reason[512];        // what was wrong; or, with a store, what was cut; else ""
    uint64_t cut_bytes;
};
enum {
    EMBEDDED_COMPACT_BYTES = 1 << 20,
    EMBEDDED_RESERVE_BYTES = 512 << 10, // several thousand partitions can be deleted
};
// Returns 0 or a negative errno (-EINVAL: the file is damaged or of an unknown format).
int64_t embedded_open_run(struct os_host *host, void *embedded_open);
// On the control core, before the first call.
void embedded_attach(struct metastore *store, struct core *core);
// The broker stops: nobody waits for space on a full disk any more.
void embedded_hurry(struct metastore *store);
// Instead of attaching: frees a store that was opened.
void embedded_discard(struct os_host *host, struct metastore *store);
