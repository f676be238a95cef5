// SPDX-License-Identifier: Apache-2.0
// Sending slices: memory by sendmsg, file ranges by sendfile, both from the core's own thread on a non-blocking socket.
//
//   move on: send what the socket takes, at most SEND_A_TURN_MAX   -> the socket is full: POLL_ADD, then move on
//                                                                  -> the turn is used up: again in the next os_wait
//                                                                  -> the file range is not in the page cache: read it
//                                                                  through
//                                                                     the ring into a scratch buffer, then move on
//
// sendfile would put the core to sleep on a cold range, so the first and the last page of each MiB are asked for with
// RWF_NOWAIT (0.6 us each). A header and the file range behind it leave as one: MSG_MORE; TCP_CORK where a range is
// followed by more.
//
// What can go wrong: the peer has gone (-EPIPE, -ECONNRESET; never SIGPIPE); the file is shorter than its slice (-EIO,
// the stream is broken in the middle and the caller must close it); the disk fails (-EIO).
#include "base/bits.h"
#include "os/linux/engine.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum {
    SEND_A_TURN_MAX = 1024 * 1024,         // of one socket
    SEND_ALL_A_TURN_MAX = 4 * 1024 * 1024, // of all sockets; the others wait in line
    SEND_VECTORS_MAX = 64,
    SEND_PROBED_MAX = 1024 * 1024, // of a file, with one look at its two ends
    SEND_COLD_MAX = 256 * 1024,    // read through the scratch buffer at a time
    SEND_READ_AHEAD = 1024 * 1024,
    PAGE_BYTES = 4096,
};

enum send_outcome { SEND_GOES_ON, SEND_WAITS, SEND_ENDED };

static void send_end(struct os *os, struct os_send *send, int64_t result) {
    engine_finish(os, &send->op, result);
}

static void send_cork(struct os_send *send, int on) {
    struct request *request = request_of(&send->op);
    if (((request->flags & REQUEST_CORKED) != 0) == (on != 0)) return;
    (void)setsockopt(send->socket, IPPROTO_TCP, TCP_CORK, &on, sizeof on); // only a matter of packets
    request->flags ^= REQUEST_CORKED;
}

// ---- waiting
static void send_wait(struct os *os, struct os_send *send, struct request wait) {
    struct request *request = request_of(&send->op);
    wait.flags = (uint8_t)(wait.flags | (request->flags & REQUEST_CORKED));
    wait.extra = request->extra;
    *request = wait;
    ring_start(os, &send->op);
}

static void send_writable(struct os *os, struct os_op *op, int32_t result) {
    struct os_send *send = container_of(op, struct os_send, op);
    if (result < 0) {
        send_end(os, send, result);
    } else {
        op_queue_push(&os->sending, op);
    }
}

static void send_wait_writable(struct os *os, struct os_send *send) {
    send_wait(os, send,
              (struct request){
                  .opcode = IORING_OP_POLL_ADD,
                  .fd = send->socket,
                  .op_flags = POLLOUT,
                  .complete = send_writable,
              });
}

// request.extra: up to where the present slice's file is known to be in the page cache.
static void send_warmed(struct os *os, struct os_op *op, int32_t result) {
    struct os_send *send = container_of(op, struct os_send, op);
    struct request *request = request_of(op);
    if (result <= 0) {
        send_end(os, send, result == 0 ? -EIO : result);
        return;
    }
    request->extra = request->offset + (uint32_t)result;
    op_queue_push(&os->sending, op);
}

static void send_wait_warm(struct os *os, struct os_send *send, uint64_t position, size_t size) {
    if (!os->cold_scratch) {
        os->cold_scratch = aligned_alloc(PAGE_BYTES, SEND_COLD_MAX);
        ASSERT(os->cold_scratch != NULL);
    }
    if (size > SEND_COLD_MAX) size = SEND_COLD_MAX;
    const struct os_slice *slice = &send->slices[send->index];
    send_wait(os, send,
              (struct request){
                  .opcode = IORING_OP_READ,
                  .flags = REQUEST_ASYNC,
                  .fd = slice->file,
                  .address = (uint64_t)(uintptr_t)os->cold_scratch,
                  .length = (uint32_t)size,
                  .offset = position,
                  .complete = send_warmed,
              });
    size_t behind = slice->size - send->done_bytes - size; // somebody catches up: the rest will be wanted soon
    if (behind > 0) {
        uint32_t ahead = (uint32_t)(behind < SEND_READ_AHEAD ? behind : SEND_READ_AHEAD);
        ring_advise(os, slice->file, position + size, ahead, POSIX_FADV_WILLNEED);
    }
}

// ---- moving on
static enum send_outcome send_failed(struct os *os, struct os_send *send, int error) {
    if (error == EAGAIN || error == EWOULDBLOCK) {
        send_wait_writable(os, send);
        return SEND_WAITS;
    }
    send_end(os, send, -error);
    return SEND_ENDED;
}

static void send_advance(struct os_send *send, size_t sent) {
    send->sent_bytes += (int64_t)sent;
    while (sent > 0) {
        ASSERT(send->index < send->count);
        size_t left = send->slices[send->index].size - send->done_bytes;
        size_t part = sent < left ? sent : left;
        send->done_bytes += part;
        sent -= part;
        if (part == left) {
            send->index++;
            send->done_bytes = 0;
            request_of(&send->op)->extra = 0;
        }
    }
}

