// SPDX-License-Identifier: Apache-2.0
#include "replica.h"
#include "base/bits.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { INDEX_INTERVAL = 4096, BATCH_ROOM = 1 << 20 };

void replica_open(struct replica *r) {
    memset(r, 0, sizeof *r);
    fixture_open(&r->f);
    r->dir.path = r->f.path;
    r->dir.lock_file = -1;
    r->clock_ms = 1000000;
    fixture_mkdir(&r->f, "t-0");
}

void replica_close(struct replica *r) {
    fixture_close(&r->f);
}

const char *replica_file(const struct replica *r, int64_t base_offset, const char *suffix) {
    static char ring[8][128];
    static unsigned next;
    (void)r;
    char *name = ring[next++ % 8];
    snprintf(name, sizeof ring[0], "t-0/%020lld%s", (long long)base_offset, suffix);
    return name;
}

void replica_roll(struct replica *r) {
    r->segment_base = r->next_offset;
}

static void append_bytes(struct replica *r, const void *bytes, size_t size) {
    const char *path = fixture_path(&r->f, replica_file(r, r->segment_base, ".log"));
    int file = os_open(r->f.host, path, OS_READ | OS_WRITE | OS_CREATE);
    struct os_stat stat;
    struct os_vector v = {bytes, size};
    cr_assert_geq(file, 0);
    cr_assert_eq(os_stat_file(r->f.host, file, &stat), 0);
    cr_assert_eq(os_pwritev(r->f.host, file, &v, 1, stat.size_bytes), (int64_t)size);
    os_close(r->f.host, file);
}

static void note_batch(struct replica *r, const uint8_t *bytes, size_t size, int32_t last_delta) {
    cr_assert_lt(r->batch_count, REPLICA_BATCHES_MAX);
    struct replica_batch *b = &r->batches[r->batch_count];
    const struct replica_batch *before = r->batch_count > 0 ? b - 1 : NULL;
    *b = (struct replica_batch){.segment_base = r->segment_base,
                                .base_offset = r->next_offset,
                                .last_offset = r->next_offset + last_delta,
                                .max_timestamp = (int64_t)load_be64(bytes + BATCH_MAX_TIMESTAMP),
                                .size_bytes = size};
    if (before && before->segment_base == b->segment_base) b->position = before->position + before->size_bytes;
    r->batch_count++;
    r->next_offset = b->last_offset + 1;
    r->clock_ms += 10;
    append_bytes(r, bytes, size);
}

void replica_append(struct replica *r, int records, size_t value_bytes, struct batch_options options) {
    static uint8_t memory[BATCH_ROOM], value[BATCH_ROOM / 2];
    struct batch_writer w;
    options.base_offset = r->next_offset;
    options.partition_leader_epoch = r->epoch;
    memset(value, 'a' + (int)(r->next_offset % 26), value_bytes);
    batch_writer_begin(&w, memory, sizeof memory, options);
    for (int i = 0; i < records; i++)
        cr_assert(batch_writer_add(&w, r->clock_ms + i, (struct bytes){NULL, 0}, (struct bytes){value, value_bytes},
                                   NULL, 0));
    size_t size = batch_writer_end(&w);
    note_batch(r, memory, size, records - 1);
}

void replica_fill(struct replica *r, int count, size_t value_bytes) {
    for (int i = 0; i < count; i++)
        replica_append(r, 2, value_bytes, BATCH_OPTIONS_PLAIN);
}

void replica_marker(struct replica *r, int64_t producer_id, int16_t epoch, bool abort) {
    uint8_t memory[256], key[4] = {0, 0, 0, (uint8_t)!abort}, value[6] = {0, 0, 0, 0, 0, 9};
    struct batch_options options = BATCH_OPTIONS_PLAIN;
    options.base_offset = r->next_offset;
    options.partition_leader_epoch = r->epoch;
    options.producer_id = producer_id;
    options.producer_epoch = epoch;
    options.is_transactional = options.is_control = true;
    struct batch_writer w;
    batch_writer_begin(&w, memory, sizeof memory, options);
    cr_assert(batch_writer_add(&w, r->clock_ms, (struct bytes){key, 4}, (struct bytes){value, 6}, NULL, 0));
    size_t size = batch_writer_end(&w);
    cr_assert_eq(size, 78);
    note_batch(r, memory, size, 0);
}

