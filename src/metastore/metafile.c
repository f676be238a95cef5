// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding of the embedded store's file. Reading goes record by record through the same tree functions
// that made them; bytes that do not check, or that the tree would not have taken, are a torn end or a refusal.
#include "metastore/metafile.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

static const char METAFILE_MAGIC[8] = "TAILMETA";
enum record_kind { RECORD_NODE = 1, RECORD_SNAPSHOT_END = 2, RECORD_WRITE = 3, RECORD_SESSION_END = 4 };
static const uint32_t NULL_DATA = UINT32_MAX;

// ---- writing

static uint8_t *buffer_grow(struct metafile_buffer *b, size_t size) {
    if (b->capacity - b->size < size) {
        size_t capacity = max_size(b->capacity * 2, align_up(b->size + size, 4096));
        b->data = realloc(b->data, capacity);
        ASSERT(b->data != NULL);
        b->capacity = capacity;
    }
    uint8_t *place = b->data + b->size;
    b->size += size;
    return place;
}
static void put_u8(struct metafile_buffer *b, uint8_t v) {
    *buffer_grow(b, 1) = v;
}
static void put_u16(struct metafile_buffer *b, uint16_t v) {
    store_be16(buffer_grow(b, 2), v);
}
static void put_u32(struct metafile_buffer *b, uint32_t v) {
    store_be32(buffer_grow(b, 4), v);
}
static void put_u64(struct metafile_buffer *b, uint64_t v) {
    store_be64(buffer_grow(b, 8), v);
}
static void put_bytes(struct metafile_buffer *b, const void *data, size_t size) {
    if (size > 0) memcpy(buffer_grow(b, size), data, size);
}
static void put_data(struct metafile_buffer *b, struct bytes data) {
    put_u32(b, data.data ? (uint32_t)data.size : NULL_DATA);
    put_bytes(b, data.data, data.data ? data.size : 0);
}

void metafile_buffer_free(struct metafile_buffer *buffer) {
    free(buffer->data);
    *buffer = (struct metafile_buffer){0};
}

// Reserves the header; record_close fills it when the payload is there.
static size_t record_open(struct metafile_buffer *b) {
    size_t start = b->size;
    buffer_grow(b, METAFILE_RECORD_HEADER_SIZE);
    return start;
}

static void record_close(struct metafile_buffer *b, size_t start, const struct metafile_place *place,
                         enum record_kind kind, int64_t zxid, int64_t now_ms) {
    uint8_t *header = b->data + start;
    const uint8_t *payload = header + METAFILE_RECORD_HEADER_SIZE;
    size_t size = b->size - start - METAFILE_RECORD_HEADER_SIZE;
    ASSERT(size <= UINT32_MAX);
    store_be32(header, (uint32_t)size);
    store_be32(header + 4, kind);
    store_be64(header + 8, (uint64_t)zxid);
    store_be64(header + 16, (uint64_t)now_ms);
    store_be64(header + 24, place->position);
    store_be64(header + 32, XXH64(payload, size, place->file_id));
    store_be64(header + 40, XXH64(header, 40, place->file_id + place->position + start));
}

static void put_node(struct metafile_buffer *b, const struct tree_node *node) {
    const struct metastore_stat *stat = &node->stat;
    put_u16(b, (uint16_t)strlen(node->path));
    put_bytes(b, node->path, strlen(node->path));
    put_u64(b, (uint64_t)stat->czxid);
    put_u64(b, (uint64_t)stat->mzxid);
    put_u64(b, (uint64_t)stat->pzxid);
    put_u64(b, (uint64_t)stat->created_ms);
    put_u64(b, (uint64_t)stat->modified_ms);
    put_u32(b, (uint32_t)stat->version);
    put_u32(b, (uint32_t)stat->child_version);
    put_u64(b, (uint64_t)stat->ephemeral_owner);
    put_data(b, (struct bytes){node->data, node->stat.data_size});
}

