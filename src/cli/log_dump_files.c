// SPDX-License-Identifier: Apache-2.0
// The content of the small files: indexes, snapshots, epochs, checkpoints, metadata. A file that is damaged is said so,
// and shown as far as it makes sense.
#include "base/bits.h"
#include "cli/log_commands.h"
#include "log/epochs.h"
#include "log/files.h"
#include "log/index.h"
#include "log/partition_metadata.h"
#include "log/producers_private.h"
#include "log/txn_index.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_BYTES_MAX = 256 << 20 };

struct small_file {
    struct log_dump *dump;
    const char *path;
    int64_t base_offset;
    struct bytes bytes;
    struct text reason;
};

static bool is_in_range(const struct small_file *f, int64_t offset) {
    const struct log_range *r = &f->dump->range;
    if (offset < r->from_offset || offset > r->to_offset || f->dump->printed >= r->limit) return false;
    f->dump->printed++;
    return true;
}

// Entries up to a tail of zeros.
static size_t entry_count(const struct small_file *f, size_t entry_bytes) {
    size_t end = f->bytes.size;
    while (end > 0 && f->bytes.data[end - 1] == 0)
        end--;
    return (end + entry_bytes - 1) / entry_bytes;
}

static bool dump_index(struct small_file *f) {
    size_t count = entry_count(f, INDEX_ENTRY_BYTES);
    bool good = f->bytes.size % INDEX_ENTRY_BYTES == 0;
    if (!good) text_addf(&f->reason, "%zu bytes are no multiple of %d", f->bytes.size, INDEX_ENTRY_BYTES);
    for (size_t i = 0; i < count && (i + 1) * INDEX_ENTRY_BYTES <= f->bytes.size; i++) {
        const uint8_t *p = f->bytes.data + i * INDEX_ENTRY_BYTES;
        int64_t offset = f->base_offset + (int32_t)load_be32(p);
        if (is_in_range(f, offset))
            printf(f->dump->json ? "{\"offset\":%" PRId64 ",\"position\":%" PRId32 "}\n"
                                 : "offset %" PRId64 " position %" PRId32 "\n",
                   offset, (int32_t)load_be32(p + 4));
    }
    return good;
}

static bool dump_time_index(struct small_file *f) {
    size_t count = entry_count(f, TIME_INDEX_ENTRY_BYTES);
    bool good = f->bytes.size % TIME_INDEX_ENTRY_BYTES == 0;
    if (!good) text_addf(&f->reason, "%zu bytes are no multiple of %d", f->bytes.size, TIME_INDEX_ENTRY_BYTES);
    for (size_t i = 0; i < count && (i + 1) * TIME_INDEX_ENTRY_BYTES <= f->bytes.size; i++) {
        const uint8_t *p = f->bytes.data + i * TIME_INDEX_ENTRY_BYTES;
        int64_t time = (int64_t)load_be64(p), offset = f->base_offset + (int32_t)load_be32(p + 8);
        char text[LOG_TIME_TEXT_BYTES];
        if (!is_in_range(f, offset)) continue;
        if (f->dump->json)
            printf("{\"timestamp\":%" PRId64 ",\"offset\":%" PRId64 "}\n", time, offset);
        else
            printf("timestamp %" PRId64 " (%s) offset %" PRId64 "\n", time, log_time_text(time, text), offset);
    }
    return good;
}

static bool dump_txn_index(struct small_file *f) {
    struct txn_index index = {0};
    bool good = txn_index_decode(&index, f->bytes, f->base_offset, &f->reason);
    for (size_t i = 0; i < index.count; i++) {
        const struct aborted_transaction *e = &index.entries[i];
        if (is_in_range(f, e->last_offset))
            printf(f->dump->json ? "{\"producerId\":%" PRId64 ",\"firstOffset\":%" PRId64 ",\"lastOffset\":%" PRId64
                                   ",\"lastStableOffset\":%" PRId64 "}\n"
                                 : "producer %" PRId64 " first offset %" PRId64 " last offset %" PRId64
                                   " last stable offset %" PRId64 "\n",
                   e->producer_id, e->first_offset, e->last_offset, e->last_stable_offset);
    }
    txn_index_free(&index);
    return good;
}

static void print_producer(const struct small_file *f, const struct producer *p) {
    const struct producer_batch none = {.last_offset = -1, .last_sequence = -1};
    const struct producer_batch *b = p->batch_count ? &p->batches[0] : &none;
    printf(f->dump->json ? "{\"producerId\":%" PRId64 ",\"producerEpoch\":%d,\"lastSequence\":%" PRId32
                           ",\"lastOffset\":%" PRId64 ",\"offsetDelta\":%" PRId32 ",\"timestamp\":%" PRId64
                           ",\"coordinatorEpoch\":%" PRId32 ",\"currentTxnFirstOffset\":%" PRId64 "}\n"
                         : "producer %" PRId64 " epoch %d last sequence %" PRId32 " last offset %" PRId64
                           " delta %" PRId32 " timestamp %" PRId64 " coordinator epoch %" PRId32
                           " open transaction from %" PRId64 "\n",
           p->id, p->epoch, b->last_sequence, b->last_offset, b->offset_delta, p->last_timestamp_ms,
           p->coordinator_epoch, p->transaction_start);
}

