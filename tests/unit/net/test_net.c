// SPDX-License-Identifier: Apache-2.0
// Connections over loopback, with a handler that echoes: framing at every split, order of answers, limits, orderly
// close.
#include "world.h"
#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

Test(net, takes_a_frame_split_at_every_byte) {
    struct world w;
    world_begin(&w);
    char out[64], in[64];
    const size_t n = 4 + 7;
    store_be32(out, 7);
    memcpy(out + 4, "\0\1hello", 7);
    int fd = client_connect(&w);
    for (size_t cut = 1; cut < n; cut++) {
        client_send(&w, fd, out, cut);
        world_turn(&w);
        client_send(&w, fd, out + cut, n - cut);
        cr_assert_eq(client_receive(&w, fd, in, n), n);
        cr_assert_arr_eq(in, out, n);
    }
    close(fd);
    world_end(&w);
}

Test(net, takes_a_large_frame_and_many_small_ones) {
    struct world w;
    world_begin(&w);
    int fd = client_connect(&w);
    enum { LARGE = 1 << 20 };
    static char out[4 + LARGE], in[4 + LARGE];
    store_be32(out, LARGE);
    for (int i = 0; i < LARGE; i++)
        out[4 + i] = (char)(i * 7 + (i >> 8));
    out[4] = 0;
    out[5] = KEY_SLOW;
    out[6] = 'x';
    client_send(&w, fd, out, sizeof out);
    cr_assert_eq(client_receive(&w, fd, in, sizeof out), sizeof out);
    cr_assert_arr_eq(in, out, sizeof out);

    enum { SMALL = 1000, EACH = 4 + 6 };
    for (int i = 0; i < SMALL; i++) {
        store_be32(out + i * EACH, 6);
        memcpy(out + i * EACH + 4, "\0\1", 2);
        store_be32(out + i * EACH + 6, (uint32_t)i);
    }
    client_send(&w, fd, out, SMALL * EACH);
    cr_assert_eq(client_receive(&w, fd, in, SMALL * EACH), SMALL * EACH);
    cr_assert_arr_eq(in, out, SMALL * EACH);
    close(fd);
    world_end(&w);
}

Test(net, answers_in_order_of_arrival_and_lets_only_some_kinds_overlap) {
    struct world w;
    world_begin(&w);
    int fd = client_connect(&w);
    // Two overlapping requests that wait, one that does not wait, one of another kind.
    const char out[] = "\0\0\0\3\0\0p"
                       "\0\0\0\3\0\0p"
                       "\0\0\0\3\0\0a"
                       "\0\0\0\3\0\1b";
    client_send(&w, fd, out, sizeof out - 1);
    for (int turn = 0; turn < 100; turn++)
        world_turn(&w);
    cr_assert_eq(w.handled, 3); // the last one waits for those before it
    cr_assert_eq(w.parked_count, 2);
    char in[28];
    cr_assert_lt(recv(fd, in, sizeof in, 0), 0);
    echo(w.parked[1]);
    echo(w.parked[0]);
    cr_assert_eq(client_receive(&w, fd, in, 28), 28);
    cr_assert_arr_eq(in, out, 28);
    close(fd);
    world_end(&w);
}

Test(net, overlapping_requests_pass_one_after_the_other) {
    struct world w;
    world_begin(&w);
    int fd = client_connect(&w);
    static const uint8_t frames[] = {0, 0, 0, 3, 0, 0, 'p', 0, 0, 0, 3, 0, 0, 'p', 0, 0, 0, 3, 0, 0, 'p'};
    client_send(&w, fd, frames, sizeof frames);
    for (int turn = 0; turn < TURNS_MAX && w.parked_count < 3; turn++)
        world_turn(&w);
    cr_assert_eq(w.parked_count, 3);
    cr_assert(request_may_pass(w.parked[0]));
    cr_assert_not(request_may_pass(w.parked[1]));
    request_pass(w.parked[0]);
    cr_assert(request_may_pass(w.parked[1]));
    cr_assert_not(request_may_pass(w.parked[2]));
    echo(w.parked[1]); // what is finished has passed
    cr_assert(request_may_pass(w.parked[2]));
    echo(w.parked[0]);
    uint8_t answers[14];
    cr_assert_eq(client_receive(&w, fd, answers, sizeof answers), sizeof answers);
    cr_assert(request_may_pass(w.parked[2])); // those before it are gone
    echo(w.parked[2]);
    cr_assert_eq(client_receive(&w, fd, answers, 7), 7);
    close(fd);
    world_end(&w);
}