void metafile_put_snapshot(struct metafile_buffer *b, uint64_t file_id, const struct tree *tree, int64_t now_ms) {
    ASSERT(b->size == 0);
    const struct metafile_place place = {.file_id = file_id};
    uint8_t *header = buffer_grow(b, METAFILE_HEADER_SIZE);
    memcpy(header, METAFILE_MAGIC, sizeof METAFILE_MAGIC);
    store_be32(header + 8, METAFILE_FORMAT_VERSION);
    store_be32(header + 12, 0);
    store_be64(header + 16, file_id);
    store_be64(header + 24, XXH64(header, 24, 0));
    struct tree_node **nodes = tree_sorted(tree);
    for (size_t i = 0; i < tree->nodes.count; i++) {
        size_t start = record_open(b);
        put_node(b, nodes[i]);
        record_close(b, start, &place, RECORD_NODE, tree->zxid, now_ms);
    }
    free(nodes);
    size_t start = record_open(b);
    put_u64(b, tree->nodes.count);
    record_close(b, start, &place, RECORD_SNAPSHOT_END, tree->zxid, now_ms);
}

void metafile_put_write(struct metafile_buffer *b, const struct metafile_place *place, int64_t zxid, int64_t session,
                        int64_t now_ms, const struct metastore_change *changes, size_t count) {
    size_t start = record_open(b);
    put_u64(b, (uint64_t)session);
    for (size_t i = 0; i < count; i++) {
        const struct metastore_change *change = &changes[i];
        if (change->kind == METASTORE_CHECK) continue;
        size_t size = strlen(change->path), digits = change->kind == METASTORE_CREATE ? strlen(change->digits) : 0;
        put_u8(b, (uint8_t)change->kind);
        put_u8(b, change->kind == METASTORE_CREATE && (change->flags & METASTORE_EPHEMERAL));
        put_u16(b, (uint16_t)(size + digits));
        put_bytes(b, change->path, size);
        put_bytes(b, change->digits, digits);
        if (change->kind != METASTORE_DELETE) put_data(b, change->data);
    }
    record_close(b, start, place, RECORD_WRITE, zxid, now_ms);
}

void metafile_put_session_end(struct metafile_buffer *b, const struct metafile_place *place, int64_t zxid,
                              int64_t session, int64_t now_ms) {
    size_t start = record_open(b);
    put_u64(b, (uint64_t)session);
    record_close(b, start, place, RECORD_SESSION_END, zxid, now_ms);
}

// ---- reading

struct reader {
    const uint8_t *at;
    size_t left;
    bool bad; // asked for more than there is
};
static const uint8_t *take(struct reader *r, size_t size) {
    if (r->left < size) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *place = r->at;
    r->at += size;
    r->left -= size;
    return place;
}
static uint8_t take_u8(struct reader *r) {
    const uint8_t *p = take(r, 1);
    return p ? *p : 0;
}
static uint16_t take_u16(struct reader *r) {
    const uint8_t *p = take(r, 2);
    return p ? load_be16(p) : 0;
}
static uint32_t take_u32(struct reader *r) {
    const uint8_t *p = take(r, 4);
    return p ? load_be32(p) : 0;
}
static uint64_t take_u64(struct reader *r) {
    const uint8_t *p = take(r, 8);
    return p ? load_be64(p) : 0;
}
static struct bytes take_data(struct reader *r) {
    uint32_t size = take_u32(r);
    if (size == NULL_DATA) return (struct bytes){0};
    if (size > METASTORE_DATA_MAX) r->bad = true;
    const uint8_t *p = r->bad ? NULL : take(r, size);
    return (struct bytes){p, p ? size : 0};
}
static struct str take_path(struct reader *r) {
    uint16_t size = take_u16(r);
    const char *p = (const char *)take(r, size);
    if (size > METASTORE_PATH_MAX) r->bad = true;
    return (struct str){r->bad ? "" : p, r->bad ? 0 : size};
}

