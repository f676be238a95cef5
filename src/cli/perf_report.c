// SPDX-License-Identifier: Apache-2.0
// Time, and what tailrace perf shows while it runs and at the end.
#include "base/bits.h"
#include "cli/perf.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

uint64_t perf_now_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t perf_wall_ms(void) {
    return read_clock(CLOCK_REALTIME) / 1000000;
}

uint64_t perf_cpu_ns(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void perf_sleep_until(uint64_t deadline_ns) {
    struct timespec t = {(time_t)(deadline_ns / 1000000000ULL), (long)(deadline_ns % 1000000000ULL)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

double perf_ms(uint64_t ns) {
    return (double)ns / 1e6;
}

enum { SECOND_NS = 1000000000 };

void perf_progress_begin(struct perf_progress *p) {
    uint64_t now_ns = perf_now_ns();
    *p = (struct perf_progress){.is_terminal = isatty(STDERR_FILENO) == 1,
                                .begin_ns = now_ns,
                                .next_ns = now_ns + SECOND_NS,
                                .last_ns = now_ns};
}

// 1234567 as "1.23 M".
static void human(double value, char *out, size_t capacity) {
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < ARRAY_LENGTH(units)) {
        value /= 1000;
        unit++;
    }
    snprintf(out, capacity, "%.*f%s", value >= 100 || unit == 0 ? 0 : value >= 10 ? 1 : 2, value, units[unit]);
}

void perf_progress_show(struct perf_progress *p, uint64_t now_ns, uint64_t records, uint64_t bytes, uint64_t total,
                        const struct histogram *window) {
    if (now_ns < p->next_ns) return;
    double seconds = (double)(now_ns - p->last_ns) / 1e9;
    char done[24], rate[24], size[24];
    human((double)records, done, sizeof done);
    human((double)(records - p->last_records) / seconds, rate, sizeof rate);
    human((double)(bytes - p->last_bytes) / seconds, size, sizeof size);
    p->next_ns = now_ns + SECOND_NS;
    p->last_ns = now_ns;
    p->last_records = records;
    p->last_bytes = bytes;
    if (!p->is_terminal) return;
    fprintf(stderr, "\r\033[K%3.0f s  %s records", (double)(now_ns - p->begin_ns) / 1e9, done);
    if (total > 0) fprintf(stderr, " (%.0f %%)", 100 * (double)records / (double)total);
    fprintf(stderr, "  %s records/s  %sB/s", rate, size);
    if (window && window->count > 0) {
        fprintf(stderr, "  p50 %.2f ms  p99 %.2f ms  max %.2f ms", perf_ms(histogram_percentile(window, 50)),
                perf_ms(histogram_percentile(window, 99)), perf_ms(window->max));
    }
    fflush(stderr);
}

void perf_progress_end(struct perf_progress *p) {
    if (p->is_terminal) fprintf(stderr, "\r\033[K");
}

void perf_json_latency(const char *key, const struct histogram *h) {
    static const struct {
        const char *name;
        double percent;
    } points[] = {{"p50", 50}, {"p75", 75}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99}};
    printf("\"%s\": {\"count\": %llu, \"mean\": %.4f, \"min\": %.4f", key, (unsigned long long)h->count,
           histogram_mean(h) / 1e6, perf_ms(h->min));
    for (size_t i = 0; i < ARRAY_LENGTH(points); i++) {
        printf(", \"%s\": %.4f", points[i].name, perf_ms(histogram_percentile(h, points[i].percent)));
    }
    printf(", \"max\": %.4f}", perf_ms(h->max));
}
