// SPDX-License-Identifier: Apache-2.0
// Listening, accepting, connecting, receiving, ending.
#include "fixture.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

static void send_text(struct os *os, int socket, const char *text) {
    struct os_slice slice = {.memory = text, .size = strlen(text)};
    struct os_send send = {.op = OS_OP(op_note_done)};
    os_send_start(os, &send, socket, &slice, 1);
    cr_assert_eq(op_await(os, &send.op), (int64_t)strlen(text));
}

Test(sockets, accept_tells_the_peer_and_both_ends_are_quick) {
    struct fixture f = fixture_open(16);
    struct pair p = pair_open(f.os);
    cr_assert_str_eq(p.bound.text, "127.0.0.1");
    cr_assert_str_eq(p.peer.text, "127.0.0.1");
    struct sockaddr_in name;
    socklen_t size = sizeof name;
    cr_assert_eq(getsockname(p.client, (struct sockaddr *)&name, &size), 0);
    cr_assert_eq(p.peer.port, ntohs(name.sin_port));
    for (int i = 0; i < 2; i++) {
        int on = 0;
        size = sizeof on;
        cr_assert_eq(getsockopt(i ? p.client : p.server, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
        cr_assert(on);
    }
    pair_close(f.host, &p);
    fixture_close(&f);
}

Test(sockets, receive_gets_what_was_sent_and_then_the_end) {
    struct fixture f = fixture_open(16);
    struct pair p = pair_open(f.os);
    char buffer[64];
    struct os_op receive = OS_OP(op_note_done);
    for (int round = 0; round < 3; round++) {
        os_recv_start(f.os, &receive, p.server, buffer, sizeof buffer);
        os_wait(f.os, 0);
        cr_assert(receive.in_flight);
        send_text(f.os, p.client, "hello");
        cr_assert_eq(op_await(f.os, &receive), 5);
        cr_assert_eq(memcmp(buffer, "hello", 5), 0);
    }
    os_shutdown(f.os, p.client);
    os_recv_start(f.os, &receive, p.server, buffer, sizeof buffer);
    cr_assert_eq(op_await(f.os, &receive), 0);
    pair_close(f.host, &p);
    fixture_close(&f);
}

Test(sockets, shutdown_ends_what_is_in_flight) {
    struct fixture f = fixture_open(16);
    struct pair p = pair_open(f.os);
    char buffer[64];
    struct os_address peer;
    struct os_op receive = OS_OP(op_note_done), accept = OS_OP(op_note_done);
    os_recv_start(f.os, &receive, p.server, buffer, sizeof buffer);
    os_accept_start(f.os, &accept, p.listener, &peer);
    os_wait(f.os, 0);
    os_shutdown(f.os, p.server);
    os_shutdown(f.os, p.listener);
    cr_assert_eq(op_await(f.os, &receive), 0);
    cr_assert_lt(op_await(f.os, &accept), 0);
    pair_close(f.host, &p);
    fixture_close(&f);
}

Test(sockets, ending_what_is_sent_leaves_receiving) {
    struct fixture f = fixture_open(16);
    struct pair p = pair_open(f.os);
    char buffer[64];
    struct os_op receive = OS_OP(op_note_done);
    send_text(f.os, p.server, "last");
    os_shutdown_send(f.os, p.server);
    os_recv_start(f.os, &receive, p.client, buffer, sizeof buffer);
    cr_assert_eq(op_await(f.os, &receive), 4);
    os_recv_start(f.os, &receive, p.client, buffer, sizeof buffer);
    cr_assert_eq(op_await(f.os, &receive), 0);
    send_text(f.os, p.client, "hello");
    os_recv_start(f.os, &receive, p.server, buffer, sizeof buffer);
    cr_assert_eq(op_await(f.os, &receive), 5);
    pair_close(f.host, &p);
    fixture_close(&f);
}

Test(sockets, names_are_resolved_and_refusals_are_told) {
    struct fixture f = fixture_open(16);
    struct os_address bound, peer;
    int listener = os_listen(f.os, "localhost", 0, 16, &bound);
    cr_assert_geq(listener, 0);
    cr_assert_str_eq(bound.text, "127.0.0.1");
    struct os_op accept = OS_OP(op_note_done), connect = OS_OP(op_note_done);
    os_accept_start(f.os, &accept, listener, &peer);
    os_connect_start(f.os, &connect, "localhost", bound.port);
    int64_t client = op_await(f.os, &connect), server = op_await(f.os, &accept);
    cr_assert(client >= 0 && server >= 0);
    os_close(f.host, (int)client);
    os_close(f.host, (int)server);
    os_close(f.host, listener);
    os_connect_start(f.os, &connect, "127.0.0.1", bound.port);
    cr_assert_eq(op_await(f.os, &connect), -ECONNREFUSED);
    os_connect_start(f.os, &connect, "no.such.host.invalid", 1);
    cr_assert_lt(op_await(f.os, &connect), 0);
    cr_assert_lt(os_listen(f.os, "no.such.host.invalid", 0, 16, &bound), 0);
    fixture_close(&f);
}

static int buffer_of(int64_t socket, int option) {
    int size_bytes = 0;
    socklen_t size = sizeof size_bytes;
    cr_assert_eq(getsockopt((int)socket, SOL_SOCKET, option, &size_bytes, &size), 0);
    return size_bytes / 2; // Linux doubles what it is asked for
}

Test(sockets, accepted_ones_have_the_buffers_of_their_listener) {
    struct fixture f = fixture_open(16);
    struct os_address bound, peer;
    int listener = os_listen(f.os, "127.0.0.1", 0, 16, &bound);
    cr_assert_geq(listener, 0);
    int before = buffer_of(listener, SO_RCVBUF);
    os_set_socket_buffers(f.host, listener, 0, 102400);
    cr_assert_eq(buffer_of(listener, SO_RCVBUF), before);
    os_set_socket_buffers(f.host, listener, 65536, 0);
    struct os_op accept = OS_OP(op_note_done), connect = OS_OP(op_note_done);
    os_accept_start(f.os, &accept, listener, &peer);
    os_connect_start(f.os, &connect, "127.0.0.1", bound.port);
    int64_t client = op_await(f.os, &connect), server = op_await(f.os, &accept);
    cr_assert(client >= 0 && server >= 0);
    cr_assert_eq(buffer_of(server, SO_RCVBUF), 65536);
    cr_assert_eq(buffer_of(server, SO_SNDBUF), 102400);
    os_close(f.host, (int)client);
    os_close(f.host, (int)server);
    os_close(f.host, listener);
    fixture_close(&f);
}

Test(sockets, the_wildcard_takes_ipv4_and_shows_it_as_such) {
    struct fixture f = fixture_open(16);
    static const char *const wildcards[] = {"", "0.0.0.0"};
    for (int i = 0; i < 2; i++) {
        struct os_address bound, peer;
        int listener = os_listen(f.os, wildcards[i], 0, 16, &bound);
        cr_assert_geq(listener, 0);
        cr_assert_neq(bound.port, 0);
        struct os_address again;
        cr_assert_eq(os_listen(f.os, wildcards[i], bound.port, 16, &again), -EADDRINUSE);
        struct os_op accept = OS_OP(op_note_done), connect = OS_OP(op_note_done);
        os_accept_start(f.os, &accept, listener, &peer);
        os_connect_start(f.os, &connect, "127.0.0.1", bound.port);
        int64_t client = op_await(f.os, &connect), server = op_await(f.os, &accept);
        cr_assert(client >= 0 && server >= 0);
        cr_assert_str_eq(peer.text, "127.0.0.1");
        os_close(f.host, (int)client);
        os_close(f.host, (int)server);
        os_close(f.host, listener);
    }
    fixture_close(&f);
}

Test(sockets, accept_without_descriptors_says_so) {
    struct fixture f = fixture_open(16);
    struct os_address bound, peer;
    int listener = os_listen(f.os, "127.0.0.1", 0, 16, &bound);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(bound.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    cr_assert_eq(connect(client, (struct sockaddr *)&to, sizeof to), 0);
    int next = dup(0);
    close(next);
    struct rlimit limit, low;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = (rlim_t)next;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct os_op accept = OS_OP(op_note_done);
    os_accept_start(f.os, &accept, listener, &peer);
    cr_assert_eq(op_await(f.os, &accept), -EMFILE);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    os_accept_start(f.os, &accept, listener, &peer);
    int64_t server = op_await(f.os, &accept);
    cr_assert_geq(server, 0);
    os_close(f.host, (int)server);
    close(client);
    os_close(f.host, listener);
    fixture_close(&f);
}