struct record {
    uint32_t kind, payload_size;
    int64_t zxid, now_ms;
    uint64_t synced_bytes;
    struct reader payload;
};

// Whether the bytes at `position` are the header of a record that was written there.
static bool header_is_whole(const uint8_t *data, size_t size, uint64_t file_id, size_t position) {
    if (size - position < METAFILE_RECORD_HEADER_SIZE) return false;
    return XXH64(data + position, 40, file_id + position) == load_be64(data + position + 40);
}

static bool record_read(const uint8_t *data, size_t size, uint64_t file_id, size_t position, struct record *record) {
    if (!header_is_whole(data, size, file_id, position)) return false;
    const uint8_t *header = data + position;
    size_t left = size - position - METAFILE_RECORD_HEADER_SIZE;
    *record = (struct record){.payload_size = load_be32(header),
                              .kind = load_be32(header + 4),
                              .zxid = (int64_t)load_be64(header + 8),
                              .now_ms = (int64_t)load_be64(header + 16),
                              .synced_bytes = load_be64(header + 24)};
    if (record->payload_size > left) return false;
    record->payload = (struct reader){header + METAFILE_RECORD_HEADER_SIZE, record->payload_size, false};
    return XXH64(record->payload.at, record->payload_size, file_id) == load_be64(header + 32);
}

static bool refuse(struct metafile_load *load, size_t position, const char *what) {
    struct text t = TEXT_IN(load->reason);
    text_addf(&t, "byte %zu: %s", position, what);
    load->ok = false;
    return false;
}

static bool read_header(const uint8_t *data, size_t size, struct metafile_load *load) {
    if (size < METAFILE_HEADER_SIZE) return refuse(load, size, "the file ends inside its header");
    if (memcmp(data, METAFILE_MAGIC, sizeof METAFILE_MAGIC) != 0)
        return refuse(load, 0, "this is not a metadata file of Tailrace");
    if (load_be64(data + 24) != XXH64(data, 24, 0)) return refuse(load, 24, "the header's checksum does not match");
    if (load_be32(data + 8) != METAFILE_FORMAT_VERSION || load_be32(data + 12) != 0)
        return refuse(load, 8, "written in a format that this release does not know (it knows version 1)");
    load->file_id = load_be64(data + 16);
    return true;
}

static bool apply_node(struct tree *tree, struct record *record) {
    struct reader *r = &record->payload;
    struct str path = take_path(r);
    struct metastore_stat stat = {0};
    stat.czxid = (int64_t)take_u64(r);
    stat.mzxid = (int64_t)take_u64(r);
    stat.pzxid = (int64_t)take_u64(r);
    stat.created_ms = (int64_t)take_u64(r);
    stat.modified_ms = (int64_t)take_u64(r);
    stat.version = (int32_t)take_u32(r);
    stat.child_version = (int32_t)take_u32(r);
    stat.ephemeral_owner = (int64_t)take_u64(r);
    struct bytes data = take_data(r);
    return !r->bad && r->left == 0 && tree_restore(tree, path, &stat, data);
}

static size_t read_changes(struct reader *r, struct metastore_change *changes, char *paths) {
    size_t count = 0;
    while (r->left > 0 && !r->bad && count < METASTORE_CHANGES_MAX) {
        struct metastore_change *change = &changes[count];
        uint8_t kind = take_u8(r), ephemeral = take_u8(r);
        struct str path = take_path(r);
        if (kind > METASTORE_DELETE || ephemeral > 1 || (ephemeral && kind != METASTORE_CREATE)) r->bad = true;
        if (r->bad) break;
        *change = (struct metastore_change){.kind = (enum metastore_change_kind)kind,
                                            .path = paths,
                                            .version = METASTORE_ANY_VERSION,
                                            .flags = ephemeral ? METASTORE_EPHEMERAL : 0};
        memcpy(paths, path.data, path.size);
        paths[path.size] = '\0';
        paths += path.size + 1;
        if (kind != METASTORE_DELETE) change->data = take_data(r);
        count++;
    }
    if (r->left > 0) r->bad = true;
    return count;
}

