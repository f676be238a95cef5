// SPDX-License-Identifier: Apache-2.0
// Connecting: name -> addresses (on a helper thread, unless the text is numeric) -> a connect through the ring for each
// address, in order, until one answers. The last failure is the result. Five unanswered SYNs (about 30 s) count as no
// answer.
#include "base/bits.h"
#include "os/linux/engine.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_SYN_RETRIES = 4, CONNECT_ADDRESSES_MAX = 16 };

struct connect {
    struct os *os;
    struct os_op *caller;
    struct os_op step; // the look-up, then the connect in progress
    int fd;
    int error;
    int next; // of the addresses
    int count;
    uint16_t port;
    socklen_t sizes[CONNECT_ADDRESSES_MAX];
    struct sockaddr_storage addresses[CONNECT_ADDRESSES_MAX];
    char name[];
};

static void connect_end(struct connect *c, int result) {
    engine_finish(c->os, c->caller, result);
    free(c);
}

static int connect_socket(int family) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    int on = 1, retries = CONNECT_SYN_RETRIES;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &retries, sizeof retries);
    return fd;
}

static void connect_answered(struct os *os, struct os_op *op, int32_t result);

static void connect_try_next(struct connect *c) {
    while (c->next < c->count) {
        int i = c->next++;
        c->fd = connect_socket(c->addresses[i].ss_family);
        if (c->fd < 0) {
            c->error = c->fd;
            continue;
        }
        c->step.in_flight = true;
        *request_of(&c->step) = (struct request){
            .opcode = IORING_OP_CONNECT,
            .fd = c->fd,
            .address = (uint64_t)(uintptr_t)&c->addresses[i],
            .offset = c->sizes[i],
            .complete = connect_answered,
        };
        ring_start(c->os, &c->step);
        return;
    }
    connect_end(c, c->error);
}

static void connect_answered(struct os *os, struct os_op *op, int32_t result) {
    (void)os;
    struct connect *c = container_of(op, struct connect, step);
    op->in_flight = false;
    if (result >= 0) {
        connect_end(c, c->fd);
        return;
    }
    c->error = result;
    close(c->fd);
    connect_try_next(c);
}

// On a helper thread.
static int64_t connect_resolve(struct os_host *host, void *argument) {
    (void)host;
    struct connect *c = argument;
    int error;
    struct addrinfo *list = address_resolve(c->name, c->port, false, &error);
    for (struct addrinfo *a = list; a && c->count < CONNECT_ADDRESSES_MAX; a = a->ai_next) {
        if (a->ai_addrlen > sizeof c->addresses[0]) continue;
        memcpy(&c->addresses[c->count], a->ai_addr, a->ai_addrlen);
        c->sizes[c->count++] = a->ai_addrlen;
    }
    if (list) freeaddrinfo(list);
    return error;
}

static void connect_resolved(struct os_op *op) {
    struct connect *c = container_of(op, struct connect, step);
    if (op->result < 0) c->error = (int)op->result;
    connect_try_next(c);
}

void os_connect_start(struct os *os, struct os_op *op, const char *address, uint16_t port) {
    engine_begin(os, op);
    size_t name_size = strlen(address) + 1;
    struct connect *c = calloc(1, sizeof *c + name_size);
    if (!c) {
        engine_finish(os, op, -ENOMEM);
        return;
    }
    *c = (struct connect){
        .os = os, .caller = op, .step = OS_OP(connect_resolved), .error = -EADDRNOTAVAIL, .port = port};
    memcpy(c->name, address, name_size);
    if (address_from_numeric(address, port, &c->addresses[0], &c->sizes[0])) {
        c->count = 1;
        connect_try_next(c);
    } else {
        os_offload(os, &c->step, connect_resolve, c);
    }
}
