// SPDX-License-Identifier: Apache-2.0
// Messages between two cores that sleep when they have nothing to do: there and back one by one, and many at once.
#include "base/bits.h"
#include "bench.h"

enum { PINGS = 5000, STREAM = 2000000, STREAM_AT_ONCE = 512 };

struct ball {
    struct message message;
    uint64_t sent_ns, samples[PINGS];
    int count;
    struct message stops[2];
};

static void stop(struct core *core, struct message *message) {
    (void)message;
    core_stop(core);
}

static void ball_back(struct core *core, struct message *message);
static void ball_there(struct core *core, struct message *message) {
    core_send(core, 0, message, ball_back);
}
static void ball_back(struct core *core, struct message *message) {
    struct ball *ball = container_of(message, struct ball, message);
    uint64_t now_ns = os_now_ns(core->os);
    if (ball->count >= 0) ball->samples[ball->count] = now_ns - ball->sent_ns;
    if (++ball->count == PINGS) {
        for (int to = 0; to < 2; to++)
            core_send(core, to, &ball->stops[to], stop);
        return;
    }
    ball->sent_ns = now_ns;
    core_send(core, 1, message, ball_there);
}

struct stream {
    struct stream_item {
        struct message message;
        struct stream *stream;
    } items[STREAM_AT_ONCE];
    struct message stops[2];
    int left;
};
static void stream_back(struct core *core, struct message *message);
static void stream_there(struct core *core, struct message *message) {
    core_send(core, 0, message, stream_back);
}
static void stream_back(struct core *core, struct message *message) {
    struct stream *s = container_of(message, struct stream_item, message)->stream;
    if (--s->left == 0) {
        for (int to = 0; to < 2; to++)
            core_send(core, to, &s->stops[to], stop);
    } else if (s->left > 0) {
        core_send(core, 1, message, stream_there);
    }
}

static void run(struct core_set *set, struct os_host *host) {
    int cpus[2] = {-1, -1};
    bool pin = os_cpus(host, cpus, 2) == 2;
    struct os_core_entry entries[2];
    for (int id = 0; id < 2; id++)
        entries[id] = (struct os_core_entry){"core", pin ? cpus[id] : -1, core_turn, set->cores[id]};
    os_run_cores(host, entries, 2);
}

static struct core_set *cores(struct os_host *host) {
    int error;
    struct core_set *set = core_set_create(host, 1, &error);
    ASSERT(set != NULL);
    return set;
}

void bench_messages(struct os_host *host) {
    struct core_set *set = cores(host);
    struct ball *ball = calloc(1, sizeof *ball);
    ball->count = -1;
    core_send(set->cores[0], 1, &ball->message, ball_there);
    run(set, host);
    core_set_destroy(set);
    printf("message there and back                                         p50 %6.1f us   p99 %6.1f us\n",
           (double)percentile(ball->samples, PINGS, 0.5) / 1e3, (double)percentile(ball->samples, PINGS, 0.99) / 1e3);
    free(ball);

    set = cores(host);
    struct stream *s = calloc(1, sizeof *s);
    s->left = STREAM;
    for (int i = 0; i < STREAM_AT_ONCE; i++) {
        s->items[i].stream = s;
        core_send(set->cores[0], 1, &s->items[i].message, stream_there);
    }
    struct stopwatch start = stopwatch_start();
    run(set, host);
    printf("messages, %d at once    %7.1f million there and back a second\n", STREAM_AT_ONCE,
           (double)STREAM * 1e3 / (double)stopwatch_since(start).wall_ns);
    core_set_destroy(set);
    free(s);
}