// A socket that took less than it was offered is full. It is offered more when the kernel says that a good part of it
// is free again: whoever tries at once sends a few packets a call and wakes the reader for each.
static enum send_outcome send_took(struct os *os, struct os_send *send, size_t taken, size_t offered, size_t *budget) {
    send_advance(send, taken);
    *budget -= taken;
    if (taken == offered) return SEND_GOES_ON;
    send_wait_writable(os, send);
    return SEND_WAITS;
}

// As many slices of memory as follow each other, in one call.
static enum send_outcome send_memory(struct os *os, struct os_send *send, size_t *budget) {
    struct iovec vectors[SEND_VECTORS_MAX];
    size_t count = 0, total = 0, skip = send->done_bytes, i = send->index;
    bool more = false;
    for (; i < send->count && (send->slices[i].memory || send->slices[i].size == 0); i++) {
        const struct os_slice *slice = &send->slices[i];
        size_t size = slice->size - skip;
        if (size == 0) continue;
        if (count == SEND_VECTORS_MAX || total == *budget) break;
        if (size > *budget - total) {
            size = *budget - total;
            more = true;
        }
        vectors[count++] = (struct iovec){(void *)((uintptr_t)slice->memory + skip), size};
        total += size;
        skip = 0;
    }
    ASSERT(total > 0);
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more || i < send->count ? MSG_MORE : 0);
    ssize_t n = sendmsg(send->socket, &message, flags);
    if (n < 0) return errno == EINTR ? SEND_GOES_ON : send_failed(os, send, errno);
    return send_took(os, send, (size_t)n, total, budget);
}

// What cannot be said counts as cached, and so does what lies behind the file's end: sendfile finds it out.
static bool page_is_cached(int file, uint64_t position) {
    uint8_t byte;
    struct iovec vector = {&byte, 1};
    return preadv2(file, &vector, 1, (off_t)position, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

static bool range_is_cached(int file, uint64_t position, size_t size) {
    uint64_t last = position + size - 1;
    return page_is_cached(file, position) && (last / PAGE_BYTES == position / PAGE_BYTES || page_is_cached(file, last));
}

static enum send_outcome send_file(struct os *os, struct os_send *send, size_t *budget) {
    const struct os_slice *slice = &send->slices[send->index];
    uint64_t position = slice->position + send->done_bytes;
    size_t left = slice->size - send->done_bytes;
    struct request *request = request_of(&send->op);
    if (request->extra <= position) {
        size_t probed = left < SEND_PROBED_MAX ? left : SEND_PROBED_MAX;
        if (!range_is_cached(slice->file, position, probed)) {
            send_wait_warm(os, send, position, probed);
            return SEND_WAITS;
        }
        request->extra = position + probed;
    }
    size_t size = (size_t)(request->extra - position);
    if (size > left) size = left;
    if (size > *budget) size = *budget;
    if (send->index + 1 < send->count) send_cork(send, 1);
    off_t offset = (off_t)position;
    ssize_t n = sendfile(send->socket, slice->file, &offset, size);
    if (n < 0) return errno == EINTR ? SEND_GOES_ON : send_failed(os, send, errno);
    if (n == 0) { // truncated under us
        send_end(os, send, -EIO);
        return SEND_ENDED;
    }
    return send_took(os, send, (size_t)n, size, budget);
}

// Returns the bytes sent.
static size_t send_progress(struct os *os, struct os_send *send) {
    size_t budget = SEND_A_TURN_MAX;
    while (budget > 0) {
        while (send->index < send->count && send->slices[send->index].size == 0)
            send->index++;
        if (send->index == send->count) {
            send_cork(send, 0);
            send_end(os, send, send->sent_bytes);
            return SEND_A_TURN_MAX - budget;
        }
        bool is_memory = send->slices[send->index].memory != NULL;
        enum send_outcome outcome = is_memory ? send_memory(os, send, &budget) : send_file(os, send, &budget);
        if (outcome != SEND_GOES_ON) return SEND_A_TURN_MAX - budget;
    }
    op_queue_push(&os->sending, &send->op);
    return SEND_A_TURN_MAX;
}

// Each send that is in line gets one turn, until the bytes of the turn are used up.
void sends_progress(struct os *os) {
    size_t sent = 0;
    struct os_op *last = os->sending.last;
    while (os->sending.first && sent < SEND_ALL_A_TURN_MAX) {
        struct os_op *op = op_queue_pop(&os->sending);
        sent += send_progress(os, container_of(op, struct os_send, op));
        if (op == last) break;
    }
}

void os_send_start(struct os *os, struct os_send *send, int socket, const struct os_slice *slices, size_t count) {
    engine_begin(os, &send->op);
    send->slices = slices;
    send->count = count;
    send->socket = socket;
    send->index = 0;
    send->done_bytes = 0;
    send->sent_bytes = 0;
    *request_of(&send->op) = (struct request){0};
    op_queue_push(&os->sending, &send->op);
}
