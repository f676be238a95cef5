// SPDX-License-Identifier: Apache-2.0
// A partition directory with any bytes for its first segment and offset index is loaded: whatever comes out, a second
// load changes nothing any more, and verification ends. Byte 0: bit 0 a clean stop, bit 1 class fsync, bit 2 repairs
// the checksums; bytes 1 and 2: how many bytes are the log, the rest is the index.
#include "base/assert.h"
#include "base/bits.h"
#include "base/crc32c.h"
#include "log/files.h"
#include "log/inspect.h"
#include "log/internal.h"
#include "os/linux/host.h"
#include "protocol/batch.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct os_host *host;
static char root[64], partition[80];

static void remove_root(void) {
    directory_delete(host, root);
}

static void set_up(void) {
    if (host) return;
    host = os_host_create();
    snprintf(root, sizeof root, "%s/tailrace-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    ASSERT(mkdtemp(root) != NULL);
    snprintf(partition, sizeof partition, "%s/t-0", root);
    atexit(remove_root);
}

static void repair(uint8_t *log, size_t size) {
    while (size >= BATCH_HEADER_BYTES) {
        int64_t total = batch_announced_bytes(log);
        if (total < BATCH_HEADER_BYTES || (size_t)total > size || log[BATCH_MAGIC] != 2) return;
        store_be32(log + BATCH_CRC, crc32c(0, log + BATCH_ATTRIBUTES, (size_t)total - BATCH_ATTRIBUTES));
        log += total;
        size -= (size_t)total;
    }
}

static void make_directory(const uint8_t *data, size_t size, bool repaired) {
    size_t log_size = min_size(load_be16(data), size - 2);
    uint8_t *copy = malloc(size);
    memcpy(copy, data + 2, size - 2);
    if (repaired) repair(copy, log_size);
    directory_delete(host, partition);
    ASSERT(os_mkdir(host, partition) == 0);
    ASSERT(file_write(host, partition, "00000000000000000000.log", copy, log_size, false) == 0);
    ASSERT(file_write(host, partition, "00000000000000000000.index", copy + log_size, size - 2 - log_size, false) == 0);
    free(copy);
}

static int64_t load(struct log_dir *dir, bool clean, bool durable) {
    struct log_load l = {
        .dir = dir,
        .topic = "t",
        .config = {.segment_bytes = 1 << 30, .segment_index_bytes = 1 << 20, .index_interval_bytes = 100},
        .clean = clean,
        .durable = durable,
        .log_start_offset = -1,
        .high_watermark = -1,
        .producer_expiration_ms = INT64_MAX,
    };
    int64_t code = log_load_run(host, &l);
    ASSERT((code == 0) == (l.log != NULL));
    ASSERT(!log_dir_is_failed(dir));
    if (code != 0) return -1;
    int64_t end = l.log->end_offset;
    log_free(l.log);
    return end;
}

static void on_finding(void *context, const struct inspect_finding *finding) {
    (void)context;
    ASSERT(finding->text[0] != '\0');
}
static void on_unreadable(void *context, const char *directory, const char *file, int error) {
    (void)context, (void)directory, (void)file, (void)error;
}
static void on_progress(void *context, uint64_t bytes) {
    (void)context;
    (void)bytes;
}

static void verify(void) {
    const struct inspect_listener listener = {NULL, on_finding, on_progress, on_unreadable};
    struct inspect_dir dir;
    ASSERT(inspect_dir_read(host, root, &dir, &listener) == 0);
    struct inspect_verify v = {.host = host, .dir = &dir, .records = true, .listener = &listener};
    ASSERT(inspect_verify_partition(&v, &dir.partitions[0]) == 0);
    inspect_dir_free(&dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    set_up();
    struct log_dir dir = {.path = root, .lock_file = -1};
    make_directory(data + 1, size - 1, data[0] & 4);
    verify();
    load(&dir, data[0] & 1, data[0] & 2);
    int64_t end = load(&dir, false, false); // reads all of it
    ASSERT(end >= 0);
    ASSERT(load(&dir, false, true) == end);
    verify();
    return 0;
}
