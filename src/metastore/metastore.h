// SPDX-License-Identifier: Apache-2.0
// The metadata store: a tree of nodes with data and versions, as ZooKeeper has it. Everything is asynchronous and runs
// on the control core. What a caller may rely on:
//
//   - Calls of one session take effect in the order in which they were made, and are answered in that order.
//   - A read sees every earlier write of this session. It may miss writes of other sessions (a stale read): what must
//   be
//     exact is guarded by a version in a write, never by a read.
//   - All changes of one write happen, or none. Its answer comes after it is durable.
//   - CONNECTION_LOSS and FAILED leave open whether a write happened: read again to find out.
//   - A watch fires once, for the first change after the read that set it, and before the answer to any call that could
//     show that change. It is a hint: what happened in between is not told, so read again (and set it again).
//   - SESSION_EXPIRED: the session's ephemeral nodes are gone, its watches have fired with METASTORE_SESSION_LOST, and
//     every call fails so until metastore_reopen().
//
// Answers and watches never run inside the call that caused them.
#pragma once

#include "base/list.h"
#include "base/slice.h"
#include "core/core.h"

struct metastore;

enum metastore_result {
    METASTORE_OK,
    METASTORE_NO_NODE,         // of this path, or of the parent of a node to create
    METASTORE_NODE_EXISTS,     //
    METASTORE_BAD_VERSION,     // the node's version is another than the one named
    METASTORE_NOT_EMPTY,       // deletion of a node with children
    METASTORE_NO_CHILDREN,     // creation below an ephemeral node
    METASTORE_INVALID,         // a path that cannot exist, data above METASTORE_DATA_MAX, too many changes
    METASTORE_ROLLED_BACK,     // of a change: another one of its write failed, so nothing was done
    METASTORE_CONNECTION_LOSS, // outcome unknown; the session may still live
    METASTORE_SESSION_EXPIRED,
    METASTORE_FAILED, // outcome unknown; the store is of no use any more (see metastore_failure)
};
const char *metastore_result_name(enum metastore_result result);

// ZooKeeper's frame is 1 MiB; the same limit holds for every store, so that an exported tree always fits.
enum { METASTORE_DATA_MAX = 1000000, METASTORE_PATH_MAX = 1024, METASTORE_CHANGES_MAX = 10000 };
enum { METASTORE_ANY_VERSION = -1 };

struct metastore_stat {
    int64_t czxid; // of the change that created the node: grows with every creation
    int64_t mzxid; // of the last change of its data
    int64_t pzxid; // of the last creation or deletion of a child
    int64_t created_ms, modified_ms;
    int32_t version;         // 0 at creation, +1 for each set
    int32_t child_version;   // +1 for each creation or deletion of a child
    int64_t ephemeral_owner; // session id; 0: persistent
    uint32_t data_size;
    uint32_t child_count;
};

// ---- calls
// -------------------------------------------------------------------------------------------------------------------------------
// What reads and writes have in common.
struct metastore_call {
    // in
    struct flow *flow; // woken when done; may be NULL
    // out
    bool done;
    enum metastore_result result;
    // private
    bool is_write;
    struct list link;
    struct list fired; // watches that fire before the answer
    uint64_t sequence;
};

// ---- writes
// ------------------------------------------------------------------------------------------------------------------------------
enum metastore_change_kind { METASTORE_CREATE, METASTORE_SET, METASTORE_DELETE, METASTORE_CHECK };
enum {
    METASTORE_EPHEMERAL = 1,  // goes with this session
    METASTORE_SEQUENTIAL = 2, // the store appends ten digits to the name
};
struct metastore_change {
    // in; the texts stay until the write is done
    enum metastore_change_kind kind;
    const char *path;
    struct bytes data; // CREATE, SET; null data is not the same as empty data
    int32_t version;   // SET, DELETE, CHECK; METASTORE_ANY_VERSION: whatever it is
    int flags;         // CREATE
    // out
    enum metastore_result result;
    struct metastore_stat stat; // CREATE, SET: right after this change
    char digits[11];            // SEQUENTIAL: what was appended to the path; else ""
};
static inline struct metastore_change metastore_create_node(const char *path, struct bytes data, int flags) {
    return (struct metastore_change){.kind = METASTORE_CREATE, .path = path, .data = data, .flags = flags};
}
static inline struct metastore_change metastore_set_node(const char *path, struct bytes data, int32_t version) {
    return (struct metastore_change){.kind = METASTORE_SET, .path = path, .data = data, .version = version};
}
static inline struct metastore_change metastore_delete_node(const char *path, int32_t version) {
    return (struct metastore_change){.kind = METASTORE_DELETE, .path = path, .version = version};
}
static inline struct metastore_change metastore_check_node(const char *path, int32_t version) {
    return (struct metastore_change){.kind = METASTORE_CHECK, .path = path, .version = version};
}
struct metastore_write {
    struct metastore_call call; // its result: OK, or that of the change that failed
    // in
    struct metastore_change *changes; // stay until done
    size_t count;                     // >= 1
    // out
    size_t failed; // index of the change that failed; count if the failure is none of a change
    int64_t zxid;  // of the write, if OK
};