// A request that closes its connection: those that came before may still take effect, those behind it may not.
Test(net, cuts_off_what_is_behind_a_request_that_closes) {
    struct world w;
    world_begin(&w);
    int fd = client_connect(&w);
    for (int i = 0; i < 4; i++)
        client_send(&w, fd, "\0\0\0\3\0\0p", 7);
    for (int turn = 0; turn < TURNS_MAX && w.parked_count < 4; turn++)
        world_turn(&w);
    cr_assert_eq(w.parked_count, 4);
    request_close(w.parked[2], "the third");
    const bool cut_off[] = {false, false, false, true};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(request_is_cut_off(w.parked[i]), cut_off[i], "%d", i);
    request_close(w.parked[1], "the second, later");
    cr_assert_not(request_is_cut_off(w.parked[0]));
    echo(w.parked[0]);
    cr_assert(request_may_pass(w.parked[3]));
    request_finish(w.parked[3], NULL, 0, NULL);
    char in[1];
    cr_assert_eq(client_receive(&w, fd, in, 1), 0);
    close(fd);
    world_end(&w);
}

Test(net, closes_on_a_length_outside_the_limits) {
    struct world w;
    world_begin(&w);
    const uint32_t lengths[] = {0, 0xffffffff, 0x7fffffff, (1 << 20) + 1};
    for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
        int fd = client_connect(&w);
        char out[4], in[1];
        store_be32(out, lengths[i]);
        client_send(&w, fd, out, 4);
        cr_assert_eq(client_receive(&w, fd, in, 1), 0);
        close(fd);
    }
    cr_assert_eq(w.handled, 0);
    world_end(&w);
}

Test(net, drops_the_answer_of_a_client_that_left) {
    struct world w;
    world_begin(&w);
    int fd = client_connect(&w);
    send_parked(&w, fd);
    const struct linger reset = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    // A reset is seen at once, whether or not a receive was waiting for it.
    for (int turn = 0; turn < TURNS_MAX && !request_is_orphan(w.parked[0]); turn++)
        world_turn(&w);
    cr_assert(request_is_orphan(w.parked[0]));
    echo(w.parked[0]);
    for (int turn = 0; turn < TURNS_MAX && w.net.connection_count > 0; turn++)
        world_turn(&w);
    world_end(&w);
}

Test(net, gives_up_what_waits_for_a_client_that_has_ended_its_stream) {
    struct world w;
    world_begin(&w);
    w.net.limits.idle_ms_max = 50;
    int fd = client_connect(&w);
    send_parked(&w, fd);
    close(fd);
    for (int turn = 0; turn < TURNS_MAX && !request_is_orphan(w.parked[0]); turn++)
        world_turn(&w);
    cr_assert(request_is_orphan(w.parked[0]));
    echo(w.parked[0]);
    for (int turn = 0; turn < TURNS_MAX && w.net.connection_count > 0; turn++)
        world_turn(&w);
    cr_assert_eq(w.net.connection_count, 0);
    world_end(&w);
}