static bool dump_snapshot(struct small_file *f) {
    struct producers check;
    producers_init(&check, 0);
    bool good = producers_decode(&check, f->bytes, 0, INT64_MAX, &f->reason);
    producers_free(&check);
    size_t at = PRODUCER_SNAPSHOT_HEADER_BYTES;
    for (; at + PRODUCER_SNAPSHOT_ENTRY_BYTES <= f->bytes.size; at += PRODUCER_SNAPSHOT_ENTRY_BYTES) {
        struct producer producer;
        producer_snapshot_entry(f->bytes.data + at, &producer);
        if (f->dump->printed++ < f->dump->range.limit) print_producer(f, &producer);
    }
    return good;
}

static bool dump_epochs(struct small_file *f) {
    struct epochs epochs;
    epochs_init(&epochs);
    bool good = epochs_decode(&epochs, (struct str){(const char *)f->bytes.data, f->bytes.size}, &f->reason);
    for (size_t i = 0; i < epochs.count; i++)
        if (f->dump->printed++ < f->dump->range.limit)
            printf(f->dump->json ? "{\"epoch\":%" PRId32 ",\"startOffset\":%" PRId64 "}\n"
                                 : "epoch %" PRId32 " start offset %" PRId64 "\n",
                   epochs.entries[i].epoch, epochs.entries[i].start_offset);
    epochs_free(&epochs);
    return good;
}

static bool dump_checkpoint(struct small_file *f) {
    struct checkpoint c;
    bool good = checkpoint_parse((struct str){(const char *)f->bytes.data, f->bytes.size}, &c, &f->reason);
    for (size_t i = 0; i < c.count; i++) {
        const struct checkpoint_entry *e = &c.entries[i];
        if (f->dump->printed++ >= f->dump->range.limit) break;
        if (f->dump->json)
            printf("{\"topic\":\"%s\",\"partition\":%" PRId32 ",\"offset\":%" PRId64 "}\n", e->topic, e->partition,
                   e->offset);
        else
            printf("%s-%" PRId32 " offset %" PRId64 "\n", e->topic, e->partition, e->offset);
    }
    checkpoint_free(&c);
    return good;
}

static bool dump_partition_metadata(struct small_file *f) {
    struct uuid id;
    char text[UUID_TEXT_SIZE + 1];
    if (!partition_metadata_parse((struct str){(const char *)f->bytes.data, f->bytes.size}, &id, &f->reason))
        return false;
    uuid_print(id, text);
    printf(f->dump->json ? "{\"topicId\":\"%s\"}\n" : "topic id %s\n", text);
    return true;
}

static bool dump_meta(struct small_file *f) {
    struct meta_properties meta;
    if (!meta_parse((struct str){(const char *)f->bytes.data, f->bytes.size}, &meta, &f->reason)) return false;
    if (f->dump->json) {
        printf("{\"brokerId\":%" PRId32 ",\"clusterId\":", meta.broker_id);
        log_print_string(log_text(meta.cluster_id));
        fputs(",\"directoryId\":", stdout);
        log_print_string(log_text(meta.directory_id));
        puts("}");
    } else {
        printf("broker id %" PRId32 " cluster id ", meta.broker_id);
        log_print_string(log_text(meta.cluster_id));
        fputs(" directory id ", stdout);
        log_print_string(log_text(meta.directory_id));
        putchar('\n');
    }
    return true;
}

static bool dump_metadata(struct small_file *f) {
    return log_dump_metadata(f->dump, f->bytes, &f->reason);
}

// ---- which is it
// -----------------------------------------------------------------------------------------------------------------------
typedef bool (*small_file_dump)(struct small_file *file);

static small_file_dump find_dump(const char *path, int64_t *base_offset) {
    static const struct {
        const char *suffix; // of a file with a base offset, or its whole name
        small_file_dump dump;
    } kinds[] = {
        {".index", dump_index},
        {".timeindex", dump_time_index},
        {".txnindex", dump_txn_index},
        {".snapshot", dump_snapshot},
        {"leader-epoch-checkpoint", dump_epochs},
        {"recovery-point-offset-checkpoint", dump_checkpoint},
        {"log-start-offset-checkpoint", dump_checkpoint},
        {"replication-offset-checkpoint", dump_checkpoint},
        {"cleaner-offset-checkpoint", dump_checkpoint},
        {PARTITION_METADATA_FILE, dump_partition_metadata},
        {"meta.properties", dump_meta},
        {LOG_METADATA_FILE, dump_metadata},
    };
    struct str name = str_of(log_base_name(path)), suffix = name;
    *base_offset = 0;
    if (!file_name_parse(name, base_offset, &suffix)) suffix = name;
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
        struct str kind = str_of(kinds[i].suffix);
        bool begins = suffix.size >= kind.size && memcmp(suffix.data, kind.data, kind.size) == 0;
        if (begins && (suffix.size == kind.size || suffix.data[kind.size] == '.')) return kinds[i].dump;
    }
    return NULL;
}

int log_dump_small_file(struct log_dump *dump, const char *path) {
    char why[512], *data;
    struct small_file f = {.dump = dump, .path = path, .reason = TEXT_IN(why)};
    small_file_dump run = find_dump(path, &f.base_offset);
    if (!run) return cli_usage_error("log dump", "%s is not one of the files that it can show", path);
    size_t size;
    int error = file_read_all(dump->host, path, FILE_BYTES_MAX, &data, &size);
    if (error < 0) return log_path_error("dump", path, error);
    f.bytes = (struct bytes){(const uint8_t *)data, size};
    bool good = run(&f);
    free(data);
    if (good) return CLI_OK;
    fprintf(stderr, "tailrace log dump: %s is damaged: %s\n", path, why);
    return CLI_FAILED;
}
