// SPDX-License-Identifier: Apache-2.0
// Bulk produce: a thread for each connection, each with its share of the partitions in turn and a fixed number of
// requests in flight. An error code ends the program: what a broker refuses is no throughput.
#include "load.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 64, IN_FLIGHT_MAX = 64, PARTITIONS_MAX = 100000 };

struct load {
    struct address address;
    const char *topic;
    int64_t partitions, connections, in_flight, requests; // requests of each connection
    int16_t acks;
    struct bytes batch;
};

struct sender {
    const struct load *load;
    int64_t index;
    pthread_t thread;
};

static void take_answer(int fd, int32_t expected, uint8_t **buffer, size_t *capacity) {
    size_t size = receive_frame(fd, buffer, capacity);
    if (size == 0) fail("the broker closed the connection");
    if ((int32_t)load_be32(*buffer) != expected) fail("an answer out of order");
    int16_t error = produce_error(*buffer, size);
    if (error != 0) fail("Produce: error code %d", error);
}

static void *send_share(void *argument) {
    const struct sender *s = argument;
    const struct load *l = s->load;
    int fd = connect_to(l->address);
    if (fd < 0) fail("cannot connect to %s:%s", l->address.host, l->address.port);
    uint8_t *buffer = NULL;
    size_t capacity = 0;
    int32_t answered = 0;
    int64_t partition = s->index % l->partitions;
    struct produce_request request;
    for (int64_t i = 0; i < l->requests; i++) {
        while (l->acks != 0 && i - answered >= l->in_flight) {
            take_answer(fd, answered++, &buffer, &capacity);
        }
        make_produce_request(&request, l->topic, (int32_t)partition, l->acks, l->batch);
        set_correlation(&request, (int32_t)i);
        partition = (partition + l->connections) % l->partitions;
        struct bytes parts[] = {{request.head, request.head_size}, request.records};
        if (!send_all(fd, parts, 2)) fail("the broker closed the connection");
    }
    while (l->acks != 0 && answered < l->requests) {
        take_answer(fd, answered++, &buffer, &capacity);
    }
    free(buffer);
    close(fd);
    return NULL;
}

int run_produce(int argc, char **argv) {
    if (argc != 10) return 2;
    int64_t records;
    struct bytes batch =
        make_batch((size_t)number(argv[6], 1, 100 << 20), (size_t)number(argv[7], 1, 100 << 20), &records);
    struct load l = {.address = address_of(argv[1]),
                     .topic = argv[2],
                     .partitions = number(argv[3], 1, PARTITIONS_MAX),
                     .connections = number(argv[4], 1, CONNECTIONS_MAX),
                     .in_flight = number(argv[5], 1, IN_FLIGHT_MAX),
                     .acks = (int16_t)number(argv[9], -1, 1),
                     .batch = batch};
    int64_t total = number(argv[8], 1, INT64_C(1) << 50), size = (int64_t)batch.size * l.connections;
    l.requests = (total + size - 1) / size;
    struct sender senders[CONNECTIONS_MAX];
    uint64_t begin = now_ns();
    for (int64_t i = 0; i < l.connections; i++) {
        senders[i] = (struct sender){.load = &l, .index = i};
        if (pthread_create(&senders[i].thread, NULL, send_share, &senders[i]) != 0) fail("cannot start a thread");
    }
    for (int64_t i = 0; i < l.connections; i++) {
        pthread_join(senders[i].thread, NULL);
    }
    double seconds = (double)(now_ns() - begin) / 1e9;
    int64_t requests = l.requests * l.connections;
    printf(
        "{\"bytes\": %lld, \"requests\": %lld, \"records\": %lld, \"seconds\": %.6f, \"client_cpu_seconds\": %.6f}\n",
        (long long)(requests * (int64_t)batch.size), (long long)requests, (long long)(requests * records), seconds,
        cpu_seconds());
    free((void *)batch.data);
    return 0;
}

static void pause_1_ms(void) {
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

// Tries again each millisecond until one record to partition 0 is acknowledged; prints the instant (monotonic clock).
int run_first_ack(int argc, char **argv) {
    if (argc != 4) return 2;
    struct address address = address_of(argv[1]);
    uint64_t end = now_ns() + (uint64_t)number(argv[3], 1, 3600000) * 1000000;
    int64_t records;
    struct produce_request request;
    make_produce_request(&request, argv[2], 0, -1, make_batch(100, 1, &records));
    struct bytes parts[] = {{request.head, request.head_size}, request.records};
    uint8_t *buffer = NULL;
    size_t capacity = 0;
    int fd = -1;
    while (now_ns() < end) {
        if (fd < 0) fd = connect_to(address);
        size_t size = fd >= 0 && send_all(fd, parts, 2) ? receive_frame(fd, &buffer, &capacity) : 0;
        if (size > 0 && produce_error(buffer, size) == 0) {
            printf("{\"acknowledged_ns\": %llu}\n", (unsigned long long)now_ns());
            return 0;
        }
        if (size == 0 && fd >= 0) {
            close(fd);
            fd = -1;
        }
        pause_1_ms();
    }
    fail("no record was acknowledged in time");
}
