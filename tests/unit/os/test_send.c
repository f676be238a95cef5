// SPDX-License-Identifier: Apache-2.0
// Sends of memory and file ranges: contents, slow readers, truncated files, peers that go away, many senders.
#include "fixture.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

static uint8_t byte_at(uint64_t position) {
    return (uint8_t)((position * 2654435761u) >> 13);
}

static int pattern_file(struct os_host *host, const char *path, size_t size) {
    int file = os_open(host, path, OS_READ | OS_WRITE | OS_CREATE);
    cr_assert_geq(file, 0);
    uint8_t *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = byte_at(i);
    struct os_vector v = {data, size};
    cr_assert_eq(os_pwritev(host, file, &v, 1, 0), (int64_t)size);
    free(data);
    return file;
}

// Receives exactly `size` bytes, `piece` at a time.
static uint8_t *receive_all(struct os *os, int socket, size_t size, size_t piece) {
    uint8_t *data = malloc(size + 1);
    struct os_op receive = OS_OP(op_note_done);
    size_t got = 0;
    while (got < size) {
        os_recv_start(os, &receive, socket, data + got, piece < size - got ? piece : size - got);
        int64_t n = op_await(os, &receive);
        cr_assert_gt(n, 0);
        got += (size_t)n;
    }
    return data;
}

Test(send, slices_arrive_in_order_and_whole) {
    struct fixture f = fixture_open(16);
    struct temporary t = temporary_open();
    struct pair p = pair_open(f.os);
    enum { FILE_SIZE = 600000 };
    int file = pattern_file(f.host, t.file, FILE_SIZE);
    struct os_slice slices[] = {
        {.memory = "head", .size = 4},
        {.memory = "er", .size = 2},
        {.file = file, .position = 1, .size = 5},
        {.memory = "", .size = 0},
        {.memory = "middle", .size = 6},
        {.file = file, .position = 4090, .size = 300000},
        {.file = file, .position = 0, .size = 0},
        {.file = file, .position = FILE_SIZE - 10, .size = 10},
        {.memory = "end", .size = 3},
    };
    struct os_send send = {.op = OS_OP(op_note_done)};
    os_send_start(f.os, &send, p.server, slices, sizeof slices / sizeof slices[0]);
    cr_assert(send.op.in_flight);
    size_t total = 6 + 5 + 6 + 300000 + 10 + 3;
    uint8_t *data = receive_all(f.os, p.client, total, total);
    cr_assert_eq(op_await(f.os, &send.op), (int64_t)total);
    cr_assert_eq(memcmp(data, "header", 6), 0);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(data[6 + i], byte_at(1 + i));
    cr_assert_eq(memcmp(data + 11, "middle", 6), 0);
    for (int i = 0; i < 300000; i++)
        cr_assert_eq(data[17 + i], byte_at(4090 + i));
    for (int i = 0; i < 10; i++)
        cr_assert_eq(data[300017 + i], byte_at(FILE_SIZE - 10 + i));
    cr_assert_eq(memcmp(data + 300027, "end", 3), 0);
    int corked = 1;
    socklen_t size = sizeof corked;
    cr_assert_eq(getsockopt(p.server, IPPROTO_TCP, TCP_CORK, &corked, &size), 0);
    cr_assert_eq(corked, 0);
    free(data);
    os_close(f.host, file);
    pair_close(f.host, &p);
    temporary_close(&t);
    fixture_close(&f);
}

Test(send, nothing_is_a_send_too) {
    struct fixture f = fixture_open(16);
    struct pair p = pair_open(f.os);
    struct os_slice empty = {.size = 0};
    struct os_send send = {.op = OS_OP(op_note_done)};
    os_send_start(f.os, &send, p.server, &empty, 1);
    cr_assert(send.op.in_flight);
    cr_assert_eq(op_await(f.os, &send.op), 0);
    os_send_start(f.os, &send, p.server, NULL, 0);
    cr_assert_eq(op_await(f.os, &send.op), 0);
    pair_close(f.host, &p);
    fixture_close(&f);
}

