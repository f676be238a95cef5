// SPDX-License-Identifier: Apache-2.0
// The floor of a produce: what this machine needs to receive a request, compute the checksum of its batch, append it to
// a file and answer. No broker can be below it. A thread for each connection, a file for each; writeback is started
// every 8 MiB, nothing is flushed. It answers to whatever topic and partition it is asked for.
#include "base/crc32c.h"
#include "load.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WRITEBACK_BYTES = 8 << 20, REQUEST_MAX_BYTES = 64 << 20, CRC_AT = 17, CHECKED_AT = 21 };

struct connection {
    int socket, file;
};

// Where the records of the one partition begin, and the name's part of the frame; false if this is no such request.
static bool find_records(const uint8_t *frame, size_t size, size_t *name_at, size_t *records_at) {
    if (size < 10 || load_be16(frame) != 0 || load_be16(frame + 2) != 7) return false;
    size_t at = 8 + 2 + load_be16(frame + 8); // the client's id
    at += 2 + 2 + 4 + 4;                      // no transaction, acks, timeout, one topic
    if (at + 2 > size) return false;
    *name_at = at;
    at += 2 + (size_t)load_be16(frame + at) + 4 + 4 + 4;
    *records_at = at;
    return at + CHECKED_AT <= size;
}

static bool answer(int fd, const uint8_t *frame, size_t name_at) {
    uint8_t out[512];
    size_t name = load_be16(frame + name_at);
    if (name > 249) return false;
    memcpy(out + 4, frame + 4, 4); // the correlation id
    store_be32(out + 8, 1);
    memcpy(out + 12, frame + name_at, 2 + name);
    uint8_t *at = out + 14 + name;
    store_be32(at, 1);
    memcpy(at + 4, frame + name_at + 2 + name + 4, 4); // the partition
    store_be16(at + 8, 0);
    memset(at + 10, 0, 28); // base offset, append time, log start, throttle time
    size_t size = (size_t)(at - out) + 38;
    store_be32(out, (uint32_t)(size - 4));
    struct bytes part = {out, size};
    return send_all(fd, &part, 1);
}

static bool append(int file, const uint8_t *data, size_t size, uint64_t *position) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = pwrite(file, data + done, size - done, (off_t)(*position + done));
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) done += (size_t)n;
    }
    uint64_t before = *position / WRITEBACK_BYTES;
    *position += size;
    if (*position / WRITEBACK_BYTES != before)
        sync_file_range(file, (off_t)(before * WRITEBACK_BYTES), WRITEBACK_BYTES, SYNC_FILE_RANGE_WRITE);
    return true;
}

static void *serve(void *argument) {
    struct connection *c = argument;
    uint8_t *buffer = NULL;
    size_t capacity = 0, size;
    uint64_t position = 0;
    while ((size = receive_frame(c->socket, &buffer, &capacity)) > 0) {
        size_t name_at, records_at;
        if (size > REQUEST_MAX_BYTES || !find_records(buffer, size, &name_at, &records_at)) break;
        const uint8_t *batch = buffer + records_at;
        size_t batch_size = size - records_at;
        if (crc32c(0, batch + CHECKED_AT, batch_size - CHECKED_AT) != load_be32(batch + CRC_AT)) break;
        if (!append(c->file, batch, batch_size, &position)) break;
        if (!answer(c->socket, buffer, name_at)) break;
    }
    free(buffer);
    close(c->file);
    close(c->socket);
    free(c);
    return NULL;
}

int run_floor(int argc, char **argv) {
    if (argc != 3) return 2;
    uint16_t port = (uint16_t)number(argv[1], 1, 65535);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 64) != 0)
        fail("cannot listen on port %u", port);
    for (unsigned i = 0;; i++) {
        struct connection *c = calloc(1, sizeof *c);
        char path[4096];
        pthread_t thread;
        if (!c) fail("no memory");
        c->socket = accept(listener, NULL, NULL);
        if (c->socket < 0) fail("accept: %m");
        setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (snprintf(path, sizeof path, "%s/floor-%u", argv[2], i) >= (int)sizeof path) fail("the path is too long");
        c->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (c->file < 0) fail("%s: %m", path);
        if (pthread_create(&thread, NULL, serve, c) != 0) fail("cannot start a thread");
        pthread_detach(thread);
    }
}