// What a producer with acks=0 sends before it closes, behind a request that takes its time.
Test(net, handles_every_frame_that_came_before_the_end_of_the_stream) {
    struct world w;
    world_begin(&w);
    int fd = client_connect(&w);
    send_parked(&w, fd);
    enum { FRAMES = 300 };
    for (int i = 0; i < FRAMES; i++)
        client_send(&w, fd, "\0\0\0\3\0\0a", 7);
    client_send(&w, fd, "\0\0\0\3\0", 5); // and half a frame
    shutdown(fd, SHUT_WR);
    for (int turn = 0; turn < 100; turn++)
        world_turn(&w);
    cr_assert_eq(w.handled, 1);
    cr_assert_not(request_is_orphan(w.parked[0]));
    echo(w.parked[0]);
    char in[7 * (FRAMES + 1) + 1];
    cr_assert_eq(client_receive(&w, fd, in, sizeof in), 7 * (FRAMES + 1));
    cr_assert_eq(w.handled, FRAMES + 1);
    cr_assert_eq(w.net.connection_count, 0);
    close(fd);
    world_end(&w);
}

static bool is_served(struct world *w, int fd) {
    char in[7];
    client_send(w, fd, "\0\0\0\3\0\1a", 7);
    return client_receive(w, fd, in, 7) == 7;
}

Test(net, waits_when_there_are_as_many_connections_as_there_may_be) {
    struct world w;
    world_begin(&w);
    w.gate_limits.connections_max = 2;
    int fds[4];
    for (int i = 0; i < 4; i++)
        fds[i] = client_connect(&w);
    cr_assert(is_served(&w, fds[0]) && is_served(&w, fds[1]));
    for (int i = 2; i < 4; i++)
        client_send(&w, fds[i], "\0\0\0\3\0\1a", 7);
    for (int turn = 0; turn < 100; turn++)
        world_turn(&w);
    cr_assert_eq(w.handled, 2);
    char in[7];
    close(fds[0]);
    cr_assert_eq(client_receive(&w, fds[2], in, 7), 7);
    cr_assert_eq(w.handled, 3);
    w.gate_limits.connections_max = 3; // at run time: seen without any connection's end
    cr_assert_eq(client_receive(&w, fds[3], in, 7), 7);
    for (int i = 1; i < 4; i++)
        close(fds[i]);
    world_end(&w);
}

Test(net, refuses_more_connections_from_an_address_than_it_may_have) {
    struct world w;
    world_begin(&w);
    w.gate_limits.connections_per_ip_max = 2;
    int fds[3];
    for (int i = 0; i < 2; i++) {
        fds[i] = client_connect(&w);
        cr_assert(is_served(&w, fds[i]));
    }
    char in[1];
    fds[2] = client_connect(&w);
    cr_assert_eq(client_receive(&w, fds[2], in, 1), 0);
    close(fds[2]);
    // An exception, and addresses that it is not for.
    w.gate_limits.per_ip_overrides = str_of("127.0.0.2:0, ::1:7,127.0.0.1: 3");
    fds[2] = client_connect(&w);
    cr_assert(is_served(&w, fds[2]));
    int fourth = client_connect(&w);
    cr_assert_eq(client_receive(&w, fourth, in, 1), 0);
    close(fourth);
    close(fds[0]);
    for (int turn = 0; turn < TURNS_MAX && w.gate.count > 2; turn++)
        world_turn(&w);
    fds[0] = client_connect(&w);
    cr_assert(is_served(&w, fds[0]));
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    world_end(&w);
}

Test(net, closes_on_a_client_that_does_not_read_but_not_on_a_slow_one) {
    struct world w;
    world_begin(&w);
    w.net.limits.idle_ms_max = 150;
    w.clients_read_little = true;
    enum { LARGE = 1 << 20 };
    static char out[4 + LARGE], in[4 + LARGE];
    store_be32(out, LARGE);
    out[5] = KEY_SLOW;
    out[6] = 'x';
    int slow = client_connect(&w);
    client_send(&w, slow, out, sizeof out);
    cr_assert_eq(client_receive(&w, slow, in, sizeof out), sizeof out); // takes its time, but moves
    int stuck = client_connect(&w);
    client_send(&w, stuck, out, sizeof out);
    for (int turn = 0; turn < TURNS_MAX && w.net.connection_count > 0; turn++)
        world_turn(&w);
    cr_assert_eq(w.net.connection_count, 0);
    close(slow);
    close(stuck);
    world_end(&w);
}
