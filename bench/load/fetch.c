// SPDX-License-Identifier: Apache-2.0
// Bulk fetch: a thread for each connection reads its share of the partitions from the start, again and again, until
// enough bytes of records have come. What was received is walked batch by batch, for the next offset only.
#include "load.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 64, PARTITIONS_MAX = 1024, FETCH_VERSION = 10, BATCH_HEADER = 61 };

struct load {
    struct address address;
    const char *topic;
    int64_t partitions, connections, partition_bytes, total;
    atomic_llong bytes;
};

struct reader {
    struct load *load;
    int64_t index;
    pthread_t thread;
    int64_t offsets[PARTITIONS_MAX];
    uint8_t *request;
};

static size_t make_request(struct reader *r) {
    const struct load *l = r->load;
    uint8_t *at = r->request + 4;
    size_t topic_size = strlen(l->topic);
    store_be16(at, 1);
    store_be16(at + 2, FETCH_VERSION);
    store_be32(at + 4, 0);
    store_be16(at + 8, 0); // an empty client id
    at += 10;
    store_be32(at, (uint32_t)-1);
    store_be32(at + 4, 500);
    store_be32(at + 8, 1);
    store_be32(at + 12, 50 << 20);
    at[16] = 0;
    store_be32(at + 17, 0); // no session
    store_be32(at + 21, (uint32_t)-1);
    store_be32(at + 25, 1);
    store_be16(at + 29, (uint16_t)topic_size);
    memcpy(at + 31, l->topic, topic_size);
    at += 31 + topic_size;
    uint8_t *count_at = at;
    uint32_t count = 0;
    at += 4;
    for (int64_t p = r->index; p < l->partitions; p += l->connections, count++) {
        store_be32(at, (uint32_t)p);
        store_be32(at + 4, (uint32_t)-1);
        store_be64(at + 8, (uint64_t)r->offsets[p]);
        store_be64(at + 16, (uint64_t)-1);
        store_be32(at + 24, (uint32_t)l->partition_bytes);
        at += 28;
    }
    store_be32(count_at, count);
    store_be32(at, 0); // nothing is forgotten
    at += 4;
    size_t size = (size_t)(at - r->request);
    store_be32(r->request, (uint32_t)(size - 4));
    return size;
}

// The offset behind the last whole batch; `offset` itself if there is none.
static int64_t next_offset(const uint8_t *records, size_t size, int64_t offset) {
    size_t at = 0;
    while (size - at >= BATCH_HEADER) {
        size_t batch = (size_t)load_be32(records + at + 8) + 12;
        if (batch < BATCH_HEADER || batch > size - at) break;
        offset = (int64_t)load_be64(records + at) + (int32_t)load_be32(records + at + 23) + 1;
        at += batch;
    }
    return offset;
}

// The bytes of records in the answer.
static int64_t take_answer(struct reader *r, const uint8_t *answer, size_t size) {
    struct load *l = r->load;
    size_t at = 4 + 4 + 2 + 4; // correlation id, throttle time, error, session
    if (size < at + 4 || load_be16(answer + 8) != 0 || load_be32(answer + at) != 1) fail("this is no answer to Fetch");
    at += 4;
    at += 2 + (size_t)load_be16(answer + at);
    if (at + 4 > size) fail("this is no answer to Fetch");
    uint32_t count = load_be32(answer + at);
    at += 4;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (at + 38 > size) fail("this is no answer to Fetch");
        uint32_t partition = load_be32(answer + at);
        int16_t error = (int16_t)load_be16(answer + at + 4);
        int64_t high = (int64_t)load_be64(answer + at + 6);
        int32_t aborted = (int32_t)load_be32(answer + at + 30);
        at += 34;
        if (error != 0) fail("Fetch: error code %d", error);
        if (aborted > 0 || partition >= l->partitions || at + 4 > size) fail("this is no answer to Fetch");
        int32_t records = (int32_t)load_be32(answer + at);
        at += 4;
        size_t records_size = records > 0 ? (size_t)records : 0;
        if (records_size > size - at) fail("this is no answer to Fetch");
        int64_t next = next_offset(answer + at, records_size, r->offsets[partition]);
        r->offsets[partition] = next >= high ? 0 : next;
        bytes += (int64_t)records_size;
        at += records_size;
    }
    return bytes;
}

static void *read_share(void *argument) {
    struct reader *r = argument;
    struct load *l = r->load;
    int fd = connect_to(l->address);
    if (fd < 0) fail("cannot connect to %s:%s", l->address.host, l->address.port);
    uint8_t *buffer = NULL;
    size_t capacity = 0;
    while (atomic_load(&l->bytes) < l->total) {
        struct bytes request = {r->request, make_request(r)};
        if (!send_all(fd, &request, 1)) fail("the broker closed the connection");
        size_t size = receive_frame(fd, &buffer, &capacity);
        if (size == 0) fail("the broker closed the connection");
        int64_t bytes = take_answer(r, buffer, size);
        if (bytes == 0) fail("the topic is empty");
        atomic_fetch_add(&l->bytes, bytes);
    }
    free(buffer);
    close(fd);
    return NULL;
}

int run_fetch(int argc, char **argv) {
    if (argc != 7) return 2;
    struct load l = {.address = address_of(argv[1]),
                     .topic = argv[2],
                     .partitions = number(argv[3], 1, PARTITIONS_MAX),
                     .connections = number(argv[4], 1, CONNECTIONS_MAX),
                     .partition_bytes = number(argv[5], 1, 50 << 20),
                     .total = number(argv[6], 1, INT64_C(1) << 50)};
    if (l.connections > l.partitions) fail("more connections than partitions");
    struct reader *readers = calloc((size_t)l.connections, sizeof *readers);
    if (!readers) fail("no memory");
    uint64_t begin = now_ns();
    for (int64_t i = 0; i < l.connections; i++) {
        readers[i].load = &l;
        readers[i].index = i;
        readers[i].request = malloc(512 + strlen(l.topic) + (size_t)l.partitions * 28);
        if (!readers[i].request) fail("no memory");
        if (pthread_create(&readers[i].thread, NULL, read_share, &readers[i]) != 0) fail("cannot start a thread");
    }
    for (int64_t i = 0; i < l.connections; i++) {
        pthread_join(readers[i].thread, NULL);
        free(readers[i].request);
    }
    double seconds = (double)(now_ns() - begin) / 1e9;
    printf("{\"bytes\": %lld, \"seconds\": %.6f, \"client_cpu_seconds\": %.6f}\n", (long long)atomic_load(&l.bytes),
           seconds, cpu_seconds());
    free(readers);
    return 0;
}