void replica_flip(const struct replica *r, const char *file, uint64_t byte, uint8_t mask) {
    int fd = os_open(r->f.host, fixture_path(&r->f, file), OS_READ | OS_WRITE);
    uint8_t value;
    cr_assert_geq(fd, 0, "%s", file);
    cr_assert_eq(os_pread(r->f.host, fd, &value, 1, byte), 1, "%s has no byte %llu", file, (unsigned long long)byte);
    value ^= mask;
    struct os_vector v = {&value, 1};
    cr_assert_eq(os_pwritev(r->f.host, fd, &v, 1, byte), 1);
    os_close(r->f.host, fd);
}

void replica_truncate(const struct replica *r, const char *file, uint64_t size_bytes) {
    int fd = os_open(r->f.host, fixture_path(&r->f, file), OS_READ | OS_WRITE);
    cr_assert_geq(fd, 0, "%s", file);
    cr_assert_eq(os_truncate(r->f.host, fd, size_bytes), 0);
    os_close(r->f.host, fd);
}

struct log_load replica_load(struct replica *r) {
    return (struct log_load){
        .dir = &r->dir,
        .topic = "t",
        .config = {.segment_bytes = 1 << 30, .segment_index_bytes = 10 << 20, .index_interval_bytes = INDEX_INTERVAL},
        .durable = true,
        .log_start_offset = -1,
        .high_watermark = -1,
        .producer_expiration_ms = INT64_MAX,
    };
}

struct log *replica_load_with(struct replica *r, struct log_load *load, int64_t expected) {
    int64_t code = log_load_run(r->f.host, load);
    cr_assert_eq(code, expected, "%lld: %s", (long long)code, load->reason);
    return load->log;
}

// Kafka's rule, written down a second time: more than 4,096 bytes since the last entry, then one for the next batch.
void replica_check_indexes(const struct replica *r, int64_t end_offset) {
    static uint8_t index[1 << 16], times[1 << 16];
    for (size_t i = 0; i < r->batch_count && r->batches[i].base_offset < end_offset;) {
        int64_t base = r->batches[i].segment_base, newest = -1, newest_offset = -1, in_index = -1;
        size_t index_size = 0, times_size = 0;
        uint64_t last_entry = 0;
        for (; i < r->batch_count && r->batches[i].segment_base == base && r->batches[i].base_offset < end_offset;
             i++) {
            const struct replica_batch *b = &r->batches[i];
            if (b->max_timestamp > newest) {
                newest = b->max_timestamp;
                newest_offset = b->last_offset;
            }
            if (b->position - last_entry <= INDEX_INTERVAL) continue;
            store_be32(index + index_size, (uint32_t)(b->last_offset - base));
            store_be32(index + index_size + 4, (uint32_t)b->position);
            index_size += 8;
            last_entry = b->position;
            if (newest <= in_index) continue;
            store_be64(times + times_size, (uint64_t)newest);
            store_be32(times + times_size + 8, (uint32_t)(newest_offset - base));
            times_size += 12;
            in_index = newest;
        }
        if (newest > in_index) {
            store_be64(times + times_size, (uint64_t)newest);
            store_be32(times + times_size + 8, (uint32_t)(newest_offset - base));
            times_size += 12;
        }
        size_t size;
        char *file = fixture_read(&r->f, replica_file(r, base, ".index"), &size);
        cr_assert_not_null(file);
        cr_assert_eq(size, index_size, "%lld.index: %zu bytes, expected %zu", (long long)base, size, index_size);
        cr_assert(memcmp(file, index, size) == 0, "%lld.index", (long long)base);
        free(file);
        file = fixture_read(&r->f, replica_file(r, base, ".timeindex"), &size);
        cr_assert_not_null(file);
        cr_assert_eq(size, times_size, "%lld.timeindex: %zu bytes, expected %zu", (long long)base, size, times_size);
        cr_assert(memcmp(file, times, size) == 0, "%lld.timeindex", (long long)base);
        free(file);
    }
}

uint64_t replica_digest(const struct replica *r) {
    return fixture_digest(&r->f, "t-0");
}
