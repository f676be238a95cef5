// SPDX-License-Identifier: Apache-2.0
// Clocks and randomness.
#include "os/linux/engine.h"
#include <errno.h>
#include <sys/random.h>
#include <time.h>

uint64_t os_now_ns(struct os *os) {
    (void)os;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    return now_ns != 0 ? now_ns : 1;
}

int64_t os_host_wall_ms(struct os_host *host) {
    (void)host;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t os_wall_ms(struct os *os) {
    return os_host_wall_ms(os->host);
}

static void random_fill(void *buffer, size_t size) {
    ssize_t n;
    do {
        n = getrandom(buffer, size, 0);
    } while (n < 0 && errno == EINTR);
    ASSERT(n == (ssize_t)size); // up to 256 bytes come whole once the pool is seeded
}

uint64_t os_random(struct os *os) {
    _Static_assert(sizeof os->random <= 256, "getrandom gives it whole");
    if (os->random_left == 0) {
        random_fill(os->random, sizeof os->random);
        os->random_left = RANDOM_WORDS;
    }
    return os->random[--os->random_left];
}

uint64_t os_host_random(struct os_host *host) {
    (void)host;
    uint64_t word;
    random_fill(&word, sizeof word);
    return word;
}
