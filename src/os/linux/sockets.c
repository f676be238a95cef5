// SPDX-License-Identifier: Apache-2.0
// Sockets: listening, accepting, receiving, ending. connect.c and send.c have the rest.
//
// Accepted sockets inherit TCP_NODELAY, SO_KEEPALIVE and the sizes of the kernel's buffers from their listener, which
// saves calls for each.
#include "os/linux/engine.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- listening
static int listener_open(int family, const struct sockaddr *address, socklen_t size, int backlog) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    int on = 1, off = 0;
    bool ok = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
              setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) == 0 &&
              // The IPv6 wildcard takes IPv4 connections too.
              (family != AF_INET6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0) &&
              bind(fd, address, size) == 0 && listen(fd, backlog) == 0;
    if (ok) return fd;
    int error = -errno;
    close(fd);
    return error;
}

static int listener_open_wildcard(uint16_t port, int backlog) {
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_ANY_INIT};
    int fd = listener_open(AF_INET6, (struct sockaddr *)&v6, sizeof v6, backlog);
    if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL) return fd;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)}; // a machine without IPv6
    return listener_open(AF_INET, (struct sockaddr *)&v4, sizeof v4, backlog);
}

static int listener_open_named(const char *address, uint16_t port, int backlog) {
    int result;
    struct addrinfo *list = address_resolve(address, port, true, &result);
    if (!list) return result;
    result = -EADDRNOTAVAIL;
    // IPv4 first, as Java does it: "localhost" is 127.0.0.1 for those who were told so.
    for (int pass = 0; pass < 2; pass++) {
        for (struct addrinfo *a = list; a && result < 0; a = a->ai_next) {
            if ((a->ai_family == AF_INET) == (pass == 0))
                result = listener_open(a->ai_family, a->ai_addr, a->ai_addrlen, backlog);
        }
    }
    freeaddrinfo(list);
    return result;
}

void os_set_socket_buffers(struct os_host *host, int socket, uint32_t receive_bytes, uint32_t send_bytes) {
    (void)host;
    ASSERT(receive_bytes <= INT32_MAX && send_bytes <= INT32_MAX);
    // Only a matter of speed: what the kernel makes of it is not asked.
    if (receive_bytes > 0) (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    if (send_bytes > 0) (void)setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
}

int os_listen(struct os *os, const char *address, uint16_t port, int backlog, struct os_address *bound) {
    (void)os;
    ASSERT(backlog > 0);
    int fd = address[0] == '\0' ? listener_open_wildcard(port, backlog) : listener_open_named(address, port, backlog);
    if (fd < 0) return fd;
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &size) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    address_to_text((struct sockaddr *)&name, bound);
    return fd;
}

// ---- accepting: the kernel writes the peer's address into the caller's os_address, which is then turned into text
_Static_assert(sizeof(struct sockaddr_in6) <= sizeof(struct os_address), "a socket address fits");

enum { ACCEPT_LOST_MAX = 64 }; // then the caller hears of it

// The connection was lost before we took it: not an error of the listener.
static bool accept_lost_one(int32_t result) {
    return result == -ECONNABORTED || result == -EPROTO || result == -ENETDOWN || result == -EHOSTDOWN ||
           result == -ENONET || result == -EHOSTUNREACH || result == -ENETUNREACH || result == -ENOPROTOOPT;
}

static void accept_done(struct os *os, struct os_op *op, int32_t result) {
    struct request *request = request_of(op);
    struct os_address *peer = (struct os_address *)(uintptr_t)request->address;
    if (accept_lost_one(result) && request->retries++ < ACCEPT_LOST_MAX) {
        request->extra = sizeof(struct os_address);
        ring_start(os, op);
        return;
    }
    if (result >= 0) {
        _Alignas(struct sockaddr_in6) uint8_t name[sizeof(struct os_address)];
        memcpy(name, peer, sizeof name);
        address_to_text((const struct sockaddr *)name, peer);
    }
    engine_finish(os, op, result);
}

void os_accept_start(struct os *os, struct os_op *op, int listener, struct os_address *peer) {
    engine_begin(os, op);
    memset(peer, 0, sizeof *peer);
    struct request *request = request_of(op);
    *request = (struct request){
        .opcode = IORING_OP_ACCEPT,
        .fd = listener,
        .address = (uint64_t)(uintptr_t)peer,
        .offset = (uint64_t)(uintptr_t)&request->extra, // the address's size, in and out
        .op_flags = SOCK_NONBLOCK | SOCK_CLOEXEC,
        .complete = accept_done,
        .extra = sizeof(struct os_address),
    };
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "extra is read as a socklen_t");
    ring_start(os, op);
}

// ---- receiving
// If the last receive did not fill its buffer the socket is probably empty, so the kernel is told to wait first: it
// saves one attempt.
static void recv_done(struct os *os, struct os_op *op, int32_t result) {
    struct request *request = request_of(op);
    if (result >= 0 && (uint32_t)result < request->length) request->flags = REQUEST_WAS_SHORT;
    engine_finish(os, op, result);
}

void os_recv_start(struct os *os, struct os_op *op, int socket, void *buffer, size_t size) {
    ASSERT(size > 0);
    struct request *request = request_of(op);
    bool was_short = request->opcode == IORING_OP_RECV && request->fd == socket && (request->flags & REQUEST_WAS_SHORT);
    engine_begin(os, op);
    *request = (struct request){
        .opcode = IORING_OP_RECV,
        .flags = was_short ? REQUEST_POLL_FIRST : 0,
        .fd = socket,
        .address = (uint64_t)(uintptr_t)buffer,
        .length = (uint32_t)(size < INT32_MAX ? size : INT32_MAX),
        .complete = recv_done,
    };
    ring_start(os, op);
}

// ---- ending
void os_shutdown(struct os *os, int socket) {
    (void)os;
    (void)shutdown(socket, SHUT_RDWR); // it fails only if the socket has ended already
}

void os_shutdown_send(struct os *os, int socket) {
    (void)os;
    (void)shutdown(socket, SHUT_WR);
}
