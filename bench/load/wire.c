// SPDX-License-Identifier: Apache-2.0
// Blocking sockets and the few bytes of Kafka's protocol that the load needs.
#include "load.h"
#include "protocol/batch_writer.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PRODUCE_VERSION = 7, FRAME_MAX_BYTES = 256 << 20 };

struct address address_of(const char *text) {
    struct address a = {"", ""};
    const char *colon = strrchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof a.host || strlen(colon + 1) >= sizeof a.port)
        fail("'%s' is not HOST:PORT", text);
    memcpy(a.host, text, (size_t)(colon - text));
    strcpy(a.port, colon + 1);
    return a;
}

int connect_to(struct address address) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(address.host, address.port, &hints, &found) != 0) fail("%s: no such host", address.host);
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // The default of some machines (bbr) halves what loopback can do; where cubic is missing the default stays.
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int result = connect(fd, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (result == 0) return fd;
    close(fd);
    return -1;
}

bool send_all(int fd, const struct bytes *parts, size_t count) {
    struct iovec vectors[4];
    size_t total = 0;
    if (count > ARRAY_LENGTH(vectors)) fail("too many parts");
    for (size_t i = 0; i < count; i++) {
        vectors[i] = (struct iovec){(void *)parts[i].data, parts[i].size};
        total += parts[i].size;
    }
    size_t first = 0;
    while (total > 0) {
        struct msghdr message = {.msg_iov = &vectors[first], .msg_iovlen = count - first};
        ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        total -= (size_t)n;
        while (n > 0) {
            size_t taken = min_size((size_t)n, vectors[first].iov_len);
            vectors[first].iov_base = (char *)vectors[first].iov_base + taken;
            vectors[first].iov_len -= taken;
            n -= (ssize_t)taken;
            if (vectors[first].iov_len == 0) first++;
        }
    }
    return true;
}

bool receive_all(int fd, void *out, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = recv(fd, (char *)out + done, size - done, MSG_WAITALL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

size_t receive_frame(int fd, uint8_t **buffer, size_t *capacity) {
    uint8_t length[4];
    if (!receive_all(fd, length, sizeof length)) return 0;
    size_t size = load_be32(length);
    if (size < 4 || size > FRAME_MAX_BYTES) fail("a frame of %zu bytes", size);
    if (size > *capacity) {
        *buffer = realloc(*buffer, size);
        *capacity = size;
        if (!*buffer) fail("no memory for a frame of %zu bytes", size);
    }
    return receive_all(fd, *buffer, size) ? size : 0;
}

struct bytes make_batch(size_t record_bytes, size_t batch_bytes, int64_t *records) {
    size_t capacity = batch_bytes + record_bytes + 4096;
    uint8_t *memory = malloc(capacity), *value = malloc(record_bytes + 1);
    if (!memory || !value) fail("no memory");
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    struct batch_writer w;
    batch_writer_begin(&w, memory, capacity, BATCH_OPTIONS_PLAIN);
    uint64_t random = 88172645463325252ULL;
    for (*records = 0; *records == 0 || w.size_bytes + record_bytes + RECORD_OVERHEAD_MAX_BYTES <= batch_bytes;
         ++*records) {
        for (size_t i = 0; i < record_bytes; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            value[i] = (uint8_t)('A' + random % 26);
        }
        struct bytes null = {NULL, 0}, v = {value, record_bytes};
        if (!batch_writer_add(&w, (int64_t)t.tv_sec * 1000, null, v, NULL, 0)) fail("the batch is full");
    }
    free(value);
    return (struct bytes){memory, batch_writer_end(&w)};
}

static uint8_t *put16(uint8_t *at, int v) {
    store_be16(at, (uint16_t)v);
    return at + 2;
}

static uint8_t *put32(uint8_t *at, int64_t v) {
    store_be32(at, (uint32_t)v);
    return at + 4;
}

static uint8_t *put_text(uint8_t *at, const char *text) {
    size_t size = strlen(text);
    at = put16(at, (int)size);
    memcpy(at, text, size);
    return at + size;
}

void make_produce_request(struct produce_request *r, const char *topic, int32_t partition, int16_t acks,
                          struct bytes batch) {
    if (strlen(topic) > 249) fail("the topic's name is too long");
    uint8_t *at = r->head + 4;
    at = put16(at, 0); // Produce
    at = put16(at, PRODUCE_VERSION);
    at = put32(at, 0);
    at = put_text(at, "bench");
    at = put16(at, -1); // no transaction
    at = put16(at, acks);
    at = put32(at, 30000);
    at = put32(at, 1);
    at = put_text(at, topic);
    at = put32(at, 1);
    at = put32(at, partition);
    at = put32(at, (int64_t)batch.size);
    r->head_size = (size_t)(at - r->head);
    r->records = batch;
    store_be32(r->head, (uint32_t)(r->head_size - 4 + batch.size));
}

void set_correlation(struct produce_request *r, int32_t id) {
    store_be32(r->head + 8, (uint32_t)id);
}

// correlation id, [name, [partition, error code, ...
int16_t produce_error(const uint8_t *response, size_t size) {
    if (size < 4 + 4 + 2 || load_be32(response + 4) != 1) fail("this is no answer to Produce");
    size_t name = load_be16(response + 8), at = 10 + name + 4 + 4;
    if (size < at + 2) fail("this is no answer to Produce");
    return (int16_t)load_be16(response + at);
}