static bool apply_write(struct tree *tree, struct record *record) {
    struct reader *r = &record->payload;
    int64_t session = (int64_t)take_u64(r);
    if (r->bad || session == 0 || record->zxid != tree->zxid + 1) return false;
    // A change takes at least 4 bytes; its path with a NUL takes no more than its bytes in the record.
    size_t most = min_size(r->left / 4 + 1, METASTORE_CHANGES_MAX);
    struct metastore_change *changes = calloc(most, sizeof *changes);
    char *paths = malloc(r->left + 1);
    ASSERT(changes != NULL && paths != NULL);
    size_t count = read_changes(r, changes, paths), failed;
    bool ok = !r->bad &&
              (count == 0 || tree_write(tree, session, record->now_ms, changes, count, &failed, NULL) == METASTORE_OK);
    // Nothing but checks: the tree counted it all the same.
    if (ok && count == 0) tree->zxid = record->zxid;
    free(paths);
    free(changes);
    return ok;
}

static bool apply_session_end(struct tree *tree, struct record *record) {
    int64_t session = (int64_t)take_u64(&record->payload);
    if (record->payload.bad || record->payload.left != 0) return false;
    tree_end_session(tree, session, record->now_ms, NULL);
    return tree->zxid == record->zxid;
}

static bool apply_change(struct tree *tree, struct record *record) {
    switch (record->kind) {
    case RECORD_WRITE: return apply_write(tree, record);
    case RECORD_SESSION_END: return apply_session_end(tree, record);
    default: return false;
    }
}

static size_t read_snapshot(struct tree *tree, const uint8_t *data, size_t size, struct metafile_load *load) {
    size_t position = METAFILE_HEADER_SIZE;
    struct record record;
    while (record_read(data, size, load->file_id, position, &record)) {
        if (record.kind == RECORD_SNAPSHOT_END) {
            uint64_t count = take_u64(&record.payload);
            if (record.payload.bad || record.payload.left != 0 || count != tree->nodes.count || record.zxid < 0) break;
            tree->zxid = record.zxid;
            return position + METAFILE_RECORD_HEADER_SIZE + record.payload_size;
        }
        if (record.kind != RECORD_NODE || !apply_node(tree, &record)) break;
        position += METAFILE_RECORD_HEADER_SIZE + record.payload_size;
    }
    refuse(load, position, "the file is damaged: a record of the snapshot is not as it was written");
    return 0;
}

// The record at `position` is not whole. Damage, if a later one was written when this one was durable already.
static bool is_torn_end(const uint8_t *data, size_t size, uint64_t file_id, size_t position) {
    for (size_t later = position + 1; size - later >= METAFILE_RECORD_HEADER_SIZE && later < size; later++) {
        if (!header_is_whole(data, size, file_id, later)) continue;
        if (load_be64(data + later + 24) > position) return false;
    }
    return true;
}

void metafile_load(struct tree *tree, const uint8_t *data, size_t size, struct metafile_load *load) {
    *load = (struct metafile_load){.ok = true};
    if (!read_header(data, size, load)) return;
    size_t position = read_snapshot(tree, data, size, load);
    if (!load->ok) return;
    while (position < size) {
        struct record record;
        if (!record_read(data, size, load->file_id, position, &record)) {
            if (is_torn_end(data, size, load->file_id, position)) break;
            refuse(load, position, "the file is damaged: a record that was durable is not as it was written");
            return;
        }
        if (!apply_change(tree, &record)) {
            refuse(load, position, "a record that makes no sense here (written by another release, or damaged)");
            return;
        }
        position += METAFILE_RECORD_HEADER_SIZE + record.payload_size;
    }
    load->valid_bytes = position;
}
