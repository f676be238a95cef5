// SPDX-License-Identifier: Apache-2.0
// One host and one engine for each test, waiting for an operation, and a directory of its own.
#pragma once

#include "os/linux/host.h"
#include "os/os.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000 };

struct fixture {
    struct os_host *host;
    struct os *os;
};
static inline struct fixture fixture_open(uint32_t depth) {
    struct fixture f = {.host = os_host_create()};
    int error = 0;
    f.os = os_create(f.host, 0, depth, &error);
    cr_assert_not_null(f.os, "os_create: %s", os_error_text(error));
    return f;
}
static inline void fixture_close(struct fixture *f) {
    os_destroy(f->os);
    os_host_destroy(f->host);
}

static inline void op_note_done(struct os_op *op) {
    cr_assert_not(op->in_flight);
}
// Waits until the op is done; a minute without it fails the test.
static inline int64_t op_await(struct os *os, struct os_op *op) {
    uint64_t deadline_ns = os_now_ns(os) + 60ull * SECOND_NS;
    while (op->in_flight) {
        cr_assert_lt(os_now_ns(os), deadline_ns, "an operation did not end");
        os_wait(os, deadline_ns);
    }
    return op->result;
}

struct pair { // two ends of a loopback connection
    int listener, server, client;
    struct os_address bound, peer;
};
static inline struct pair pair_open(struct os *os) {
    struct pair p;
    p.listener = os_listen(os, "127.0.0.1", 0, 16, &p.bound);
    cr_assert_geq(p.listener, 0);
    struct os_op accept = OS_OP(op_note_done), connect = OS_OP(op_note_done);
    os_accept_start(os, &accept, p.listener, &p.peer);
    os_connect_start(os, &connect, "127.0.0.1", p.bound.port);
    p.server = (int)op_await(os, &accept);
    p.client = (int)op_await(os, &connect);
    cr_assert(p.server >= 0 && p.client >= 0);
    return p;
}
static inline void pair_close(struct os_host *host, struct pair *p) {
    os_close(host, p->listener);
    if (p->server >= 0) os_close(host, p->server);
    if (p->client >= 0) os_close(host, p->client);
}

struct temporary {
    char path[64];
    char file[96];
};
static inline struct temporary temporary_open(void) {
    struct temporary t;
    snprintf(t.path, sizeof t.path, "/tmp/tailrace-os-XXXXXX");
    cr_assert_not_null(mkdtemp(t.path));
    snprintf(t.file, sizeof t.file, "%s/file", t.path);
    return t;
}
static inline void temporary_close(struct temporary *t) {
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s", t->path);
    cr_assert_eq(system(command), 0);
}
