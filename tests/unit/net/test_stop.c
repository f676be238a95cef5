// SPDX-License-Identifier: Apache-2.0
// The orderly end of connections when the broker stops.
#include "net/connection.h"
#include "world.h"
#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

// Each test has a world with one connected client, in a process of its own.
static struct world w;
static int fd;

static void begin(void) {
    world_begin(&w);
    fd = client_connect(&w);
}
static void turns_until_closed(void) {
    for (int turn = 0; turn < TURNS_MAX && w.net.connection_count > 0; turn++)
        world_turn(&w);
    cr_assert_eq(w.net.connection_count, 0);
}
static void end(void) {
    turns_until_closed();
    close(fd);
    world_end(&w);
}
#define STOP_TEST(name) Test(net, name, .init = begin, .fini = end)

static void stop(void) {
    static struct flow nobody;
    net_close_all(&w.net, &nobody);
}

// The connection, once it has received a frame, or a part of one, that is not handled.
static struct connection *with_a_frame(void) {
    for (int turn = 0; turn < TURNS_MAX; turn++) {
        world_turn(&w);
        struct list *link = list_front(&w.net.connections);
        struct connection *c = link ? container_of(link, struct connection, link) : NULL;
        if (c && c->incoming) return c;
    }
    cr_assert_fail("no frame has come");
    return NULL;
}

STOP_TEST(a_stop_answers_what_is_in_progress_and_takes_no_more_frames) {
    static const uint8_t frames[] = {0, 0, 0, 3, 0, 0, 'p', 0, 0, 0, 3, 0, 0, 'p', 0, 0, 0, 3, 0, KEY_SLOW, 'x'};
    client_send(&w, fd, frames, sizeof frames);
    (void)with_a_frame();
    cr_assert_eq(w.handled, 2);
    stop();
    cr_assert(!request_is_orphan(w.parked[0]) && !request_may_wait(w.parked[0]));
    static uint8_t more[300000]; // more than the kernel would keep: it is received, and thrown away
    client_send(&w, fd, more, sizeof more);
    echo(w.parked[1]);
    echo(w.parked[0]);
    char in[14 + 1];
    cr_assert_eq(client_receive(&w, fd, in, sizeof in), 14);
    cr_assert_arr_eq(in, frames, 14);
    client_send(&w, fd, more, sizeof more); // before it has noticed
    cr_assert_eq(recv(fd, in, 1, 0), 0, "no reset");
    close(fd);
    turns_until_closed();
    cr_assert_eq(w.handled, 2);
    fd = -1;
}

STOP_TEST(a_stop_closes_at_once_what_has_been_quiet) {
    client_send(&w, fd, "\0\0\0\3\0", 5);
    struct connection *c = with_a_frame();
    c->active_ms -= CONNECTION_QUIET_MS;
    stop();
    cr_assert(c->closing);
    turns_until_closed();
    char in[1];
    cr_assert_eq(client_receive(&w, fd, in, 1), 0);
}

STOP_TEST(a_stop_does_not_wait_for_a_client_that_does_not_close) {
    send_parked(&w, fd);
    stop();
    echo(w.parked[0]);
    char in[7 + 1];
    cr_assert_eq(client_receive(&w, fd, in, sizeof in), 7);
}

STOP_TEST(a_stop_gives_up_what_takes_too_long) {
    send_parked(&w, fd);
    stop();
    for (int turn = 0; turn < TURNS_MAX && !request_is_orphan(w.parked[0]); turn++)
        world_turn(&w);
    cr_assert(request_is_orphan(w.parked[0]));
    cr_assert_eq(w.net.connection_count, 1, "its request is still in progress");
    echo(w.parked[0]);
}

STOP_TEST(a_stop_ends_a_client_that_sends_for_ever) {
    send_parked(&w, fd);
    stop();
    echo(w.parked[0]);
    for (int turn = 0; turn < TURNS_MAX && w.net.connection_count > 0; turn++) {
        (void)!send(fd, "much", 4, MSG_NOSIGNAL);
        world_turn(&w);
    }
    cr_assert_eq(w.net.connection_count, 0);
    cr_assert_eq(w.handled, 1);
}
