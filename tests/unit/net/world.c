// SPDX-License-Identifier: Apache-2.0
#include "world.h"
#include "os/linux/host.h"
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void tick(struct timer *timer) {
    core_timer_set(container_of(timer, struct tick, timer)->core, timer, 1);
}
static struct world *world_of(struct core *core) {
    return container_of(core->net, struct world, net);
}

void world_turn(struct world *w) {
    for (int i = 0; i < 2; i++)
        core_turn(w->set->cores[i]);
}

// The answer is the frame as it came.
void echo(struct request *request) {
    uint8_t *memory = arena_alloc(&request->arena, 4 + request->frame_size);
    struct os_slice *slice = arena_alloc(&request->arena, sizeof *slice);
    store_be32(memory, request->frame_size);
    memcpy(memory + 4, request->frame, request->frame_size);
    *slice = (struct os_slice){.memory = memory, .size = 4 + request->frame_size};
    request_finish(request, slice, 1, NULL);
}

static void handle(struct core *core, struct request *request) {
    struct world *w = world_of(core);
    w->handled++;
    bool parks = request->frame_size >= 3 && request->frame[2] == 'p';
    if (!parks) return echo(request);
    w->parked[w->parked_count++] = request;
}
static struct net_gate_limits gate_limits(struct core *core) {
    return world_of(core)->gate_limits;
}
static bool overlaps(int16_t api_key) {
    return api_key == KEY_OVERLAPPING;
}

void world_begin(struct world *w) {
    *w = (struct world){.host = os_host_create()};
    int error = 0;
    w->set = core_set_create(w->host, 1, &error);
    cr_assert_not_null(w->set);
    w->core = w->set->cores[0];
    w->core->net = &w->net;
    for (int i = 0; i < 2; i++) {
        w->ticks[i].core = w->set->cores[i];
        timer_init(&w->ticks[i].timer, tick);
        tick(&w->ticks[i].timer);
    }
    const struct net_handler handler = {handle, overlaps};
    const struct net_limits limits = {
        .frame_bytes_max = 1 << 20, .budget_bytes = 4 << 20, .arena_bytes_max = 8 << 20, .connections_max = 16};
    net_init(&w->net, w->core, &handler, &limits);
    w->nets[0] = &w->net;
    w->gate_limits = (struct net_gate_limits){.connections_max = UINT32_MAX, .connections_per_ip_max = UINT32_MAX};
    net_gate_init(&w->gate, w->core, gate_limits);
    const struct net_listener_options options = {
        .name = "PLAINTEXT", .address = "127.0.0.1", .backlog = 16, .nets = w->nets, .net_count = 1, .gate = &w->gate};
    w->listener = net_listen(w->core, &options, &w->address, &error);
    cr_assert_not_null(w->listener);
    net_listener_accept(w->listener);
}

int client_connect(struct world *w) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;
    if (w->clients_read_little) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(w->address.port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

size_t client_receive(struct world *w, int fd, void *buffer, size_t n) {
    size_t have = 0;
    for (int turn = 0; turn < TURNS_MAX && have < n; turn++) {
        world_turn(w);
        ssize_t got = recv(fd, (char *)buffer + have, n - have, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN)) break;
        if (got > 0) have += (size_t)got;
    }
    return have;
}

void client_send(struct world *w, int fd, const void *data, size_t n) {
    size_t done = 0;
    for (int turn = 0; turn < TURNS_MAX && done < n; turn++) {
        ssize_t sent = send(fd, (const char *)data + done, n - done, MSG_NOSIGNAL);
        if (sent > 0) done += (size_t)sent;
        world_turn(w);
    }
    cr_assert_eq(done, n);
}

void world_end(struct world *w) {
    bool closed = false;
    struct flow nobody = {0};
    net_listener_close(w->listener, &nobody, &closed);
    net_close_all(&w->net, &nobody);
    for (int turn = 0; turn < TURNS_MAX && (!closed || w->net.connection_count > 0); turn++)
        world_turn(w);
    cr_assert(closed);
    cr_assert_eq(w->net.connection_count, 0);
    cr_assert_eq(w->net.budget.used_bytes, 0);
    cr_assert_eq(w->gate.count, 0);
    cr_assert_eq(w->gate.by_address.count, 0);
    net_gate_free(&w->gate);
    for (int i = 0; i < 2; i++)
        core_timer_cancel(w->set->cores[i], &w->ticks[i].timer);
    core_set_destroy(w->set);
    os_host_destroy(w->host);
}

void send_parked(struct world *w, int fd) {
    client_send(w, fd, "\0\0\0\3\0\1p", 7);
    for (int turn = 0; turn < TURNS_MAX && w->parked_count == 0; turn++)
        world_turn(w);
}