// ---- reads
// -------------------------------------------------------------------------------------------------------------------------------
enum metastore_event {
    METASTORE_NODE_CREATED,
    METASTORE_NODE_DELETED,
    METASTORE_DATA_CHANGED,
    METASTORE_CHILDREN_CHANGED,
    METASTORE_SESSION_LOST
};
struct metastore_watch {
    // in
    void (*fired)(struct metastore_watch *watch); // notes it and wakes a flow
    // out
    bool armed; // it will fire; then false
    enum metastore_event event;
    // private
    struct list link;
};
enum metastore_read_kind {
    METASTORE_GET,     // data and stat; the watch: data changed, deleted. Set only if the node is there
    METASTORE_EXISTS,  // stat or NO_NODE; the watch: created, data changed, deleted. Set in both cases
    METASTORE_CHILDREN // names in bytewise order; the watch: children changed, deleted. Set only if the node is there
};
struct metastore_read {
    struct metastore_call call;
    // in
    enum metastore_read_kind kind;
    const char *path;              // stays until done
    struct metastore_watch *watch; // set by this read; stays until it has fired or is cancelled; NULL: none
    // out
    struct metastore_stat stat;
    struct bytes data; // terminated by NUL for convenience; null if the node has null data
    char **children;
    size_t child_count;
};
// Gives back what the answer holds; the struct can be used again.
void metastore_read_free(struct metastore_read *read);

// ---- the store
// ---------------------------------------------------------------------------------------------------------------------------
enum metastore_state {
    METASTORE_CONNECTING, // calls wait, or end with CONNECTION_LOSS
    METASTORE_CONNECTED,
    METASTORE_EXPIRED, // until metastore_reopen
    METASTORE_BROKEN   // for good
};
// What an implementation has.
struct metastore_functions {
    void (*write)(struct metastore *store, struct metastore_write *write);
    void (*read)(struct metastore *store, struct metastore_read *read);
    void (*cancel)(struct metastore *store, struct metastore_watch *watch);
    void (*reopen)(struct metastore *store);
    void (*close)(struct metastore *store, struct flow *flow, bool *done);
};
struct metastore {
    const struct metastore_functions *functions;
    struct core *core;
    enum metastore_state state;
    int64_t session_id;       // of the present session; never 0
    int64_t previous_session; // the one before it in this process, or 0: its leftovers may be taken over
    char failure[256];        // METASTORE_BROKEN: why; else ""
    // Told of each change of state; may be NULL. It wakes flows and does nothing else.
    void (*state_changed)(struct metastore *store);
    void *listener; // the listener's own
};

// The out fields of the struct are reset here.
void metastore_write_start(struct metastore *store, struct metastore_write *write);
void metastore_read_start(struct metastore *store, struct metastore_read *read);
// The watch will not fire any more; harmless if it has.
void metastore_watch_cancel(struct metastore *store, struct metastore_watch *watch);
// A new session after SESSION_EXPIRED.
static inline void metastore_reopen(struct metastore *store) {
    store->functions->reopen(store);
}
// Ends the session (its ephemeral nodes go) and frees the store; *done is set and the flow woken. No calls are in
// flight, all watches are cancelled or will be forgotten.
static inline void metastore_close(struct metastore *store, struct flow *flow, bool *done) {
    store->functions->close(store, flow, done);
}

// Whether a node of this path can exist: absolute, no empty, "." or ".." component, no control characters.
bool metastore_path_is_valid(struct str path);