Test(send, many_small_slices) {
    struct fixture f = fixture_open(16);
    struct pair p = pair_open(f.os);
    enum { N = 1000 };
    static struct os_slice slices[N];
    static uint16_t numbers[N];
    for (int i = 0; i < N; i++) {
        numbers[i] = (uint16_t)(i * 3);
        slices[i] = (struct os_slice){.memory = &numbers[i], .size = sizeof numbers[i]};
    }
    struct os_send send = {.op = OS_OP(op_note_done)};
    os_send_start(f.os, &send, p.server, slices, N);
    uint8_t *data = receive_all(f.os, p.client, sizeof numbers, 4096);
    cr_assert_eq(op_await(f.os, &send.op), (int64_t)sizeof numbers);
    cr_assert_eq(memcmp(data, numbers, sizeof numbers), 0);
    free(data);
    pair_close(f.host, &p);
    fixture_close(&f);
}

// Ten megabytes of memory and of a cold file to a reader that takes small pieces through a small window.
Test(send, a_slow_reader_gets_everything) {
    struct fixture f = fixture_open(16);
    struct temporary t = temporary_open();
    struct pair p = pair_open(f.os);
    enum { HALF = 5 * 1024 * 1024 };
    int file = pattern_file(f.host, t.file, HALF);
    cr_assert_eq(os_fsync(f.host, file), 0);
    cr_assert_eq(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
    int window = 16 * 1024;
    cr_assert_eq(setsockopt(p.client, SOL_SOCKET, SO_RCVBUF, &window, sizeof window), 0);
    uint8_t *memory = malloc(HALF);
    for (size_t i = 0; i < HALF; i++)
        memory[i] = byte_at(i + 99);
    struct os_slice slices[] = {{.memory = memory, .size = HALF}, {.file = file, .position = 0, .size = HALF}};
    struct os_send send = {.op = OS_OP(op_note_done)};
    os_send_start(f.os, &send, p.server, slices, 2);
    uint8_t *data = receive_all(f.os, p.client, 2 * HALF, 7000);
    cr_assert_eq(op_await(f.os, &send.op), 2 * HALF);
    cr_assert_eq(memcmp(data, memory, HALF), 0);
    for (size_t i = 0; i < HALF; i++)
        cr_assert_eq(data[HALF + i], byte_at(i));
    free(data);
    free(memory);
    os_close(f.host, file);
    pair_close(f.host, &p);
    temporary_close(&t);
    fixture_close(&f);
}

static void drain(struct os *os, int socket, struct os_op *until) {
    static char buffer[65536];
    struct os_op receive = OS_OP(op_note_done);
    while (until->in_flight) {
        os_recv_start(os, &receive, socket, buffer, sizeof buffer);
        while (receive.in_flight && until->in_flight)
            os_wait(os, os_now_ns(os) + SECOND_NS);
        if (receive.in_flight) {
            os_shutdown(os, socket);
            op_await(os, &receive);
        }
    }
}

Test(send, a_file_shorter_than_its_slice_is_an_error) {
    struct fixture f = fixture_open(16);
    struct temporary t = temporary_open();
    for (int cold = 0; cold < 2; cold++) {
        struct pair p = pair_open(f.os);
        int file = pattern_file(f.host, t.file, 100000);
        if (cold) {
            cr_assert_eq(os_fsync(f.host, file), 0);
            cr_assert_eq(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
        }
        struct os_slice slice = {.file = file, .position = 0, .size = 150000};
        struct os_send send = {.op = OS_OP(op_note_done)};
        os_send_start(f.os, &send, p.server, &slice, 1);
        drain(f.os, p.client, &send.op);
        cr_assert_eq(send.op.result, -EIO);
        os_close(f.host, file);
        pair_close(f.host, &p);
    }
    temporary_close(&t);
    fixture_close(&f);
}

Test(send, a_peer_that_goes_away_is_an_error_and_no_signal) {
    struct fixture f = fixture_open(16);
    struct temporary t = temporary_open();
    enum { SIZE = 8 * 1024 * 1024 };
    int file = pattern_file(f.host, t.file, SIZE);
    uint8_t *memory = calloc(1, SIZE);
    for (int kind = 0; kind < 2; kind++) {
        struct pair p = pair_open(f.os);
        struct os_slice slice = {.memory = kind ? memory : NULL, .file = file, .position = 0, .size = SIZE};
        struct os_send send = {.op = OS_OP(op_note_done)};
        os_send_start(f.os, &send, p.server, &slice, 1);
        free(receive_all(f.os, p.client, 100000, 10000));
        cr_assert(send.op.in_flight);
        os_close(f.host, p.client);
        p.client = -1;
        int64_t result = op_await(f.os, &send.op);
        cr_assert(result == -EPIPE || result == -ECONNRESET, "%s", os_error_text((int)result));
        os_send_start(f.os, &send, p.server, &slice, 1);
        cr_assert_lt(op_await(f.os, &send.op), 0);
        pair_close(f.host, &p);
    }
    free(memory);
    os_close(f.host, file);
    temporary_close(&t);
    fixture_close(&f);
}

Test(send, shutdown_ends_a_send_that_waits) {
    struct fixture f = fixture_open(16);
    struct pair p = pair_open(f.os);
    enum { SIZE = 16 * 1024 * 1024 };
    uint8_t *memory = calloc(1, SIZE);
    struct os_slice slice = {.memory = memory, .size = SIZE};
    struct os_send send = {.op = OS_OP(op_note_done)};
    os_send_start(f.os, &send, p.server, &slice, 1);
    for (int i = 0; i < 100; i++)
        os_wait(f.os, 0);
    cr_assert(send.op.in_flight);
    os_shutdown(f.os, p.server);
    cr_assert_eq(op_await(f.os, &send.op), -EPIPE);
    free(memory);
    pair_close(f.host, &p);
    fixture_close(&f);
}

// While one connection takes a big file as fast as it can, a small answer on another is not held up by all of it.
Test(send, a_big_send_does_not_starve_a_small_one) {
    struct fixture f = fixture_open(16);
    struct temporary t = temporary_open();
    struct pair big = pair_open(f.os), small = pair_open(f.os);
    enum { SIZE = 16 * 1024 * 1024 };
    int file = pattern_file(f.host, t.file, SIZE);
    struct os_slice big_slice = {.file = file, .size = SIZE}, small_slice = {.memory = "x", .size = 1};
    struct os_send big_send = {.op = OS_OP(op_note_done)}, small_send = {.op = OS_OP(op_note_done)};
    os_send_start(f.os, &big_send, big.server, &big_slice, 1);
    os_send_start(f.os, &small_send, small.server, &small_slice, 1);
    os_wait(f.os, 0);
    cr_assert_not(small_send.op.in_flight);
    cr_assert(big_send.op.in_flight);
    drain(f.os, big.client, &big_send.op);
    cr_assert_eq(big_send.op.result, SIZE);
    os_close(f.host, file);
    pair_close(f.host, &big);
    pair_close(f.host, &small);
    temporary_close(&t);
    fixture_close(&f);
}

// Connections that do everything at once: random slices of memory and of a file that is thrown out of the cache again
// and again, readers of random appetite, and ends that are shut down in the middle. Whoever is not shut down gets every
// byte.
enum { SOAK_PAIRS = 24, SOAK_SLICES = 12, SOAK_FILE = 2 << 20, SOAK_ROUNDS = 6 };
struct soak {
    struct fixture *f;
    struct pair pair;
    struct os_send send;
    struct os_slice slices[SOAK_SLICES];
    struct os_op receive;
    size_t total, got;
    uint8_t *expected, *data;
    bool broken;
    uint64_t random;
};

static uint64_t soak_random(struct soak *s) {
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->random;
}

static void soak_receive(struct soak *s) {
    size_t appetite = 1 + soak_random(s) % (soak_random(s) % 2 ? 300 : 200000);
    size_t left = s->total - s->got;
    if (left == 0 && !s->broken) return;
    os_recv_start(s->f->os, &s->receive, s->pair.client, s->data + s->got,
                  left == 0 || appetite < left ? appetite : left);
}

static void soak_received(struct os_op *op) {
    struct soak *s = (struct soak *)((char *)op - offsetof(struct soak, receive));
    if (op->result <= 0) {
        cr_assert(s->broken, "the stream ended early");
        return;
    }
    s->got += (size_t)op->result;
    cr_assert_leq(s->got, s->total);
    if (!s->broken && soak_random(s) % 256 == 0) {
        s->broken = true;
        os_shutdown(s->f->os, soak_random(s) % 2 ? s->pair.client : s->pair.server);
    }
    if (!s->broken) soak_receive(s);
}

static void soak_begin(struct soak *s, int file, const uint8_t *content) {
    s->pair = pair_open(s->f->os);
    s->total = s->got = 0;
    s->broken = false;
    for (int i = 0; i < SOAK_SLICES; i++) {
        size_t size = soak_random(s) % (soak_random(s) % 3 ? 2000 : 150000),
               position = soak_random(s) % (SOAK_FILE - 150000);
        bool is_memory = soak_random(s) % 2;
        s->slices[i] = (struct os_slice){is_memory ? content + position : NULL, file, position, size};
        memcpy(s->expected + s->total, content + position, size);
        s->total += size;
    }
    s->send = (struct os_send){.op = OS_OP(op_note_done)};
    s->receive = OS_OP(soak_received);
    os_send_start(s->f->os, &s->send, s->pair.server, s->slices, SOAK_SLICES);
    soak_receive(s);
}

Test(send, a_soak_of_many_connections) {
    struct fixture f = fixture_open(16); // less than the operations in flight
    struct temporary t = temporary_open();
    int file = pattern_file(f.host, t.file, SOAK_FILE);
    cr_assert_eq(os_fsync(f.host, file), 0);
    uint8_t *content = malloc(SOAK_FILE);
    for (size_t i = 0; i < SOAK_FILE; i++)
        content[i] = byte_at(i);
    struct soak *soaks = calloc(SOAK_PAIRS, sizeof *soaks);
    for (int i = 0; i < SOAK_PAIRS; i++) {
        soaks[i].f = &f;
        soaks[i].random = 88172645463325252ull + (uint64_t)i * 7919;
        soaks[i].expected = malloc(SOAK_SLICES * 150000);
        soaks[i].data = malloc(SOAK_SLICES * 150000);
    }
    int whole = 0;
    for (int round = 0; round < SOAK_ROUNDS; round++) {
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); // works only while no socket holds its pages
        for (int i = 0; i < SOAK_PAIRS; i++)
            soak_begin(&soaks[i], file, content);
        for (int i = 0; i < SOAK_PAIRS; i++) {
            struct soak *s = &soaks[i];
            int64_t sent = op_await(f.os, &s->send.op);
            while (!s->broken && s->got < s->total)
                os_wait(f.os, os_now_ns(f.os) + SECOND_NS);
            op_await(f.os, &s->receive);
            if (!s->broken) {
                cr_assert_eq(sent, (int64_t)s->total);
                cr_assert_eq(memcmp(s->data, s->expected, s->total), 0);
                whole++;
            }
            pair_close(f.host, &s->pair);
        }
    }
    cr_assert_gt(whole, SOAK_PAIRS);
    for (int i = 0; i < SOAK_PAIRS; i++) {
        free(soaks[i].expected);
        free(soaks[i].data);
    }
    free(soaks);
    free(content);
    os_close(f.host, file);
    temporary_close(&t);
    fixture_close(&f);
}
