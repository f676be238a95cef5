// SPDX-License-Identifier: Apache-2.0
// A cached file to a socket: one core sends slices, another receives. Small slices are answered one by one, for the
// latency.
#include "bench.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

enum { SEND_TOTAL = 512 << 20, FILE_SIZE = 64 << 20, SMALL = 4096, SMALL_COUNT = 5000, RECEIVE_SIZE = 1 << 20 };

struct side {
    struct os *os;
    int socket;
    size_t slice_size, count;
    int file;
    bool with_header;
    struct stopwatch took;
    uint64_t *samples; // receiver: from asking to having it; NULL: it does not ask
};

static void receive(struct os *os, int socket, char *buffer, size_t size) {
    struct os_op op = OS_OP(op_ignore);
    for (size_t got = 0; got < size;) {
        os_recv_start(os, &op, socket, buffer, size - got);
        got += (size_t)finish(os, &op);
        if (op.result == 0) exit(1);
    }
}

static void send_slices(struct os *os, int socket, const struct os_slice *slices, size_t count) {
    struct os_send send = {.op = OS_OP(op_ignore)};
    os_send_start(os, &send, socket, slices, count);
    finish(os, &send.op);
}

static bool sender_turn(void *argument) {
    struct side *s = argument;
    char header[64] = {0}, question;
    struct stopwatch start = stopwatch_start();
    for (size_t i = 0; i < s->count; i++) {
        if (s->samples) receive(s->os, s->socket, &question, 1);
        uint64_t position = i * s->slice_size % (FILE_SIZE - s->slice_size + 1);
        struct os_slice slices[] = {
            {.memory = header, .size = s->with_header ? sizeof header : 0},
            {.file = s->file, .position = position, .size = s->slice_size},
        };
        send_slices(s->os, s->socket, slices, 2);
    }
    s->took = stopwatch_since(start);
    return false;
}

static bool receiver_turn(void *argument) {
    struct side *s = argument;
    char *buffer = malloc(RECEIVE_SIZE);
    size_t answer = s->slice_size + (s->with_header ? 64 : 0);
    struct os_slice question = {.memory = "?", .size = 1};
    if (s->samples) {
        for (size_t i = 0; i < s->count; i++) {
            uint64_t before_ns = os_now_ns(s->os);
            send_slices(s->os, s->socket, &question, 1);
            receive(s->os, s->socket, buffer, answer);
            s->samples[i] = os_now_ns(s->os) - before_ns;
        }
    } else {
        struct os_op op = OS_OP(op_ignore);
        for (size_t left = answer * s->count; left > 0;) {
            os_recv_start(s->os, &op, s->socket, buffer, left < RECEIVE_SIZE ? left : RECEIVE_SIZE);
            left -= (size_t)finish(s->os, &op);
        }
    }
    free(buffer);
    return false;
}

static void run(struct os_host *host, int file, size_t size, size_t count, bool ask) {
    int error;
    struct side sides[2] = {{.slice_size = size, .count = count, .file = file, .with_header = true}};
    sides[1] = sides[0];
    for (int i = 0; i < 2; i++)
        sides[i].os = os_create(host, i, 64, &error);
    struct os *maker = os_create(host, 2, 64, &error); // engines belong to the threads that use them
    ASSERT(sides[0].os && sides[1].os && maker);
    struct os_address bound, peer;
    int listener = os_listen(maker, "127.0.0.1", 0, 1, &bound);
    // Loopback under bbr, where that is the default, measures its pacing.
    (void)setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
    struct os_op accept = OS_OP(op_ignore), connect = OS_OP(op_ignore);
    os_accept_start(maker, &accept, listener, &peer);
    os_connect_start(maker, &connect, "127.0.0.1", bound.port);
    sides[0].socket = (int)finish(maker, &accept);
    sides[1].socket = (int)finish(maker, &connect);
    uint64_t *samples = calloc(count, sizeof *samples);
    sides[0].samples = sides[1].samples = ask ? samples : NULL;
    int cpus[2] = {-1, -1};
    bool pin = os_cpus(host, cpus, 2) == 2;
    struct os_core_entry entries[2] = {
        {"sender", pin ? cpus[1] : -1, sender_turn, &sides[0]},
        {"receiver", pin ? cpus[0] : -1, receiver_turn, &sides[1]},
    };
    os_run_cores(host, entries, 2);
    double bytes = (double)size * (double)count;
    printf("send %7zu KiB slices    ", size / 1024);
    if (ask) {
        printf("                                      p50 %6.1f us   p99 %6.1f us\n",
               (double)percentile(samples, count, 0.5) / 1e3, (double)percentile(samples, count, 0.99) / 1e3);
    } else {
        printf("%7.0f MB/s   %5.2f core CPU-s/GB\n", bytes * 1e3 / (double)sides[0].took.wall_ns,
               (double)sides[0].took.cpu_ns / bytes);
    }
    free(samples);
    os_close(host, listener);
    for (int i = 0; i < 2; i++) {
        os_close(host, sides[i].socket);
        os_destroy(sides[i].os);
    }
    os_destroy(maker);
}

void bench_send(struct os_host *host, const char *directory) {
    char path[512];
    snprintf(path, sizeof path, "%s/bench-os.data", directory);
    int file = os_open(host, path, OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE);
    ASSERT(file >= 0);
    char *data = calloc(1, FILE_SIZE);
    struct os_vector vector = {data, FILE_SIZE};
    int64_t written = os_pwritev(host, file, &vector, 1, 0);
    ASSERT(written == FILE_SIZE);
    run(host, file, SMALL, SMALL_COUNT, true);
    run(host, file, 64 << 10, SEND_TOTAL / (64 << 10), false);
    run(host, file, 1 << 20, SEND_TOTAL / (1 << 20), false);
    free(data);
    os_close(host, file);
    os_unlink(host, path);
}
